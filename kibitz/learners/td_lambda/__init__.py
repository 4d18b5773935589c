"""TD(lambda): a network learns what positions are worth by how they went on.

It values the position after each legal move and takes the best; the value of a move is drawn to
what was earned until the seat moved again and the value of its best move then, or, as far as lambda
says, to what really followed. Playing needs no JAX, training does: `pip install 'kibitz[neural]'`.
"""

from __future__ import annotations

from typing import Any

from kibitz.core.game import Game
from kibitz.core.training import Run
from kibitz.learners.td_lambda.settings import PRESETS, Settings
from kibitz.neural.backend import unfit

__all__ = ["PRESETS", "Settings", "train", "unfit"]


def train(game: Game, settings: Settings, seed: int, run: Run) -> Any:
    """Train a network by playing; gives a `kibitz.neural.training.Learned`."""
    from kibitz.learners.td_lambda.learning import ValueLearner
    from kibitz.neural.training import train_network

    doubts = {"explained": "value explained", "epsilon": "moves made by lot"}
    return train_network(ValueLearner, game, settings, seed, run, doubts)
