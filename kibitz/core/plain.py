"""Plain data as JSON."""

from __future__ import annotations

import json
import math
from typing import Any


def as_json(content: Any, indent: int | None = 1) -> str:
    """Write data as JSON; what is not a number becomes null, since JSON has no word for it."""
    return json.dumps(_finite(content), indent=indent)


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {str(key): _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content
