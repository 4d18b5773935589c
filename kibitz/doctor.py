"""Whether kibitz is sound on this machine, what is compiled, and which extras are there.

`examine()` makes some twenty checks within a second or two and compiles nothing large.
"""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from kibitz.core import tiers
from kibitz.core.chance import Chance, below, sow
from kibitz.core.compiled import JIT, compiled_loop
from kibitz.core.extras import fits, requirements
from kibitz.core.jit import cache, inspect, work
from kibitz.core.registry import find_game
from kibitz.play.loop import play_games
from kibitz.play.match import Runner, seated

SEED, STREAM = 1, (788, 251, 825, 666, 99, 633, 76, 32)  # what `below(1000)` draws first
SMALL_GAME, GAMES = "nim", 8
LEAST_SPACE = 200 * 2**20  # bytes for what all games need
SIGNS = "■●▲♥♠█─│±×–"  # that boards and tables are drawn with
EXTRAS = (
    "neural", "web", "tuning", "postgres", "gymnasium", "pettingzoo", "open-spiel", "sb3",
    "cluster", "notebook",
)  # fmt: skip
PINNED = ("numba", "numpy")
STORE, USUAL_STORE = "KIBITZ_STORE", "runs/leagues.sqlite"  # see kibitz.league.store


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at. Where `ok` is None it is good to know, and nothing more."""

    topic: str
    name: str
    ok: bool | None
    said: str
    remedy: str = ""


def examine(thorough: bool = False) -> list[Check]:
    """Check everything. thorough: play the tiny game compiled, even if that compiles it first."""
    found = inspect.survey()
    return [
        *_machine(), *_space(found), *_kept(found), *_variables(), *_sound(thorough), *_extras()
    ]  # fmt: skip


# --- the machine -------------------------------------------------------------------------------


def _machine() -> Iterator[Check]:
    def check(name: str, ok: bool | None, said: str, remedy: str = "") -> Check:
        return Check(topic="machine", name=name, ok=ok, said=said, remedy=remedy)

    yield check(
        "Python", sys.version_info >= (3, 11),
        f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "kibitz needs Python 3.11 or newer.",
    )  # fmt: skip
    bounds = dict(requirements(""))
    for name in PINNED:
        has, wanted = version(name), bounds.get(name, "")
        also = f", llvmlite {version('llvmlite')}" if name == "numba" else ""
        yield check(
            name, fits(has, wanted), f"{has}{also} (tested: {wanted})",
            f"pip install '{name}{wanted}'",
        )  # fmt: skip
    memory = ""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        memory = f", {in_words(total)} of memory"
    cores = work.cores()
    yield check("cores", None, f"{cores}{memory}")
    yield _terminal()
    yield _store()


def _terminal() -> Check:
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        SIGNS.encode(encoding)
        ok = True
    except (UnicodeEncodeError, LookupError):
        ok = False
    return Check(
        topic="machine", name="terminal", ok=ok,
        said=f"{encoding} shows the boards' characters" if ok else f"{encoding} lacks characters",
        remedy="export PYTHONUTF8=1, or choose a UTF-8 locale such as LANG=C.UTF-8",
    )  # fmt: skip


def _store() -> Check:
    where = os.environ.get(STORE) or USUAL_STORE
    if "://" in where:
        server = where.partition("://")[0]
        said = f"a {server} server, by {STORE}; not asked here"
        return Check(topic="machine", name="store", ok=None, said=said)
    folder = Path(where).absolute().parent
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            made = sqlite3.connect(os.path.join(place, "try.sqlite"))
            try:
                with made:
                    made.execute("create table numbers (number integer)")
                    made.execute("insert into numbers values (1)")
                rows = made.execute("select number from numbers").fetchall()
            finally:
                made.close()
        ok, said = rows == [(1,)], f"SQLite {sqlite3.sqlite_version} writes in {folder}"
    except (OSError, sqlite3.Error) as error:
        ok, said = False, f"SQLite cannot write in {folder}: {error}"
    remedy = f"Run kibitz in a folder that you may write, or name another file: {STORE}=FILE"
    return Check(topic="machine", name="store", ok=ok, said=said, remedy=remedy)


# --- compiled code -----------------------------------------------------------------------------


def _space(found: inspect.Survey) -> Iterator[Check]:
    for path, why in found.refused:
        yield Check(
            topic="cache", name="refused", ok=False, said=f"{path}: {why}",
            remedy=f"Make it a folder of your own, closed to others (chmod 700 {path}), or name "
            "another one: KIBITZ_CACHE=FOLDER",
        )  # fmt: skip
    if found.home is None:
        yield Check(
            topic="cache", name="folder", ok=False,
            said="none; every process compiles anew", remedy="KIBITZ_CACHE=FOLDER names one",
        )  # fmt: skip
        return
    by = f", named by {found.named_by}" if found.named_by and not found.refused else ""
    yield Check(topic="cache", name="folder", ok=True, said=f"{found.home}, private to you{by}")
    free = shutil.disk_usage(found.home).free
    yield Check(
        topic="cache", name="space", ok=free >= LEAST_SPACE,
        said=f"{in_words(found.bytes)} used, {in_words(free)} free",
        remedy="Make room, or name a folder on another disk: KIBITZ_CACHE=FOLDER",
    )  # fmt: skip


def _kept(found: inspect.Survey) -> Iterator[Check]:
    def note(name: str, said: str, remedy: str = "") -> Check:
        return Check(topic="cache", name=name, ok=None, said=said, remedy=remedy)

    if found.home is None:
        return
    ours = found.current
    if ours is None or not ours.functions:
        yield note("compiled", "nothing yet for this machine", "kibitz warm compiles ahead")
    else:
        size = in_words(ours.bytes)
        yield note("compiled", f"functions: {ours.functions}, {size}, for {ours.path.name}")
        groups: dict[str, list[int]] = {}
        for module in ours.modules:
            row = groups.setdefault(_group(module.name), [0, 0])
            row[0] += module.functions
            row[1] += module.bytes
        for name, (functions, size_) in sorted(groups.items()):
            yield note(f"  {name}", f"functions: {functions}, {in_words(size_)}")
        old = inspect.outdated(ours)
        if old.functions:
            names = ", ".join(old.functions)
            said = f"sources have changed since these were compiled: {names}"
            yield note("outdated", said, "They are compiled anew when they are needed: kibitz warm")
        if old.bytes:
            yield note("left over", f"{in_words(old.bytes)} of functions as they were earlier")
    for other in found.others:
        differs = "; ".join(_difference(name, *two) for name, two in other.differs.items())
        days = int((time.time() - other.used) / 86_400)
        yield note(
            "not for here",
            f"{other.path.name}, {in_words(other.bytes)}, last used {days} days ago: "
            f"{differs or 'made by another version of kibitz'}",
            f"It goes after {cache.UNUSED_DAYS} days unused, or with kibitz doctor --clear",
        )


def _group(module: str) -> str:
    """Name the game or the part of kibitz that a module belongs to."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["kibitz", "games"] and len(parts) > 2 else ".".join(parts[:2])


