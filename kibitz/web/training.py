"""One training run: its state, how far it is, and the process that trains."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from kibitz.core.errors import Misuse
from kibitz.core.training import MODEL, SNAPSHOT
from kibitz.web.plan import Plan
from kibitz.web.rows import Rows
from kibitz.web.trainer import FOLDER, STOP_SECONDS

LONGEST_LINE = 8 << 20  # bytes of what a process says at once
LONGEST_WORDS = 300


class Refused(Misuse):
    """What a person asked of a run may not be done."""


class State(StrEnum):
    """How a run stands."""

    WAITING = "waiting"
    AT_WORK = "at work"
    PAUSING = "pausing"  # until the present step is done
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    DONE = "done"
    FAILED = "failed"

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for its turn."""
        return self is State.WAITING

    @property
    def is_alive(self) -> bool:
        """Whether a process trains, or waits to go on."""
        return self in (State.AT_WORK, State.PAUSING, State.PAUSED, State.STOPPING)

    @property
    def is_busy(self) -> bool:
        """Whether it uses the machine."""
        return self in (State.AT_WORK, State.PAUSING, State.STOPPING)

    @property
    def is_paused(self) -> bool:
        """Whether it waits, or is about to."""
        return self in (State.PAUSING, State.PAUSED)


class Training:
    """A run, and the process that does its work while there is one."""

    def __init__(
        self, id: str, plan: Plan, host: str, folder: Path, created: float | None = None
    ) -> None:
        self.id, self.plan, self.host, self.folder = id, plan, host, folder
        self.created = time.time() if created is None else created
        self.changed_at = self.created
        self.state = State.WAITING
        self.reason = ""  # why it failed, or was stopped
        self.done, self.total, self.words = 0, 0, ""
        self.result: dict[str, Any] = {}  # what the learner says in the end
        self.rows = Rows()
        self.snapshots = 0  # written since the process began
        self.version = 0
        self.process: asyncio.subprocess.Process | None = None
        self.told = False  # whether the process has said how far it is
        self.freed: Callable[[], None] = lambda: None  # told when it makes room for others
        self._outcome: tuple[State, str] | None = None  # once the process has said it
        self._is_gone = False
        self._seconds = 0.0  # at work, until the last change of state
        self._since: float | None = None
        self._pace: tuple[float, int] | None = None  # when, and how far, it was first heard of

    # --- saying --------------------------------------------------------------------------------

    @property
    def has_model(self) -> bool:
        """Whether there is an agent to play against."""
        files = (SNAPSHOT, MODEL) if self.state is State.DONE else (SNAPSHOT,)
        return any((self.folder / FOLDER / name).is_file() for name in files)

    @property
    def share(self) -> float:
        """How much of it is done."""
        if self.state is State.DONE:
            return 1.0
        return min(1.0, self.done / self.total) if self.total else 0.0

    @property
    def seconds(self) -> float:
        """How long it has been at work."""
        running = time.monotonic() - self._since if self._since is not None else 0.0
        return self._seconds + running

    @property
    def left(self) -> float | None:
        """How many seconds it will still take, as far as one can tell."""
        if self._pace is None or self.state is not State.AT_WORK or not self.total:
            return None
        at, done = self._pace
        if self.done <= done:
            return None
        return (self.seconds - at) * (self.total - self.done) / (self.done - done)

    def how_far(self) -> str:
        """Say how far it is."""
        if self.state is State.DONE:
            return "done"
        return f"{self.done:,} of {self.total:,} steps" if self.total else "not begun yet"

    # --- changing ------------------------------------------------------------------------------

    def turn(self, state: State, reason: str = "") -> None:
        """Change the state."""
        now = time.monotonic()
        if state.is_busy and self._since is None:
            self._since, self._pace = now, None
        elif not state.is_busy and self._since is not None:
            self._seconds, self._since = self._seconds + now - self._since, None
        self.state, self.reason = state, reason[:2000]
        self.changed_at = time.time()
        self.version += 1

    def heard(self, said: Mapping[str, Any]) -> None:
        """Take in what the process says."""
        self.version += 1
        if said.get("told"):
            self.told = True
            self.done, self.total = int(said["told"][0]), int(said["told"][1])
            self.words = str(said["told"][2])[:LONGEST_WORDS]
            if self._pace is None:
                self._pace = self.seconds, self.done
        for number, row in said.get("rows") or ():
            self.rows.add(int(number), dict(row))
        if "snapshot" in said:
            self.snapshots += 1
        if said.get("paused") and self.state is State.PAUSING:
            self.turn(State.PAUSED)
            self.freed()
        if "done" in said:
            self.result = dict(said["done"])
            self._outcome = State.DONE, ""
        elif "failed" in said:
            self._outcome = State.FAILED, str(said["failed"])
        elif "stopped" in said and self._outcome is None:
            self._outcome = State.STOPPED, ""

    # --- the process ---------------------------------------------------------------------------

    async def work(self, order: Mapping[str, Any]) -> None:
        """Run the process that trains, and hear it until it ends."""
        self.snapshots, self.told, self._outcome = 0, False, None
        try:
            process = await asyncio.create_subprocess_exec(
                # -P: what lies in the current folder must not stand in for a library. A session of
                # its own: Ctrl-C is for the server, which then lets it stop in its own time.
                sys.executable, "-P", "-m", "kibitz.web.trainer",
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LONGEST_LINE,
                cwd=self.folder, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            self.turn(State.FAILED, f"No process could be started: {error.strerror}.")
            return
        self.process = process
        assert process.stdout is not None
        try:
            self._write(order)
            for state, what in ((State.STOPPING, "stop"), (State.PAUSING, "pause")):
                if self.state is state:  # said before there was anybody to hear it
                    self.send(what)
            if self._is_gone:
                await self._end(process)
            while line := await process.stdout.readline():
                self.heard(json.loads(line))
            code = await process.wait()
        except (ValueError, LookupError, TypeError, OSError) as error:
            code = await self._end(process)
            self._outcome = State.FAILED, f"Its process said something strange: {error!r}."
        finally:
            self.process = None
        if self._outcome is not None:
            self.turn(*self._outcome)
        elif self.state is State.STOPPING or self._is_gone:
            self.turn(State.STOPPED)
        else:
            self.turn(State.FAILED, _death(code))

    def send(self, what: str) -> None:
        """Give the process an order."""
        self._write({"do": what})
        if what == "stop" and self.process is not None:
            asyncio.get_running_loop().create_task(self._end_late(self.process))

    def _write(self, words: Mapping[str, Any]) -> None:
        if self.process is not None and self.process.stdin is not None:
            with contextlib.suppress(ConnectionError, RuntimeError):
                self.process.stdin.write(json.dumps(words).encode() + b"\n")

    def hang_up(self) -> None:
        """Leave the process alone: it stops with a checkpoint, whether we are there or not."""
        if self.process is not None and self.process.stdin is not None:
            if self.state is not State.STOPPING:
                self.turn(State.STOPPING)
            self.process.stdin.close()
        else:
            self._is_gone = True

    async def kill(self) -> None:
        """End the process at once, and for good."""
        self._is_gone = True
        if self.process is not None:
            await self._end(self.process)

    async def _end_late(self, process: asyncio.subprocess.Process) -> None:
        """End a process that should have stopped long ago."""
        await asyncio.sleep(STOP_SECONDS + 10.0)
        if self.process is process:
            await self._end(process)

    async def _end(self, process: asyncio.subprocess.Process) -> int:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        return await process.wait()

    # --- files ---------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Write how it stands."""
        return {
            "state": self.state, "reason": self.reason, "done": self.done, "total": self.total,
            "words": self.words, "seconds": self.seconds, "result": self.result,
            "changed": self.changed_at,
        }  # fmt: skip

    def take_up(self, content: Mapping[str, Any]) -> None:
        """Read what `to_dict` wrote."""
        self.done, self.total = int(content["done"]), int(content["total"])
        self.words, self.reason = str(content["words"]), str(content["reason"])
        self._seconds = float(content["seconds"])
        self.result = dict(content["result"])
        self.changed_at = float(content["changed"])
        self.state = State(content["state"])


def _death(code: int) -> str:
    """Say why a process may have ended without a word."""
    if code == -signal.SIGKILL:
        return (
            "Its process was ended from outside, perhaps because memory ran out. Resume it, or "
            "begin again with smaller settings."
        )
    return f"Its process ended without a word (code {code}). Resume it to try again."
