"""What a seat plays for: its points, its margin, or to win. Rewards are the change of that.

Learners and environments may be paid for a room's events instead: see `payment_of`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz.core.compiled import HAPPEN, compiled, pointer
from kibitz.core.errors import Misuse, unknown
from kibitz.core.game import Game

WIN, MARGIN, POINTS = range(3)
AIMS = {"win": WIN, "margin": MARGIN, "points": POINTS}
EVENTS = len(AIMS)  # one more aim: what happens to a seat is paid for
PAID = {**AIMS, "events": EVENTS}


@compiled(HAPPEN)
def count_nothing(before, action, after, seat, counts):
    """Count no events."""


@dataclass(frozen=True, slots=True)
class Payment:
    """What is paid for: an aim, and for events the rule that counts them, and their amounts."""

    aim: int
    count: Any  # with the signature HAPPEN
    amounts: np.ndarray  # [events], empty unless events are paid

    def events(self, before: np.ndarray, action: int, after: np.ndarray, seats: int) -> np.ndarray:
        """Return what each seat earns by an action; see `Rewards.count`."""
        counts, earned = np.zeros(len(self.amounts)), np.zeros(seats)
        for seat in range(seats):
            self.count(before, action, after, seat, counts)
            earned[seat] = counts @ self.amounts
        return earned


def payment_of(game: Game, aim: str, rewards: str | Mapping[str, float] | None = None) -> Payment:
    """Find an aim by name; with `events`, `rewards` change what the room's events are paid.

    Where all win together nobody can be ahead, so `win` and `margin` mean points.
    """
    if aim not in PAID:
        raise unknown("aim", aim, PAID)
    if aim != "events":
        if rewards:
            raise Misuse("Rewards for events are paid with aim=events only.")
        return Payment(aim_of(game, aim), pointer(count_nothing), np.zeros(0))
    if game.rewards is None:
        raise Misuse(f"{game.name} offers no events to be paid for; choose another aim.")
    return Payment(EVENTS, pointer(game.rewards.count), game.rewards.amounts(rewards or ""))


@compiled()
def worth(points, seat, aim, over):
    """Give what a seat has in hand, as its aim counts it; the reward is the change of that."""
    if aim == POINTS:
        return points[seat]
    best, level = -np.inf, 1
    for other in range(len(points)):
        if other != seat:
            best = max(best, points[other])
            level += points[other] == points[seat]
    if aim == MARGIN:
        return points[seat] - best
    if not over:
        return 0.0
    return (1.0 / level if points[seat] >= best else 0.0) - 1.0 / len(points)


@compiled()
def pay(points, aim, over, held, rewards):
    """Write what every seat has in hand, and how that has changed."""
    for seat in range(len(held)):
        now = worth(points, seat, aim, over)
        rewards[seat] = now - held[seat]
        held[seat] = now


def aim_of(game: Game, name: str) -> int:
    """Find an aim by name; where all win together it is points, for nobody can be ahead."""
    if name not in AIMS:
        raise unknown("aim", name, AIMS)
    return POINTS if game.cooperative else AIMS[name]
