"""Tables and views: a game being played, and what one seat may know of it.

`Table.play` is the one place where legality is checked; compiled rules trust their caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kibitz.core.chance import Chance
from kibitz.core.errors import IllegalMove, Misuse, UnreadableMove
from kibitz.core.game import OVER, PLIES, SEAT, VIEWER, Game
from kibitz.core.names import YOU, named, on_a_board
from kibitz.core.notebook import Shown, board_card
from kibitz.core.record import Record


class Move(NamedTuple):
    """One action of a game's history, in words."""

    ply: int
    seat: int
    action: int
    words: str


class Position(Shown):
    """Cells with their game: what a table and a view have in common."""

    def __init__(self, game: Game, cells: np.ndarray) -> None:
        self.game = game
        self.cells = cells

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.cells[SEAT] == OVER)

    @property
    def plies(self) -> int:
        """How many actions have been played."""
        return int(self.cells[PLIES])

    @property
    def legal(self) -> list[int]:
        """The actions that the seat to move may take, ascending; none when the game is over."""
        actions = np.empty(self.game.bound("most_legal"), np.int32)
        return actions[: self.game.rules.legal(self.cells, actions)].tolist()

    @property
    def points(self) -> list[float]:
        """Points of every seat so far; higher is better."""
        points = np.zeros(self.game.players)
        self.game.rules.score(self.cells, points)
        return points.tolist()

    def __getitem__(self, name: str) -> Any:
        """Give named cells: a number for a single one, a copy of the run otherwise."""
        run = self.cells[self.game.cell(name)]
        return int(run[0]) if len(run) == 1 else run.copy()

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and other.game == self.game
            and np.array_equal(other.cells, self.cells)
        )

    __hash__ = None  # type: ignore[assignment]  # cells change


class View(Position):
    """What one seat may know. Agents, words and drawings get this and nothing else.

    A view that somebody looks at may have `names` for its seats, `you` for the reader's own, and
    may be for those who only look. Agents get neither.
    """

    names: tuple[str, ...] = ()
    only_looks: bool = False

    def shown_to(self, names: Sequence[str], only_looks: bool = False) -> View:
        """Return the same view for somebody who knows the seats by these names."""
        view = View(self.game, self.cells)
        view.names, view.only_looks = tuple(names), only_looks
        return view

    @property
    def acts(self) -> bool:
        """Whether whoever looks at this view is to move."""
        return self.mover == self.seat and not self.only_looks

    def is_you(self, seat: int) -> bool:
        """Whether a seat is that of whoever looks at this view."""
        return self.names[seat] == YOU if self.names else seat == self.seat

    def call(self, seat: int) -> str:
        """Return what a board calls a seat: You, its name, or Seat 1."""
        if self.names:
            return on_a_board(self.names[seat])
        return YOU.capitalize() if seat == self.seat else f"Seat {seat}"

    @property
    def seat(self) -> int:
        """Whose view this is."""
        return int(self.cells[VIEWER])

    @property
    def mover(self) -> int:
        """The seat to move, or -1 when the game is over."""
        return int(self.cells[SEAT])

    def say(self, action: int) -> str:
        """Put an action into words."""
        return named(self.game, self.game.words.say(self, int(action)), self.names)

    def brief(self) -> str:
        """Say in one short line how the game stands."""
        return named(self.game, self.game.words.brief(self), self.names)

    def read(self, text: str) -> int:
        """Find the action that words mean; it need not be legal now."""
        return self.game.words.read(self, text)

    def redeal(self, rng: Chance) -> Table:
        """Deal a random world that fits everything this seat knows."""
        cells = self.cells.copy()
        self.game.rules.redeal(cells, rng.words)
        return Table(self.game, cells)

    def features(self) -> np.ndarray:
        """Give what learners see: the features of this view."""
        out = np.zeros(self.game.bound("features"), np.float32)
        self.game.rules.observe(self.cells, out)
        return out

    def svg(self, last: Move | None = None, opinion: Mapping[int, float] | None = None) -> str:
        """Draw the board: what may be clicked, the last move, and what somebody thinks of each."""
        return self.game.drawing.draw(self, last=last, opinion=opinion)

    def __str__(self) -> str:
        return self.game.words.show(self)

    def _repr_html_(self) -> str | None:
        return board_card(self, about=f"as seat {self.seat} sees it")


