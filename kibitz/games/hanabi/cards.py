"""What is known about cards: which can be played, which are lost for good, what one's own may be.

The *stochastic card* is the chance of each identity for a card that the viewer does not see: its
own cards, or the next of the deck. `card_chances` gives it from all cards that are seen and the
hints on that card; `hand_chances` conditions on the hints on all other own cards too. Both are
exact. The second needs no enumeration: the worlds in which n own cards fit their hints are the ways
to give them n different unseen cards, and those are counted by inclusion and exclusion over the
partitions of the hand, at most 52.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.game import HIDDEN, VIEWER
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOURS_USED,
    DECK,
    DISCARDED,
    EMPTY,
    FIREWORK,
    MARKS,
    MOST_HAND,
    SLOT,
    TOLD,
    VALUES,
    VALUES_USED,
    cards_in_deck,
    copies_of,
)


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
def deck_chances(view, out):
    """Write the chance of each identity for the next card of the deck, hints on all own cards used.

    All zero where the deck is empty.
    """
    unseen = np.empty(CARDS, np.int64)
    left = count_unseen(view, unseen)
    hand = np.zeros((MOST_HAND, CARDS))
    n = hand_chances(view, hand)
    for card in range(CARDS):
        out[card] = unseen[card]
        for place in range(n):
            out[card] -= hand[place, card]
        out[card] = max(0.0, out[card] / (left - n)) if left > n else 0.0


@compiled()
def count_worlds(unseen, masks, n):
    """Count the ways to give n cards different unseen cards that their masks of identities allow.

    By inclusion and exclusion over partitions: cards of one block are given the same unseen card,
    and a block of b cards counts (-1) ** (b - 1) * (b - 1)! times.
    """
    block = np.zeros(MOST_HAND, np.int64)  # of each card, in the partition now looked at
    both = np.empty(MOST_HAND, np.int64)  # what all cards of a block may be
    size = np.empty(MOST_HAND, np.int64)
    worlds = 0.0
    if n == 0:
        return 1.0
    while True:
        blocks = 0
        for i in range(n):
            if block[i] == blocks:
                both[blocks] = masks[i]
                size[blocks] = 1
                blocks += 1
            else:
                both[block[i]] &= masks[i]
                size[block[i]] += 1
        product = 1.0
        for b in range(blocks):
            fitting = 0
            for card in range(CARDS):
                if both[b] >> card & 1:
                    fitting += unseen[card]
            product *= fitting
            for k in range(1, size[b]):
                product *= -k
            if product == 0.0:
                break
        worlds += product
        # The next partition: each card is in a block that began before it, or begins one.
        i = n - 1
        while i > 0:
            most = 0
            for j in range(i):
                most = max(most, block[j] + 1)
            if block[i] < most:
                break
            i -= 1
        if i == 0:
            return worlds
        block[i] += 1
        for j in range(i + 1, n):
            block[j] = 0


@compiled()
def mask_of(told):
    """Give the identities that hints allow, as bits."""
    mask = 0
    for card in range(CARDS):
        if allows(told, card):
            mask |= 1 << card
    return mask


@compiled()
def hand_chances(view, out):
    """Write the exact chances of each own card, given the hints on all; give how many there are.

    out [MOST_HAND, CARDS]. Cards that are seen, as in the open game, are certain.
    """
    unseen = np.empty(CARDS, np.int64)
    count_unseen(view, unseen)
    base = SLOT + view[VIEWER] * MOST_HAND
    masks = np.empty(MOST_HAND, np.int64)
    others = np.empty(MOST_HAND, np.int64)
    n = cards_held(view, view[VIEWER])
    hidden = 0
    for place in range(n):
        for card in range(CARDS):
            out[place, card] = 0.0
        serial = view[base + place]
        if view[DECK + serial] == HIDDEN:
            masks[hidden] = mask_of(view[TOLD + serial])
            hidden += 1
        else:
            out[place, view[DECK + serial]] = 1.0
    at = 0
    for place in range(n):
        if view[DECK + view[base + place]] != HIDDEN:
            continue
        k = 0
        for i in range(hidden):
            if i != at:
                others[k] = masks[i]
                k += 1
        total = 0.0
        for card in range(CARDS):
            if masks[at] >> card & 1 and unseen[card] > 0:
                unseen[card] -= 1
                out[place, card] = (unseen[card] + 1) * count_worlds(unseen, others, k)
                unseen[card] += 1
                total += out[place, card]
        for card in range(CARDS):
            out[place, card] /= total
        at += 1
    return n
