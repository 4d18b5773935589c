"""How TD(lambda) learns from a buffer of decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.game import Game
from kibitz.learners.td_lambda.agent import TD
from kibitz.learners.td_lambda.settings import Settings
from kibitz.neural.backend import aligned
from kibitz.neural.learner import Learner

STORED = ("features", "options", "actions", "targets")


def rows_of(array: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Give the rows at some places, as JAX takes them without a copy."""
    found = aligned((*places.shape, *array.shape[1:]), array.dtype)
    return np.take(array, places, axis=0, out=found, mode="clip")  # which writes it directly


class ValueLearner(Learner):
    """The value of the position after each move, drawn to what came of it."""

    KIND = TD
    LOSS = "kibitz.learners.td_lambda.loss"
    FIGURES = ("value_loss", "explained", "epsilon")
    settings: Settings

    def __init__(self, game: Game, settings: Settings, seed: int) -> None:
        super().__init__(game, settings, seed)
        # Decisions to be learned from again, in a ring: how many there are, and where it goes on.
        self.store = self._samples(settings.replay)
        self.stored = np.zeros(2, np.int64)

    def _samples(self, n: int) -> tuple[np.ndarray, ...]:
        boards = self.boards
        return (
            np.zeros((n, boards.features.shape[2]), np.float32),
            np.zeros((n, boards.prospects), np.float32),
            np.zeros(n, np.int32), np.zeros(n, np.float32),
        )  # fmt: skip

    def exploring(self) -> tuple[float, float]:
        """Give the share of moves that are made by lot, and the temperature of the others."""
        first, last = self.settings.epsilon, self.settings.last_epsilon
        return last + (first - last) * self.left, self.settings.temperature

    def learn(self, rate: float) -> dict[str, float]:
        """Improve the network by what lies in the buffer, and maybe by what lay there earlier."""
        settings, boards = self.settings, self.boards
        rows = boards.judge(settings.gamma, settings.lam, by_options=True)
        self.check_enough(len(rows))
        targets = (boards.gains + boards.values).ravel()[rows].astype(np.float32)
        errors = targets - (boards.values + boards.taken).ravel()[rows]
        explained = 1.0 - float(np.var(errors)) / max(float(np.var(targets)), 1e-12)
        fresh: tuple[np.ndarray, ...] = (*boards.taken_options(rows), targets)
        known = fresh
        if self.stored[0]:
            rng = np.random.default_rng((self.seed, self.updates, 1))
            again = rng.integers(self.stored[0], size=len(rows))
            known = tuple(
                np.concatenate([new, old[again]])
                for new, old in zip(fresh, self.store, strict=True)
            )

        def samples(part: np.ndarray, room: int) -> Any:
            # With room for as many samples as ever, since each size is compiled for.
            whole = np.resize(part, (room, settings.batch))
            return self.loss.Sample(*(rows_of(array, whole) for array in known))

        figures = self.steps_by(len(known[0]), samples, rate)
        self._keep(fresh)
        return {**figures, "explained": explained, "epsilon": self.exploring()[0]}

    def _keep(self, fresh: tuple[np.ndarray, ...]) -> None:
        size = self.settings.replay
        if not size:
            return
        count = min(size, len(fresh[0]))
        places = (self.stored[1] + np.arange(count)) % size
        for store, new in zip(self.store, fresh, strict=True):
            store[places] = new[-count:]
        self.stored[:] = min(size, self.stored[0] + count), (self.stored[1] + count) % size

    # --- checkpoints ---------------------------------------------------------------------------

    def kept(self) -> dict[str, np.ndarray]:
        """Give all that is needed to go on."""
        if not self.settings.replay:
            return super().kept()
        store = {f"store.{name}": array for name, array in zip(STORED, self.store, strict=True)}
        return {**super().kept(), **store, "stored": self.stored}

    def take_up(self, kept: Mapping[str, np.ndarray]) -> None:
        """Go on from a checkpoint, whose stage was entered."""
        super().take_up(kept)
        if self.settings.replay:
            self.store = tuple(kept[f"store.{name}"].copy() for name in STORED)
            self.stored = np.clip(kept["stored"], 0, self.settings.replay)
