"""What lies in the cache of compiled code, and what of it is out of date.

Nothing here compiles. Numba is imported only to name what this machine compiles for.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kibitz.core.compiled import Compilable
from kibitz.core.jit import cache
from kibitz.core.jit.work import held_by

OURS = "kibitz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """The compiled functions of one module."""

    name: str
    functions: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Code that was compiled for one processor, Python and Numba.

    differs   what it was compiled with that is otherwise here: name -> (there, here)
    """

    path: Path
    is_ours: bool  # this machine, as it is, runs it
    modules: tuple[Module, ...]
    bytes: int
    files: int
    used: float  # when it was last used, in seconds of the clock
    differs: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def functions(self) -> int:
        """How many functions there are."""
        return sum(module.functions for module in self.modules)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The cache as it is: where it lies, which folders were refused, and what is in it."""

    home: Path | None
    named_by: str  # the variable that names the folder, if one does
    refused: tuple[tuple[Path, str], ...]  # folders that come first, and why they are not used
    targets: tuple[Target, ...] = ()

    @property
    def current(self) -> Target | None:
        """What this machine runs, if something was compiled."""
        return next((target for target in self.targets if target.is_ours), None)

    @property
    def others(self) -> list[Target]:
        """What this machine cannot run, or runs no longer."""
        return [target for target in self.targets if not target.is_ours]

    @property
    def bytes(self) -> int:
        """The size of everything."""
        return sum(target.bytes for target in self.targets)


def survey() -> Survey:
    """Look at the cache."""
    variables = ("KIBITZ_CACHE", "NUMBA_CACHE_DIR")
    refused = []
    home = None
    for choice in cache.choices():
        why = cache.refusal(choice)
        if not why:
            home = choice
            break
        refused.append((choice, why))
    return Survey(
        home=home,
        named_by=next((name for name in variables if os.environ.get(name)), ""),
        refused=tuple(refused),
        targets=tuple(map(_target, marked(home))) if home is not None else (),
    )


def marked(home: Path) -> list[Path]:
    """List the folders of compiled code that kibitz has made in a cache folder."""
    return sorted(
        one for one in home.iterdir() if not one.is_symlink() and (one / cache.MARK).is_file()
    )


def _target(path: Path) -> Target:
    modules = []
    total = files = 0
    for folder in sorted(one for one in path.iterdir() if one.is_dir()):
        found = [(file, file.stat().st_size) for file in _code_in(folder)]
        size = sum(bytes_ for _, bytes_ in found)
        stems = {_stem(file) for file, _ in found}
        modules.append(Module(name=folder.name, functions=len(stems), bytes=size))
        total += size
        files += len(found)
    return Target(
        path=path, is_ours=path.name == cache.target(), modules=tuple(modules), bytes=total,
        files=files, used=path.stat().st_mtime, differs=_differences(path),
    )  # fmt: skip


def _code_in(folder: Path) -> Iterator[Path]:
    for kind in (cache.RUN, cache.LINK):
        yield from folder.glob(f"*.{kind}")


def _stem(file: Path) -> str:
    """Return a file's name without the types: the function's name and key."""
    return file.stem.rpartition("-")[0]


def _differences(path: Path) -> dict[str, tuple[str, str]]:
    try:
        there = json.loads((path / cache.MARK).read_text(encoding="utf-8"))
        here = cache.facts()
        return {name: (there[name], here[name]) for name in here if there[name] != here[name]}
    except (OSError, ValueError, KeyError, TypeError):  # an earlier version has left it
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """Functions whose sources have changed since they were compiled."""

    functions: tuple[str, ...]  # their full names; they are compiled anew when they are needed
    bytes: int  # of all files that nothing will ask for again


def outdated(target: Target) -> Outdated:
    """Compare what lies in the cache with the functions that kibitz has now."""
    names: set[str] = set()
    size = 0
    for module in target.modules:
        if module.name.partition(".")[0] != OURS:
            continue
        known = stems_in(module.name)
        files = list(_code_in(target.path / module.name))
        there = {_stem(file) for file in files}
        for file in files:
            stem = _stem(file)
            name = stem.rpartition("-")[0]
            if "." in name or stem in known.get(name, ()):
                continue  # what is made within a function cannot be found by its name
            size += file.stat().st_size
            if not there & known.get(name, set()):
                names.add(f"{module.name}.{name}")
    return Outdated(functions=tuple(sorted(names)), bytes=size)


def stems_in(module: str) -> dict[str, set[str]]:
    """Return how the files of a module's functions begin today, by the functions' names."""
    found: dict[str, set[str]] = {}
    try:
        values = list(vars(importlib.import_module(module)).values())
    except ImportError:
        return found
    for value in values:
        for known in held_by(value):
            if known.function.__module__ == module:
                stem = cache.stem_of(known)
                found.setdefault(stem.rpartition("-")[0], set()).add(stem)
    return found


def clear(home: Path) -> int:
    """Remove the compiled code that kibitz has put into a folder, and nothing else.

    Return how many bytes that were.
    """
    gone = 0
    for path in marked(home):
        gone += sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        shutil.rmtree(path, ignore_errors=True)
    (home / cache.TIDIED).unlink(missing_ok=True)
    return gone


def is_there(known: Compilable) -> bool:
    """Whether machine code of a function or loop lies in the cache, for whatever types."""
    home = cache.home()
    if home is None:
        return False
    folder = home / cache.target() / known.function.__module__
    return any(folder.glob(f"{cache.stem_of(known)}-*.{cache.RUN}"))
