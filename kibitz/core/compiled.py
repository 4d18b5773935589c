"""Compiling: which functions may be compiled, with which signatures, and how Python calls them.

Rules, agents and their helpers are ordinary Python functions under `@compiled(..)`. They stay what
they are: called from Python they run as Python, so that a table never waits for a compiler.
`pointer` returns the form that compiled loops take. A loop under `@compiled_loop` is compiled
before it first runs. Nothing here imports Numba; `kibitz.core.jit` does, when something is compiled
or loaded. With `NUMBA_DISABLE_JIT=1` loops run as Python too: breakpoints and coverage work, and
reading past the end of an array raises.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import os
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

JIT = os.environ.get("NUMBA_DISABLE_JIT", "") in ("", "0")


class ArrayOf(NamedTuple):
    """The type of a contiguous array."""

    dtype: str
    dimensions: int = 1


STATE = ArrayOf("int16")  # [cells], a state or a view
ACTIONS = ArrayOf("int32")  # [most legal]
POINTS = ArrayOf("float64")  # [seats]
FEATURES = ArrayOf("float32")  # [features]
WEIGHTS = ArrayOf("float32")  # what an agent has learned or was set to
MEMORY = ArrayOf("int64")  # what an agent remembers within one game
RNG = ArrayOf("int64")  # [4], see chance.py
VALUES = ArrayOf("float64")  # [most legal], what each legal action is worth
PROSPECTS = ArrayOf("float32", 2)  # [most legal, prospects], see `describe`
INT = "int64"
VOID = "void"


class Signature(NamedTuple):
    """What a function of the contract takes and returns; `kibitz.core.jit.types` translates it."""

    returns: str
    takes: tuple[Any, ...]


def signature(returns: str, *takes: Any) -> Signature:
    """Return the signature of a function that is called through a pointer."""
    return Signature(returns, takes)


DEAL = signature(VOID, STATE, RNG)
LEGAL = signature(INT, STATE, ACTIONS)
PLAY = signature(VOID, STATE, INT)
SCORE = signature(VOID, STATE, POINTS)
LOOK = signature(VOID, STATE, INT, STATE)
REDEAL = signature(VOID, STATE, RNG)
OBSERVE = signature(VOID, STATE, FEATURES)
STRIP = signature(VOID, STATE)
FOLD = signature(VOID, STATE)
DESCRIBE = signature(VOID, STATE, ACTIONS, INT, PROSPECTS)


class Rules(NamedTuple):
    """The rules of one game as loops receive them: `rules.play(state, action)`.

    deal(state, rng)        seats and options are set; fill the rest
    legal(state, actions)   write the legal action numbers, ascending; return how many
    play(state, action)     apply it; trusts its caller
    score(state, points)    points per seat, higher is better, at any time
    look(state, seat, out)  write the view: every cell that the seat may not know is `HIDDEN`
    redeal(view, rng)       fill the blanks with a random world that fits all its viewer knows
    observe(view, features) features for learners, from a view, so that they cannot leak
    strip(state)            optional: blank what does not matter to what is to come, and name the
                            seats from the one to move, so that equal positions become equal;
                            legal actions stay the same
    fold(state)             optional: rewrite mirror images to one of them
    describe(view, actions, n, prospects)
                            optional: features of each legal action, for learners, from a view; the
                            first is the cell of the planes that it is about, or the
                            token, counted over all kinds; or -1
    """

    deal: Any
    legal: Any
    play: Any
    score: Any
    look: Any
    redeal: Any
    observe: Any
    strip: Any = None
    fold: Any = None
    describe: Any = None


SIGNATURES = Rules(DEAL, LEGAL, PLAY, SCORE, LOOK, REDEAL, OBSERVE, STRIP, FOLD, DESCRIBE)
RULES = "rules"  # all of them, as one argument

# An agent gets the rules too, so that one compiled agent can look ahead in every game; it gets
# them with a view, never with the state.
CHOOSE = signature(INT, RULES, STATE, ACTIONS, INT, WEIGHTS, MEMORY, RNG)
VALUE = signature(VOID, RULES, STATE, ACTIONS, INT, WEIGHTS, MEMORY, VALUES)
# What one of a room's strategies would play, see voting.py: places among the legal actions.
WISH = signature(INT, INT, STATE, ACTIONS, INT, ACTIONS)
NOTICE = signature(VOID, STATE, INT, INT, MEMORY)

# Languages of rules, see language.py: what a view shows of some groups of things, given as bits;
# which event comes of an action; which earlier ply deserves credit for it.
SEE = signature(VOID, STATE, FEATURES, INT)
JUDGE = signature(INT, STATE, INT)
THANK = signature(INT, STATE, INT)
# What happened to a seat, as counts of events, see rewards.py: before, action, after, seat.
HAPPEN = signature(VOID, STATE, INT, STATE, INT, VALUES)


# --- decorators --------------------------------------------------------------------------------


class Compilable:
    """What is known of a function that may be compiled; `function.compiled` holds it."""

    def __init__(self, function: Any, signature: Signature | None, inline: bool) -> None:
        self.function = function
        self.signature = signature
        self.inline = inline
        self.calls = 0  # as Python, at tables: see tiers
        self.key: str | None = None  # see jit.keys
        self.dispatcher: Any = None  # see jit.dispatch: the form that compiled code calls,
        self.runnable: Any = None  # and machine code behind a pointer

    @property
    def name(self) -> str:
        """The function's full name, as in `kibitz.games.nim.rules.play`."""
        return f"{self.function.__module__}.{self.function.__qualname__}"

    @functools.cached_property
    def references(self) -> tuple[tuple[str, Any], ...]:
        """What the function refers to outside itself: names and values, in order of first use."""
        return tuple(_references(self.function))

    @functools.cached_property
    def needs(self) -> frozenset[str]:
        """The rules that this function, or what it calls, may ask for: `rules.legal` and so on."""
        return frozenset(
            name for one in reachable(self.function) for name in _rules_asked(one.function)
        )

    @functools.cached_property
    def rule(self) -> Rule:
        """The function as a value that loops take."""
        return Rule(self.function)


