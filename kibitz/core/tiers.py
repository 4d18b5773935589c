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
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kibitz.core.compiled import JIT, Rule
from kibitz.core.errors import Misuse

POLICIES = BACKGROUND, FIRST, LOOPS = "background", "first", "loops"
VARIABLE = "KIBITZ_COMPILE"
WORTH_COMPILING = 40  # moves in this process before a table asks for compiled rules


def use(policy: str) -> None:
    """Set when rules and agents at a table are compiled.

    `FIRST` counts for rules that were not used yet, so set it before games are found.
    """
    global _policy
    if policy not in POLICIES:
        raise Misuse(f"{policy!r} is none of {', '.join(POLICIES)}.")
    _policy = policy if JIT else LOOPS
    Rule.compiles_first = _policy == FIRST


def waits() -> bool:
    """Whether tables wait for the compiler, or leave it to the background."""
    return _policy != BACKGROUND


def _policy_of_environment() -> str:
    named = os.environ.get(VARIABLE) or BACKGROUND
    if named in POLICIES:
        return named
    warnings.warn(
        f"{VARIABLE}={named} is none of {', '.join(POLICIES)}: {BACKGROUND} is used.", stacklevel=3
    )
    return BACKGROUND


_policy = LOOPS
use(_policy_of_environment())


# --- telling how far it is -----------------------------------------------------------------------

Report = Callable[[int, int, str], None]  # done, total, the name of what comes next, or ""
reports: list[Report] = []  # told how far compiling is, when something waits for it
PATIENCE = 1.0  # seconds before a terminal is told
_begun = 0.0
_here = threading.local()


def nobody_waits() -> bool:
    """Whether this thread compiles in the background, so that nobody wants to be told."""
    return getattr(_here, "background", False)


def tell(done: int, total: int, name: str) -> None:
    """Tell those who want to know how far compiling is; else say it on a terminal."""
    if nobody_waits():
        return
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


def tell_end() -> None:
    """Leave no half a line on the terminal, however compiling ended."""
    if _begun and not nobody_waits():
        _tell_terminal(0, 0)


# --- in the background ---------------------------------------------------------------------------


@dataclass(slots=True)
class Preparation:
    """How far compiling in the background is; `failed` says why a rule stays Python."""

    done: int = 0
    total: int = 0
    failed: str = ""


class _Background:
    """A thread that has rules compiled by another process, loads them, and puts them to use."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wanted: list[Rule] = []
        self.seen: set[Rule] = set()
        self.state = Preparation()
        self.stop = threading.Event()
        self.thread: threading.Thread | None = None

    def ask(self, rules: Iterable[Rule]) -> None:
        with self.lock:
            new = [rule for rule in rules if rule not in self.seen and not rule.is_enabled]
            self.seen.update(new)
            self.wanted += new
            self.state.total += len(new)
            if new and (self.thread is None or not self.thread.is_alive()):
                self.thread = threading.Thread(
                    target=self._work, name="kibitz-compiler", daemon=True
                )
                self.thread.start()

    def _work(self) -> None:
        _here.background = True
        while not self.stop.is_set():
            with self.lock:
                batch, self.wanted = self.wanted, []
                if not batch:
                    self.thread = None
                    return
            begun = self.state.done
            try:
                self._have_compiled(batch)
            except Exception as error:  # no process could be started, say: it is done here
                self._failed(error)
            for rule in batch:
                if self.stop.is_set():
                    return
                try:
                    self._enable(rule)
                except Exception as error:  # the table goes on in Python with this one
                    self._failed(error)
            self.state.done = begun + len(batch)

    def _have_compiled(self, batch: list[Rule]) -> None:
        from kibitz.core.jit.work import in_other_process

        begun = self.state.done
        for done in in_other_process(batch, self.stop):
            self.state.done = begun + done

    def _enable(self, rule: Rule) -> None:
        from kibitz.core.jit.calls import enable

        enable(rule)

    def _failed(self, error: Exception) -> None:
        self.state.failed = f"{type(error).__name__}: {error}"

    def end(self) -> None:
        self.stop.set()
        thread = self.thread
        if thread is not None:
            if "kibitz.core.jit.work" in sys.modules:
                sys.modules["kibitz.core.jit.work"].end_background()
            thread.join(timeout=5)


_background = _Background()
atexit.register(lambda: _background.end())


def _after_fork() -> None:
    """Begin anew in a forked process: it has no thread, and a lock may be held by nobody."""
    global _background
    _background = _Background()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def count_call(function: object) -> bool:
    """Count a call of a function at a table; True when compiling it begins to pay."""
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
