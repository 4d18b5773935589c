"""Agents: whoever sits at a seat. An agent is shown a view and answers with an action.

An agent in plain Python subclasses `Agent` and says what each option is worth. A compiled agent is
a function with the signature `CHOOSE`, described by a `Kind`; it plays whole matches without
touching Python.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from kibitz.core.chance import Chance
from kibitz.core.compiled import NOTICE, Rule, compiled, in_python, is_compiled, pointer
from kibitz.core.errors import AgentFailed
from kibitz.core.game import Game
from kibitz.core.markup import element
from kibitz.core.notebook import Shown, card, heading, listing, note
from kibitz.core.options import Option, settle
from kibitz.core.svg import number
from kibitz.core.table import View
from kibitz.core.tiers import count_call, prepare, prepare_now

CHANCE, POINTS = "chance", "points"
AT_ONCE = 12  # options that an opinion lists in a notebook


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """What an agent thinks of one option."""

    action: int
    words: str
    value: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion(Shown):
    """What an agent would do, why, and what it thinks of every option, best first."""

    action: int
    words: str
    reason: str
    thoughts: tuple[Thought, ...] = ()
    unit: str = ""  # of the values, where people know one: CHANCE, from 0 to 1, or POINTS

    def __str__(self) -> str:
        return f"{self.words}. {self.reason}"

    def _repr_html_(self) -> str:
        valued = any(thought.value is not None for thought in self.thoughts)
        noted = any(thought.note for thought in self.thoughts)
        columns = ["option", *(["note"] if noted else []), *(["value"] if valued else [])]
        rows = []
        for one in self.thoughts:
            words = element("b", one.words) if one.action == self.action else one.words
            value = "–" if one.value is None else number(one.value)
            row = [words, *([one.note] if noted else []), *([value] if valued else [])]
            rows.append(row)
        about = f"one of {len(rows)} options" if rows else ""
        parts = [heading(self.words, about), element("p", self.reason)]
        if valued or noted:
            parts.append(listing(columns, rows[:AT_ONCE], words=range(1 + noted)))
            if len(rows) > AT_ONCE:
                parts.append(note(f"The first {AT_ONCE} of them; see thoughts for all."))
        return card(*parts)


class Agent:
    """An agent in plain Python. Override `values`, and `pick` or `explain` if you wish.

    `self.game` is the game, `self.settings` what was set, `self.rng` the agent's own chance:
    drawing from it, and from nothing else, keeps matches repeatable.
    """

    name: str = ""
    options: ClassVar[tuple[Option, ...]] = ()
    games: ClassVar[tuple[str, ...] | None] = None  # the games it can play; None means all

    def __init__(self, game: Game, **settings: Any) -> None:
        self.game = game
        self.settings = settle(self.options, settings, self.name or type(self).__name__)
        self.name = self.name or type(self).__name__
        self.rng = Chance(0)

    @classmethod
    def summary(cls) -> str:
        """Say in a line who this is: the first line of the docstring."""
        return first_line(cls.__doc__)

    @classmethod
    def unfit(cls, game: Game) -> str | None:
        """Say why this agent cannot play the game, or None."""
        return unfit(cls.games, game)

    def begin(self, seat: int, rng: Chance) -> None:
        """Take a seat at a new table."""
        self.rng = rng

    def compiled_parts(self) -> list[Rule]:
        """List what this agent runs that can be compiled while a game goes on."""
        return []

    def prepare(self) -> None:
        """Compile what would be too slow as Python, if that is not done yet; it takes seconds."""

    def values(self, view: View, options: Sequence[int]) -> Sequence[float]:
        """Say what each legal option is worth; here they are all worth the same."""
        return [0.0] * len(options)

    def pick(self, values: Sequence[float], rng: Chance) -> int:
        """Say which option to take, by its place; here one of the best, by lot if several are."""
        most = max(values)
        return rng.choice([place for place, value in enumerate(values) if value == most])

    def choose(self, view: View) -> int:
        """Answer a view with an action."""
        options = view.legal
        return options[self.pick(self._checked_values(view, options), self.rng)]

    def _checked_values(self, view: View, options: Sequence[int]) -> list[float]:
        values = [float(value) for value in self.values(view, options)]
        if len(values) != len(options) or any(value != value for value in values):
            raise AgentFailed(
                f"{self.name} gave {len(values)} values for {len(options)} options, or one that is "
                "not a number; values must give one number for each option."
            )
        return values

    def notice(self, view: View, actor: int, action: int) -> None:
        """See an action just before it is played, with one's own view of the table."""

    def explain(self, view: View) -> Opinion:
        """Say what this agent would do, why, and what it thinks of every option."""
        options = view.legal
        kept = self.rng
        try:  # giving an opinion must not use up the chance that is for playing
            self.rng = Chance.over(kept.words.copy())
            values = self._checked_values(view, options)
            place = self.pick(values, self.rng)
        finally:
            self.rng = kept
        reason = first_line(self.__doc__) or self.name
        return opinion(view, options[place], reason, dict(zip(options, values, strict=True)))