def _difference(name: str, there: str, here: str) -> str:
    if len(there) + len(here) > 60 or name.endswith("compiler"):
        return f"another {name}" if name != "features of the processor" else f"other {name}"
    return f"{name} {there or 'none'}, here {here or 'none'}"


def _variables() -> Iterator[Check]:
    names = [
        name for name in sorted(os.environ)
        if name.startswith(("KIBITZ_", "NUMBA_")) and name != STORE
    ]  # fmt: skip
    for name in names:
        value, ok, remedy = os.environ[name], None, ""
        allowed = (tiers.BACKGROUND, tiers.FIRST, tiers.LOOPS)
        if name == "KIBITZ_COMPILE" and value not in allowed:
            ok, remedy = False, f"It takes {', '.join(allowed)}"
        if name == "NUMBA_DISABLE_JIT" and not JIT:
            remedy = "Nothing is compiled, and everything is slow: unset it"
        yield Check(topic="variables", name=name, ok=ok, said=value, remedy=remedy)


# --- does it play right? -----------------------------------------------------------------------


@compiled_loop
def draw(seed, out):
    """Draw numbers below 1000 from a stream."""
    rng = np.zeros(4, np.int64)
    sow(rng, seed, 0, 0)
    for place in range(len(out)):
        out[place] = below(rng, 1000)


def _sound(thorough: bool) -> Iterator[Check]:
    remedy = "Install kibitz, NumPy and Numba again; then kibitz doctor --clear"

    def check(name: str, ok: bool | None, said: str) -> Check:
        return Check(topic="results", name=name, ok=ok, said=said, remedy=remedy if not ok else "")

    chance = Chance(SEED)
    ok = tuple(chance.below(1000) for _ in STREAM) == STREAM
    yield check("random numbers, Python", ok, "the known stream" if ok else "another stream")
    if JIT:
        drawn = np.zeros(len(STREAM), np.int64)
        draw(SEED, drawn)
        ok = tuple(drawn.tolist()) == STREAM
        yield check("random numbers, compiled", ok, "the known stream" if ok else "another stream")
    game = find_game(SMALL_GAME)
    plain = _play(game, in_loops=False)
    there = JIT and all(
        inspect.is_there(one.compiled)
        for one in (play_games, game.rules.deal.function, game.rules.play.function)
    )
    said = f"{GAMES} games of {game.name}"
    if not (there or (thorough and JIT)):
        yield Check(
            topic="results", name="a tiny game", ok=all(len(part) == GAMES for part in plain),
            said=f"{said} in Python; compiled it is not here yet",
        )  # fmt: skip
        return
    same = all(map(np.array_equal, plain, _play(game, in_loops=True)))
    result = "the same" if same else "NOT the same"
    yield check("a tiny game", same, f"{said}, {result} compiled and in Python")


def _play(game: Any, in_loops: bool) -> tuple[np.ndarray, np.ndarray]:
    points, plies = np.zeros((GAMES, game.players)), np.zeros(GAMES, np.int32)
    watched = None if in_loops else lambda place: None  # what is watched runs as Python
    Runner(game, seated(game, ["random"]), SEED, True, note=watched).play(0, points, plies)
    return points, plies


# --- extras ------------------------------------------------------------------------------------


def _extras() -> Iterator[Check]:
    for extra in EXTRAS:
        parts, lacks = [], False
        for name, wanted in requirements(extra):
            try:
                has = version(name)
            except PackageNotFoundError:
                parts.append(f"no {name}")
                lacks = True
                continue
            good = fits(has, wanted)
            parts.append(f"{name} {has}" + ("" if good else f" (wants {wanted})"))
            lacks = lacks or not good
        yield Check(
            topic="extras", name=extra, ok=None if lacks else True, said=", ".join(parts),
            remedy=f"pip install 'kibitz[{extra}]'" if lacks else "",
        )  # fmt: skip


def in_words(bytes_: float) -> str:
    """Write a size: `12 MB`."""
    for unit in ("bytes", "kB", "MB"):
        if bytes_ < 1000:
            return f"{bytes_:.0f} {unit}"
        bytes_ /= 1000
    return f"{bytes_:.1f} GB"
