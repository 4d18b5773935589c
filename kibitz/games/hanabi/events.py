"""What comes of an action, for which learners are paid; and which hint it owes thanks to."""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import JUDGE, THANK, compiled
from kibitz.core.game import SEAT, SEATS
from kibitz.core.rewards import Event
from kibitz.games.hanabi.cards import is_critical, is_dead, is_playable
from kibitz.games.hanabi.cells import (
    DECK,
    DISCARD,
    EMPTY,
    HINT,
    HINTS,
    MARKS,
    MAX_STORMS,
    MOST_HAND,
    MOST_SEATS,
    SLOT,
    STORMS,
    TOLD,
)
from kibitz.games.hanabi.hint_history import HISTORY, WHEN, byte_of, read_history
from kibitz.games.hanabi.tell_rules import is_known

(
    FITS, STORM, LAST_STORM, SHEDS_DEAD, LOSES_CRITICAL, WASTES_PLAYABLE, DISCARDS,
    TELLS_PLAYABLE, TELLS_CRITICAL, TELLS_OTHER, TELLS_NOTHING,
) = range(11)  # fmt: skip
# What each is worth at once. A note is worth a third of a point, which hints use up and discards
# win back; hints are thanked when the card is played.
EVENTS = (
    Event("fits", "a card is played that fits", 1.0),
    Event("storm", "a card is played that does not fit", -3.0),
    Event("last-storm", "a card is played that does not fit, and ends the game", -10.0),
    Event("sheds-dead", "a dead card is discarded", 0.35),
    Event("loses-critical", "the last card of a kind is discarded", -1.5),
    Event("wastes-playable", "a card that fits is discarded", -0.4),
    Event("discards", "any other card is discarded", 0.1),
    Event("tells-playable", "a hint says something new of a card that fits", -0.3),
    Event("tells-critical", "a hint says something new of a critical card", -0.2),
    Event("tells-other", "a hint says something new of other cards only", -0.35),
    Event("tells-nothing", "a hint says nothing new of the cards it points out", -0.6),
)


@compiled(JUDGE)
def judge(state, action):
    """Tell which event comes of an action."""
    seat = int(state[SEAT])
    if action < HINT:
        place = action - DISCARD if action >= DISCARD else action
        card = int(state[DECK + state[SLOT + seat * MOST_HAND + place]])
        if action < DISCARD:
            if is_playable(state, card):
                return FITS
            return LAST_STORM if state[STORMS] + 1 == state[MAX_STORMS] else STORM
        if is_dead(state, card):
            return SHEDS_DEAD
        if is_critical(state, card):
            return LOSES_CRITICAL
        return WASTES_PLAYABLE if is_playable(state, card) else DISCARDS
    onward, hint = divmod(action - HINT, HINTS)
    other = (seat + onward + 1) % int(state[SEATS])
    event = TELLS_NOTHING
    for place in range(MOST_HAND):
        serial = state[SLOT + other * MOST_HAND + place]
        if serial == EMPTY:
            break
        card = int(state[DECK + serial])
        if MARKS[card] >> hint & 1 and not is_known(int(state[TOLD + serial]), hint):
            if is_playable(state, card):
                return TELLS_PLAYABLE
            event = min(event, TELLS_CRITICAL if is_critical(state, card) else TELLS_OTHER)
    return event


@compiled(THANK)
def thank(state, action):
    """Find the ply of the last hint on a card that is played; -1 if there was none."""
    if action >= DISCARD:
        return -1
    history = np.empty((MOST_SEATS, HISTORY), np.int64)
    read_history(state, history, np.empty((MOST_SEATS, MOST_HAND), np.int64))
    return byte_of(history, int(state[SEAT]), WHEN, action) - 1
