"""Compiling ahead, so that nobody waits for a compiler later.

from kibitz.warming import warm
warm([kibitz.game("nim")])

Functions and loops are shared out to several processes, which leave what they compile in the cache.
What a process has finished is kept, however the rest ends.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kibitz.core.compiled import JIT
from kibitz.core.errors import KibitzError, Misuse
from kibitz.core.game import Game
from kibitz.core.jit import cache, work
from kibitz.warming_work import (
    OWN,
    SHARED,
    TRAIN,
    functions_of,
    is_solvable,
    learners_of,
)

EVERY = "every game"
STEP = 20_000  # what running a step may cost, in bytes of bytecode
NEEDS_A_SOLVER = "solver"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A function to compile, or a step to run that compiles loops.

    group   the game that it belongs to, or `EVERY`
    game    the game to do it with
    key     of a function, empty for a step
    needs   groups of functions, and steps of `EVERY`, that come before it
    """

    group: str
    game: str
    name: str
    key: str = ""
    weight: int = STEP
    needs: frozenset[str] = frozenset()

    @property
    def step(self) -> str:
        """The step's name among groups: a game may be called `match`."""
        return f"step {self.name}"

    def __str__(self) -> str:
        return f"{self.group}: {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of a job."""

    job: Job
    compiled: tuple[str, ...] = ()  # names of functions and loops
    missing: str = ""  # the first that would be compiled, if it was only looked at
    error: str = ""
    seconds: float = 0.0  # of processor time

    @property
    def is_missing(self) -> bool:
        """Whether something was or would be compiled."""
        return bool(self.compiled or self.missing)


