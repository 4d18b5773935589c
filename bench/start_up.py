"""How long it takes until something happens: with nothing compiled yet, and after that.

Every row is a process of its own. "From an empty cache" means a new KIBITZ_CACHE each time. CPU
seconds count the process and all that it starts. Figures of before are those of commit 579c869, by
the same commands on the same kind of machine.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench import first_click
from bench.report import FellShort, Row, spread

ROOT = Path(__file__).parent.parent
ROUNDS = 7
COLD_ROUNDS = 3
KIBITZ = ["-c", "from kibitz.cli import main; main()"]
WARM = {
    "import kibitz": (["-c", "import kibitz"], ""),
    "kibitz games": ([*KIBITZ, "games"], "1.1 s"),
    "kibitz --help": ([*KIBITZ, "--help"], ""),
    "kibitz solve tapnswap": ([*KIBITZ, "solve", "tapnswap"], ""),
    "kibitz match nim take-one random": ([*KIBITZ, "match", "nim", "take-one", "random"], ""),
}
GAMES_WITHIN = 0.5  # seconds, warm
# What is typed, how many CPU seconds it may take from an empty cache, and took before.
MATCHES = {
    "match nim take-one random --games 1000": (5, "11.3 CPU-s"),
    "match nim perfect random --games 1000": (5, "9.7 CPU-s"),
    "match hanabi smart --games 1000": (12, "19.1 CPU-s"),
    "match carcassonne greedy greedy --games 20": (12, "48.4 CPU-s"),
    "match mexican_train greedy double --games 100": (None, "17.7 CPU-s"),
    "match tapnswap tapper random --games 1000": (None, "4.2 CPU-s"),
}
FIRST_LINE_WITHIN = 2.0  # seconds
SHOWN = {  # what is typed, and what the person types then
    "play tapnswap --seed 1": "2\n",
    "play hanabi --seed 1": "play 1\n",
    **{
        f"watch {game} --seed 1": ""
        for game in ("nim", "tapnswap", "mexican_train", "hanabi", "carcassonne")
    },
}
EDITS = {  # a file, and the room whose match is played then
    "kibitz/web/frame.py": "",
    "kibitz/games/nim/rules.py": "nim",
    "kibitz/games/hanabi/rules.py": "hanabi",
}


@dataclass(frozen=True, slots=True)
class Took:
    """What a process took."""

    seconds: float
    cpu: float
    out: str


@contextlib.contextmanager
def empty_cache() -> Iterator[dict[str, str]]:
    """Give an environment with an empty compile cache."""
    with tempfile.TemporaryDirectory(prefix="kibitz-bench-") as folder:
        yield {**os.environ, "KIBITZ_CACHE": folder}


def timed(arguments: list[str], environment: dict[str, str], cwd: Path = ROOT) -> Took:
    """Run Python with arguments and measure it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], check=True, capture_output=True, text=True, env=environment,
        cwd=cwd,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(seconds, cpu, done.stdout)


