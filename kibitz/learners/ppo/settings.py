"""What can be set about PPO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from kibitz.core.options import AGENTS
from kibitz.neural.settings import Playing


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Playing):
    """What can be set about proximal policy optimisation."""

    entropy: Annotated[float, "what uncertainty is worth, so that it keeps exploring",
                       0.0, 10.0] = 0.01  # fmt: skip
    clip: Annotated[float, "how far an update may change the chance of a move", 0.0, 10.0] = 0.2
    value_weight: Annotated[float, "what errors of the value count", 0.0, 100.0] = 0.5
    teacher: Annotated[str, "an agent to imitate at first", AGENTS] = ""
    lessons: Annotated[float, "teacher: the share of the training over which it counts less and "
                       "less, down to nothing", 0.001, 1.0] = 0.5  # fmt: skip


# As the project this comes from trained its agent of Carcassonne.
PRESETS: dict[str, dict[str, Any]] = {
    "seed": {
        "boards": 9, "buffer": 10_240, "batch": 256, "epochs": 3, "rate": 1e-4, "entropy": 0.005,
        "clip": 0.2, "gamma": 0.99, "lam": 0.95, "hidden": "512,512", "aim": "events",
        "opponents": "self",
    },
}  # fmt: skip
