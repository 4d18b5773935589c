"""The cells of Hanabi: cards, options, and where everything lies in a state.

cards     colour * VALUES + value, both from 0; serial numbers count them as they are drawn
state     deck        the card of each serial number, drawn or not
          slot        of each seat and place, oldest first: the serial number, or EMPTY
          told        of each serial number: bits of the colours that hints allow, of the values
                      that they allow, and whether a hint has named the colour, the value
          firework    of each colour: its height
          discarded   of each card: how many are out of play, storms included
          drawn       cards that have been drawn
          notes       hints that can be given now
          storms      cards that did not fit
          last        turns to come once the deck is empty; 0 before that
          log         of each ply: the action; seats move strictly in turn, seat 0 first
          outcome     of each ply: bits of the places that a hint points out; or the serial number
                      of the card, and whether it fitted and whether it won a note back
action    place to play; DISCARD + place; for a hint HINT + HINTS * (seats onward - 1), and then
          + colour, or + VALUE + value
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.game import SEATS, Cells, Layout
from kibitz.core.options import Choice, Flag, Whole

COLOURS = VALUES = 5
CARDS = COLOURS * VALUES
MOST_CARDS = 50
MOST_SEATS = 5
MOST_HAND = 5
MOST_NOTES = 8
MOST_STORMS = 3
EMPTY = MOST_CARDS
LOG_LENGTH = 105  # plies of the longest game with any settings: two seats, one card each

DISCARD = MOST_HAND
HINT = 2 * MOST_HAND
VALUE = COLOURS  # within the hints for one seat, values follow colours
HINTS = COLOURS + VALUES
ACTIONS = HINT + HINTS * (MOST_SEATS - 1)

# Bits of `told`.
VALUE_BITS = COLOURS
COLOUR_NAMED_BIT, VALUE_NAMED_BIT = COLOURS + VALUES, COLOURS + VALUES + 1
COLOUR_NAMED, VALUE_NAMED = 1 << COLOUR_NAMED_BIT, 1 << VALUE_NAMED_BIT
COLOUR_MASK = (1 << COLOURS) - 1
VALUE_MASK = (1 << VALUES) - 1
# Of each card: the bits of its colour and its value. The last is for `HIDDEN`, which has neither.
MARKS = np.array(
    [1 << card // VALUES | 1 << (VALUE_BITS + card % VALUES) for card in range(CARDS)] + [0]
)
# Bits of `outcome` besides the serial number.
FITTED, NOTE_BACK, SERIAL = 64, 128, 63

ZERO, PILE = 0, 1  # what too many storms leave

OPTIONS = (
    Whole(name="colours", default=5, help="colours of cards", low=1, high=COLOURS),
    Whole(name="values", default=5, help="values of cards, from 1", low=1, high=VALUES),
    Whole(
        name="hand", default=0, help="cards in a hand; none for 5, or 4 with four or five players",
        low=1, high=MOST_HAND, none=0,
    ),
    Whole(name="notes", default=8, help="notes, each good for a hint", low=1, high=MOST_NOTES),
    Whole(name="storms", default=3, help="storms that end the game", low=1, high=MOST_STORMS),
    Choice(
        name="bomb", default="zero",
        help="points after too many storms: zero, or the pile as it is",
        names=("zero", "pile"),
    ),
    Flag(
        name="open", default=False,
        help="everybody sees their own cards too: no game, but a ceiling",
    ),
)  # fmt: skip

LAYOUT = Layout(
    OPTIONS,
    {
        "deck": Cells(MOST_CARDS, 0, CARDS - 1),
        "slot": Cells(MOST_SEATS * MOST_HAND, 0, EMPTY),
        "told": Cells(MOST_CARDS, 0, (1 << 12) - 1),
        "firework": Cells(COLOURS, 0, VALUES),
        "discarded": Cells(CARDS, 0, 3),
        "drawn": Cells(1, 0, MOST_CARDS),
        "notes": Cells(1, 0, MOST_NOTES),
        "storms": Cells(1, 0, MOST_STORMS),
        "last": Cells(1, 0, MOST_SEATS),
        "log": Cells(LOG_LENGTH, 0, ACTIONS - 1),
        "outcome": Cells(LOG_LENGTH, 0, 255),
    },
)
COLOURS_USED = LAYOUT.option("colours")
VALUES_USED = LAYOUT.option("values")
HAND_SIZE = LAYOUT.option("hand")
MAX_NOTES = LAYOUT.option("notes")
MAX_STORMS = LAYOUT.option("storms")
BOMB = LAYOUT.option("bomb")
OPEN = LAYOUT.option("open")
(
    DECK,
    SLOT,
    TOLD,
    FIREWORK,
    DISCARDED,
    DRAWN,
    NOTES,
    STORMS,
    LAST,
    LOG,
    OUTCOME,
) = (LAYOUT.start(name) for name in LAYOUT.own)


@compiled()
def copies_of(values, value):
    """Count the cards of one colour and value in the deck."""
    if value == 0:
        return 3
    return 1 if value == values - 1 else 2


@compiled()
def cards_in_deck(state):
    """Count the cards of the whole deck."""
    values = int(state[VALUES_USED])
    return int(state[COLOURS_USED]) * (3 if values == 1 else 2 * values)


@compiled()
def hand_size(state):
    """Give how many cards a full hand has: as set, or by the rules; never more than there are."""
    seats = int(state[SEATS])
    size = int(state[HAND_SIZE])
    if size == 0:
        size = 5 if seats < 4 else 4
    return min(size, max(1, cards_in_deck(state) // seats))


@compiled()
def nothing_told(state):
    """Give what hints allow of a fresh card: everything."""
    colours, values = int(state[COLOURS_USED]), int(state[VALUES_USED])
    return (1 << colours) - 1 | ((1 << values) - 1) << VALUE_BITS


def deck_size(settings: Mapping[str, Any]) -> int:
    """Count the cards of the deck."""
    values = settings["values"]
    return settings["colours"] * (3 if values == 1 else 2 * values)


def full_hand(settings: Mapping[str, Any]) -> int:
    """Count the cards of a full hand."""
    size = settings["hand"] or (5 if settings["players"] < 4 else 4)
    return min(size, max(1, deck_size(settings) // settings["players"]))
