"""Asking processes that think, without waiting for them: each has one order at a time.

A thinker that is stopped, stalls or dies takes only its own order with it; the next order starts a
new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kibitz.core import errors
from kibitz.core.errors import AgentFailed, KibitzError

LONGEST_LINE = 32 << 20  # bytes of an answer
PATIENCE = 120.0  # seconds without a word
WAITING = 64  # orders in line before new ones are refused

Heard = Callable[[Any], None]
LOW = 5  # how much a process that thinks long yields to pages and quick answers
GONE = "The process that was thinking has ended. Try again."


@dataclass(frozen=True, slots=True)
class Stage:
    """How far an order is: in line, being prepared (some functions of a total), or at work."""

    waits: bool = False
    done: int = 0
    total: int = 0

    @property
    def is_preparing(self) -> bool:
        """Whether something is being compiled first."""
        return self.done < self.total

    def words(self) -> str:
        """Say it in words that follow a name."""
        if self.waits:
            return "waits until another agent has finished"
        if self.is_preparing:
            return "is being prepared"
        return "thinks"

    def counted(self) -> str:
        """Say how much is prepared."""
        return f"{self.done} of {self.total} function{'s' * (self.total > 1)} compiled (only once)"


THINKS = Stage()
WAITS = Stage(waits=True)
Told = Callable[[Stage], None]


class Thinkers:
    """Some processes that think, and the line before them."""

    def __init__(self, count: int, nice: int = 0) -> None:
        self._all = [_Thinker(nice) for _ in range(count)]
        self._free = list(self._all)
        self._turns = asyncio.Semaphore(count)
        self._waiting = 0

    async def start(self) -> None:
        """Start the processes before they are needed."""
        await asyncio.gather(*(thinker.start() for thinker in self._free))

    async def ask(
        self,
        order: dict[str, Any],
        heard: Heard | None = None,
        patience: float | None = PATIENCE,
        told: Told | None = None,
        near: object = None,
    ) -> Any:
        """Give an order and wait for the answer; `heard` gets every part of it.

        Whoever cancels this ends the process that thinks. So does running out of `patience`, which
        begins anew with every part; None waits for ever. `told` gets the stage whenever it changes.
        An order is given to a process that had one with the same `near`, if there is one: it has
        loaded what is needed.
        """
        if self._waiting >= WAITING:
            raise AgentFailed("Too many are thinking already. Try again in a moment.")
        told = told or (lambda stage: None)
        self._waiting += 1
        try:
            if self._turns.locked():
                told(WAITS)
            await self._turns.acquire()
        finally:
            self._waiting -= 1
        thinker = next((one for one in self._free if near in one.near), self._free[0])
        self._free.remove(thinker)
        try:
            told(THINKS)
            thinker.near.add(near)
            return await thinker.ask(order, heard, patience, told)
        finally:
            self._free.append(thinker)
            self._turns.release()

    @property
    def pids(self) -> list[int]:
        """The processes that are there."""
        return [one.pid for one in self._all if one.pid is not None]

    async def stop(self) -> None:
        """End all processes."""
        for thinker in self._all:
            await thinker.end()


class _Thinker:
    """One process; it is started when it is first needed."""

    def __init__(self, nice: int) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._nice = nice
        self._starting = asyncio.Lock()
        self.near: set[object] = set()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    async def start(self) -> asyncio.subprocess.Process:
        async with self._starting:  # two who come at once must not start two processes
            if self._process is None or self._process.returncode is not None:
                self._process = await asyncio.create_subprocess_exec(
                    # -P: what lies in the current folder must not stand in for a library.
                    sys.executable, "-P", "-m", "kibitz.web.thinker", str(self._nice),
                    stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                    limit=LONGEST_LINE,
                )  # fmt: skip
            return self._process

    async def ask(
        self, order: dict[str, Any], heard: Heard | None, patience: float | None, told: Told
    ) -> Any:
        try:
            said = await self._converse(order, heard, patience, told)
        except TimeoutError:
            await self.end()
            raise AgentFailed(
                f"This took more than {patience:g} seconds, and was stopped."
            ) from None
        except (ConnectionError, ValueError) as error:
            await self.end()
            raise AgentFailed(GONE) from error
        except BaseException:  # nobody may read what is left of this answer as their own
            await self.end()
            raise
        if "error" in said:
            raise getattr(errors, said["error"], KibitzError)(said["message"])
        return said["answer"]

    async def _converse(
        self, order: dict[str, Any], heard: Heard | None, patience: float | None, told: Told
    ) -> dict[str, Any]:
        """Give an order and hear all parts of the answer; give what ends it."""
        process = await self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(order).encode() + b"\n")
        await process.stdin.drain()
        while True:
            line = await asyncio.wait_for(process.stdout.readline(), patience)
            if not line:
                raise ConnectionError
            said = json.loads(line)
            if "preparing" in said:
                told(Stage(done=said["preparing"], total=said["of"]))
            elif "part" not in said:
                return said
            elif heard is not None:
                heard(said["part"])

    async def end(self) -> None:
        process, self._process = self._process, None
        self.near.clear()
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
