"""How PPO learns from a buffer of decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz.learners.ppo.agent import POLICY
from kibitz.learners.ppo.settings import Settings
from kibitz.neural.learner import Learner

LESSON_FIGURES = ("lesson_loss", "follows")


class PolicyLearner(Learner):
    """A policy and a value, improved by the advantage of what was done."""

    KIND = POLICY
    LOSS = "kibitz.learners.ppo.loss"
    FIGURES = ("policy_loss", "value_loss", "entropy", "clipped", "divergence", "explained")
    settings: Settings

    @property
    def told(self) -> tuple[str, ...]:
        """The names of the figures that `learn` gives."""
        return (*self.FIGURES, *(LESSON_FIGURES if self.teacher else ()))

    @property
    def teacher(self) -> str:
        """The agent whose choices are imitated, or nothing."""
        return self.settings.teacher

    @property
    def lesson_weight(self) -> float:
        """How much of the policy's loss is imitation: all at first, nothing after the lessons."""
        return max(0.0, 1.0 - (1.0 - self.left) / self.settings.lessons)

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
            seen = boards.samples(rows[part], room)
            if not self.teacher:
                return self.loss.Sample(*seen, *judged)
            advised = boards.advised(rows[part], seen[-1][: len(part)])
            return self.loss.Lesson(*seen, *judged, np.resize(advised, (room, settings.batch)))

        weights = [settings.clip, settings.entropy, settings.value_weight]
        improve = None
        if self.teacher:
            weights.append(self.lesson_weight)
            improve = self.loss.improve_by_lesson
        figures = self.steps_by(len(rows), samples, rate, *weights, improve=improve)
        return {**figures, "explained": explained}