def opinion(
    view: View,
    action: int,
    reason: str,
    values: Mapping[int, float] | None = None,
    notes: Mapping[int, str] | None = None,
) -> Opinion:
    """Put an agent's values and notes into words, best first."""
    values, notes = values or {}, notes or {}
    thoughts = [
        Thought(action=a, words=view.say(a), value=values.get(a), note=notes.get(a, ""))
        for a in view.legal
    ]
    thoughts.sort(key=lambda thought: -(thought.value or 0.0))
    return Opinion(action=action, words=view.say(action), reason=reason, thoughts=tuple(thoughts))


# --- compiled agents ---------------------------------------------------------------------------


@compiled(NOTICE)
def notice_nothing(view, actor, action, memory):
    """Pay no attention."""


def _no_weights(game: Game, settings: Mapping[str, Any]) -> np.ndarray:
    return np.zeros(0, np.float32)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of compiled agent, from which agents are made: `kind(game, **settings)`.

    choose    compiled with CHOOSE; its docstring's first line says who this is
    value     compiled with VALUE, for agents that can say what each option is worth
    unit      what these values are: `points` to come, beyond those on the table; `chances` to be
              chosen; or nothing that others could reckon with
    notice    compiled with NOTICE, for agents that follow what others do
    memory    how many numbers it remembers within a game
    weights   makes the float32 array that `choose` receives, from the game and the settings
    reason    says in words why it would take an action
    name      what it is called, if not as `choose` is
    about     a line that says who this is, if the docstring of `choose` does not
    slow      a move would take over a second as Python: compile it before it plays
    presets   settings by name, for a kind with an option `preset`; what is given besides prevails
    """

    choose: Any
    value: Any = None
    unit: str = ""
    notice: Any = notice_nothing
    memory: int = 0
    weights: Callable[[Game, Mapping[str, Any]], np.ndarray] = _no_weights
    reason: Callable[[View, int], str] | None = None
    name: str = ""
    about: str = ""
    slow: bool = False
    options: tuple[Option, ...] = ()
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    games: tuple[str, ...] | None = None
    unfit_for: Callable[[Game], str | None] | None = None
    explain: Callable[[CompiledAgent, View], Opinion] | None = field(default=None)

    def summary(self) -> str:
        """Say in a line who this is."""
        return self.about or first_line(self.choose.__doc__)

    def unfit(self, game: Game) -> str | None:
        """Say why this kind cannot play the game, or None."""
        return unfit(self.games, game) or (self.unfit_for and self.unfit_for(game)) or None

    def __call__(self, game: Game, **settings: Any) -> CompiledAgent:
        """Make an agent of this kind."""
        return CompiledAgent(self, game, **settings)


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A kind of agent that weighs what it sees, and whose weights can be tuned.

    start     the weights by name, in the order in which `choose` receives them
    rivals    whom it is tuned against, if nobody else is named
    """

    kind: Kind
    start: Mapping[str, float]
    rivals: tuple[str, ...]

    def having(self, weights: np.ndarray) -> Kind:
        """Give the same kind of agent with other weights."""
        own = np.ascontiguousarray(weights, np.float32)
        return replace(self.kind, weights=lambda *_: own, name="evolved")


