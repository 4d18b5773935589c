"""Compiling in several processes, and in the background.

`python -m kibitz.core.jit.work` reads functions as lines of JSON (`{"module": .., "key": ..}`),
compiles each, leaves the result in the cache, and answers with a line. A function that cannot be
found again by its module and key (one in a script, say) is left to whoever asked.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kibitz.core.compiled import Compilable, Rule, compilable, reachable
from kibitz.core.jit.keys import key_of
from kibitz.core.tiers import nobody_waits, tell, tell_end

WORTH_SHARING = 12_000  # bytes of bytecode that one process compiles in a few seconds
LONGEST = 0.75  # what the busiest process may have to do at most, of the work of one alone
TWICE = 1.25  # what all processes may have to do at most, of the same
HOLDERS = ("choose", "value", "notice", "see", "judge", "thank")  # where objects keep functions


def weights_of(known: Compilable) -> dict[str, int]:
    """Return the sizes of a function and of all that it calls, by name: what compiling it costs."""
    return {one.name: len(one.function.__code__.co_code) for one in reachable(known.function)}


def weight_of(known: Compilable) -> int:
    """Estimate how long compiling a function takes."""
    return sum(weights_of(known).values())


def shared_out(wanted: list[Compilable], processes: int) -> list[list[Compilable]]:
    """Divide functions among processes so that little is compiled twice.

    Functions that call the same others belong together. One list means: dividing does not pay.
    """
    shares: list[list[Compilable]] = [[] for _ in range(processes)]
    parts: list[dict[str, int]] = [{} for _ in range(processes)]
    for known in sorted(wanted, key=weight_of, reverse=True):
        weights = weights_of(known)
        place = min(range(processes), key=lambda i: sum((parts[i] | weights).values()))
        shares[place].append(known)
        parts[place] |= weights
    alone = sum({name: w for part in parts for name, w in part.items()}.values())
    loads = [sum(part.values()) for part in parts]
    if alone < WORTH_SHARING or max(loads) > LONGEST * alone or sum(loads) > TWICE * alone:
        return [[known for share in shares for known in share]]
    return [share for share in shares if share]


def cores() -> int:
    """Return how many processes may compile at once."""
    named = os.environ.get("KIBITZ_CORES", "")
    if named.isdigit():
        return max(1, int(named))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def compile_all(wanted: Iterable[Compilable], is_kept: Callable[[Compilable], bool]) -> None:
    """Have functions compiled, in as many processes as pays; this one does its share.

    Afterwards they lie in the cache, but for those that only this process can compile.
    """
    from kibitz.core.jit.dispatch import address_of

    missing = [known for known in wanted if not is_kept(known)]
    if not missing:
        return
    mine, *others = map(deque, shared_out(missing, cores()))
    with told(missing) as progress:
        helpers = [_Helper(share, progress) for share in others]
        try:
            while True:
                share = next((one for one in (mine, *others) if one), None)
                if share is None:
                    break
                try:
                    known = share.popleft() if share is mine else share.pop()
                except IndexError:  # its owner took the last one
                    continue
                progress.begin(known)
                address_of(known)
                progress.end(known)
            for helper in helpers:
                helper.join()
        finally:
            for helper in helpers:
                helper.end()
        progress.tell(len(progress.parts), "")


class Progress:
    """How many functions are compiled, of all that some others consist of; tells it on."""

    def __init__(self, wanted: Iterable[Compilable]) -> None:
        self.is_silent = nobody_waits()  # also when a helper's thread tells it
        parts = [part for known in wanted for part in parts_of(known)]
        self.parts = {part.name for part in parts}
        self.done = {part.name for part in parts if part.dispatcher and part.dispatcher.overloads}

    def begin(self, known: Compilable) -> None:
        """Tell what comes next."""
        self.tell(len(self.done), known.name)

    def tell(self, done: int, name: str) -> None:
        """Tell how many are done, and what comes next."""
        if not self.is_silent:
            tell(done, len(self.parts), name)

    def part(self, name: str) -> None:
        """Count a function that others call."""
        if name in self.parts and name not in self.done:
            self.done.add(name)
            self.tell(len(self.done), "")

    def end(self, known: Compilable) -> None:
        """Count a function with all that it calls."""
        self.done |= {part.name for part in parts_of(known)}
        self.tell(len(self.done), "")


@contextlib.contextmanager
def told(wanted: Iterable[Compilable]) -> Iterator[Progress]:
    """Tell how far compiling some functions is, within this block."""
    from kibitz.core.jit.dispatch import finished

    progress = Progress(wanted)
    finished.append(progress.part)
    try:
        yield progress
    finally:
        finished.remove(progress.part)
        tell_end()


def parts_of(known: Compilable) -> list[Compilable]:
    """List all that is compiled for a function: itself, and what it calls."""
    return [one for one in reachable(known.function) if not one.inline]


class _Helper(threading.Thread):
    """Another process that compiles, and the thread that hands it its share."""

    def __init__(self, share: deque[Compilable], progress: Progress) -> None:
        super().__init__(daemon=True)
        self.share, self.progress = share, progress
        self.process = start()
        self.start()

    def run(self) -> None:
        while self.share:
            try:
                known = self.share.popleft()
            except IndexError:  # whoever has nothing left to do took the last one
                return
            if ask(self.process, known):
                self.progress.end(known)

    def end(self) -> None:
        close(self.process)


def start(nice: bool = False, module: str = "kibitz.core.jit.work", **more: str) -> Any:
    """Start a process that compiles; `more` are variables of its environment."""
    # -P: what lies in the current folder must not stand in for a library.
    command = [sys.executable, "-P", "-m", module, *(["--nice"] if nice else [])]
    environment = {**os.environ, "KIBITZ_COMPILE": "loops", **more}
    paths = [path for path in sys.path if path]  # modules of a script's folder are found, too
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=environment, start_new_session=True,
    )  # fmt: skip


def close(process: Any) -> None:
    """End a process that compiles, whatever it is doing."""
    process.kill()
    with contextlib.suppress(OSError, ValueError):
        process.communicate()


def ask(process: Any, known: Compilable) -> bool:
    """Have one function compiled; whether that was done."""
    order = {"module": known.function.__module__, "key": key_of(known)}
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()
        return process.stdout.readline() == b"compiled\n"
    except (OSError, ValueError):
        return False


def in_other_process(rules: list[Rule], stop: threading.Event) -> Iterator[int]:
    """Have rules compiled by one other process of low priority; yield how many are done."""
    ordered = sorted((rule.function.compiled for rule in rules), key=weight_of)
    process = start(nice=True)
    _background.append(process)
    try:
        for done, known in enumerate(ordered, 1):
            if stop.is_set():
                return
            ask(process, known)
            yield done
    finally:
        _background.remove(process)
        close(process)


_background: list[Any] = []


def end_background() -> None:
    """End what compiles in the background; whoever waits for it goes on."""
    for process in list(_background):
        process.kill()


# --- the other process -------------------------------------------------------------------------


def find(module: str, key: str) -> Compilable | None:
    """Find a function by its module and key."""
    for value in list(vars(importlib.import_module(module)).values()):
        for one in held_by(value):
            if key_of(one) == key:
                return one
    return None


def held_by(value: Any) -> Iterator[Compilable]:
    """Yield the functions that a value of a module is or holds."""
    known = compilable(value)
    if known is not None:
        yield known
        return
    values = value.values() if isinstance(value, dict) else (value,)
    for one in values:
        for name in HOLDERS:
            known = compilable(getattr(one, name, None))
            if known is not None:
                yield known


def main() -> None:
    """Compile what is asked for until there are no more orders."""
    if "--nice" in sys.argv and hasattr(os, "nice"):
        os.nice(10)
    parent = os.getppid()
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    out = sys.stdout.buffer
    sys.stdout = sys.stderr
    from kibitz.core.jit.dispatch import address_of

    for line in sys.stdin.buffer:
        order = json.loads(line)
        answer = b"failed\n"
        with contextlib.suppress(Exception):  # whoever asked compiles it itself, and sees why
            known = find(order["module"], order["key"])
            if known is not None and known.signature is not None:
                address_of(known)
                answer = b"compiled\n"
        out.write(answer)
        out.flush()


def end_with(parent: int) -> None:
    """End this process when the one that started it has ended."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
