"""Running loops and rules from Python: what a call needs is compiled or loaded first."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from numba.core.compiler_lock import global_compiler_lock

from kibitz.core import tiers
from kibitz.core.compiled import (
    RULES,
    Compilable,
    Loop,
    Pointers,
    Rule,
    Rules,
    Signature,
    in_python,
)
from kibitz.core.jit import types as _types  # registers the types
from kibitz.core.jit.dispatch import LoopDispatcher, address_of, kept_at
from kibitz.core.jit.work import compile_all


class LoopCall:
    """A loop as Python calls it: sees to the rules that it asks for, then runs it compiled."""

    def __init__(self, loop: Loop) -> None:
        self.needs = loop.compiled.needs
        self.plain = in_python(loop)
        self.run = LoopDispatcher(loop.compiled)
        self.places: tuple[int, ...] | None = None  # arguments that are rules or agents

    def __call__(self, *arguments: Any) -> Any:
        """Run the loop: compiled, or as Python where it is given rules in Python."""
        if self.places is None:
            self.places = tuple(i for i, one in enumerate(arguments) if any(_rules_in(one)))
        if self.places and not self._ready(arguments):
            return self.plain(*arguments)
        return self.run(*arguments)

    def _ready(self, arguments: tuple[Any, ...]) -> bool:
        """Load what the rules and agents need; False if some of them are plain Python."""
        assert self.places is not None
        needs = self.needs
        missing: list[Rule] = []
        games: list[Rules] = []
        for place in self.places:
            for one in _rules_in(arguments[place]):
                if isinstance(one, Rules):
                    games.append(one)
                    continue
                for rule in one if isinstance(one, Pointers) else (one,):
                    if not isinstance(rule, Rule):
                        return False
                    if not rule.address:
                        missing.append(rule)
                needs = needs | one.needs
        for game in games:
            if not isinstance(game.play, Rule):
                return False
            missing += [rule for name in needs if not (rule := getattr(game, name)).address]
        if missing:
            load_all(missing)
        return True


def _rules_in(value: Any) -> Iterator[Rules | Pointers | Rule]:
    """Yield the rules and agents in an argument, also within tuples."""
    if isinstance(value, Rules | Pointers | Rule):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _rules_in(one)


def load_all(rules: Iterable[Rule]) -> None:
    """Compile rules, or load what was compiled; several processes share the work."""
    with _loading:  # threads that want the same rules need not compile them twice
        missing = {id(rule): rule for rule in rules if not rule.address}
        compile_all([rule.function.compiled for rule in missing.values()], is_kept)
        for rule in missing.values():
            rule.address = address_of(rule.function.compiled)


_loading = threading.RLock()


def _before_fork() -> None:
    # Another thread may be loading: its locks would stay shut in the new process.
    _loading.acquire()
    global_compiler_lock.acquire()


def _after_fork() -> None:
    global_compiler_lock.release()
    _loading.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


def is_kept(known: Compilable) -> bool:
    """Whether a rule's machine code is there, in memory or on disk."""
    if known.runnable is not None:
        return True
    path = kept_at(known)
    return path is not None and path.exists()


def enable(rule: Rule) -> None:
    """Load a rule and run it compiled also when Python calls it."""
    enable_all([rule])


def enable_all(rules: Iterable[Rule]) -> None:
    """Load rules and run them compiled also when Python calls them."""
    rules = list(rules)
    load_all(rules)
    for rule in rules:
        call = caller(rule.signature)
        if RULES in rule.signature.takes:
            rule.use(functools.partial(_run_with_rules, call, rule))
        else:  # nothing else is to be seen to
            rule.use(functools.partial(call.dispatcher(), rule))


def _run_with_rules(call: Loop, rule: Rule, rules: Rules, *arguments: Any) -> Any:
    """Run an agent compiled; as Python while rules of this game that it needs are not there."""
    if not tiers.waits() and isinstance(rules.play, Rule):
        missing = [one for name in rule.needs if not (one := getattr(rules, name)).address]
        if missing:
            tiers.prepare(missing)
            return rule.function(rules, *arguments)
    return call(rule, rules, *arguments)


@functools.cache
def caller(signature: Signature) -> Loop:
    """Return a loop that calls one rule of a signature, so that rules need no form for Python.

    It is compiled for the types of the signature alone: whatever integers Python has (a cell, an
    action), they are handed over as the rule takes them.
    """
    loop = Loop(_CALLERS[len(signature.takes)]())
    run = loop.dispatcher()
    run.compile((_types.rule_type(signature), *_types.signature_of(signature).args))
    run.disable_compile()
    return loop


def prepare_calls(signatures: Iterable[Signature]) -> None:
    """Compile or load what Python calls rules of these signatures through."""
    for signature in signatures:
        caller(signature)


def _one():
    def call(rule, a):
        return rule(a)

    return call


def _two():
    def call(rule, a, b):
        return rule(a, b)

    return call


def _three():
    def call(rule, a, b, c):
        return rule(a, b, c)

    return call


def _four():
    def call(rule, a, b, c, d):
        return rule(a, b, c, d)

    return call


def _five():
    def call(rule, a, b, c, d, e):
        return rule(a, b, c, d, e)

    return call


def _seven():
    def call(rule, a, b, c, d, e, f, g):
        return rule(a, b, c, d, e, f, g)

    return call


_CALLERS = {1: _one, 2: _two, 3: _three, 4: _four, 5: _five, 7: _seven}
