"""What hints have been given on the cards that are still held: which, when, and together with what.

The history is read off the log, ply by ply, and so knows what the hints themselves do not show: in
which order they came, and how the hand looked at the time. It is read at every turn, so a hand's
history is packed into few numbers, in which a card that leaves is taken out by shifting:

MARKED    a field of bits for each mark, a bit for each place
WHEN      of each place: the ply of the last hint that pointed it out, plus 1; 0 if none did
WITH_IT   of each place: how many cards that hint pointed out
MEANT     one number for each place: the identities that the last hint that had the card for its
          focus can have meant (see `fits_next`), as bits; 0 if none had
BY_CHOP   the same, if hints are read by the chop: one that points out the oldest unhinted card is
          about that card, which fits or is critical
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.game import HIDDEN, PLIES, SEATS
from kibitz.games.hanabi.cards import allowed_ids
from kibitz.games.hanabi.cells import (
    COLOURS,
    COLOURS_USED,
    DECK,
    DISCARD,
    FITTED,
    HINT,
    HINTS,
    LOG,
    MOST_HAND,
    OUTCOME,
    SERIAL,
    TOLD,
    VALUES,
    VALUES_USED,
    hand_size,
)

MARKED, WHEN, WITH_IT, MEANT = 0, 1, 2, 3
BY_CHOP = MEANT + MOST_HAND
HISTORY = BY_CHOP + MOST_HAND
# Marks: cards that are hinted; and of a card's last hint, whether it was the newest that it pointed
# out, the newest that it did for the first time, the oldest unhinted at the time.
HINTED, NEWEST, FOCUS, WAS_CHOP, MARKS_KEPT = 0, 1, 2, 3, 4
FIELD = 8  # bits of a field
FIRST_IDS = sum(1 << VALUES * colour for colour in range(COLOURS))

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
def chop_focus_in(touched, hinted, full):
    """Give the place of the oldest unhinted card if it is pointed out, else of the usual focus."""
    chop = OLDEST_OF[full & ~hinted]
    if chop >= 0 and touched >> chop & 1:
        return chop
    return focus_in(touched, hinted)


@compiled()
def fits_next(view, history, serials, fits, giver, taker, reading):
    """Give the identities that a hint can mean: those that fit once all promised cards are played.

    A card is promised if it was the focus of a hint and is still held. Third hands are seen by
    both; of a card that the giver or the taker holds, both know what it must be where hints and
    what they meant leave but one identity. `reading` is MEANT or BY_CHOP.
    history [seats, HISTORY], serials [seats, MOST_HAND]
    """
    promised = 0
    for seat in range(view[SEATS]):
        for place in range(MOST_HAND):
            meant = history[seat, reading + place]
            if meant:
                serial = serials[seat, place]
                card = int(view[DECK + serial])
                if seat != giver and seat != taker and card != HIDDEN:
                    promised |= 1 << card
                else:
                    ids = meant & allowed_ids(view[TOLD + serial])
                    if ids & (ids - 1) == 0:
                        promised |= ids
    while fits & promised:
        played = fits & promised
        fits = fits & ~played | (played & ~last_ids(view)) << 1
    return fits


@compiled()
def last_ids(view):
    """Give the highest card of every colour, as bits."""
    ids = 0
    for colour in range(view[COLOURS_USED]):
        ids |= 1 << (colour * VALUES + int(view[VALUES_USED]) - 1)
    return ids


@compiled(inline=True)
def last_of_kind(last, once, twice, thrice):
    """Give the identities of which one card is left and that can still be reached, as bits.

    Ones are there three times, the highest cards once, all others twice.
    """
    lost = thrice | (twice | once & last) & ~FIRST_IDS
    for _ in range(VALUES - 1):
        lost |= (lost & ~last) << 1  # what is lost ends its colour
    return ((last | once) & ~FIRST_IDS | twice) & ~lost


@compiled()
def read_history(view, history, serials):
    """Write what hints have been given on the cards still held; give what fits.

    history [seats, HISTORY], serials [seats, MOST_HAND]: the serial number of every card
    """
    seats = int(view[SEATS])
    size = hand_size(view)
    full = (1 << size) - 1
    last = last_ids(view)
    # As bits: what fits, what has been played, what has been discarded so often.
    fits = played = once = twice = thrice = 0
    for colour in range(view[COLOURS_USED]):
        fits |= 1 << colour * VALUES
    drawn = 0
    for seat in range(seats):
        for what in range(HISTORY):
            history[seat, what] = 0
        for place in range(size):
            serials[seat, place] = drawn
            drawn += 1
    seat = 0
    for ply in range(view[PLIES]):
        action = int(view[LOG + ply])
        outcome = int(view[OUTCOME + ply])
        if action >= HINT:
            other = seat + (action - HINT) // HINTS + 1
            other = other if other < seats else other - seats
            critical = last_of_kind(last, once, twice, thrice) & ~played
            take_hint(view, history, serials, full, ply, seat, other, outcome, fits, critical)
        else:
            card = 1 << int(view[DECK + (outcome & SERIAL)])
            if outcome & FITTED:
                fits = fits & ~card | (card & ~last) << 1
                played |= card
            else:
                thrice |= twice & card
                twice |= once & card
                once |= card
            place = action - DISCARD if action >= DISCARD else action
            if history[seat, MARKED]:
                take_out(history, seat, place)
            for at in range(place, size - 1):
                serials[seat, at] = serials[seat, at + 1]
            serials[seat, size - 1] = drawn
            drawn += 1
        seat = seat + 1 if seat + 1 < seats else 0
    return fits


@compiled()
def take_hint(view, history, serials, full, ply, giver, taker, touched, fits, critical):
    """Note a hint on the cards that it points out."""
    marked = int(history[taker, MARKED])
    hinted = marked & full
    chop = OLDEST_OF[full & ~hinted] if full & ~hinted else MOST_HAND
    for mark in range(MARKS_KEPT):
        marked &= ~(touched << FIELD * mark)
    focus = focus_in(touched, hinted)
    marked |= touched
    marked |= 1 << (FIELD * NEWEST + NEWEST_OF[touched])
    marked |= 1 << (FIELD * FOCUS + focus)
    marked |= (touched & 1 << chop) << FIELD * WAS_CHOP
    meant = fits_next(view, history, serials, fits, giver, taker, MEANT)
    by_chop = fits_next(view, history, serials, fits, giver, taker, BY_CHOP)
    history[taker, MEANT + focus] = meant
    focus = chop_focus_in(touched, hinted, full)
    history[taker, BY_CHOP + focus] = by_chop | (critical if focus == chop else 0)
    history[taker, MARKED] = marked
    spot = BYTES_OF[touched]
    history[taker, WHEN] = history[taker, WHEN] & ~spot | EVERY * (ply + 1) & spot
    history[taker, WITH_IT] = history[taker, WITH_IT] & ~spot | EVERY * COUNT_OF[touched] & spot


@compiled()
def take_out(history, seat, place):
    """Move what is noted of the cards behind one that is played or discarded."""
    marked = history[seat, MARKED]
    history[seat, MARKED] = marked & BELOW[place] | marked >> 1 & FROM[place]
    low = (1 << FIELD * place) - 1
    for what in (WHEN, WITH_IT):
        kept = history[seat, what]
        history[seat, what] = kept & low | kept >> FIELD & ~low
    for reading in (MEANT, BY_CHOP):
        for at in range(reading + place, reading + MOST_HAND - 1):
            history[seat, at] = history[seat, at + 1]
        history[seat, reading + MOST_HAND - 1] = 0
