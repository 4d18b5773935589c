"""Hanabi: build fireworks together, each seeing every hand but their own.

Cards have a colour and a value. The deck has three ones of each colour, one of the highest value
and two of every other. Everybody's hand is seen by all others. A turn is one of three: play a card,
which must be the next of its colour or brings a storm; discard a card, which wins a note back; or
spend a note on a hint, which names a colour or a value and points out all cards of somebody else's
hand that have it, at least one. Completing a colour wins a note back too. Whoever plays or discards
draws a card; new cards come in at the newest end. After the last card is drawn everybody has one
more turn. Points are the cards in the fireworks; too many storms end the game.

Cells and actions are described in cells.py. Points are the same for all, and may count as 0 after
too many storms.

v1  first release
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.chance import below
from kibitz.core.compiled import DEAL, LEGAL, LOOK, PLAY, REDEAL, SCORE, Rules, compiled
from kibitz.core.game import HIDDEN, OVER, PLIES, SEAT, SEATS, VIEWER, Game, copy_cells
from kibitz.core.table import Table
from kibitz.games.hanabi.cards import allows, count_allowed, count_unseen
from kibitz.games.hanabi.cells import (
    ACTIONS,
    BOMB,
    CARDS,
    COLOUR_MASK,
    COLOUR_NAMED,
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
    LAST,
    LAYOUT,
    LOG,
    MARKS,
    MAX_NOTES,
    MAX_STORMS,
    MOST_CARDS,
    MOST_HAND,
    MOST_SEATS,
    NOTE_BACK,
    NOTES,
    OPEN,
    OPTIONS,
    OUTCOME,
    SLOT,
    STORMS,
    TOLD,
    VALUE,
    VALUE_BITS,
    VALUE_MASK,
    VALUE_NAMED,
    VALUES,
    VALUES_USED,
    ZERO,
    cards_in_deck,
    copies_of,
    deck_size,
    full_hand,
    hand_size,
    nothing_told,
)
from kibitz.games.hanabi.features import features_of, observe


@compiled(DEAL)
def deal(state, rng):
    """Shuffle the deck, and let everybody draw a hand in turn."""
    values = int(state[VALUES_USED])
    suit = 0  # cards of one colour
    for value in range(values):
        for _ in range(copies_of(values, value)):
            state[DECK + suit] = value
            suit += 1
    for colour in range(1, state[COLOURS_USED]):
        for i in range(suit):
            state[DECK + colour * suit + i] = colour * VALUES + state[DECK + i]
    count = suit * int(state[COLOURS_USED])
    for last in range(count - 1, 0, -1):
        other = below(rng, last + 1)
        kept = state[DECK + last]
        state[DECK + last] = state[DECK + other]
        state[DECK + other] = kept
    fresh = nothing_told(state)
    for serial in range(count):
        state[TOLD + serial] = fresh
    size = hand_size(state)
    for place in range(MOST_SEATS * MOST_HAND):
        state[SLOT + place] = EMPTY
    drawn = 0
    for seat in range(state[SEATS]):
        for place in range(min(size, count - drawn)):
            state[SLOT + seat * MOST_HAND + place] = drawn
            drawn += 1
    state[DRAWN] = drawn
    state[NOTES] = state[MAX_NOTES]
    if drawn == count:
        state[LAST] = state[SEATS]


# --- moves ---------------------------------------------------------------------------------------


@compiled(LEGAL)
def legal(state, actions):
    """Play any card, discard if a note is out, hint if one is there and a card has it."""
    seat = int(state[SEAT])
    if seat == OVER:
        return 0
    seats = int(state[SEATS])
    base = SLOT + seat * MOST_HAND
    held = 0
    while held < MOST_HAND and state[base + held] != EMPTY:
        actions[held] = held
        held += 1
    n = held
    if state[NOTES] < state[MAX_NOTES]:
        for place in range(held):
            actions[n] = DISCARD + place
            n += 1
    if state[NOTES] > 0:
        first, other = HINT, seat
        for _ in range(1, seats):
            other = other + 1 if other + 1 < seats else 0
            base = SLOT + other * MOST_HAND
            marks = 0
            for place in range(MOST_HAND):
                serial = state[base + place]
                if serial == EMPTY:
                    break
                marks |= MARKS[state[DECK + serial]]
            for hint in range(HINTS):
                actions[n] = first + hint
                n += marks >> hint & 1
            first += HINTS
    return n


@compiled()
def is_complete(state):
    """Tell whether all fireworks are finished."""
    for colour in range(state[COLOURS_USED]):
        if state[FIREWORK + colour] < state[VALUES_USED]:
            return False
    return True


@compiled()
def play_card(state, seat, place, discards):
    """Move a card from a hand to its firework or out of play, and draw; give the outcome."""
    base = SLOT + seat * MOST_HAND
    serial = state[base + place]
    card = state[DECK + serial]
    colour, value = divmod(card, VALUES)
    outcome = int(serial)
    if discards:
        state[NOTES] += 1
        state[DISCARDED + card] += 1
        outcome |= NOTE_BACK
    elif state[FIREWORK + colour] == value:
        state[FIREWORK + colour] += 1
        outcome |= FITTED
        if value + 1 == state[VALUES_USED] and state[NOTES] < state[MAX_NOTES]:
            state[NOTES] += 1
            outcome |= NOTE_BACK
    else:
        state[STORMS] += 1
        state[DISCARDED + card] += 1
    place += 1
    while place < MOST_HAND and state[base + place] != EMPTY:
        state[base + place - 1] = state[base + place]
        place += 1
    state[base + place - 1] = EMPTY
    if state[LAST] == 0:
        state[base + place - 1] = state[DRAWN]
        state[DRAWN] += 1
    return outcome


@compiled()
def give_hint(state, other, hint):
    """Note on every card of a hand whether it has a colour or value; give which have, as bits."""
    base = SLOT + other * MOST_HAND
    kind, named = COLOUR_MASK, COLOUR_NAMED
    if hint >= VALUE:
        kind, named = VALUE_MASK << VALUE_BITS, VALUE_NAMED
    touched = 0
    for place in range(MOST_HAND):
        serial = state[base + place]
        if serial == EMPTY:
            break
        if MARKS[state[DECK + serial]] >> hint & 1:
            touched |= 1 << place
            state[TOLD + serial] = state[TOLD + serial] & ~kind | 1 << hint | named
        else:
            state[TOLD + serial] &= ~(1 << hint)
    return touched


@compiled(PLAY)
def play(state, action):
    """Play or discard a card, or give a hint."""
    seat = int(state[SEAT])
    seats = int(state[SEATS])
    ply = state[PLIES]
    following = seat + 1 if seat + 1 < seats else 0
    was_last = state[LAST] > 0
    over = False
    if action < HINT:
        discards = action >= DISCARD
        outcome = play_card(state, seat, action - DISCARD if discards else action, discards)
        if state[STORMS] == state[MAX_STORMS]:
            over = True
        elif outcome & FITTED:
            over = is_complete(state)
        if not was_last and state[DRAWN] == cards_in_deck(state):
            state[LAST] = seats
    else:
        onward, hint = divmod(action - HINT, HINTS)
        other = seat + onward + 1
        outcome = give_hint(state, other if other < seats else other - seats, hint)
        state[NOTES] -= 1
    if was_last:
        state[LAST] -= 1
        over = over or state[LAST] == 0
    # Tiny decks do not reach everybody: the game ends before a seat that was dealt nothing.
    over = over or state[SLOT + following * MOST_HAND] == EMPTY
    state[LOG + ply] = action
    state[OUTCOME + ply] = outcome
    state[PLIES] = ply + 1
    state[SEAT] = OVER if over else following


@compiled()
def pile(state):
    """Count the cards in the fireworks."""
    total = 0
    for colour in range(COLOURS):
        total += state[FIREWORK + colour]
    return total


@compiled(SCORE)
def score(state, points):
    """The cards in the fireworks, the same for all; perhaps none after too many storms."""
    total = float(pile(state))
    if state[STORMS] == state[MAX_STORMS] and state[BOMB] == ZERO:
        total = 0.0
    for seat in range(state[SEATS]):
        points[seat] = total


# --- what a seat knows ---------------------------------------------------------------------------


@compiled(LOOK)
def look(state, seat, out):
    """Hide one's own cards and the deck."""
    copy_cells(state, out)
    out[VIEWER] = seat
    for serial in range(state[DRAWN], MOST_CARDS):
        out[DECK + serial] = HIDDEN
    if state[OPEN] == 0:
        base = SLOT + seat * MOST_HAND
        for place in range(MOST_HAND):
            serial = state[base + place]
            if serial != EMPTY:
                out[DECK + serial] = HIDDEN


