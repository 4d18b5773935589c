"""A position of a kibitz game as a state of OpenSpiel."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel

from kibitz.core.chance import Chance
from kibitz.core.errors import IllegalMove, Misuse
from kibitz.core.game import OVER, SEAT, VIEWER
from kibitz.core.table import View

DIGEST = 16  # bytes; two histories that share one by accident will not be met


class SpielState(pyspiel.State):
    """A position: the cells of the game and, where it hides some, what every seat has seen.

    OpenSpiel copies and saves all attributes of a state, so there are few and plain ones.
    """

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.cells: np.ndarray | None = None  # until it is dealt
        self.drawn: list[int] = []  # outcomes of the chance nodes at the root
        self.before = [0.0] * game.kibitz.players  # points before the last action
        self.seen: list[bytes] = []  # by seat: a digest of all it has seen, if there is more
        self.follows: list[int] = []  # who made the moves that are only copied, the last one first
        if not game.draws:
            self._begin(game, game.only_deal.copy())

    # --- whose turn it is ----------------------------------------------------------------------

    def current_player(self) -> int:
        """Say who moves: a seat, chance, or nobody any more."""
        if self.follows:
            return self.follows[-1]
        if self.cells is None:
            return pyspiel.PlayerId.CHANCE
        seat = int(self.cells[SEAT])
        return pyspiel.PlayerId.TERMINAL if seat == OVER else seat

    def is_terminal(self) -> bool:
        """Tell whether the game is over."""
        return self.cells is not None and bool(self.cells[SEAT] == OVER)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Give what may be drawn next of the deal's number, all equally likely."""
        count = self.get_game().draws[len(self.drawn)]
        return [(outcome, 1.0 / count) for outcome in range(count)]

    def _legal_actions(self, player: int) -> list[int]:
        return self._view(player).legal

    # --- playing -------------------------------------------------------------------------------

    def _apply_action(self, action: int) -> None:
        if self.follows:
            self.follows.pop()
            return
        game = self.get_game()
        if self.cells is None:
            if not 0 <= action < game.draws[len(self.drawn)]:
                raise IllegalMove(f"{game.kibitz.name}: chance cannot draw {action} here.")
            self.drawn.append(action)
            if len(self.drawn) == len(game.draws):
                number = 0
                for outcome, count in zip(self.drawn, game.draws, strict=True):
                    number = number * count + outcome
                self._begin(game, game.dealt(number))
            return
        mover = int(self.cells[SEAT])
        # OpenSpiel does not check, and compiled rules trust their caller.
        if mover == OVER or action not in self._view(mover).legal:
            raise IllegalMove(
                f"{game.kibitz.name}: action {action} is not legal here; see legal_actions()."
            )
        self.before = self.returns()
        game.kibitz.rules.play(self.cells, action)
        for seat in range(len(self.seen)):
            told = action if seat == mover or not game.kibitz.secret else -1
            self.seen[seat] = self._digest(seat, self.seen[seat], told)

    def _begin(self, game: Any, cells: np.ndarray) -> None:
        self.cells = cells
        if game.kibitz.hides or game.draws:
            self.seen = [self._digest(seat) for seat in range(game.kibitz.players)]

    def _digest(self, seat: int, seen: bytes = b"", action: int = -1) -> bytes:
        """Add the view of now, and the action that led to it, to what a seat has seen."""
        found = hashlib.blake2b(seen, digest_size=DIGEST)
        found.update(action.to_bytes(8, "little", signed=True))
        found.update(self._view(seat).cells.tobytes())
        return found.digest()

    # --- points --------------------------------------------------------------------------------

    def returns(self) -> list[float]:
        """Give the points of every seat so far, or none before the end if they come at the end."""
        game = self.get_game()
        if self.cells is None or (game.at_end and not self.is_terminal()):
            return [0.0] * game.kibitz.players
        return View(game.kibitz, self.cells).points

    def rewards(self) -> list[float]:
        """Give by how much the last action changed the points; what was dealt counts too."""
        return [now - before for now, before in zip(self.returns(), self.before, strict=True)]

    # --- words ---------------------------------------------------------------------------------

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"draw {action}"
        if self.cells is None:
            return f"action {action}"
        return self._view(player).say(action)

    def __str__(self) -> str:
        """Tell positions apart; with `merged`, those that differ in what is to come."""
        game = self.get_game()
        if self.cells is None:
            return f"{game.kibitz.name} to be dealt: {self.drawn}"
        cells = self.cells.copy()
        if game.merged:
            game.kibitz.rules.strip(cells)
        own = cells[game.kibitz.layout.first_own :]
        # Stripped cells call the mover seat 0 and may forget points, so both are written too.
        points = " ".join(f"{value:g}" for value in self.returns())
        header = " ".join(map(str, cells[:VIEWER]))
        return f"mover {int(self.cells[SEAT])} points {points} header {header} cells " + " ".join(
            map(str, own)
        )

    # --- what a seat may know ------------------------------------------------------------------

    def _view(self, seat: int) -> View:
        kibitz = self.get_game().kibitz
        out = np.empty_like(self.cells)
        kibitz.rules.look(self.cells, seat, out)
        return View(kibitz, out)

    def view(self, seat: int) -> View | None:
        """Give a seat's view, or None before the deal."""
        return None if self.cells is None else self._view(seat)

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> SpielState:
        """Give a random world that looks the same to a player, as the game's `redeal` has it.

        The other seats remember nothing of it but what they see now: which views they would have
        had before, a redeal does not say. The history names the first deal, not the true one.
        """
        view = self.view(player)
        if view is None:
            raise Misuse("There is nothing to redeal before the deal.")
        seed = int(sampler() * (1 << 53))
        game = self.get_game()
        world = game.new_initial_state()
        steps = [(int(pyspiel.PlayerId.CHANCE), 0)] * len(game.draws)
        # What others played in secret is not copied into a world that might be another.
        steps += [
            (step.player, step.action if step.player == player or not game.kibitz.secret else 0)
            for step in self.full_history()[len(game.draws) :]
        ]
        world.follows = [mover for mover, _ in reversed(steps)]
        for _, action in steps:
            world.apply_action(action)
        world.drawn = [0] * len(game.draws)
        world._begin(game, view.redeal(Chance(seed)).cells)
        world.before = list(self.before)
        if self.seen:
            world.seen[player] = self.seen[player]
        return world
