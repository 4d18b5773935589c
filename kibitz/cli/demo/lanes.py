"""The processes of the demo: they start together, and end with it whatever happens."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from kibitz.cli.demo.parts import LANES, PLAIN

TICK = 0.1  # seconds between two looks at the clock


class PartFailed(Exception):
    """A part has no result; the message says why.

    A refusal is no fault: something is not installed, for one.
    """

    is_refusal = False


class Lanes:
    """Processes that compute the parts. Ask for results by key, in any order.

    with Lanes(seed=1) as lanes:
        lanes.result("league")
    """

    def __init__(
        self, seed: int, on_change: Callable[[list[str]], Any] = lambda doing: None
    ) -> None:
        self.seed = seed
        self._on_change = on_change  # hears what all processes are doing
        self._messages: queue.Queue[tuple[str, Mapping[str, Any] | None]] = queue.Queue()
        self._answers: dict[str, Mapping[str, Any]] = {}
        self._doing: dict[str, str] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._listeners: list[threading.Thread] = []
        self._errors = {lane: tempfile.TemporaryFile() for lane in LANES}  # noqa: SIM115

    def __enter__(self) -> Lanes:
        for lane in LANES:
            self._start(lane)
        return self

    def _start(self, lane: str) -> None:
        surroundings = {**os.environ, **({"NUMBA_DISABLE_JIT": "1"} if lane in PLAIN else {})}
        process = subprocess.Popen(
            # -P: what lies in the current folder must not stand in for a library.
            [sys.executable, "-P", "-m", "kibitz.cli.demo.lane", lane, str(self.seed)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._errors[lane],
            env=surroundings, start_new_session=True,
        )  # fmt: skip
        self._processes[lane] = process
        listener = threading.Thread(target=self._listen, args=(lane, process), daemon=True)
        listener.start()
        self._listeners.append(listener)

    def _listen(self, lane: str, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                if line.endswith(b"\n"):  # a process that was ended may leave half a line
                    self._messages.put((lane, json.loads(line)))
        self._messages.put((lane, None))

    def result(self, key: str) -> dict[str, Any]:
        """Wait for a part and return its result, or raise PartFailed."""
        while key not in self._answers:
            self._take(*self._message())
        answer = self._answers[key]
        if "problem" in answer:
            failed = PartFailed(answer["problem"])
            failed.is_refusal = bool(answer.get("refusal"))
            raise failed
        return dict(answer["result"])

    def _message(self) -> tuple[str, Mapping[str, Any] | None]:
        while True:  # in short waits, so that Ctrl-C is noticed on every system
            try:
                return self._messages.get(timeout=TICK)
            except queue.Empty:
                continue

    def _take(self, lane: str, message: Mapping[str, Any] | None) -> None:
        if message is None:  # the process has ended
            self._doing.pop(lane, None)
            problem = {"problem": f"The process ended early. {self._last_words(lane)}".strip()}
            for part in LANES[lane]:
                self._answers.setdefault(part.key, problem)
        elif "doing" in message:
            self._doing[lane] = message["doing"]
        else:
            self._answers[message["key"]] = message
            self._doing.pop(lane, None)
            return
        self._on_change(list(self._doing.values()))

    def _last_words(self, lane: str) -> str:
        file = self._errors[lane]
        file.seek(0)
        lines = file.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes.values():
            _end(process)
        for listener in self._listeners:
            listener.join()
        for file in self._errors.values():
            file.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it has started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # it leads a session of its own
    process.kill()
    process.wait()
