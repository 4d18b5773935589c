"""What bridges lead to is imported when they are used, and may be missing."""

from __future__ import annotations

import importlib
from typing import Any

from kibitz.core.errors import KibitzError


def need(module: str, extra: str = "bridges") -> Any:
    """Import what a bridge leads to, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise KibitzError(
            f"This bridge needs {module}, which cannot be imported ({error}). "
            f"Try: pip install 'kibitz[{extra}]'."
        ) from error
