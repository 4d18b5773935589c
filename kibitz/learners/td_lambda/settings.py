"""What can be set about TD(lambda)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from kibitz.neural.settings import Playing


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Playing):
    """What can be set about learning by temporal differences."""

    gamma: Annotated[float, "what a reward is worth one decision earlier", 0.0, 1.0] = 1.0
    lam: Annotated[float, "how far what happened counts, rather than the value learned",
                   0.0, 1.0] = 0.8  # fmt: skip
    rate: Annotated[float, "learning rate at first; it falls evenly to 0", 0.0, 1.0] = 1e-3
    epochs: Annotated[int, "times that each decision is learned from", 1, 100] = 2
    epsilon: Annotated[float, "share of moves made by lot, so that it keeps exploring",
                       0.0, 1.0] = 0.1  # fmt: skip
    last_epsilon: Annotated[float, "what that falls to, evenly", 0.0, 1.0] = 0.01
    temperature: Annotated[float, "draw the other moves by their values, the lower the surer; "
                           "0 takes the best", 0.0, 100.0] = 0.0  # fmt: skip
    replay: Annotated[int, "decisions that are kept to be learned from again", 0, 10**7] = 0


PRESETS: dict[str, dict[str, Any]] = {}