@dataclass(slots=True, kw_only=True)
class Warming:
    """What was compiled, or is missing."""

    kept: int = 0  # functions that were there already
    done: list[Done] = field(default_factory=list)
    seconds: float = 0.0  # on the clock

    @property
    def compiled(self) -> list[str]:
        """Names of all functions and loops that were compiled."""
        return [name for one in self.done for name in one.compiled]

    @property
    def missing(self) -> list[Done]:
        """What was or would be compiled."""
        return [one for one in self.done if one.is_missing]

    @property
    def failed(self) -> list[Done]:
        """What could not be done."""
        return [one for one in self.done if one.error]

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all processes together."""
        return sum(one.seconds for one in self.done)


Report = Callable[[int, int, Done | None], Any]  # done, total, what was done last


def warm(
    games: Sequence[Game],
    *,
    learners: bool = False,
    look: bool = False,
    cores: int | None = None,
    report: Report | None = None,
) -> Warming:
    """Compile what games need: rules, agents, matches, the search, the solver where it can solve.

    learners: the loops of training, too. look: compile nothing, and say what is missing. The result
    says what was done; whatever was kept already is left alone.
    """
    if not JIT:
        raise Misuse("Nothing can be compiled with NUMBA_DISABLE_JIT=1. Unset it.")
    if cache.folder() is None:
        raise KibitzError(
            "There is no folder in which compiled code could be kept. See kibitz doctor."
        )
    began = time.perf_counter()
    functions, steps = plan(games, learners)
    from kibitz.core.jit.calls import is_kept

    known = {key: one for game in games for key, one in functions_of(game).items()}
    missing = [job for job in functions if not is_kept(known[job.key])]
    found = Warming(kept=len(functions) - len(missing))
    incomplete = {job.group for job in missing}
    jobs = [*missing, *steps]
    if look:  # what needs functions that are missing cannot be looked at
        blocked = [job for job in steps if job.needs & incomplete]
        found.done = [Done(job=job, missing=job.name) for job in [*missing, *blocked]]
        jobs = [job for job in steps if job not in blocked]
    pool = _Pool(jobs, incomplete, look, report)
    try:
        found.done += pool.run(cores or work.cores())
    finally:
        pool.end()
    found.seconds = time.perf_counter() - began
    return found


def plan(games: Sequence[Game], learners: bool = False) -> tuple[list[Job], list[Job]]:
    """List the functions to compile and the steps to run; each only once."""
    games = [game for game in games if game.is_compiled]
    found: dict[str, Job] = {}
    sizes: dict[str, int] = {}
    for game in games:
        for key, known in functions_of(game).items():
            own = bool(game.room) and known.name.startswith(f"{game.room}.")
            name = known.name.removeprefix(f"{game.room}." if own else "kibitz.")
            weight = work.weight_of(known)
            job = Job(
                group=game.name if own else EVERY, game=game.name, name=name, key=key, weight=weight
            )
            found.setdefault(key, job)
            sizes[game.name] = sizes.get(game.name, 0) + (weight if own else 0)
    if not games:
        return [], []
    return list(found.values()), _steps(games, sizes, learners)


def _steps(games: Sequence[Game], sizes: dict[str, int], learners: bool) -> list[Job]:
    smallest = min(games, key=lambda game: sizes[game.name])
    solvable = [game for game in sorted(games, key=lambda g: sizes[g.name]) if is_solvable(game)]
    steps = []
    for name in SHARED:
        game = smallest
        if name == NEEDS_A_SOLVER:
            if not solvable:
                continue
            game = solvable[0]
        needs = frozenset({EVERY, game.name})
        steps.append(Job(group=EVERY, game=game.name, name=name, needs=needs))
    shared = frozenset(step.step for step in steps)
    for game in games:
        names = [*OWN, *(TRAIN + one for one in (learners_of(game) if learners else ()))]
        needs = frozenset({EVERY, game.name}) | shared
        steps += [Job(group=game.name, game=game.name, name=name, needs=needs) for name in names]
    return steps


# --- processes ---------------------------------------------------------------------------------


class _Pool:
    """Processes that take jobs from one list, and the threads that hand them on."""

    def __init__(
        self, jobs: Iterable[Job], incomplete: set[str], look: bool, report: Report | None
    ) -> None:
        self.waiting = list(jobs)
        self.total = len(self.waiting)
        self.incomplete = set(incomplete)  # groups of functions that are not all there
        self.look, self.report = look, report
        self.running: list[Job] = []
        self.done: list[Done] = []
        self.ended = False
        self.change = threading.Condition()
        self.processes: list[Any] = []

    def run(self, cores: int) -> list[Done]:
        """Do all jobs on so many cores."""
        count = min(cores, self.total)
        self.processes = [_start() for _ in range(count)]
        threads = [threading.Thread(target=self._serve, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.daemon = True
            thread.start()
        told = -1
        with self.change:
            while len(self.done) < self.total and any(thread.is_alive() for thread in threads):
                if self.report is not None and told < len(self.done):
                    told = self._tell(told)
                self.change.wait(timeout=0.2)
            if self.report is not None:
                self._tell(told)
        return self.done

    def _tell(self, told: int) -> int:
        assert self.report is not None
        if told < 0:
            self.report(0, self.total, None)
        for count in range(max(told, 0), len(self.done)):
            self.report(count + 1, self.total, self.done[count])
        return len(self.done)

    def end(self) -> None:
        """End all processes, whatever they are doing."""
        with self.change:
            self.ended = True
            self.change.notify_all()
        for process in self.processes:
            work.close(process)

    def _serve(self, place: int) -> None:
        group = ""
        while True:
            with self.change:
                job = self._next(group)
                while job is None and self.waiting and not self.ended:
                    self.change.wait()
                    job = self._next(group)
                if job is None or self.ended:
                    return
                self.waiting.remove(job)
                self.running.append(job)
            process = self.processes[place]
            done = _ask(process, job, self.look)
            with self.change:
                if process.poll() is not None and not self.ended:
                    self.processes[place] = _start()  # the next job must not fail with this one
                group = job.group
                self.running.remove(job)
                if not self.ended:
                    self.done.append(done)
                self._complete()
                self.change.notify_all()

    def _complete(self) -> None:
        open_ones = {job.group for job in (*self.waiting, *self.running) if job.key}
        self.incomplete &= open_ones

    def _next(self, group: str) -> Job | None:
        """Choose a job: functions that call the same others are best compiled by one process."""
        unfinished = {job.step for job in (*self.waiting, *self.running) if not job.key}
        unfinished |= self.incomplete
        ready = [job for job in self.waiting if not job.needs & unfinished]
        if not ready:
            return None
        taken = {job.group for job in self.running if job.key}
        left: dict[str, int] = {}
        for job in self.waiting:  # a group weighs what waits for it, too
            for one in {job.group} | job.needs:
                left[one] = left.get(one, 0) + job.weight

        def order(job: Job) -> tuple[bool, bool, int, int]:
            return job.group == group, job.group not in taken, left[job.group], job.weight

        return max(ready, key=order)


def _start() -> Any:
    return work.start(module="kibitz.warming_work", KIBITZ_CORES="1")


def _ask(process: Any, job: Job, look: bool) -> Done:
    order = {"game": job.game, "name": job.name, "key": job.key, "look": look}
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
    except (OSError, ValueError):
        return Done(job=job, error="the process that compiled it has ended")
    return Done(job=job, **{**answer, "compiled": tuple(answer["compiled"])})