class CompiledAgent(Agent):
    """An agent whose choice is a compiled function; it answers views like any other."""

    def __init__(self, kind: Kind, game: Game, **settings: Any) -> None:
        self.kind = kind
        self.game = game
        self.name = kind.name or kind.choose.__name__
        preset = kind.presets.get(settings.get("preset", ""), {})
        self.settings = settle(kind.options, {**preset, **settings}, self.name)
        self.weights = np.ascontiguousarray(kind.weights(game, self.settings), np.float32)
        self.memory = np.zeros(kind.memory, np.int64)
        self.rng = Chance(0)

    def compiled_parts(self) -> list[Rule]:
        """List what this agent runs, and the rules that it asks for, where they can be compiled."""
        functions = (self.kind.choose, self.kind.value, self.kind.notice)
        own = [pointer(one) for one in functions if one is not None and is_compiled(one)]
        if not self.game.is_compiled:
            return []
        needs = frozenset({"legal"}).union(*(one.needs for one in own))
        return [*own, *(getattr(self.game.rules, name) for name in sorted(needs))]

    def prepare(self) -> None:
        """Compile what would be too slow as Python, if that is not done yet."""
        if self.kind.slow:
            prepare_now(self.compiled_parts())

    def begin(self, seat: int, rng: Chance) -> None:
        """Take a seat at a new table, remembering nothing."""
        self.rng = rng
        self.memory[:] = 0

    def _look(self, view: View) -> tuple[np.ndarray, int]:
        actions = np.empty(self.game.bound("most_legal"), np.int32)
        return actions, int(self.game.rules.legal(view.cells, actions))

    def choose(self, view: View) -> int:
        """Answer a view with an action."""
        actions, n = self._look(view)
        if n == 0:
            raise AgentFailed(f"{self.name}: there is nothing to choose, the game is over.")
        self.prepare()
        choose = callable_in(self.game, self.kind.choose)
        if count_call(self.kind.choose):  # it is used a lot: compile it meanwhile
            prepare(self.compiled_parts())
        rules, rng = self.game.rules, self.rng.words
        return int(choose(rules, view.cells, actions, n, self.weights, self.memory, rng))

    def values(self, view: View, options: Sequence[int]) -> Sequence[float]:
        """Say what each legal option is worth; 1 for its choice where it has no values."""
        if self.kind.value is None:
            action = self.tried(view)
            return [float(option == action) for option in options]
        self.prepare()
        actions, n = self._look(view)
        out = np.zeros(len(actions))
        value = callable_in(self.game, self.kind.value)
        value(self.game.rules, view.cells, actions, n, self.weights, self.memory, out)
        return out[:n].tolist()

    def notice(self, view: View, actor: int, action: int) -> None:
        """See an action just before it is played."""
        callable_in(self.game, self.kind.notice)(view.cells, actor, action, self.memory)

    def tried(self, view: View) -> int:
        """Say what it would choose, without using up chance or memory."""
        rng, memory = self.rng, self.memory.copy()
        try:
            self.rng = Chance.over(rng.words.copy())
            return self.choose(view)
        finally:
            self.rng = rng
            self.memory[:] = memory

    def explain(self, view: View) -> Opinion:
        """Say what this agent would do, why, and what it thinks of every option."""
        if self.kind.explain is not None:
            return self.kind.explain(self, view)
        action = self.tried(view)
        reason = self.kind.reason(view, action) if self.kind.reason else self.kind.summary()
        values = None
        if self.kind.value is not None:
            values = dict(zip(view.legal, self.values(view, view.legal), strict=True))
        return opinion(view, action, reason, values)


def callable_in(game: Game, function: Any) -> Any:
    """Give a compiled agent's function in the form that can be called with this game's rules."""
    return pointer(function) if game.is_compiled else in_python(function)


class FunctionAgent(Agent):
    """A plain function from a view to an action, sitting at a seat."""

    def __init__(self, function: Callable[[View], int], game: Game) -> None:
        super().__init__(game)
        self.function = function
        self.name = getattr(function, "__name__", "function")

    def choose(self, view: View) -> int:
        """Ask the function."""
        return self.function(view)

    def explain(self, view: View) -> Opinion:
        """Say what the function answers."""
        return opinion(view, self.choose(view), first_line(self.function.__doc__) or self.name)


def first_line(text: str | None) -> str:
    """Give the first line of a docstring."""
    return inspect.cleandoc(text).partition("\n")[0] if text else ""


def unfit(games: tuple[str, ...] | None, game: Game) -> str | None:
    """Say why an agent that is for certain games cannot play this one, or None."""
    if games is None or game.name in games:
        return None
    return f"it plays {', '.join(games)} only"
