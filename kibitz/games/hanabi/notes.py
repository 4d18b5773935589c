"""Notes that everybody keeps alike: what all know about every card in every hand.

Players who follow a convention must know what others know. So each keeps the identities that every
card in every hand can have for all to know, as bits, in `memory`; all notes are the same, for they
come from hints, plays and discards, which all see.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.agent import Opinion, opinion
from kibitz.core.compiled import compiled
from kibitz.core.game import HIDDEN, PLIES, SEATS, VIEWER
from kibitz.core.table import View
from kibitz.games.hanabi.card_rules import is_held
from kibitz.games.hanabi.cards import (
    COLOUR_IDS,
    VALUE_IDS,
    allowed_ids,
    cards_held,
    count_unseen,
    reach_of,
)
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOURS_USED,
    DECK,
    DISCARDED,
    FIREWORK,
    LAST,
    MOST_HAND,
    MOST_SEATS,
    SLOT,
    TOLD,
    VALUE,
    VALUES,
    VALUES_USED,
    copies_of,
)
from kibitz.games.hanabi.words import card_name

# Memory: how many plies are noted, plus 1; then the identities of each card for all to know.
DONE, NOTED = 0, 1
NOTES_END = NOTED + MOST_SEATS * MOST_HAND
# What all know about the table, as bits of identities.
PLAYABLE, DEAD, BOARD = 0, 1, 2
FEW_TO_NAME = 6


@compiled()
def count_bits(bits):
    """Count set bits."""
    n = 0
    while bits:
        bits &= bits - 1
        n += 1
    return n


@compiled()
def single_bit(bits):
    """Give the place of a single set bit."""
    place = 0
    while bits > 1:
        bits >>= 1
        place += 1
    return place


@compiled()
def fresh_ids(view):
    """Give all identities that the deck has."""
    colours, values = (1 << int(view[COLOURS_USED])) - 1, (1 << int(view[VALUES_USED])) - 1
    return COLOUR_IDS[colours] & VALUE_IDS[values]


@compiled()
def read_board(view, board):
    """Write which identities can be played now, and which never again."""
    board[PLAYABLE] = board[DEAD] = 0
    values = int(view[VALUES_USED])
    for colour in range(view[COLOURS_USED]):
        height, reach = int(view[FIREWORK + colour]), reach_of(view, colour)
        for value in range(values):
            bit = 1 << (colour * VALUES + value)
            if value == height and height < reach:
                board[PLAYABLE] |= bit
            elif value < height or value >= reach:
                board[DEAD] |= bit


@compiled()
def public_left(view, memory, left):
    """Write how many of each card are not yet known by all to be somewhere."""
    values = int(view[VALUES_USED])
    for card in range(CARDS):
        left[card] = 0
    for colour in range(view[COLOURS_USED]):
        for value in range(values):
            card = colour * VALUES + value
            left[card] = copies_of(values, value) - view[DISCARDED + card]
            left[card] -= value < view[FIREWORK + colour]
    for seat in range(view[SEATS]):
        for place in range(cards_held(view, seat)):
            ids = memory[NOTED + seat * MOST_HAND + place]
            if ids & (ids - 1) == 0:
                left[single_bit(ids)] -= 1


@compiled()
def refine(view, memory, left):
    """Strike out what hints exclude, and cards that all know to be elsewhere.

    One thing may lead to another. It goes on until nothing more follows: whoever looks twice has
    no other notes than who looks once.
    """
    changed = True
    while changed:
        public_left(view, memory, left)
        gone = 0
        for card in range(CARDS):
            if left[card] <= 0:
                gone |= 1 << card
        changed = False
        for seat in range(view[SEATS]):
            for place in range(cards_held(view, seat)):
                at = NOTED + seat * MOST_HAND + place
                ids = memory[at]
                told = int(view[TOLD + view[SLOT + seat * MOST_HAND + place]])
                fewer = ids & allowed_ids(told)
                if fewer & (fewer - 1):
                    fewer &= ~gone
                if fewer != ids and fewer:
                    memory[at] = fewer
                    changed = True


@compiled()
def chance_in(ids, some, left):
    """Give the chance that a card is one of some identities, by the cards that are left."""
    all_cards = part = 0
    for card in range(CARDS):
        if ids >> card & 1:
            all_cards += max(left[card], 0)
            if some >> card & 1:
                part += max(left[card], 0)
    return part / all_cards if all_cards else 0.0


@compiled()
def named_by(hint):
    """Give the identities that a hint names, as bits."""
    return COLOUR_IDS[1 << hint] if hint < VALUE else VALUE_IDS[1 << (hint - VALUE)]


@compiled()
def touched_by(view, seat, hint):
    """Give which cards of a hand a hint touches, as bits."""
    named = named_by(hint)
    touched = 0
    for place in range(cards_held(view, seat)):
        if named >> view[DECK + view[SLOT + seat * MOST_HAND + place]] & 1:
            touched |= 1 << place
    return touched


@compiled()
def narrow(memory, at, ids):
    """Keep only some identities, unless that leaves none."""
    if memory[at] & ids:
        memory[at] &= ids


@compiled()
def count_not_elsewhere(view, unseen):
    """Write how many of each card the viewer does not see outside its own hand.

    The own cards are unseen but in the open game. There they count all the same, for these are the
    weights of what own cards can be.
    """
    count_unseen(view, unseen)
    for place in range(cards_held(view, view[VIEWER])):
        card = view[DECK + view[SLOT + view[VIEWER] * MOST_HAND + place]]
        if card != HIDDEN:
            unseen[card] += 1


@compiled()
def own_ids(view, memory, unseen, place):
    """Give the identities that an own card can have, by all that the viewer knows.

    In the open game it is seen, and has but one.
    """
    card = int(view[DECK + view[SLOT + view[VIEWER] * MOST_HAND + place]])
    if card != HIDDEN:
        return 1 << card
    ids = memory[NOTED + view[VIEWER] * MOST_HAND + place]
    seen = 0
    for card in range(CARDS):
        if unseen[card] <= 0:
            seen |= 1 << card
    fewer = ids & ~seen
    return fewer if fewer else ids


@compiled()
def mean_value(ids, unseen):
    """Give the mean value of the identities that a card can have."""
    total = weight = 0.0
    for card in range(CARDS):
        if ids >> card & 1:
            total += unseen[card] * (card % VALUES)
            weight += unseen[card]
    return total / weight if weight > 0 else 0.0


@compiled()
def keeping(view, ids, board, unseen):
    """Say how much a card that may be one of these should be kept."""
    values = int(view[VALUES_USED])
    worth = weight = 0.0
    for card in range(CARDS):
        if ids >> card & 1 and unseen[card] > 0:
            weight += unseen[card]
            if board[DEAD] >> card & 1:
                continue
            colour, value = divmod(card, VALUES)
            left = copies_of(values, value) - view[DISCARDED + card]
            if left == 1:
                worth += unseen[card] * (20.0 - value)
            elif is_held(view, card, view[VIEWER]):
                worth += unseen[card] * 0.5
            else:
                worth += unseen[card] * (6.0 - (value - view[FIREWORK + colour]))
    return worth / weight if weight > 0 else 0.0


@compiled()
def least_kept(view, memory, board, unseen):
    """Give the place of the own card that is least worth keeping."""
    best = 0
    least = np.inf
    for place in range(cards_held(view, view[VIEWER])):
        worth = keeping(view, own_ids(view, memory, unseen, place), board, unseen)
        if worth < least:
            best = place
            least = worth
    return best


@compiled()
def begin_notes(view, memory):
    """Note at first that every card can be anything.

    Whoever joins later has missed what was meant, and knows only what hints name.
    """
    if memory[DONE] == 0:
        for i in range(MOST_SEATS * MOST_HAND):
            memory[NOTED + i] = fresh_ids(view)
        plies = int(view[PLIES])
        memory[DONE] = 1 if plies <= 1 else plies + 1


@compiled()
def follow_card(view, memory, start, seat, action, fresh):
    """Let the numbers of a hand follow its cards when one is played or discarded.

    They move up, and if a card is drawn, it gets a fresh one.
    """
    first = start + seat * MOST_HAND
    for at in range(first + action % MOST_HAND, first + MOST_HAND - 1):
        memory[at] = memory[at + 1]
    if view[LAST] == 0 or view[LAST] == view[SEATS]:
        memory[first + cards_held(view, seat) - 1] = fresh


def explained(view: View, memory: np.ndarray, action: int, reason: str, source: str) -> Opinion:
    """Give an opinion with what the notes say about each own card."""
    notes = {}
    for place in range(int(cards_held(view.cells, view.seat))):
        said = in_short(int(memory[NOTED + view.seat * MOST_HAND + place]))
        notes[place] = f"can be {said}, {source}"
    return opinion(view, action, reason, notes=notes)


def in_short(ids: int) -> str:
    """Write identities in short: 'R1 G2', or how many where they are many."""
    cards = [card for card in range(CARDS) if ids >> card & 1]
    if len(cards) > FEW_TO_NAME:
        return f"{len(cards)} cards"
    return " ".join(map(card_name, cards))
