"""What OpenSpiel may observe of a kibitz game: a seat's view and what it has seen, never more."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyspiel

from kibitz.core.errors import Misuse
from kibitz.core.game import Game


class Observer:
    """Observes states for one seat: its view now or, with perfect recall, all it has seen.

    With perfect recall there is a string alone. A tensor that tells apart all that a seat may have
    seen would have to hold every view of the game.
    """

    @classmethod
    def make(cls, game: Game, kind: Any = None, params: Any = None) -> Observer | None:
        """Make an observer, or return None for a kind that the game does not have.

        A view is all that one seat may know, and cannot be split into what is public and what is
        private. OpenSpiel expects None for that, and then leaves such observations out.
        """
        single = pyspiel.PrivateInfoType.SINGLE_PLAYER
        if kind is not None and not (kind.public_info and kind.private_info == single):
            return None
        return cls(game, kind, params)

    def __init__(self, game: Game, kind: Any = None, params: Any = None) -> None:
        if params:
            raise Misuse(f"{game.name}: observations take no parameters, so not {params}.")
        kind = kind or pyspiel.IIGObservationType(perfect_recall=False)
        self.game = game
        self.recalls = kind.perfect_recall
        self.tensor: np.ndarray | None = None
        self.dict: dict[str, np.ndarray] = {}
        if not self.recalls:
            self.tensor = np.zeros(game.bound("features"), np.float32)
            self.dict["observation"] = self.tensor

    def set_from(self, state: Any, player: int) -> None:
        """Write the features of a seat's view; zeros before the deal."""
        if self.tensor is None:
            return
        view = state.view(player)
        self.tensor[:] = 0.0 if view is None else view.features()

    def string_from(self, state: Any, player: int) -> str:
        """Write what a seat sees, or all that it has seen."""
        view = state.view(player)
        if view is None:
            return f"seat {player} before the deal"
        if not self.recalls:
            # Boards for people may leave things out; the digest of the view does not.
            digest = hashlib.blake2b(view.cells.tobytes(), digest_size=8).hexdigest()
            return f"{view}\nseat {player}, view {digest}"
        if self.game.secret:
            return f"seat {player} saw {state.seen[player].hex()}"
        played = " ".join(map(str, state.history()[len(state.drawn) :]))
        saw = f" saw {state.seen[player].hex()}" if state.seen else ""
        return f"seat {player} after [{played}]{saw}"
