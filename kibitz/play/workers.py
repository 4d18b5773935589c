"""Further processes that play games of matches; each plays its share.

A worker is `python -m kibitz.play.worker`: it reads its orders as JSON lines and answers with
plain arrays, so nothing is pickled and the caller's script is not run again. A marker, a few bytes
in a file that both have mapped, says which agent is thinking and since when: whoever waits for a
worker can tell an agent that has stalled or brought its process down, and end it.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import numpy as np

from kibitz.core import errors, own_code
from kibitz.core.errors import AgentFailed, KibitzError
from kibitz.core.game import Game

SHARES = 20  # orders per worker: small enough to balance and to show progress
CHANGED = "its model, its settings or its program has changed since it joined."
NEW = 5  # times as much patience with agents that may have to compile first
NOBODY, EVERYBODY = -1, -2  # places: none is thinking; all are, in compiled games


class Stalled(AgentFailed):
    """Compiled games took too long, or ended their process; `game` is the first of them.

    Who is to blame shows when they are played again with every move watched.
    """

    game = 0


class WorkerEnded(AgentFailed):
    """A process ended while none of the agents was thinking."""


class Marker:
    """Who is thinking, in which game, and since when, in memory that two processes share."""

    LAYOUT = struct.Struct("<qqd")

    def __init__(self, path: str) -> None:
        with open(path, "r+b") as file:
            self._bytes = mmap.mmap(file.fileno(), self.LAYOUT.size)
        self.path = path
        self.place, self.game = NOBODY, 0

    def remove(self) -> None:
        """Remove the file; whoever has mapped it keeps the memory."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)

    def begin(self, place: int, game: int) -> None:
        """Say which game comes next, and who is thinking."""
        self.game = game
        self.note(place)

    def note(self, place: int) -> None:
        """Say who is thinking from now on."""
        self.place = place
        self.LAYOUT.pack_into(self._bytes, 0, place, self.game, time.monotonic())

    def idle(self) -> None:
        """Say that there is nothing to do."""
        self.begin(NOBODY, 0)

    def read(self) -> tuple[int, int, float]:
        """Give who is thinking, in which game, and since when."""
        return self.LAYOUT.unpack_from(self._bytes, 0)


