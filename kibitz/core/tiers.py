"""Two tiers: at a table rules and agents run as Python until their compiled forms are there.

`KIBITZ_COMPILE` says when they are compiled:

background   (default) while a game goes on, by a process of its own; then they are used
first        before Python calls them: for programs that play many games move by move
loops        never for tables; only loops (matches, training, solving) are compiled

Games are the same in every case.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kibitz.core.compiled import JIT, Rule

BACKGROUND, FIRST, LOOPS = "background", "first", "loops"
WORTH_COMPILING = 40  # moves in this process before a table asks for compiled rules


def use(policy: str) -> None:
    """Set when rules and agents at a table are compiled, for games that are found from now on."""
    global _policy
    _policy = policy if JIT and policy in (FIRST, BACKGROUND) else LOOPS
    Rule.compiles_first = _policy == FIRST


_policy = LOOPS
use(os.environ.get("KIBITZ_COMPILE", BACKGROUND))


# --- telling how far it is -----------------------------------------------------------------------

Report = Callable[[int, int, str], None]  # done, total, the name of what comes next, or ""
reports: list[Report] = []  # told how far compiling is, when something waits for it
PATIENCE = 1.0  # seconds before a terminal is told
_begun = 0.0


def tell(done: int, total: int, name: str) -> None:
    """Tell those who want to know how far compiling is; else say it on a terminal."""
    for report in reports:
        report(done, total, name)
    if not reports and sys.stderr is not None and sys.stderr.isatty():
        _tell_terminal(done, total)


def _tell_terminal(done: int, total: int) -> None:
    global _begun
    now = time.monotonic()
    _begun = _begun or now
    if now - _begun > PATIENCE:
        text = f"compiling {done} of {total} functions (once)" if done < total else ""
        print(f"\r\x1b[2K{text}", end="", file=sys.stderr, flush=True)
    if done >= total:
        _begun = 0.0


# --- in the background ---------------------------------------------------------------------------


@dataclass(slots=True)
class Preparation:
    """How far compiling in the background is; `failed` says why it stopped, if it did."""

    done: int = 0
    total: int = 0
    failed: str = ""

    @property
    def over(self) -> bool:
        """Whether nothing is left to do."""
        return self.done >= self.total or bool(self.failed)

    def text(self) -> str:
        """Return how far it is, in words."""
        if self.failed:
            return f"cannot be compiled: {self.failed}"
        return f"{self.done} of {self.total} functions"


class _Background:
    """A thread that has rules compiled by another process, loads them, and puts them to use."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wanted: list[Rule] = []
        self.seen: set[int] = set()
        self.state = Preparation()
        self.stop = threading.Event()
        self.thread: threading.Thread | None = None

    def ask(self, rules: Iterable[Rule]) -> None:
        with self.lock:
            new = [rule for rule in rules if id(rule) not in self.seen and not rule.is_enabled]
            self.seen.update(map(id, new))
            self.wanted += new
            self.state.total += len(new)
            if new and (self.thread is None or not self.thread.is_alive()):
                self.thread = threading.Thread(
                    target=self._work, name="kibitz-compiler", daemon=True
                )
                self.thread.start()

    def _work(self) -> None:
        from kibitz.core.jit.work import in_other_process

        while not self.stop.is_set():
            with self.lock:
                batch, self.wanted = self.wanted, []
                if not batch:
                    self.thread = None
                    return
            try:
                begun = self.state.done
                for done in in_other_process(batch, self.stop):
                    self.state.done = begun + done
                if self.stop.is_set():
                    return
                self._enable(batch)
                self.state.done = begun + len(batch)
            except Exception as error:  # the table goes on in Python
                self.state.failed = f"{type(error).__name__}: {error}"
                return

    def _enable(self, batch: list[Rule]) -> None:
        from kibitz.core.jit.calls import enable

        for rule in batch:
            if self.stop.is_set():
                return
            enable(rule)

    def end(self) -> None:
        self.stop.set()
        thread = self.thread
        if thread is not None:
            if "kibitz.core.jit.work" in sys.modules:
                sys.modules["kibitz.core.jit.work"].end_background()
            thread.join(timeout=5)


_background = _Background()
atexit.register(_background.end)


def count_call(function: object) -> bool:
    """Count a move that an agent made as Python; True when compiling it begins to pay."""
    known = getattr(function, "compiled", None)
    if known is None or _policy != BACKGROUND:
        return False
    known.calls += 1
    return known.calls == WORTH_COMPILING


def prepare(rules: Iterable[Rule]) -> None:
    """Have rules compiled while something else goes on; they are used once they are there."""
    if _policy == BACKGROUND:
        _background.ask(rules)


def prepare_now(rules: Iterable[Rule]) -> None:
    """Compile or load rules, and wait for it."""
    if JIT:
        from kibitz.core.jit.calls import enable_all

        enable_all([rule for rule in rules if not rule.is_enabled])


def preparation() -> Preparation:
    """Return how far compiling in the background is."""
    return _background.state