@compiled(REDEAL)
def redeal(view, rng):
    """Deal the hidden cards anew, so that own cards fit their hints; every world is as likely.

    Own cards are drawn from the oldest on: cards.py says why no draw favours any world.
    """
    left = np.empty(CARDS, np.int64)
    hidden = count_unseen(view, left)
    base = SLOT + view[VIEWER] * MOST_HAND
    n = 0
    for place in range(MOST_HAND):
        serial = view[base + place]
        if serial == EMPTY or view[DECK + serial] != HIDDEN:
            continue
        told = view[TOLD + serial]
        wanted = below(rng, count_allowed(left, told))
        for card in range(CARDS):
            if allows(told, card):
                wanted -= left[card]
                if wanted < 0:
                    view[DECK + serial] = card
                    left[card] -= 1
                    break
        n += 1
    rest = hidden - n
    first = cards_in_deck(view) - rest
    at = first
    for card in range(CARDS):
        for _ in range(left[card]):
            other = first + below(rng, at - first + 1)
            view[DECK + at] = view[DECK + other]
            view[DECK + other] = card
            at += 1
    for serial in range(cards_in_deck(view), MOST_CARDS):
        view[DECK + serial] = 0
    view[VIEWER] = HIDDEN


# --- bounds and checks ---------------------------------------------------------------------------


