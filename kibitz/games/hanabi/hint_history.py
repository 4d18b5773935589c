"""What hints have been given on the cards that are still held: which, when, and together with what.

The history is read off the log, ply by ply, and so knows what the hints themselves do not show: in
which order they came, and how the hand looked at the time. It is read at every turn, so a hand's
history is packed into three numbers, in which a card that leaves is taken out by shifting:

MARKED    a field of bits for each mark, a bit for each place
WHEN      of each place: the ply of the last hint that pointed it out, plus 1; 0 if none did
WITH_IT   of each place: how many cards that hint pointed out
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.game import PLIES, SEATS
from kibitz.games.hanabi.cells import (
    DISCARD,
    HINT,
    HINTS,
    LOG,
    MOST_HAND,
    OUTCOME,
    hand_size,
)

MARKED, WHEN, WITH_IT, HISTORY = 0, 1, 2, 3
# Marks: cards that are hinted; and of a card's last hint, whether it was the newest that it pointed
# out, the newest that it did for the first time, the oldest unhinted at the time.
HINTED, NEWEST, FOCUS, WAS_CHOP, MARKS_KEPT = 0, 1, 2, 3, 4
FIELD = 8  # bits of a field

HANDS = range(1 << MOST_HAND)  # all sets of places, as bits
NEWEST_OF = np.array([bits.bit_length() - 1 for bits in HANDS])
OLDEST_OF = np.array([(bits & -bits).bit_length() - 1 for bits in HANDS])
COUNT_OF = np.array([bits.bit_count() for bits in HANDS])
# The bytes of some places, and a number in every byte.
BYTES_OF = np.array([sum(0xFF << FIELD * p for p in range(MOST_HAND) if b >> p & 1) for b in HANDS])
EVERY = sum(1 << FIELD * place for place in range(MOST_HAND))
# The places below one, in all fields; and it and those above.
BELOW = np.array(
    [sum(((1 << p) - 1) << FIELD * m for m in range(MARKS_KEPT)) for p in range(MOST_HAND)]
)
FROM = np.array(
    [
        sum(((1 << MOST_HAND) - (1 << p)) << FIELD * m for m in range(MARKS_KEPT))
        for p in range(MOST_HAND)
    ]
)


@compiled(inline=True)
def mark_of(history, seat, mark):
    """Give the places of a hand that bear a mark, as bits."""
    return history[seat, MARKED] >> FIELD * mark & (1 << MOST_HAND) - 1


@compiled(inline=True)
def byte_of(history, seat, what, place):
    """Give what WHEN or WITH_IT keeps of one card."""
    return history[seat, what] >> FIELD * place & 0xFF


@compiled()
def focus_in(touched, hinted):
    """Give the place of the newest card pointed out for the first time, or else at all."""
    fresh = touched & ~hinted
    return NEWEST_OF[fresh if fresh else touched]


@compiled()
def read_history(view, history):
    """Write what hints have been given on the cards still held. history [seats, HISTORY]"""
    seats = int(view[SEATS])
    full = (1 << hand_size(view)) - 1
    for seat in range(seats):
        for what in range(HISTORY):
            history[seat, what] = 0
    seat = 0
    for ply in range(view[PLIES]):
        action = int(view[LOG + ply])
        if action >= HINT:
            other = seat + (action - HINT) // HINTS + 1
            other = other if other < seats else other - seats
            touched = int(view[OUTCOME + ply])
            marked = int(history[other, MARKED])
            hinted = marked & full
            chop = OLDEST_OF[full & ~hinted] if full & ~hinted else MOST_HAND
            for mark in range(MARKS_KEPT):
                marked &= ~(touched << FIELD * mark)
            marked |= touched
            marked |= 1 << (FIELD * NEWEST + NEWEST_OF[touched])
            marked |= 1 << (FIELD * FOCUS + focus_in(touched, hinted))
            marked |= (touched & 1 << chop) << FIELD * WAS_CHOP
            history[other, MARKED] = marked
            spot = BYTES_OF[touched]
            history[other, WHEN] = history[other, WHEN] & ~spot | EVERY * (ply + 1) & spot
            history[other, WITH_IT] = (
                history[other, WITH_IT] & ~spot | EVERY * COUNT_OF[touched] & spot
            )
        elif history[seat, MARKED]:
            place = action - DISCARD if action >= DISCARD else action
            marked = history[seat, MARKED]
            history[seat, MARKED] = marked & BELOW[place] | marked >> 1 & FROM[place]
            low = (1 << FIELD * place) - 1
            for what in (WHEN, WITH_IT):
                kept = history[seat, what]
                history[seat, what] = kept & low | kept >> FIELD & ~low
        seat = seat + 1 if seat + 1 < seats else 0
