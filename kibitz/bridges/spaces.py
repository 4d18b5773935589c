"""Spaces: what seats observe, and action numbers of which only some are legal at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from kibitz.core.game import Game


class Actions(spaces.Discrete):
    """Action numbers. A sample without a mask is one of those that are legal now."""

    def __init__(self, game: Game) -> None:
        super().__init__(game.bound("actions"))
        self.legal: np.ndarray | None = None  # a mask, kept up to date by the environment

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Draw an action: by the mask or the chances that are given, or else a legal one."""
        if mask is None and probability is None and self.legal is not None and self.legal.any():
            mask = self.legal
        return super().sample(mask, probability)


def features_of(game: Game, scaled: bool = False) -> spaces.Box:
    """Give the space of what a seat sees; scaled, all of it lies between -1 and 1."""
    low, high = (max(-1.0, min(0.0, game.feature_range[0])), 1.0) if scaled else game.feature_range
    return spaces.Box(np.float32(low), np.float32(high), (game.bound("features"),), np.float32)


def masked(game: Game, scaled: bool = False) -> spaces.Dict:
    """Give the space of what a seat sees together with what it may do."""
    mask = spaces.Box(0, 1, (game.bound("actions"),), np.int8)
    return spaces.Dict({"observation": features_of(game, scaled), "action_mask": mask})
