"""Rules about one's own cards: what is known of each, and which to play or discard.

A rule looks at a view and gives an action, or NONE where it does not apply. Rules are numbered so
that a list of rules is plain data; `try_own` in rule_lists.py calls them by number.

What is known of an own card is counted from its own hints and all cards that are seen, as the
published players do it; hints on the other own cards are not used.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.chance import below
from kibitz.core.compiled import compiled
from kibitz.core.game import HIDDEN, PLIES, SEATS, VIEWER
from kibitz.games.hanabi.cards import allows, cards_held, count_unseen, reach_of
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOUR_NAMED,
    COLOURS_USED,
    DECK,
    DISCARD,
    DISCARDED,
    FIREWORK,
    HINT,
    HINTS,
    LOG,
    MAX_NOTES,
    MOST_HAND,
    NOTES,
    OUTCOME,
    SLOT,
    TOLD,
    VALUE_NAMED,
    VALUES,
    VALUES_USED,
    copies_of,
)

NONE = -1
# What `know_own` says of each own card: the chance that it fits now, that it can never be played,
# that it is the last of a kind still wanted; and how many identities it may have.
FITS, DEAD, CRITICAL, KINDS, FACTS = 0, 1, 2, 3, 4
CLOSE = 1e-6  # weights are float32, so a chance equal to a threshold may seem below it


@compiled()
def is_pointed(told):
    """Tell whether a hint has pointed out a card."""
    return told & (COLOUR_NAMED | VALUE_NAMED) != 0


@compiled()
def own_serial(view, place):
    """Give the serial number of an own card."""
    return view[SLOT + view[VIEWER] * MOST_HAND + place]


@compiled()
def sort_cards(view, sorts):
    """Write of each card, as bits, whether it fits now, is dead, is the last of its kind."""
    values = int(view[VALUES_USED])
    for colour in range(view[COLOURS_USED]):
        height, reach = int(view[FIREWORK + colour]), reach_of(view, colour)
        for value in range(values):
            card = colour * VALUES + value
            sorts[card] = 0
            if value < height or value >= reach:
                sorts[card] = 1 << DEAD
                continue
            if value == height:
                sorts[card] = 1 << FITS
            if view[DISCARDED + card] + 1 == copies_of(values, value):
                sorts[card] |= 1 << CRITICAL


@compiled()
def know_own(view, own):
    """Write what is known of every own card; give how many there are. own [MOST_HAND, FACTS]."""
    unseen = np.empty(CARDS, np.int64)
    sorts = np.empty(CARDS, np.int64)
    count_unseen(view, unseen)
    sort_cards(view, sorts)
    held = cards_held(view, view[VIEWER])
    for place in range(held):
        serial = own_serial(view, place)
        total, fitting, dead, critical, kinds = 0, 0, 0, 0, 0
        for card in range(CARDS):
            if view[DECK + serial] == HIDDEN:
                count = unseen[card] if allows(view[TOLD + serial], card) else 0
            else:
                count = 1 if view[DECK + serial] == card else 0
            if count > 0:
                total += count
                kinds += 1
                fitting += count * (sorts[card] >> FITS & 1)
                dead += count * (sorts[card] >> DEAD & 1)
                critical += count * (sorts[card] >> CRITICAL & 1)
        own[place, FITS] = fitting / total
        own[place, DEAD] = dead / total
        own[place, CRITICAL] = critical / total
        own[place, KINDS] = kinds
    return held


@compiled()
def likeliest(own, held, fact, threshold):
    """Find the card with the greatest chance of something, at least the threshold; the oldest."""
    best = NONE
    for place in range(held):
        if own[place, fact] >= threshold - CLOSE and (
            best == NONE or own[place, fact] > own[best, fact]
        ):
            best = place
    return best


@compiled()
def may_discard(view):
    """Tell whether a note is out, to be won back."""
    return view[NOTES] < view[MAX_NOTES]


# --- playing -------------------------------------------------------------------------------------


@compiled()
def play_known(own, held):
    """Play a card that can be one identity only, and fits."""
    for place in range(held):
        if own[place, KINDS] == 1.0 and own[place, FITS] == 1.0:
            return place
    return NONE


@compiled()
def play_safe(own, held):
    """Play a card that fits whatever it is."""
    for place in range(held):
        if own[place, FITS] == 1.0:
            return place
    return NONE


@compiled()
def play_probably(own, held, threshold):
    """Play the card that is likeliest to fit, if its chance is at least the threshold."""
    return likeliest(own, held, FITS, threshold)


@compiled()
def just_hinted(view):
    """Give the own cards that hints have pointed out since one's last turn, as bits."""
    seats = int(view[SEATS])
    bits = 0
    for back in range(1, min(seats - 1, int(view[PLIES])) + 1):
        action = view[LOG + view[PLIES] - back]
        # Whoever moved `back` plies ago spoke to the seat that is `back` onward from it.
        if action >= HINT and (action - HINT) // HINTS + 1 == back:
            bits |= view[OUTCOME + view[PLIES] - back]
    return bits


@compiled()
def play_just_hinted(view, own, held, threshold):
    """Play the likeliest of the cards hinted since one's last turn, if it reaches the threshold."""
    bits = just_hinted(view)
    best = NONE
    for place in range(held):
        if (
            bits >> place & 1
            and own[place, FITS] >= threshold - CLOSE
            and (best == NONE or own[place, FITS] > own[best, FITS])
        ):
            best = place
    return best


# --- discarding ----------------------------------------------------------------------------------


@compiled()
def discard_probably(own, held, threshold):
    """Discard the card that is likeliest to be dead, if its chance is at least the threshold."""
    return likeliest(own, held, DEAD, threshold)


@compiled()
def is_held(view, card, but):
    """Tell whether anybody but one seat is seen to have a card."""
    for seat in range(view[SEATS]):
        if seat != but:
            for place in range(cards_held(view, seat)):
                if view[DECK + view[SLOT + seat * MOST_HAND + place]] == card:
                    return True
    return False


@compiled()
def discard_duplicate(view, own, held):
    """Discard a card whose identity is certain and that is seen in another hand too."""
    unseen = np.empty(CARDS, np.int64)
    count_unseen(view, unseen)
    for place in range(held):
        serial = own_serial(view, place)
        if own[place, KINDS] != 1.0:
            continue
        for card in range(CARDS):
            may_be = card == view[DECK + serial] or (
                view[DECK + serial] == HIDDEN
                and unseen[card] > 0
                and allows(view[TOLD + serial], card)
            )
            if may_be and is_held(view, card, view[VIEWER]):
                return place
    return NONE


@compiled()
def discard_unhinted(view, held):
    """Discard the oldest card that no hint has pointed out."""
    for place in range(held):
        if not is_pointed(view[TOLD + own_serial(view, place)]):
            return place
    return NONE


@compiled()
def discard_expendable(own, held):
    """Discard the card that is least likely to be the last of its kind, the oldest of equals."""
    best = 0
    for place in range(1, held):
        if own[place, CRITICAL] < own[best, CRITICAL] - CLOSE:
            best = place
    return best


@compiled()
def discard_any(held, rng):
    """Discard a card by lot."""
    return below(rng, held)


@compiled()
def as_discard(place):
    """Give the action that discards the card at a place, or NONE."""
    return NONE if place == NONE else DISCARD + place