class Worker:
    """A process that plays games. Give it orders one at a time."""

    def __init__(self) -> None:
        handle, path = tempfile.mkstemp(prefix=f"kibitz-{os.getpid()}-")
        os.write(handle, bytes(Marker.LAYOUT.size))
        os.close(handle)
        self.marker = Marker(path)
        self.marker.idle()
        self._known: set[str] = set()  # agents that have answered before
        self._surroundings = _surroundings()
        self.process = subprocess.Popen(
            # -P: what lies in the current folder must not stand in for a library.
            [sys.executable, "-P", "-m", "kibitz.play.worker", path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def play(
        self,
        about: dict[str, Any],
        first: int,
        points: np.ndarray,
        plies: np.ndarray,
        patience: float | None = None,
    ) -> bool:
        """Play as many games as there are rows, from game number `first`; tell if compiled.

        `about` is what `about_match` gives. With `patience`, an agent that thinks for more seconds
        than that about a move, or whose compiled games take longer, is stopped with the process;
        for agents who are new to it that is `NEW` times as long, since they may compile.
        """
        size = points.nbytes + plies.nbytes
        said, data = self._ask(about, first, len(points), patience, size)
        points[:] = np.frombuffer(data[: points.nbytes]).reshape(points.shape)
        plies[:] = np.frombuffer(data[points.nbytes :], np.int32)
        return said["compiled"]

    def record(self, about: dict[str, Any], game: int, patience: float | None = None) -> str:
        """Play one game and give its record, as JSON."""
        said, _ = self._ask(about, game, 1, patience, None)
        return said["record"]

    def _ask(
        self,
        about: dict[str, Any],
        first: int,
        count: int,
        patience: float | None,
        size: int | None,
    ) -> tuple[Any, bytes]:
        """Give an order; answer with what was said and so many bytes, or none with a record."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        order = {**about, "first": first, "count": count, "record": size is None}
        new = set(about["agents"]) - self._known
        watch = _Watch(self, patience and patience * (NEW if new else 1))
        try:
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.flush()
            said = json.loads(self.process.stdout.readline() or "null")
            if said and "error" in said:
                error = getattr(errors, said["error"], KibitzError)(said["message"])
                error.place = said["place"]
                raise error
            data = self.process.stdout.read(size or 0) if said else b""
            if not said or len(data) < (size or 0):
                raise self._blame(about["agents"], watch)
        except BrokenPipeError as error:
            raise self._blame(about["agents"], watch) from error
        finally:
            watch.end()
        self._known |= new
        return said, data

    def _blame(self, agents: Sequence[str], watch: _Watch) -> AgentFailed:
        """Say why there was no answer, and whose fault that is."""
        self.process.kill()
        self.process.wait()  # so that everybody sees that it has ended
        place, game, _ = watch.found or self.marker.read()
        did = f"took more than {watch.patience:g} s" if watch.found else "ended its process"
        if place >= 0:
            name = agents[place % len(agents)]
            return AgentFailed(f"{name} {did} in game {game}.").of(place)
        if place == EVERYBODY:
            stalled = Stalled(f"Compiled games of {', '.join(agents)} {did}.")
            stalled.game = game
            return stalled
        return WorkerEnded(
            f"A worker process ended without an answer (exit code {self.process.returncode}) while "
            "no agent was thinking; see what it printed, and whether there is memory left."
        )

    def is_usable(self) -> bool:
        """Tell whether it runs, and would see the same folder and variables as a new one."""
        return self.process.poll() is None and self._surroundings == _surroundings()

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.communicate()
        self.marker.remove()


def _surroundings() -> tuple[str, dict[str, str]]:
    """Give what a process takes over from this one when it starts."""
    return os.getcwd(), dict(os.environ)


class _Watch:
    """Looks at a worker's marker now and then, and ends the worker when patience has run out."""

    def __init__(self, worker: Worker, patience: float | None) -> None:
        self.patience = patience
        self.found: tuple[int, int, float] | None = None
        self._over = threading.Event()
        if patience is not None:
            threading.Thread(target=self._look, args=(worker, patience), daemon=True).start()

    def _look(self, worker: Worker, patience: float) -> None:
        tick = min(0.25, patience / 4)
        waited, last = 0.0, (NOBODY, 0, 0.0)
        # Time counts in ticks of our own: a machine that slept, or Ctrl-Z, is nobody's fault.
        while not self._over.wait(tick):
            seen = worker.marker.read()
            waited = waited + tick if seen == last and seen[0] != NOBODY else 0.0
            last = seen
            if waited > patience:
                self.found = seen
                worker.process.kill()
                return

    def end(self) -> None:
        self._over.set()


def about_match(
    game: Game,
    agents: Sequence[str],
    seed: int,
    duplicate: bool,
    *,
    fingerprints: Sequence[str] = (),
    one_by_one: bool = False,
    watched: bool = False,
) -> dict[str, Any]:
    """Say what a worker must know of a match.

    Agents must have the `fingerprints`, if any are given. Compiled games are marked many at a time,
    `one_by_one`, or move by move if they are `watched`.
    """
    return {
        "game": game.name, "settings": dict(game.settings), "agents": list(agents), "seed": seed,
        "duplicate": duplicate, "fingerprints": list(fingerprints), "one_by_one": one_by_one,
        "watched": watched, "own_code": own_code.allowed(),
    }  # fmt: skip


def in_workers(
    game: Game,
    agents: Sequence[str],
    seed: int,
    duplicate: bool,
    first: int,
    points: np.ndarray,
    plies: np.ndarray,
    cores: int,
    progress: Callable[[int, int], Any] | None,
) -> None:
    """Play the games from `first` on in as many processes as there are cores."""
    total = len(points)
    size = max(1, (total - first) // (cores * SHARES))
    orders = [(at, min(size, total - at)) for at in range(first, total, size)]
    about = about_match(game, agents, seed, duplicate)
    workers = [Worker() for _ in range(cores)]
    free = list(workers)
    done = first

    def play(at: int, count: int) -> int:
        worker = free.pop()
        rows = slice(at, at + count)
        try:
            worker.play(about, at, points[rows], plies[rows])
        finally:
            free.append(worker)
        return count

    try:
        with ThreadPoolExecutor(cores) as pool:
            futures = [pool.submit(play, at, count) for at, count in orders]
            try:
                for future in as_completed(futures):
                    done += future.result()
                    if progress is not None:
                        progress(done, total)
            finally:
                for future in futures:
                    future.cancel()
                if done < total:  # an error or an interrupt: do not wait for the others
                    for worker in workers:
                        worker.process.kill()
    finally:
        for worker in workers:
            worker.kill()