def most_legal(settings: Mapping[str, Any]) -> int:
    """Bound the legal actions: cards twice, every hint, and one to spare for `legal`."""
    return 2 * full_hand(settings) + HINTS * (settings["players"] - 1) + 1


def most_plies(settings: Mapping[str, Any]) -> int:
    """Bound the plies, sharply: a note is there at first or is won by a card that leaves a hand.

    As many cards leave hands as are drawn, and then everybody has one more turn; so the longest
    game spends every note, wins back as many as cards are drawn, and has no use for the last.
    """
    seats = settings["players"]
    drawn = max(0, deck_size(settings) - seats * full_hand(settings))
    return settings["notes"] + 2 * drawn - 1 + seats if drawn else seats


def flaw(table: Table) -> str | None:
    """Say what is wrong with a table as it stands, or None."""
    state, settings = table.cells, table.game.settings
    total, drawn = deck_size(settings), int(state[DRAWN])
    values = settings["values"]
    full = np.zeros(CARDS, np.int64)
    for colour in range(settings["colours"]):
        for value in range(values):
            full[colour * VALUES + value] = copies_of(values, value)
    deck = state[DECK : DECK + total]
    if (deck < 0).any() or (np.bincount(deck, minlength=CARDS) != full).any():
        return "the deck has other cards than it should"
    slots = state[SLOT : SLOT + MOST_SEATS * MOST_HAND]
    held = slots[slots != EMPTY]
    if len(set(held.tolist())) < len(held) or (held >= drawn).any():
        return "a card is in two places, or in a hand before it was drawn"
    gone = np.setdiff1d(np.arange(drawn), held)
    out = np.bincount(deck[gone], minlength=CARDS)
    for colour in range(COLOURS):
        out[colour * VALUES : colour * VALUES + int(state[FIREWORK + colour])] -= 1
    if (out != state[DISCARDED : DISCARDED + CARDS]).any():
        return "played and discarded cards are not those that left the hands"
    for serial in held:
        if not allows(int(state[TOLD + serial]), int(deck[serial])):
            return f"card {serial} is not what its hints say"
    if not 0 <= state[NOTES] <= settings["notes"] or not 0 <= state[STORMS] <= settings["storms"]:
        return "there are more notes or storms than there can be"
    return None


def open_spiel(settings: Mapping[str, Any]) -> str | None:
    """Name the same game for OpenSpiel."""
    if settings["open"] or settings["bomb"] != "zero" or settings["values"] < 2:
        return None
    if deck_size(settings) < settings["players"]:  # it would end the process
        return None
    names = {
        "players": settings["players"], "colors": settings["colours"], "ranks": settings["values"],
        "hand_size": full_hand(settings), "max_information_tokens": settings["notes"],
        "max_life_tokens": settings["storms"],
    }  # fmt: skip
    return f"hanabi({','.join(f'{name}={value}' for name, value in names.items())})"


GAME = Game(
    name="hanabi",
    title="Hanabi",
    summary="Build fireworks together, seeing every hand but your own.",
    version=1,
    room=__package__,
    seats=(2, MOST_SEATS),
    default_seats=2,
    options=OPTIONS,
    layout=LAYOUT,
    functions=Rules(deal, legal, play, score, look, redeal, observe),
    actions=ACTIONS,
    most_legal=most_legal,
    most_plies=most_plies,
    features=features_of,
    feature_range=(0.0, 1.0),
    hides=True,
    cooperative=True,
    span=lambda settings: (0.0, settings["colours"] * settings["values"]),
    most_points=lambda settings: settings["colours"] * settings["values"],
    scorings={"bomb": ("zero", "pile")},
    flaw=flaw,
    open_spiel=open_spiel,
)