def first_answer(typed: str, then: str, environment: dict[str, str]) -> float:
    """Type a command, and a line once it waits for one; return the seconds until it answers."""
    process = subprocess.Popen(
        [sys.executable, *KIBITZ, *typed.split()], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env={**environment, "PYTHONUNBUFFERED": "1"}, cwd=ROOT,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    began = time.perf_counter()
    process.stdin.write(then.encode())
    process.stdin.close()
    try:
        if then:  # input ends after that line, and so does the program once it has answered
            process.stdout.read()
        else:
            for line in process.stdout:  # the head, then the first board
                if line.strip() and time.perf_counter() - began and b"seed" not in line:
                    break
        return time.perf_counter() - began
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def run() -> list[Row]:
    rows: list[Row] = []
    short: list[str] = []
    rows += _warm(short)
    rows += _matches(short)
    rows += _shown(short)
    rows += _cached(short)
    rows += first_click.run()
    if short:
        raise FellShort(rows, short)
    return rows


def _warm(short: list[str]) -> list[Row]:
    rows = []
    for what, (arguments, before) in WARM.items():
        took = [timed(arguments, dict(os.environ)) for _ in range(ROUNDS + 1)][1:]
        seconds = [one.seconds for one in took]
        rows.append(Row(
            what=f"`{what}`, warm", figure=f"{np.median(seconds):.2f} s", spread=spread(seconds),
            compared=_compared(f"{np.median([one.cpu for one in took]):.2f} CPU-s", before),
        ))  # fmt: skip
        if what == "kibitz games" and np.median(seconds) > GAMES_WITHIN:
            short.append(f"`{what}` took {np.median(seconds):.2f} s")
    return rows


def _matches(short: list[str]) -> list[Row]:
    rows = []
    for typed, (most, before) in MATCHES.items():
        took = []
        for _ in range(COLD_ROUNDS):
            with empty_cache() as environment:
                took.append(timed([*KIBITZ, *typed.split(), "--seed", "1"], environment))
        cpu = [one.cpu for one in took]
        rows.append(Row(
            what=f"`kibitz {typed}`, from an empty cache", figure=f"{np.median(cpu):.1f} CPU-s",
            spread=spread(cpu),
            compared=_compared(f"{np.median([one.seconds for one in took]):.1f} s", before),
        ))  # fmt: skip
        if most is not None and np.median(cpu) > most:
            short.append(f"`{typed}` took {np.median(cpu):.1f} CPU-s, over {most}")
    return rows


def _shown(short: list[str]) -> list[Row]:
    rows = []
    for typed, then in SHOWN.items():
        spans = []
        for _ in range(COLD_ROUNDS):
            with empty_cache() as environment:
                spans.append(first_answer(typed, then, environment))
        what = "a first move answered" if then else "first board"
        rows.append(Row(
            what=f"`kibitz {typed}`, {what}, from an empty cache",
            figure=f"{np.median(spans):.2f} s", spread=spread(spans),
        ))  # fmt: skip
        if np.median(spans) > FIRST_LINE_WITHIN:
            short.append(f"`{typed}` took {np.median(spans):.2f} s")
    return rows


PLAYED = "import kibitz; kibitz.match(kibitz.game({!r}), ['random'], games=2, seed=1)\n"
COUNT = (
    "from kibitz.core.jit import dispatch\n"
    "print(' '.join(name.removeprefix('kibitz.') for name in dispatch.compiled_here))"
)


def _compiled(package: Path, environment: dict[str, str]) -> list[str]:
    """Play a match of Nim and one of Hanabi with a copy of kibitz; name what was compiled."""
    code = PLAYED.format("nim") + PLAYED.format("hanabi") + COUNT
    # One process, so that what it compiles is all there is.
    surroundings = {**environment, "PYTHONPATH": str(package), "KIBITZ_CORES": "1"}
    return timed(["-P", "-c", code], surroundings, package).out.split()


def _cached(short: list[str]) -> list[Row]:
    """Edit a copy of kibitz, and move it: what is compiled anew?"""
    rows = []
    with tempfile.TemporaryDirectory() as folder, empty_cache() as environment:
        here, there = Path(folder) / "here", Path(folder) / "there"
        for place in (here, there):
            shutil.copytree(ROOT / "kibitz", place / "kibitz")
        first = len(_compiled(here, environment))
        rows.append(Row(what="compiled for random matches of Nim and Hanabi, empty cache",
                        figure=f"{first} functions"))  # fmt: skip
        moved = _compiled(there, environment)
        rows.append(Row(what="the same cache, another path", figure=f"{len(moved)} functions"))
        if moved:
            short.append(f"under another path {', '.join(moved)} were compiled anew")
        for file, room in EDITS.items():
            edited = there / file
            text = edited.read_text()
            head = "def score(state, points):\n"
            edited.write_text(text.replace(head, f"{head}    edited = 1\n") + "\nEDITED = 1\n")
            anew = _compiled(there, environment)
            edited.write_text(text)
            elsewhere = [name for name in anew if not room or f"games.{room}." not in name]
            rows.append(Row(
                what=f"one line of `{file}` edited", figure=f"{len(anew)} functions",
                compared=", ".join(anew),
            ))  # fmt: skip
            if elsewhere:
                short.append(f"editing {file} compiled {', '.join(elsewhere)} anew")
    return rows


def _compared(now: str, before: str) -> str:
    return f"{now}; before: {before}" if before else now
