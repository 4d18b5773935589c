"""What learners see of Hanabi: the canonical encoding of the Hanabi Learning Environment.

With the same rules it is the same, bit for bit (Bard et al., "The Hanabi challenge", Artificial
Intelligence 280, 2020, and the encoder that came with it). Everything is 0 or 1. Seats are counted
from the viewer on, who is the first; h is the size of a full hand.

field              length                        is 1 for
hands of others    (seats - 1) * h * cards       the card in each place, oldest first
short hands        seats                         a hand with fewer than h cards
deck               cards in the deck after the   each card that is left
                   deal
fireworks          colours * values              the height of each firework, if it has one
notes, storms      notes + storms                each note that is left, and each storm to come
discards           cards in the deck             each card out of play: colour by colour, value by
                                                 value, as many cells as there are such cards
last action        see below                     nothing before the first
knowledge          seats * h * (cards + colours  each card that hints allow; a colour, a value that
                   + values)                     a hint has named

last action: who (seats), what (play, discard, colour, value), to whom (seats), the colour, the
value, which places a hint has pointed out (h), which place was played or discarded (h), which card
(cards), whether it fitted, whether it won a note back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.compiled import OBSERVE, compiled
from kibitz.core.game import PLIES, SEATS, VIEWER
from kibitz.games.hanabi.cells import (
    COLOUR_MASK,
    COLOUR_NAMED_BIT,
    COLOURS,
    COLOURS_USED,
    DECK,
    DISCARD,
    DISCARDED,
    DRAWN,
    EMPTY,
    FIREWORK,
    FITTED,
    HINT,
    HINTS,
    LOG,
    MAX_NOTES,
    MAX_STORMS,
    MOST_HAND,
    NOTE_BACK,
    NOTES,
    OUTCOME,
    SERIAL,
    SLOT,
    STORMS,
    TOLD,
    VALUE,
    VALUE_BITS,
    VALUE_MASK,
    VALUE_NAMED_BIT,
    VALUES,
    VALUES_USED,
    cards_in_deck,
    copies_of,
    deck_size,
    full_hand,
    hand_size,
)

# The bits of a number below 32 as five cells: a row is copied faster than its bits are looked at.
BITS = np.array([[bits >> i & 1 for i in range(5)] for bits in range(32)], np.float32)

ONE = np.uint64(1)  # where an index has no sign, compiled code need not ask for it at every cell


@compiled(inline=True)
def encode_hands(view, features, seats, size, colours, values):
    """Write the cards of all others, and who has a short hand; give where to go on."""
    cards = colours * values
    short = (seats - 1) * size * cards
    seat = int(view[VIEWER])
    at = 0
    for onward in range(seats):
        base = SLOT + seat * MOST_HAND
        features[short + onward] = view[base + size - 1] == EMPTY
        if onward > 0:
            for place in range(size):
                serial = view[base + place]
                if serial != EMPTY:
                    colour, value = divmod(int(view[DECK + serial]), VALUES)
                    features[at + colour * values + value] = 1.0
                at += cards
        seat = seat + 1 if seat + 1 < seats else 0
    return short + seats


@compiled(inline=True)
def encode_board(view, features, at, seats, size, colours, values):
    """Write deck, fireworks, notes, storms and discards; give where to go on."""
    total = cards_in_deck(view)
    for i in range(total - view[DRAWN]):
        features[at + i] = 1.0
    at += max(0, total - seats * size)  # tiny decks do not reach everybody
    for colour in range(colours):
        if view[FIREWORK + colour] > 0:
            features[at + view[FIREWORK + colour] - 1] = 1.0
        at += values
    for i in range(view[NOTES]):
        features[at + i] = 1.0
    at += view[MAX_NOTES]
    for i in range(view[MAX_STORMS] - view[STORMS]):
        features[at + i] = 1.0
    at += view[MAX_STORMS]
    for colour in range(colours):
        for value in range(values):
            out = view[DISCARDED + colour * VALUES + value]
            for i in range(copies_of(values, value)):
                features[at] = out > i
                at += 1
    return at


@compiled(inline=True)
def encode_last_action(view, features, at, seats, size, colours, values):
    """Write what was done last; give where to go on."""
    cards = colours * values
    whom = at + seats + 4
    named = whom + seats
    pointed = named + colours + values
    played = pointed + size
    end = played + size + cards + 2
    if view[PLIES] > 0:
        ply = view[PLIES] - 1
        action, outcome = int(view[LOG + ply]), int(view[OUTCOME + ply])
        actor = (ply - view[VIEWER]) % seats
        features[at + actor] = 1.0
        if action < HINT:
            features[at + seats + (1 if action >= DISCARD else 0)] = 1.0
            features[played + action % MOST_HAND] = 1.0
            colour, value = divmod(int(view[DECK + (outcome & SERIAL)]), VALUES)
            features[played + size + colour * values + value] = 1.0
            features[end - 2] = (outcome & FITTED) != 0
            # A discard wins a note back by its nature; the cell is for completed fireworks.
            features[end - 1] = action < DISCARD and (outcome & NOTE_BACK) != 0
        else:
            onward, hint = divmod(action - HINT, HINTS)
            features[at + seats + (2 if hint < VALUE else 3)] = 1.0
            features[whom + (actor + onward + 1) % seats] = 1.0
            features[named + (hint if hint < VALUE else colours + hint - VALUE)] = 1.0
            for place in range(size):
                features[pointed + place] = outcome >> place & 1
    return end


@compiled(inline=True)
def encode_knowledge(view, features, start, seats, size, colours, values):
    """Write what hints have told about every card; nothing about those that are not there."""
    at = np.uint64(start)
    seat = int(view[VIEWER])
    for _ in range(seats):
        base = SLOT + seat * MOST_HAND
        for place in range(size):
            serial = view[base + place]
            told = 0 if serial == EMPTY else int(view[TOLD + serial])
            by_colour, by_value = told & COLOUR_MASK, told >> VALUE_BITS & VALUE_MASK
            for colour in range(colours):
                row = by_value * (by_colour >> colour & 1)
                for value in range(values):
                    features[at] = BITS[row, value]
                    at += ONE
            row = by_colour * (told >> COLOUR_NAMED_BIT & 1)
            for colour in range(colours):
                features[at] = BITS[row, colour]
                at += ONE
            row = by_value * (told >> VALUE_NAMED_BIT & 1)
            for value in range(values):
                features[at] = BITS[row, value]
                at += ONE
        seat = seat + 1 if seat + 1 < seats else 0


@compiled(inline=True)
def encode(view, features, colours, values):
    """Encode a view with so many colours and values."""
    seats, size = int(view[SEATS]), hand_size(view)
    knowledge = len(features) - seats * size * (colours * values + colours + values)
    for i in range(knowledge):
        features[i] = 0.0
    at = encode_hands(view, features, seats, size, colours, values)
    at = encode_board(view, features, at, seats, size, colours, values)
    encode_last_action(view, features, at, seats, size, colours, values)
    encode_knowledge(view, features, knowledge, seats, size, colours, values)


@compiled(OBSERVE)
def observe(view, features):
    """Encode a view; the module describes every field."""
    # The same twice: loops over a fixed number of cells are compiled to far fewer steps.
    if view[COLOURS_USED] == COLOURS and view[VALUES_USED] == VALUES:
        encode(view, features, COLOURS, VALUES)
    else:
        encode(view, features, int(view[COLOURS_USED]), int(view[VALUES_USED]))


def features_of(settings: Mapping[str, Any]) -> int:
    """Count the features for these settings."""
    seats, colours, values = settings["players"], settings["colours"], settings["values"]
    cards, total = colours * values, deck_size(settings)
    size = full_hand(settings)
    hands = (seats - 1) * size * cards + seats
    board = max(0, total - seats * size) + cards + settings["notes"] + settings["storms"] + total
    last = 2 * seats + 4 + colours + values + 2 * size + cards + 2
    return hands + board + last + seats * size * (cards + colours + values)
