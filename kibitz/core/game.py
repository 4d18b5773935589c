"""A game: its rules, its cells, its options and its bounds, with the options set.

State is one flat `int16` array: the header, then the options, then the game's own cells. The
header is the same in every game, so that loops which serve all games can read it.
"""

from __future__ import annotations

import functools
import importlib
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from kibitz.core.chance import WORDS, checked_seed, sow
from kibitz.core.compiled import DESCRIBE, FOLD, STRIP, Rules, compiled, is_compiled, pointer
from kibitz.core.errors import BrokenRules, unknown
from kibitz.core.markup import element
from kibitz.core.notebook import Shown, card, heading, listing, note
from kibitz.core.options import Option, Whole, settle
from kibitz.core.tiers import count_call, prepare

if TYPE_CHECKING:
    from kibitz.core.table import Table

SEAT = 0  # who moves; -1 when the game is over
SEATS = 1
PLIES = 2  # actions played so far
VIEWER = 3  # whose view this is; -1 in a state, which hides nothing
HEADER = 4

HIDDEN = -1  # what a view shows where its seat may not look
OVER = -1
MOST_SEATS = 12

AT_A_TABLE = ("legal", "play", "look", "score", "deal")  # rules that tables ask for, soonest first

Count = int | Callable[[Mapping[str, Any]], int]  # fixed, or from the settings


@dataclass(frozen=True, slots=True)
class Cells:
    """A named run of cells, and the values it may hold (`HIDDEN` aside)."""

    count: int
    low: int
    high: int


class Layout:
    """Where everything lies in a state: header, options, then the game's own named cells."""

    def __init__(self, options: Iterable[Option], own: Mapping[str, Cells]) -> None:
        self.options: dict[str, slice] = {}
        self.own: dict[str, slice] = {}
        self.cells = dict(own)
        at = HEADER
        for option in options:
            self.options[option.name] = slice(at, at + option.cells)
            at += option.cells
        self.first_own = at  # header and options, before it, never change during a game
        for name, cells in own.items():
            self.own[name] = slice(at, at + cells.count)
            at += cells.count
        self.size = at

    def option(self, name: str) -> int:
        """Give the first cell of an option, as a constant for compiled rules."""
        return self.options[name].start

    def start(self, name: str) -> int:
        """Give the first of the named cells, as a constant for compiled rules."""
        return self.own[name].start


@compiled()
def copy_cells(source, target):
    """Copy a state or view into another; much faster than a slice, which looks for overlap."""
    for cell in range(len(source)):
        target[cell] = source[cell]


@compiled()
def fill_cells(cells, first, count, value):
    """Set a run of cells to one value; compiled sooner than a slice, which can raise."""
    for cell in range(first, first + count):
        cells[cell] = value


@compiled(STRIP)
def keep_all(state):
    """Strip nothing: every cell may matter to what is to come."""


@compiled(FOLD)
def fold_none(state):
    """Fold nothing: no two positions are mirror images."""


@compiled(DESCRIBE)
def describe_none(view, actions, n, prospects):
    """Describe no action: learners tell them apart by their numbers."""


@dataclass(frozen=True, slots=True)
class Planes:
    """Planes for convolutions, with which the features end: one after another, row by row."""

    first: int
    count: int
    height: int
    width: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """One kind of things among the features, each of which a transformer sees as one token.

    columns: the places of each thing's features, -1 for one it lacks. A thing whose features are
    all 0 is not there. known: what is true of each thing in every position.
    """

    name: str
    columns: tuple[tuple[int, ...], ...]  # [things, columns]
    known: tuple[tuple[float, ...], ...]  # [things, facts]
    most: int  # things that can be there at once


@dataclass(frozen=True, slots=True)
class Rounds:
    """Names of cells: which round it is, and of each seat what it has from the rounds before.

    sign: what the latter is multiplied by to give points. option: says how many rounds there are.
    """

    number: str
    points: str
    sign: int = 1
    option: str = ""


