"""What is known about cards: which can be played, which are lost for good, what one's own may be.

The *stochastic card* is the chance of each identity for a card that the viewer does not see: its
own cards, or the next of the deck. `card_chances` gives it from all cards that are seen and the
hints on that card; `hand_chances` conditions on the hints on all other own cards too. Both are
exact. The second needs no enumeration, because every hint that a card has been through, all older
cards of the hand have been through with it: of any two, either hints allow them nothing in common,
or they allow the newer all that they allow the older. So, dealt from the oldest on, each card is
always drawn from the same number of cards, whatever the older ones have become. All worlds are then
as likely, and a card has the chances of what is left to it on average.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.game import HIDDEN, VIEWER
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOUR_MASK,
    COLOURS,
    COLOURS_USED,
    DECK,
    DISCARDED,
    DRAWN,
    EMPTY,
    FIREWORK,
    MARKS,
    MOST_HAND,
    SLOT,
    TOLD,
    VALUE_BITS,
    VALUE_MASK,
    VALUES,
    VALUES_USED,
    cards_in_deck,
    copies_of,
)

# Identities that have one of some colours, one of some values, as bits.
COLOUR_IDS = np.array(
    [
        sum(1 << (c * VALUES + v) for c in range(COLOURS) if bits >> c & 1 for v in range(VALUES))
        for bits in range(1 << COLOURS)
    ],
    np.int64,
)
VALUE_IDS = np.array(
    [
        sum(1 << (c * VALUES + v) for v in range(VALUES) if bits >> v & 1 for c in range(COLOURS))
        for bits in range(1 << VALUES)
    ],
    np.int64,
)

ROUNDING = 1e-9  # what is left of a card on average is nothing, or far more than this


@compiled()
def count_unseen(view, unseen):
    """Write how many of each card the viewer does not see; give how many in all."""
    values = int(view[VALUES_USED])
    total = cards_in_deck(view)
    for card in range(CARDS):
        unseen[card] = 0
    for colour in range(view[COLOURS_USED]):
        for value in range(values):
            unseen[colour * VALUES + value] = copies_of(values, value)
    left = total
    for serial in range(total):
        card = view[DECK + serial]
        if card != HIDDEN:
            unseen[card] -= 1
            left -= 1
    return left


@compiled()
def allows(told, card):
    """Tell whether hints allow a card to be this one."""
    return told & MARKS[card] == MARKS[card]


@compiled()
def allowed_ids(told):
    """Give the identities that hints allow, as bits."""
    return COLOUR_IDS[told & COLOUR_MASK] & VALUE_IDS[told >> VALUE_BITS & VALUE_MASK]


@compiled()
def count_allowed(unseen, told):
    """Count the unseen cards that hints allow."""
    n = 0
    for card in range(CARDS):
        if unseen[card] > 0 and allows(told, card):
            n += unseen[card]
    return n


# --- the table -----------------------------------------------------------------------------------


@compiled()
def is_playable(view, card):
    """Tell whether a card is the next of its colour."""
    colour, value = divmod(card, VALUES)
    return view[FIREWORK + colour] == value


@compiled()
def reach_of(view, colour):
    """Give how high a firework can still become: up to a value whose cards are all out of play."""
    values = int(view[VALUES_USED])
    value = int(view[FIREWORK + colour])
    while value < values and view[DISCARDED + colour * VALUES + value] < copies_of(values, value):
        value += 1
    return value


@compiled()
def is_dead(view, card):
    """Tell whether a card can never be played: it has been, or a lower one is lost."""
    colour, value = divmod(card, VALUES)
    return value < view[FIREWORK + colour] or value >= reach_of(view, colour)


@compiled()
def is_critical(view, card):
    """Tell whether a card is the last of its kind, and still wanted."""
    _, value = divmod(card, VALUES)
    left = copies_of(int(view[VALUES_USED]), value) - view[DISCARDED + card]
    return left == 1 and not is_dead(view, card)


@compiled()
def cards_held(view, seat):
    """Count the cards of a hand."""
    n = 0
    while n < MOST_HAND and view[SLOT + seat * MOST_HAND + n] != EMPTY:
        n += 1
    return n


# --- stochastic cards ----------------------------------------------------------------------------


@compiled()
def card_chances(unseen, told, out):
    """Write the chance of each identity from unseen cards and the hints on this card alone."""
    total = 0.0
    for card in range(CARDS):
        out[card] = unseen[card] if unseen[card] > 0 and allows(told, card) else 0
        total += out[card]
    if total > 0.0:
        for card in range(CARDS):
            out[card] /= total


@compiled()
def hand_chances(view, out):
    """Write the exact chances of each own card, given the hints on all; give how many there are.

    out [MOST_HAND, CARDS]. Cards that are seen, as in the open game, are certain.
    """
    left = np.empty(CARDS)
    return deal_chances(view, out, left)


@compiled()
def deck_chances(view, out):
    """Write the chance of each identity for the next card of the deck, hints on all own cards used.

    All zero where the deck is empty.
    """
    hand = np.empty((MOST_HAND, CARDS))
    deal_chances(view, hand, out)
    deck = cards_in_deck(view) - view[DRAWN]
    for card in range(CARDS):
        out[card] = out[card] / deck if deck > 0 else 0.0


@compiled()
def deal_chances(view, hand, left):
    """Write the chances of own cards, and how many of each card are left in the deck on average.

    Give how many own cards there are. hand [MOST_HAND, CARDS], left [CARDS]
    """
    unseen = np.empty(CARDS, np.int64)
    count_unseen(view, unseen)
    for card in range(CARDS):
        left[card] = unseen[card]
    n = cards_held(view, view[VIEWER])
    base = SLOT + view[VIEWER] * MOST_HAND
    for place in range(n):
        serial = view[base + place]
        if view[DECK + serial] != HIDDEN:
            for card in range(CARDS):
                hand[place, card] = 0.0
            hand[place, view[DECK + serial]] = 1.0
            continue
        ids = allowed_ids(view[TOLD + serial])
        total = 0.0
        for card in range(CARDS):
            total += left[card] if ids >> card & 1 else 0.0
        for card in range(CARDS):
            chance = left[card] / total if ids >> card & 1 else 0.0
            hand[place, card] = chance
            left[card] = left[card] - chance if left[card] - chance >= ROUNDING else 0.0
    return n
