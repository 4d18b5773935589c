"""Where compiled code lies: a file for each function, named by its module, name, key and types.

cache/x86_64-skylake-4f3a../kibitz.games.nim.rules/play-8c1d..-90ab...run

A `.run` file holds machine code that is ready to run, a `.link` file what other functions include
when they are compiled. Nothing names a folder outside, so the cache of one clone serves another, a
container, or another machine with the same kind of processor.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kibitz.core.compiled import Compilable
from kibitz.core.jit.keys import compiler_key, digest, key_of

MARK = ".made-by-kibitz"
TIDIED = ".tidied"
UNUSED_DAYS = 30
MOST_BYTES = 2 * 1024**3
RUN, LINK = "run", "link"
# What Numba takes from NUMBA_.. variables or its configuration file, and compiled code depends on.
SETTINGS = (
    "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "DISABLE_INTEL_SVML", "ENABLE_AVX", "LOOP_VECTORIZE", "OPT",
    "SLP_VECTORIZE",
)  # fmt: skip


@functools.cache
def home() -> Path | None:
    """Find a folder for compiled code that nobody but this user, or root, may write.

    `KIBITZ_CACHE` or `NUMBA_CACHE_DIR` name it; otherwise it is the user's cache folder, or a
    private folder among the temporary files. None means: compile anew in every process.
    """
    return next((choice for choice in choices() if not refusal(choice)), None)


def choices() -> list[Path]:
    """List the folders that may serve as the home of compiled code, the preferred one first."""
    import platformdirs

    named = os.environ.get("KIBITZ_CACHE") or os.environ.get("NUMBA_CACHE_DIR")
    user = getattr(os, "getuid", lambda: "user")()
    return [
        Path(named) if named else platformdirs.user_cache_path("kibitz"),
        Path(tempfile.gettempdir()) / f"kibitz-{user}",
    ]


def refusal(folder: Path) -> str:
    """Return why a folder is not used, or nothing. What lies in a cache is run as code.

    It must be a folder, not a link, and only this user may write there. It is made if need be.
    One that cannot be written, as in a container's image, is used if it holds code for this
    machine; root may own it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        facts = folder.lstat()
        if stat.S_ISLNK(facts.st_mode):
            return "it is a link"
        if hasattr(os, "getuid"):
            if facts.st_uid not in (os.getuid(), 0):
                return "it belongs to another user"
            if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return "other users may write there"
        if (folder / target() / MARK).is_file():
            return ""
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except FileExistsError:
        return "it is not a folder"
    except OSError as error:
        return f"it cannot be written: {error.strerror}"


@functools.cache
def facts() -> dict[str, str]:
    """Return what compiled code depends on besides sources: processor, Python, Numba, LLVM."""
    import llvmlite
    import llvmlite.binding as llvm
    import numba
    import numpy
    from numba.core import codegen, config

    settings: Any = config
    features = settings.CPU_FEATURES
    return {
        "system": llvm.get_process_triple(),
        "processor": settings.CPU_NAME or llvm.get_host_cpu_name(),
        "features of the processor": (
            codegen.get_host_cpu_features() if features is None else features
        ),
        "Python": f"{sys.version_info[0]}.{sys.version_info[1]} ({sys.implementation.cache_tag})",
        "Numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "NumPy": numpy.__version__,
        "settings": " ".join(f"{name}={getattr(settings, name)}" for name in SETTINGS),
        "kibitz's compiler": compiler_key(),
    }


@functools.cache
def target() -> str:
    """Name the kind of code that is compiled here, after all that it depends on."""
    known = facts()
    system = known["system"].partition("-")[0]
    return f"{system}-{known['processor']}-{digest(repr(known))}"


@functools.cache
def folder() -> Path | None:
    """Find the folder for this machine's kind of compiled code, or None."""
    top = home()
    if top is None:
        return None
    here = top / target()
    with contextlib.suppress(OSError):  # it may be read only
        here.mkdir(exist_ok=True, mode=0o700)
        if not (here / MARK).exists():
            (here / MARK).write_text(json.dumps(facts(), indent=1), encoding="utf-8")
        os.utime(here)
    if not here.is_dir():
        return None
    _forget_unused(top)
    return here


def path_of(known: Compilable, types: str, kind: str) -> Path | None:
    """Return where a function's compiled form for these types lies, or None without a cache."""
    top = folder()
    if top is None:
        return None
    return top / known.function.__module__ / f"{stem_of(known)}-{digest(types)[:8]}.{kind}"


def stem_of(known: Compilable) -> str:
    """Return how the names of a function's files begin: with its name and its key."""
    name = known.function.__qualname__.replace("<locals>.", "").replace("<", "").replace(">", "")
    return f"{name}-{key_of(known)}"


def read(path: Path | None) -> bytes | None:
    """Read a file of the cache, or return None where there is none."""
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # it is in use: see _forget_unused
    return data


def write(path: Path | None, data: bytes) -> None:
    """Write a file of the cache in one step; a full disk costs the cache only."""
    if path is None:
        return
    # Machines that share a cache may have processes of the same number.
    part = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        path.parent.mkdir(exist_ok=True, mode=0o700)
        part.write_bytes(data)
        part.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()


def files(top: Path) -> Iterator[Path]:
    """Yield the files of compiled code below a folder, and what was left of any by a crash."""
    for kind in (RUN, LINK):
        yield from top.glob(f"*/*.{kind}")
        yield from top.glob(f"*/.*.{kind}.*")


def _forget_unused(top: Path) -> None:
    """Once a day drop what was not used for a month, and the oldest beyond the size limit.

    Only folders that this module has made and marked are touched.
    """
    stamp = top / TIDIED
    now = time.time()
    try:
        if stamp.exists() and now - stamp.stat().st_mtime < 86_400:
            return
        stamp.touch()
        oldest = now - UNUSED_DAYS * 86_400
        ours = [one for one in top.iterdir() if (one / MARK).is_file()]
        for one in ours:
            if one.stat().st_mtime < oldest:
                shutil.rmtree(one, ignore_errors=True)
        kept = sorted(
            (
                (path.stat().st_mtime, path.stat().st_size, path)
                for one in ours
                for path in files(one)
            ),
            reverse=True,
        )
        total = 0
        for used, size, path in kept:
            total += size
            if used < oldest or total > MOST_BYTES:
                path.unlink(missing_ok=True)
    except OSError:
        return
