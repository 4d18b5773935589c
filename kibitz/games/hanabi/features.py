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

from kibitz.core.compiled import OBSERVE, compiled
from kibitz.core.game import PLIES, SEATS, VIEWER
from kibitz.games.hanabi.cells import (
    COLOUR_NAMED,
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
    VALUE_NAMED,
    VALUES,
    VALUES_USED,
    cards_in_deck,
    copies_of,
    deck_size,
    full_hand,
    hand_size,
)


@compiled()
def encode_hands(view, features, at, seats, size, cards, values):
    """Write the cards of all others, and who has a short hand; give where to go on."""
    viewer = int(view[VIEWER])
    short = at + (seats - 1) * size * cards
    for onward in range(seats):
        base = SLOT + (viewer + onward) % seats * MOST_HAND
        for place in range(size):
            serial = view[base + place]
            if serial == EMPTY:
                features[short + onward] = 1.0
            elif onward > 0:
                colour, value = divmod(view[DECK + serial], VALUES)
                features[at + ((onward - 1) * size + place) * cards + colour * values + value] = 1.0
    return short + seats


@compiled()
def encode_board(view, features, at, seats, size, colours, values):
    """Write deck, fireworks, notes, storms and discards; give where to go on."""
    total = cards_in_deck(view)
    for i in range(total - view[DRAWN]):
        features[at + i] = 1.0
    at += total - seats * size
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
            for i in range(view[DISCARDED + colour * VALUES + value]):
                features[at + i] = 1.0
            at += copies_of(values, value)
    return at


@compiled()
def encode_last_action(view, features, at, seats, size, colours, values):
    """Write what was done last; give where to go on."""
    cards = colours * values
    whom = at + seats + 4
    named = whom + seats
    pointed = named + colours + values
    played = pointed + size
    end = played + size + cards + 2
    if view[PLIES] == 0:
        return end
    ply = view[PLIES] - 1
    action, outcome = int(view[LOG + ply]), int(view[OUTCOME + ply])
    actor = (ply - view[VIEWER]) % seats
    features[at + actor] = 1.0
    if action < HINT:
        features[at + seats + (1 if action >= DISCARD else 0)] = 1.0
        features[played + action % MOST_HAND] = 1.0
        colour, value = divmod(view[DECK + (outcome & SERIAL)], VALUES)
        features[played + size + colour * values + value] = 1.0
        features[end - 2] = (outcome & FITTED) != 0
        # A discard wins a note back by its nature; the cell is for completed fireworks.
        features[end - 1] = action < DISCARD and (outcome & NOTE_BACK) != 0
        return end
    onward, hint = divmod(action - HINT, HINTS)
    features[at + seats + (2 if hint < VALUE else 3)] = 1.0
    features[whom + (actor + onward + 1) % seats] = 1.0
    features[named + (hint if hint < VALUE else colours + hint - VALUE)] = 1.0
    for place in range(size):
        features[pointed + place] = outcome >> place & 1
    return end


@compiled()
def encode_knowledge(view, features, at, seats, size, colours, values):
    """Write what hints have told about every card; give where to go on."""
    cards = colours * values
    viewer = int(view[VIEWER])
    for onward in range(seats):
        base = SLOT + (viewer + onward) % seats * MOST_HAND
        for place in range(size):
            serial = view[base + place]
            if serial != EMPTY:
                told = int(view[TOLD + serial])
                for colour in range(colours):
                    if told >> colour & 1:
                        for value in range(values):
                            features[at + colour * values + value] = (
                                told >> (VALUE_BITS + value) & 1
                            )
                        if told & COLOUR_NAMED:
                            features[at + cards + colour] = 1.0
                if told & VALUE_NAMED:
                    for value in range(values):
                        features[at + cards + colours + value] = told >> (VALUE_BITS + value) & 1
            at += cards + colours + values
    return at


@compiled(OBSERVE)
def observe(view, features):
    """Encode a view; the module describes every field."""
    seats, size = int(view[SEATS]), hand_size(view)
    colours, values = int(view[COLOURS_USED]), int(view[VALUES_USED])
    for i in range(len(features)):
        features[i] = 0.0
    at = encode_hands(view, features, 0, seats, size, colours * values, values)
    at = encode_board(view, features, at, seats, size, colours, values)
    at = encode_last_action(view, features, at, seats, size, colours, values)
    encode_knowledge(view, features, at, seats, size, colours, values)


def features_of(settings: Mapping[str, Any]) -> int:
    """Count the features for these settings."""
    seats, colours, values = settings["players"], settings["colours"], settings["values"]
    cards, total = colours * values, deck_size(settings)
    size = full_hand(settings)
    hands = (seats - 1) * size * cards + seats
    board = total - seats * size + cards + settings["notes"] + settings["storms"] + total
    last = 2 * seats + 4 + colours + values + 2 * size + cards + 2
    return hands + board + last + seats * size * (cards + colours + values)