def _no_planes(settings: Mapping[str, Any]) -> Planes | None:
    return None


def _no_tokens(settings: Mapping[str, Any]) -> tuple[Tokens, ...]:
    return ()


def _no_flaw(table: Table) -> str | None:
    return None


def _not_there(settings: Mapping[str, Any]) -> str | None:
    return None


@dataclass(frozen=True, kw_only=True, eq=False)
class Game(Shown):
    """A game with its options set. Rooms make one with the defaults; `having` gives others.

    Rules are compiled functions with the signatures of `kibitz.core.compiled`. `words`, `drawing`
    and `agents` are found beside the rules, in the package that `room` names. `scorings` names
    options that only change how points are counted, and the values under which tables show them.
    """

    name: str
    title: str
    summary: str
    version: int
    room: str
    seats: tuple[int, int]
    default_seats: int
    options: tuple[Option, ...] = ()
    layout: Layout

    functions: Rules  # as written; `rules` holds them as loops take them

    actions: Count  # action numbers run from 0 to this less one
    most_legal: Count
    most_plies: Count
    features: Count
    feature_range: tuple[float, float] = (-32768.0, 32767.0)  # no feature lies outside
    feature_scale: Callable[[Mapping[str, Any]], np.ndarray] | None = None  # most usual sizes
    prospects: Count = 0  # features of each legal action, if `describe` gives any
    planes: Callable[[Mapping[str, Any]], Planes | None] = _no_planes  # among the features
    tokens: Callable[[Mapping[str, Any]], tuple[Tokens, ...]] = _no_tokens  # among the features
    rounds: Rounds | None = None  # if it has some, each with a deal of its own
    senses: tuple[str, ...] = ()  # options that only change what learners see
    hides: bool = False  # some seat may not see some cell
    secret: bool = False  # what a seat plays is not shown to the others, unless a view shows it
    cooperative: bool = False  # all seats win and lose together; so does one seat alone
    zero_sum: bool = False  # what some seats win, others lose: all points sum to 0 at the end
    span: Callable[[Mapping[str, Any]], tuple[float, float]] | None = None  # of a seat's points
    most_points: Callable[[Mapping[str, Any]], float] | None = None  # of a perfect game, if known
    scorings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # ways to count points
    flaw: Callable[[Table], str | None] = _no_flaw  # what is wrong with a table, if anything
    open_spiel: Callable[[Mapping[str, Any]], str | None] = _not_there  # its name in OpenSpiel
    settings: Mapping[str, Any] = field(default_factory=dict)
    _cooperative: bool = field(init=False)  # with several seats

    def __post_init__(self) -> None:
        low, high = self.seats
        if not 1 <= low <= self.default_seats <= high <= MOST_SEATS:
            raise BrokenRules(f"{self.name}: seats {self.seats} must lie in 1 to {MOST_SEATS}.")
        object.__setattr__(self, "settings", settle(self.all_options, self.settings, self.name))
        object.__setattr__(self, "_cooperative", self.cooperative)
        # Alone there is nobody to be ahead of: what counts is the score, as in cooperative games.
        object.__setattr__(self, "cooperative", self.cooperative or self.players == 1)

    # --- settings ------------------------------------------------------------------------------

    @property
    def all_options(self) -> tuple[Option, ...]:
        """Everything that can be set, the number of players first."""
        low, high = self.seats
        players = Whole(
            name="players", default=self.default_seats, help="how many play", low=low, high=high
        )
        return (players, *self.options)

    def having(self, **settings: Any) -> Game:
        """Give the same game with other settings; unknown names and bad values raise."""
        chosen = {**self.settings, **settings}
        return replace(self, cooperative=self._cooperative, settings=chosen)

    @property
    def players(self) -> int:
        """How many seats there are."""
        return self.settings["players"]

    def changed(self) -> dict[str, Any]:
        """Give the settings that differ from the defaults."""
        defaults = {option.name: option.default for option in self.all_options}
        return {name: v for name, v in self.settings.items() if v != defaults[name]}

    def described(self) -> str:
        """Write the name with what was set, as in `nim rows=3,4,5`."""
        known = {option.name: option for option in self.all_options}
        return " ".join(
            [self.name, *(f"{name}={known[name].say(v)}" for name, v in self.changed().items())]
        )

    def typed(self) -> str:
        """Write the game as one types it in a command: `nim --set rows=3,4,5`."""
        parts = self.described().removeprefix(self.name).split()
        return " ".join([shlex.quote(self.name), *(f"--set {part}" for part in parts)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two games the same: name, version and settings."""
        return (self.name, self.version, *self.settings.items())

    def __repr__(self) -> str:
        return f"<Game {self.described()}>"

    def _repr_html_(self) -> str:
        low, high = self.seats
        rows = [
            (option.name, option.help, option.takes(), option.say(self.settings[option.name]))
            for option in self.all_options
        ]
        return card(
            heading(self.title, f"{low} to {high} seats" if low < high else f"{low} seats"),
            element("p", self.summary),
            listing(("option", "what it is", "takes", "is set to"), rows, words=(0, 1, 2)),
            note(f"kibitz.game({self.name!r}, players={self.players}) · version {self.version}"),
        )

    def scored_otherwise(self) -> dict[str, Game]:
        """Give the same game under its other ways to count points, by what is set."""
        return {
            f"{name}={value}": self.having(**{name: value})
            for name, values in self.scorings.items()
            for value in values
            if value != self.settings[name]
        }

    def is_alike(self, other: Game) -> bool:
        """Tell whether another game differs at most in what learners see, and in its rounds."""
        free = [*self.senses, *([self.rounds.option] if self.rounds else [])]
        return self == other.having(**{name: self.settings[name] for name in free if name})

    # --- bounds --------------------------------------------------------------------------------

    def bound(self, name: str) -> int:
        """Give a bound (`actions`, `most_legal`, `features` and the like) for these settings."""
        count = getattr(self, name)
        return count(self.settings) if callable(count) else count

    def scale_of_features(self) -> np.ndarray:
        """Give what each feature is divided by so that it lies between -1 and 1, or hardly beyond.

        Rooms say so by `feature_scale`; otherwise it is the greatest size that the range allows.
        """
        if self.feature_scale is not None:
            return self.feature_scale(self.settings).astype(np.float32)
        most = max(map(abs, self.feature_range)) or 1.0
        return np.full(self.bound("features"), most, np.float32)

    # --- rules ---------------------------------------------------------------------------------

    @functools.cached_property
    def rules(self) -> Rules:
        """The rules in the form that loops take. Loops compile or load what they ask for."""
        return Rules(*map(pointer, self._all_functions()))

    def notice_move(self) -> None:
        """Count a move at a table of this game; after some, have its rules compiled meanwhile."""
        if count_call(self.functions.play) and self.is_compiled:
            prepare([getattr(self.rules, name) for name in AT_A_TABLE])

    def _all_functions(self) -> Rules:
        strip = self.functions.strip or keep_all
        fold = self.functions.fold or fold_none
        describe = self.functions.describe or describe_none
        return self.functions._replace(strip=strip, fold=fold, describe=describe)

    @functools.cached_property
    def is_compiled(self) -> bool:
        """Tell whether all rules can be called from compiled loops."""
        return all(map(is_compiled, self._all_functions()))

    def blank(self) -> np.ndarray:
        """Give a state with seats and options set and everything else zero."""
        state = np.zeros(self.layout.size, np.int16)
        state[SEATS] = self.players
        state[VIEWER] = HIDDEN
        for option in self.options:
            state[self.layout.options[option.name]] = option.encode(self.settings[option.name])
        return state

    def deal(self, seed: int | None = None, deal: int = 0) -> Table:
        """Deal a table. The same seed gives the same table; `deal` counts further ones."""
        from kibitz.core.table import Table

        seed = checked_seed(seed)
        state = self.blank()
        rng = np.zeros(WORDS, np.int64)
        sow(rng, seed, deal, 0)
        self.rules.deal(state, rng)
        return Table(self, state, seed=seed)

    # --- the room ------------------------------------------------------------------------------

    @functools.cached_property
    def words(self) -> ModuleType:
        """The room's words: `say`, `read`, `show`, `brief`, and `RULES` or `rules`.

        A room may also have `remark(view, text)`: how `read` understood words that a person typed,
        where that is not plain.
        """
        return importlib.import_module(f"{self.room}.words")

    @property
    def how_to_play(self) -> str:
        """The rules for a person, as the game is set."""
        words = self.words
        return words.rules(self.settings) if hasattr(words, "rules") else words.RULES

    @functools.cached_property
    def drawing(self) -> ModuleType:
        """The room's drawing: `draw`."""
        return importlib.import_module(f"{self.room}.drawing")

    @property
    def agents(self) -> Mapping[str, Any]:
        """The room's own agents by name."""
        return getattr(self._agents_module, "AGENTS", {})

    @property
    def levels(self) -> Mapping[str, str]:
        """Agents for people to play against, by difficulty, the easiest first; maybe none.

        The room names them as `LEVELS`, or by a function `levels(game)` where settings matter.
        """
        by_settings = getattr(self._agents_module, "levels", None)
        return by_settings(self) if by_settings else getattr(self._agents_module, "LEVELS", {})

    @property
    def analyst(self) -> str:
        """The search that judges played games best, as one types it; the room may name one."""
        return getattr(self._agents_module, "ANALYST", "mcts")

    @property
    def strategies(self) -> Mapping[str, Any]:
        """The room's strategies that can vote, in the order of their weights; see voting.py."""
        return getattr(self._agents_module, "STRATEGIES", {})

    @property
    def ballot(self) -> Any:
        """The room's compiled choice by the votes of its strategies, or None."""
        return getattr(self._agents_module, "ballot", None)

    @property
    def rewards(self) -> Any:
        """The room's events that learners may be paid for, a `Rewards`, or None."""
        return getattr(self._module("rewards"), "REWARDS", None)

    @property
    def exports(self) -> Mapping[str, Any]:
        """The room's own ways to write a record for other programs, by name."""
        return getattr(self._module("exports"), "EXPORTS", {})

    @property
    def evaluation(self) -> Any:
        """The room's agent whose weights can be tuned, an `Evaluation`, or None."""
        return getattr(self._agents_module, "EVALUATION", None)

    @functools.cached_property
    def rows(self) -> ModuleType | None:
        """The room's own order of positions in tables, `ROWS` and `row_of(state)`, or None."""
        return self._module("rows")

    @property
    def language(self) -> Any:
        """The room's language, in which rules about the game are written, or None."""
        return getattr(self._language_module, "LANGUAGE", None)

    @functools.cached_property
    def _language_module(self) -> ModuleType | None:
        return self._module("language")

    @property
    def wish(self) -> Any:
        """The room's compiled answer to what a strategy would play, or None."""
        return getattr(self._agents_module, "wish", None)

    @functools.cached_property
    def _agents_module(self) -> ModuleType | None:
        return self._module("agents")

    def has(self, name: str) -> bool:
        """Tell whether the room has a module, such as its `words`."""
        return self._module(name) is not None

    def _module(self, name: str) -> ModuleType | None:
        """Import a module of the room, or give None where there is none."""
        if not self.room:  # rules in a script stand alone
            return None
        try:
            return importlib.import_module(f"{self.room}.{name}")
        except ModuleNotFoundError as error:
            if error.name == f"{self.room}.{name}":
                return None
            raise

    def cell(self, name: str) -> slice:
        """Find named cells; `seat`, `plies` and the like are there in every game."""
        header = {"seat": SEAT, "seats": SEATS, "plies": PLIES, "viewer": VIEWER}
        if name in header:
            return slice(header[name], header[name] + 1)
        if name not in self.layout.own:
            raise unknown(f"cell of {self.name}", name, [*self.layout.own, *header])
        return self.layout.own[name]