class Table(Position):
    """A game being played: the whole state, its history, and the check that moves are legal."""

    def __init__(
        self,
        game: Game,
        state: np.ndarray,
        actions: tuple[int, ...] = (),
        seed: int | None = None,
        now: np.ndarray | None = None,
    ) -> None:
        super().__init__(game, state.copy() if now is None else now.copy())
        self.dealt = state.copy()
        self.seed = seed
        self.actions = list(actions)

    @property
    def seat(self) -> int:
        """The seat to move, or -1 when the game is over."""
        return int(self.cells[SEAT])

    @property
    def history(self) -> list[Move]:
        """Every action so far, with who played it and what it was in words."""
        return [
            Move(table.plies, table.seat, action, table.say(action))
            for table, action in self.record().steps()
        ]

    def view(self, seat: int | None = None) -> View:
        """Give what a seat may know; by default the one to move (seat 0 when the game is over)."""
        if seat is None:
            seat = max(self.seat, 0)
        if not 0 <= seat < self.game.players:
            raise Misuse(
                f"{self.game.name}: there is no seat {seat}; 0 to {self.game.players - 1}."
            )
        out = np.empty_like(self.cells)
        self.game.rules.look(self.cells, seat, out)
        return View(self.game, out)

    def opened(self, seat: int) -> View:
        """Return a seat's view with everything turned up, for when the game is over."""
        cells = self.cells.copy()
        cells[VIEWER] = seat
        return View(self.game, cells)

    def say(self, action: int) -> str:
        """Put an action into words, as the seat to move would."""
        return self.view().say(action)

    def read(self, move: int | str) -> int:
        """Find the legal action that a number or words mean, or raise and say why not."""
        view = self.view()
        if self.over:
            raise IllegalMove(f"{self.game.name}: the game is over; deal a new table to play on.")
        if isinstance(move, str):
            action = view.read(move)
        elif isinstance(move, int | np.integer) and not isinstance(move, bool):
            action = int(move)
        else:
            raise UnreadableMove(f"{self.game.name}: {move!r} is neither a number nor words.")
        legal = self.legal
        if action not in legal:
            words = view.say(action) if 0 <= action < self.game.bound("actions") else action
            raise IllegalMove(
                f"{self.game.name}: seat {self.seat} may not '{words}' with {view.brief()}. "
                f"It has {len(legal)} legal moves: see table.legal."
            )
        return action

    def play(self, move: int | str) -> Table:
        """Play a legal action, given as its number or in words; anything else changes nothing."""
        action = self.read(move)
        self.game.rules.play(self.cells, action)
        self.actions.append(action)
        self.game.notice_move()
        return self

    def undo(self, plies: int = 1) -> Table:
        """Take back the last actions."""
        if not 0 <= plies <= len(self.actions):
            raise Misuse(f"{self.game.name}: {len(self.actions)} plies can be taken back at most.")
        kept = self.actions[: len(self.actions) - plies]
        self.cells = self.dealt.copy()
        for action in kept:
            self.game.rules.play(self.cells, action)
        self.actions = kept
        return self

    def copy(self) -> Table:
        """Give an independent table in the same position with the same history."""
        return Table(self.game, self.dealt, tuple(self.actions), self.seed, self.cells)

    def record(self, agents: tuple[str, ...] = ()) -> Record:
        """Give the game so far as a record that can be saved and replayed."""
        return Record(
            game=self.game,
            dealt=tuple(self.dealt.tolist()),
            actions=tuple(self.actions),
            agents=tuple(agents),
            seed=self.seed,
        )

    def svg(self, seat: int | None = None, opinion: Mapping[int, float] | None = None) -> str:
        """Draw the board as a seat sees it, with the last move marked."""
        view = self.view(seat)
        return view.svg(last=self.last_move(view.seat), opinion=opinion)

    def last_move(self, seat: int | None = None) -> Move | None:
        """Give the action played last, in words, or None at the start.

        With `seat` it is told as that seat may know it: None if it was played in secret.
        """
        if not self.actions:
            return None
        before = self.copy().undo()
        if seat is not None and before.is_secret(seat):
            return None
        return before.as_seen(self.actions[-1], seat)

    def is_secret(self, seat: int) -> bool:
        """Tell whether what is played next is none of a seat's business."""
        return self.game.secret and seat != self.seat

    def as_seen(self, action: int, seat: int | None = None) -> Move:
        """Put an action of the seat to move into words: its own, or another's if it is secret."""
        eyes = seat if seat is not None and self.is_secret(seat) else None
        return Move(self.plies, self.seat, action, self.view(eyes).say(action))

    def __str__(self) -> str:
        return str(self.view())

    def _repr_html_(self) -> str | None:
        view = self.view()
        last = self.last_move(view.seat) if self.game.has("words") else None
        return board_card(view, last=last)
