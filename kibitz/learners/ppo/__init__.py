"""Proximal policy optimisation: a network learns from playing, every move weighed by its outcome.

Plays many boards at once, against itself and earlier selves or against named agents; only legal
moves ever get a chance. Playing needs no JAX, training does: `pip install 'kibitz[neural]'`.
"""

from __future__ import annotations

from typing import Any

from kibitz.core.game import Game
from kibitz.core.training import Run
from kibitz.learners.ppo.settings import PRESETS, Settings
from kibitz.neural.backend import unfit

__all__ = ["PRESETS", "Settings", "train", "unfit"]


def train(game: Game, settings: Settings, seed: int, run: Run) -> Any:
    """Train a network by playing; gives a `kibitz.neural.training.Learned`."""
    from kibitz.learners.ppo.learning import PolicyLearner
    from kibitz.neural.training import train_network

    doubts = {"entropy": "uncertainty", "explained": "value explained"}
    return train_network(PolicyLearner, game, settings, seed, run, doubts)