def compiled(signature: Signature | None = None, *, inline: bool = False) -> Callable:
    """Let compiled loops call a function. From Python it runs as the Python it is.

    Give the signature of the contract that the function fulfils (`PLAY`, `CHOOSE`, ..). A helper
    that is only called by other compiled functions needs none: `@compiled()`. With `inline` its
    lines are copied to where it is called: worth it in the hottest loops alone, where handing over
    many arrays costs more than the work.
    """

    def decorate(function: Any) -> Any:
        function.compiled = Compilable(function, signature, inline)
        if inline:  # where Numba looks for it
            function.targetoptions = {"inline": "always"}
            function.py_func = function
        return function

    return decorate


_here = threading.local()
_making = threading.RLock()


@contextlib.contextmanager
def plain_loops(plain: bool = True) -> Iterator[None]:
    """Run loops as Python within this block, for work that is done before a compiler would be.

    Loops that have run compiled in this process go on to do so.
    """
    kept = getattr(_here, "plain", False)
    _here.plain = plain
    try:
        yield
    finally:
        _here.plain = kept


class Loop:
    """A function that is compiled before it first runs. Other compiled functions may call it."""

    def __init__(self, function: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.compiled = function.compiled = Compilable(function, None, False)
        self._run: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Run it compiled; as Python where rules or agents are plain Python."""
        if self._run is None:
            if getattr(_here, "plain", False):
                return in_python(self)(*arguments)
            self._make()
        return self._run(*arguments)

    @property
    def is_loaded(self) -> bool:
        """Whether it has run compiled in this process."""
        return self._run is not None

    def dispatcher(self) -> Any:
        """Return the compiled loop itself, for those who have seen to the rules it needs."""
        if self._run is None:
            self._make()
        return self._run.run

    def _make(self) -> None:
        if not JIT:
            self._run = self.py_func
            return
        from kibitz.core.jit.calls import LoopCall  # Numba is loaded when something is compiled

        with _making:
            if self._run is None:
                self._run = LoopCall(self)

    def __repr__(self) -> str:
        return f"<Loop {self.compiled.name}>"


def compiled_loop(function: Any) -> Any:
    """Compile a function before it first runs: for loops that Python calls.

    It must always be called with arguments of the same types.
    """
    return Loop(function)


class Rule:
    """A rule, or a function of an agent, as a value: loops take it, and Python may call it.

    Called from Python it runs as Python until its compiled form is put to use (see
    `kibitz.core.tiers`). `address` is for compiled loops, which set it before they run.
    """

    __slots__ = ("_run", "address", "function", "is_enabled", "signature", "type")
    compiles_first: ClassVar[bool] = False  # whether Python, too, waits for the compiled form

    def __init__(self, function: Any) -> None:
        self.function = function
        self.signature = function.compiled.signature
        self.address = 0
        self.type: Any = None  # Numba's, see jit.types
        self.is_enabled = False  # whether Python, too, runs the compiled form
        self._run = self._run_first if Rule.compiles_first else function

    def __call__(self, *arguments: Any) -> Any:
        """Run the function from Python."""
        return self._run(*arguments)

    def _run_first(self, *arguments: Any) -> Any:
        from kibitz.core.jit.calls import enable

        enable(self)
        return self._run(*arguments)

    def use(self, call: Callable) -> None:
        """From now on run this, the compiled form, when Python calls."""
        self._run = call
        self.is_enabled = True

    @property
    def needs(self) -> frozenset[str]:
        """The rules that the function may ask for."""
        return self.function.compiled.needs

    def __repr__(self) -> str:
        return f"<Rule {self.function.compiled.name}>"


class Pointers(tuple):
    """Several rules of one signature, as loops take them; plain functions in a game in Python."""

    @functools.cached_property
    def needs(self) -> frozenset[str]:
        """The rules that any of them may ask for."""
        return frozenset().union(*(rule.needs for rule in self if isinstance(rule, Rule)))


def pointer(function: Any) -> Any:
    """Return the form in which a loop takes this function; plain Python stays as it is."""
    return function.compiled.rule if is_compiled(function) else function


def is_compiled(function: Any) -> bool:
    """Whether a function can be called from compiled code."""
    return isinstance(function, Rule) or (JIT and hasattr(function, "compiled"))


def cells_at(array: Any) -> Any:
    """Return the numbers of an array as one flat run, for the hottest loops.

    Compiled, this is a raw pointer: passing an array increments its reference count, by
    instructions that cost more than a test of a rule. The array itself must stay in use.
    """
    return array.reshape(-1)


def literal_unroll(values: tuple) -> tuple:
    """Go through a tuple of different functions: `for one in literal_unroll(FUNCTIONS): one(x)`.

    It is Numba's function of that name, which is put in its place when something is compiled.
    """
    return values


# --- plain Python ------------------------------------------------------------------------------


def in_python(loop: Any) -> Any:
    """Return the same function as plain Python, for games and agents that are not compiled."""
    if isinstance(loop, Loop):
        return _in_python(loop.py_func)
    return _in_python(loop) if compilable(loop) is not None else loop


@functools.cache
def _in_python(plain: Any) -> Any:
    # A loop within it must not be compiled either: compiled code cannot take plain rules.
    names = plain.__code__.co_names
    called = {name: plain.__globals__[name] for name in names if name in plain.__globals__}
    loops = {name: in_python(one) for name, one in called.items() if isinstance(one, Loop)}
    outer = {**plain.__globals__, **loops} if loops else plain.__globals__
    made = types.FunctionType(
        plain.__code__, outer, plain.__name__, plain.__defaults__, plain.__closure__
    )
    made.__doc__, made.__module__ = plain.__doc__, plain.__module__
    made.__qualname__ = plain.__qualname__
    return made


# --- what a function refers to -----------------------------------------------------------------


def compilable(value: Any) -> Compilable | None:
    """Return what is known of a function or loop that may be compiled, or None."""
    known = getattr(value, "compiled", None)
    return known if isinstance(known, Compilable) else None


def reachable(function: Any) -> list[Compilable]:
    """List a function and all compilable functions that it may call."""
    found: dict[int, Compilable] = {}
    waiting = [function.compiled]
    while waiting:
        one = waiting.pop()
        if id(one) not in found:
            found[id(one)] = one
            values = [value for _, value in one.references]
            while values:
                value = values.pop()
                known = compilable(value)
                if known is not None:
                    waiting.append(known)
                elif isinstance(value, tuple):
                    values.extend(value)
    return list(found.values())


def _instructions(code: types.CodeType) -> Iterator[dis.Instruction]:
    yield from dis.get_instructions(code)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _instructions(constant)


def _references(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield the globals, free variables and attributes of modules that a function uses."""
    outer = function.__globals__
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    seen = set()
    module: Any = None  # of which the next instruction takes an attribute
    for one in _instructions(function.__code__):
        if one.opname == "EXTENDED_ARG":  # part of the next instruction
            continue
        name, value = str(one.argval), _NOTHING
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME") and name in outer:
            value = outer[name]
        elif one.opname == "LOAD_DEREF" and name in cells:
            value = cells[name].cell_contents
        elif one.opname in ("LOAD_ATTR", "LOAD_METHOD") and module is not None:
            name, value = f"{module.__name__}.{name}", getattr(module, name, _NOTHING)
        module = value if isinstance(value, types.ModuleType) else None
        if value is not _NOTHING and name not in seen:
            seen.add(name)
            yield name, value


_NOTHING = object()


def _rules_asked(function: Any) -> Iterator[str]:
    for one in _instructions(function.__code__):
        if one.opname in ("LOAD_ATTR", "LOAD_METHOD") and one.argval in Rules._fields:
            yield one.argval
