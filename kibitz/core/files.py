"""Files are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from kibitz.core.errors import SaveFailed


def save(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write a file atomically: a reader, or a full disk, meets the old content or the new."""
    target = Path(path)
    data = content.encode() if isinstance(content, str) else content
    draft: str | None = None
    try:
        handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, 0o666 & ~_umask())
        os.replace(draft, target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SaveFailed(
            f"Could not write '{target}': {reason}. "
            "Nothing was changed; free some space or choose another place."
        ) from error
    finally:
        if draft is not None:
            with contextlib.suppress(OSError):
                os.unlink(draft)
    return target


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
