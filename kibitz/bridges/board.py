"""One game, stepped quickly: what each seat observes, may do and has earned.

Environments are asked for all of this at every step. So that a step costs microseconds, rules are
called one by one: to hand all of them to a loop takes longer than a step. Tables, which check and
remember more, are made when somebody asks for one.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.chance import WORDS, sow
from kibitz.core.errors import IllegalMove
from kibitz.core.game import OVER, SEAT, Game
from kibitz.core.record import Record
from kibitz.core.table import Move, Table, View
from kibitz.play.aims import EVENTS, pay, payment_of


def bring_within(features: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Bring features between -1 and 1: divided by their scale, and cut off beyond."""
    return np.clip(features / scale, -1.0, 1.0)


class Board:
    """A game being played, for environments; `aim` says what rewards count.

    rewards: with the aim `events`, what the game's events are paid, as learners take them.
    scaled: whatever seats see is brought between -1 and 1.
    """

    def __init__(
        self,
        game: Game,
        aim: str,
        rewards: str | Mapping[str, float] | None = None,
        scaled: bool = False,
    ) -> None:
        self.game = game
        self.rules = game.rules
        self.payment = payment_of(game, aim, rewards)
        self.pays_events = self.payment.aim == EVENTS
        self.seats = game.players
        self.features = game.bound("features")
        self.numbers = game.bound("actions")
        self._scale = game.scale_of_features() if scaled else None
        self._blank = game.blank()
        self._dealt = self._blank.copy()
        self._state = self._blank.copy()
        self._view = self._blank.copy()
        self._actions = np.zeros(game.bound("most_legal"), np.int32)
        self._points = np.zeros(self.seats)
        self._held = np.zeros(self.seats)
        self.rewards = np.zeros(self.seats)  # by the last action, by seat
        self.actions: list[int] = []
        self.seed: int | None = None

    def deal(self, seed: int, deal: int = 0) -> None:
        """Deal a game: the table that `game.deal(seed, deal)` gives."""
        rng = np.zeros(WORDS, np.int64)
        sow(rng, seed, deal, 0)
        self._state[:] = self._blank
        self.rules.deal(self._state, rng)
        self._dealt[:] = self._state
        self._count()
        self.rewards[:] = 0.0
        self.actions = []
        self.seed = seed

    def _count(self) -> None:
        self.rules.score(self._state, self._points)
        if not self.pays_events:
            over = self._state[SEAT] == OVER
            pay(self._points, self.payment.aim, over, self._held, self.rewards)

    @property
    def seat(self) -> int:
        """The seat to move, or -1 when the game is over."""
        return int(self._state[SEAT])

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self._state[SEAT] == OVER)

    @property
    def points(self) -> list[float]:
        """The points of every seat."""
        return self._points.tolist()

    def observe(self, seat: int) -> tuple[np.ndarray, np.ndarray]:
        """Give what a seat sees and a mask of what it may do, both new.

        The mask is blank while others are to move. When the game is over it is full: nothing is
        asked any more, and chances that are worked out from an empty mask are no numbers.
        """
        rules, view, mover = self.rules, self._view, self._state[SEAT]
        features = np.empty(self.features, np.float32)
        rules.look(self._state, seat, view)
        rules.observe(view, features)
        if self._scale is not None:
            features = bring_within(features, self._scale)
        if mover == OVER:
            return features, np.ones(self.numbers, np.int8)
        mask = np.zeros(self.numbers, np.int8)
        if mover == seat:
            mask[self._actions[: rules.legal(view, self._actions)]] = 1
        return features, mask

    def play(self, action: int) -> list[float]:
        """Play an action that is known to be legal; give the rewards of every seat."""
        before = self._state.copy() if self.pays_events else self._state
        self.rules.play(self._state, action)
        self.game.notice_move()
        self._count()
        if self.pays_events:
            self.rewards[:] = self.payment.events(before, action, self._state, self.seats)
        self.actions.append(action)
        return self.rewards.tolist()

    def checked(self, action: Any, legal: np.ndarray | bytes) -> int:
        """Read an action number that a mask allows; whatever else it is raises."""
        try:
            number = operator.index(action)  # fractions, truth values and words are mistakes
        except TypeError:
            raise self.refuse(action) from None
        if isinstance(action, bool) or not 0 <= number < len(legal) or not legal[number]:
            raise self.refuse(action)
        return number

    def refuse(self, action: Any) -> IllegalMove:
        """Build the error for an action that is not legal."""
        return IllegalMove(
            f"{self.game.name}: action {action!r} is not legal for seat {self.seat}. "
            "The action_mask marks those that are."
        )

    def view(self, seat: int) -> View:
        """Give what a seat may know."""
        out = np.empty_like(self._state)
        self.rules.look(self._state, seat, out)
        return View(self.game, out)

    def table(self) -> Table:
        """Give a table in this position, for whoever runs the environment."""
        return Table(self.game, self._dealt, tuple(self.actions), self.seed, self._state)

    def record(self) -> Record:
        """Give the game so far as a record that can be saved and replayed."""
        return self.table().record()

    def last_move(self, seat: int) -> Move | None:
        """Give the action played last, as a seat may know it."""
        return self.table().last_move(seat)
