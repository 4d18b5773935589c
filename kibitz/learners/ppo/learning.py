"""How PPO learns from a buffer of decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz.learners.ppo.agent import POLICY
from kibitz.learners.ppo.settings import Settings
from kibitz.neural.learner import Learner


class PolicyLearner(Learner):
    """A policy and a value, improved by the advantage of what was done."""

    KIND = POLICY
    LOSS = "kibitz.learners.ppo.loss"
    FIGURES = ("policy_loss", "value_loss", "entropy", "clipped", "divergence", "explained")
    settings: Settings

    def learn(self, rate: float) -> dict[str, float]:
        """Improve the network by what lies in the buffer."""
        settings, boards = self.settings, self.boards
        rows = boards.judge(settings.gamma, settings.lam)
        self.check_enough(len(rows))
        gains = boards.gains.ravel()[rows]
        returns = (boards.gains + boards.values).ravel()[rows].astype(np.float32)
        explained = 1.0 - float(np.var(gains)) / max(float(np.var(returns)), 1e-12)
        gains = ((gains - gains.mean()) / (gains.std() + 1e-8)).astype(np.float32)
        chances = boards.chances.ravel()[rows]

        def samples(part: np.ndarray, room: int) -> Any:
            # With room for as many samples as ever, since each size is compiled for.
            judged = (
                np.resize(array[part], (room, settings.batch))
                for array in (chances, gains, returns)
            )
            return self.loss.Sample(*boards.samples(rows[part], room), *judged)

        figures = self.steps_by(
            len(rows), samples, rate, settings.clip, settings.entropy, settings.value_weight
        )
        return {**figures, "explained": explained}
