"""Code in a file of one's own, named `FILE.py:NAME`: an agent, or a strategy that votes.

Loading it runs it. So a name leads to a file only after this process's user has given that very
name: on the command line, or in Python through `kibitz.agent`. Names that come from a browser, a
record, a model or a league's store are refused by `load`, whoever calls it.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from kibitz.core.errors import AgentFailed, Misuse, unknown

NAMED = re.compile(r"(?P<file>.+?\.py)(?::(?P<name>[^:]*)(?::(?P<settings>.*))?)?", re.DOTALL)
BETWEEN = re.compile(r"[,=;+]")  # what stands between names in an argument
DIGEST = "__kibitz_digest__"  # of a module: a hash of the file as it was loaded

_allowed: set[tuple[str, str]] = set()
_modules: dict[tuple[str, str], ModuleType] = {}  # by path and content


@dataclass(frozen=True, slots=True)
class Named:
    """A name in a file, and what follows it: `mine.py:Mine:depth=3`."""

    file: str
    name: str
    settings: str

    @property
    def key(self) -> tuple[str, str]:
        """What the user allows: this name of this file, wherever it is named from."""
        return os.path.realpath(self.file), self.name

    def absolute(self) -> str:
        """Return the text that means the same in any folder."""
        path = f"{os.path.abspath(self.file)}:{self.name}"
        return f"{path}:{self.settings}" if self.settings else path


def parse(text: str) -> Named | None:
    """Read `FILE.py:NAME`, with settings after another colon; None if it is something else."""
    found = NAMED.fullmatch(text.strip())
    if found is None:
        return None
    return Named(found["file"], (found["name"] or "").strip(), found["settings"] or "")


def allow(texts: Iterable[str]) -> None:
    """Allow all names of code in what the user has written: call it for nobody else's words."""
    for text in texts:
        for part in (text, *BETWEEN.split(text)):
            named = parse(part)
            if named is not None and named.name:
                _allowed.add(named.key)


def allowed() -> list[tuple[str, str]]:
    """List what is allowed here, for processes that work for this one."""
    return sorted(_allowed)


def allow_all(keys: Iterable[Iterable[str]]) -> None:
    """Allow what the process that this one works for allows."""
    for path, name in keys:
        _allowed.add((path, name))


def load(named: Named, what: str = "Mine") -> Any:
    """Load what a file calls by that name, or raise and say what is wrong.

    `what` is a name for examples.
    """
    file = named.file
    if not os.path.isfile(file):
        raise Misuse(f"There is no file '{file}'{_near(file)}.")
    if not named.name:
        names = ", ".join(f"{file}:{name}" for name in _names_in(file)) or f"{file}:{what}"
        raise Misuse(f"'{file}' is a file: say which of its names you mean, as in {names}.")
    if named.key not in _allowed:
        text = f"{file}:{named.name}"
        raise Misuse(
            f"'{text}' is code in a file, which runs only if you name it yourself: add it to the "
            f"command. In Python, call kibitz.agent('{text}', game) first, or give the object."
        )
    module = _module(Path(named.key[0]), file)
    if not hasattr(module, named.name):
        raise unknown(f"class or function of '{file}'", named.name, _names_in(file))
    return getattr(module, named.name)


def digest_of(module: str) -> str:
    """Return a hash of the file that a module was loaded from by `load`; nothing for others."""
    return getattr(sys.modules.get(module), DIGEST, "")


def _near(file: str) -> str:
    import difflib

    folder = os.path.dirname(file)
    try:
        files = [one for one in os.listdir(folder or ".") if one.endswith(".py")]
    except OSError:
        return f": there is no folder '{folder}'"
    near = difflib.get_close_matches(os.path.basename(file), files, n=1)
    return f"; there is '{os.path.join(folder, near[0])}'" if near else ""


def _names_in(file: str) -> list[str]:
    """List the public classes, functions and values of a file, without running it."""
    try:
        body = ast.parse(Path(file).read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return []
    names: list[str] = []
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            names += [one.id for one in node.targets if isinstance(one, ast.Name)]
    return [name for name in names if not name.startswith("_")]


def _module(path: Path, called: str) -> ModuleType:
    """Run a file once, and again when it has changed."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Misuse(f"Cannot read '{called}': {error.strerror or error}.") from error
    digest = hashlib.blake2b(content, digest_size=16).hexdigest()
    key = str(path), digest
    if key in _modules:
        return _modules[key]
    # The same file has the same name whatever it holds, so that compiled code is found again.
    place = hashlib.blake2b(str(path).encode(), digest_size=4).hexdigest()
    spec = importlib.util.spec_from_file_location(f"{path.stem}_{place}", path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    setattr(module, DIGEST, digest)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # last: what lies there must not replace a library
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    try:
        # Not by the loader: it would leave a cache of bytecode beside the user's file.
        exec(compile(content, str(path), "exec", dont_inherit=True), module.__dict__)
    except Exception as error:
        if before is None:
            del sys.modules[module.__name__]
        else:
            sys.modules[module.__name__] = before
        where = f"'{called}'{_line_of(error, path)}"
        raise AgentFailed(
            f"{where} raised {type(error).__name__}: {getattr(error, 'msg', error)}. "
            "Correct the file and try again."
        ) from error
    _modules[key] = module
    return module


def _line_of(error: Exception, path: Path) -> str:
    """Name the last line of a file on the way to an error."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f", line {error.lineno},"
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    return f", line {lines[-1]}," if lines else ""
