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
from typing import Any

from kibitz.core import errors
from kibitz.core.errors import AgentFailed, KibitzError

LONGEST_LINE = 32 << 20  # bytes of an answer
PATIENCE = 120.0  # seconds; the first time compiles
WAITING = 64  # orders in line before new ones are refused

Heard = Callable[[Any], None]
GONE = "The process that was thinking has ended. Try again."


class Thinkers:
    """Some processes that think, and the line before them."""

    def __init__(self, count: int) -> None:
        self._free: asyncio.Queue[_Thinker] = asyncio.Queue()
        self._all = [_Thinker() for _ in range(count)]
        self._waiting = 0
        for thinker in self._all:
            self._free.put_nowait(thinker)

    async def start(self) -> None:
        """Start the processes before they are needed."""
        await asyncio.gather(*(thinker.start() for thinker in self._all))

    async def ask(
        self,
        order: dict[str, Any],
        heard: Heard | None = None,
        patience: float | None = PATIENCE,
    ) -> Any:
        """Give an order and wait for the answer; `heard` gets every part of it.

        Whoever cancels this ends the process that thinks. So does running out of `patience`, which
        begins anew with every part; None waits for ever.
        """
        if self._waiting >= WAITING:
            raise AgentFailed("Too many are thinking already. Try again in a moment.")
        self._waiting += 1
        try:
            thinker = await self._free.get()
        finally:
            self._waiting -= 1
        try:
            return await thinker.ask(order, heard, patience)
        finally:
            self._free.put_nowait(thinker)

    async def stop(self) -> None:
        """End all processes."""
        for thinker in self._all:
            await thinker.end()


class _Thinker:
    """One process; it is started when it is first needed."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                # -P: what lies in the current folder must not stand in for a library.
                sys.executable, "-P", "-m", "kibitz.web.thinker",
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LONGEST_LINE,
            )  # fmt: skip
        return self._process

    async def ask(self, order: dict[str, Any], heard: Heard | None, patience: float | None) -> Any:
        try:
            said = await self._converse(order, heard, patience)
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
        self, order: dict[str, Any], heard: Heard | None, patience: float | None
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
            if "part" not in said:
                return said
            if heard is not None:
                heard(said["part"])

    async def end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
