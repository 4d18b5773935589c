"""What a learner of Carcassonne may be paid for."""

from __future__ import annotations

from kibitz.core.compiled import HAPPEN, compiled
from kibitz.core.game import OVER, SEAT, SEATS
from kibitz.core.rewards import Event, Rewards
from kibitz.games.carcassonne.cells import (
    BANK,
    CONTROL,
    CURSOR,
    CURSOR_AIM,
    CURSOR_TURN,
    CURSOR_X,
    CURSOR_Y,
    LAID,
    LAYING,
    PHASE,
    POINTING,
)
from kibitz.games.carcassonne.rules import CONFIRM, MEEPLE_AT, NO_MEEPLE, is_free
from kibitz.games.carcassonne.tiles import SIDES

EVENTS = (
    Event("step", "an action of one's own", -0.001),
    Event("placement", "a tile laid", 0.0),
    Event("boundary", "a step against the boundary", -0.001),
    Event("misfit", "a confirmation where the tile does not fit", -0.001),
    Event("meeple-step", "a meeple pointed somewhere", -0.001),
    Event("meeple-set", "a meeple set", 0.0),
    Event("meeple-refused", "a meeple that had to go back", -0.01),
    Event("score", "points gained", 0.02),
    Event("win", "the game won, or shared among several", 0.0),
    Event("margin", "points ahead of the best other, at the end", 0.0),
)
(
    STEP, PLACEMENT, BOUNDARY, MISFIT, MEEPLE_STEP, MEEPLE_SET, MEEPLE_REFUSED, SCORE, WIN, MARGIN,
) = range(len(EVENTS))  # fmt: skip


@compiled()
def count_own(before, action, after, counts):
    """Count what the mover did itself."""
    counts[STEP] = 1.0
    laid = after[LAID] > before[LAID]
    counts[PLACEMENT] = 1.0 if laid else 0.0
    if before[CONTROL] != CURSOR:
        counts[MEEPLE_SET] = 1.0 if MEEPLE_AT <= action < NO_MEEPLE else 0.0
        return
    phase = before[PHASE]
    if phase == LAYING and not laid:
        stayed = (
            before[CURSOR_X] == after[CURSOR_X]
            and before[CURSOR_Y] == after[CURSOR_Y]
            and before[CURSOR_TURN] == after[CURSOR_TURN]
        )
        if stayed:
            counts[BOUNDARY if action < SIDES else MISFIT] = 1.0
    elif phase == POINTING and action != CONFIRM:
        counts[MEEPLE_STEP] = 1.0
    elif phase == POINTING:
        aim = int(before[CURSOR_AIM]) - 1
        refused = aim < 0 or not is_free(before, aim)
        counts[MEEPLE_REFUSED if refused else MEEPLE_SET] = 1.0


@compiled(HAPPEN)
def count(before, action, after, seat, counts):
    """Count what happened to a seat when an action was played."""
    for event in range(len(counts)):
        counts[event] = 0.0
    if before[SEAT] == seat:
        count_own(before, action, after, counts)
    counts[SCORE] = after[BANK + seat] - before[BANK + seat]
    if after[SEAT] == OVER:
        best, level = 0, 0
        for other in range(after[SEATS]):
            if other != seat:
                best = max(best, after[BANK + other])
        for other in range(after[SEATS]):
            level += after[BANK + other] == after[BANK + seat]
        counts[MARGIN] = after[BANK + seat] - best
        counts[WIN] = 1.0 / level if after[BANK + seat] >= best else 0.0


REWARDS = Rewards(events=EVENTS, count=count)
