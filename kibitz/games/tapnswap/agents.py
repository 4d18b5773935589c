"""Players of TapnSwap."""

from __future__ import annotations

from kibitz.core.agent import Kind
from kibitz.core.chance import below
from kibitz.core.compiled import CHOOSE, compiled
from kibitz.core.game import SEAT, Game
from kibitz.games.tapnswap.rules import HANDS, MOST_FINGERS, TAPS


@compiled(CHOOSE)
def tapper(rules, view, actions, n, weights, memory, rng):
    """Kill the hand with most fingers if it can, otherwise tap by lot; never swap."""
    seat = view[SEAT]
    own = HANDS + 2 * seat
    other = HANDS + 2 - 2 * seat
    taps = 0
    best = -1
    most = 0
    for i in range(n):
        tap = actions[i]
        if tap >= TAPS:
            break
        taps += 1
        target = view[other + tap % 2]
        if view[own + tap // 2] + target > MOST_FINGERS and target > most:
            best = tap
            most = target
    if best >= 0:
        return best
    return actions[below(rng, taps)]


AGENTS = {"tapper": Kind(choose=tapper)}


def levels(game: Game) -> dict[str, str]:
    """Return agents for people; each wins 75 to 90% against the one below (docs/levels.md)."""
    # The table that was learned is for the usual length of a game.
    able = "perfect" if game.changed() else "q-table"
    return {
        "easy": "random",
        "medium": f"{able}:blunders=50%",
        "hard": f"{able}:blunders=20%",
        "perfect": "perfect",
    }
