"""Files are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from kibitz.core.errors import SaveFailed


def save(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write a file atomically: a reader, or a full disk, meets the old content or the new.

    A link is followed; what is there already and no ordinary file (a device, say) is refused.
    """
    data = content.encode() if isinstance(content, str) else content
    draft: str | None = None
    try:
        target = Path(os.path.realpath(path))
        mode = _mode_for(target)
        handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, mode)
        os.replace(draft, target)
    except (OSError, ValueError) as error:
        raise _failed(path, error) from error
    finally:
        if draft is not None:
            with contextlib.suppress(OSError):
                os.unlink(draft)
    return Path(path)


def check_can_save(path: str | os.PathLike[str]) -> None:
    """Raise SaveFailed now rather than later if a file cannot be written there."""
    try:
        target = Path(os.path.realpath(path))
        _mode_for(target)
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}."):
            return
    except (OSError, ValueError) as error:
        raise _failed(path, error) from error


def _failed(path: str | os.PathLike[str], error: Exception) -> SaveFailed:
    reason = getattr(error, "strerror", None) or str(error)
    return SaveFailed(
        f"Could not write {os.fspath(path)!r}: {reason}. "
        "Nothing was changed; free some space or choose another place."
    )


def _mode_for(target: Path) -> int:
    """Give the mode of the file that is there, or of a new one."""
    if not target.exists():
        return 0o666 & ~_umask()
    facts = target.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise OSError("it is a directory" if target.is_dir() else "it is no ordinary file")
    return stat.S_IMODE(facts.st_mode)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
