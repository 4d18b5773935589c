"""The simple player: a hint promises that the cards it points out can be played.

The convention is that of SimpleBot in A. O'Dwyer's framework for Hanabi players, where it makes
16.9, 18.5, 19.3 and 18.5 points in games of 2 to 5. Whoever is pointed at plays the card, whatever
it may be, so a hint is given only if it promises nothing false. What nobody has pointed out is
discarded, the oldest first.

A hint promises nothing of a card that cannot fit, as all can see, when it is given: a five that is
pointed out early is merely kept. Such hints pass the time when all notes are there.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion, opinion
from kibitz.core.compiled import CHOOSE, compiled
from kibitz.core.game import PLIES, SEATS, VIEWER
from kibitz.core.table import View
from kibitz.games.hanabi.card_rules import (
    FACTS,
    FITS,
    NONE,
    as_discard,
    discard_probably,
    discard_unhinted,
    know_own,
    likeliest,
    may_discard,
    own_serial,
    play_safe,
)
from kibitz.games.hanabi.cards import allows, cards_held, is_playable
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOURS,
    DECK,
    DISCARD,
    EMPTY,
    FIREWORK,
    FITTED,
    HINT,
    HINTS,
    LOG,
    MOST_CARDS,
    MOST_HAND,
    MOST_SEATS,
    NOTES,
    OUTCOME,
    SERIAL,
    SLOT,
    TOLD,
    VALUES,
    cards_in_deck,
    hand_size,
    nothing_told,
)
from kibitz.games.hanabi.reasons import notes_on
from kibitz.games.hanabi.tell_rules import (
    has,
    hint_of,
    narrowed,
    seat_onward,
    serial_at,
    told_after,
)

SURE, PROMISED, TELL, DEAD_CARD, OLDEST, PASS, FORCED = range(7)
REASONS = (
    "This card surely fits.",
    "A hint has pointed out this card when it could fit, and that means: play it.",
    "This hint points out cards that can be played.",
    "Nothing to play or to tell, and this card is surely dead.",
    "Nothing to play or to tell, so the oldest card that no hint has pointed out goes.",
    "All notes are there, so it must not discard: this hint misleads least.",
    "Nothing else is left, and this card is likeliest to fit.",
)


# --- what hints have promised --------------------------------------------------------------------


@compiled()
def may_fit(told, heights):
    """Tell whether a card could fit, as far as its hints and the fireworks say."""
    for card in range(CARDS):
        colour, value = divmod(card, VALUES)
        if heights[colour] == value and allows(told, card):
            return True
    return False


@compiled()
def deal_hands(view, hands):
    """Write the serial numbers that everybody was dealt, and give how many cards that took."""
    drawn = 0
    size = hand_size(view)
    for seat in range(MOST_SEATS):
        for place in range(MOST_HAND):
            hands[seat, place] = EMPTY
            if seat < view[SEATS] and place < size and drawn < cards_in_deck(view):
                hands[seat, place] = drawn
                drawn += 1
    return drawn


@compiled()
def recall(view, promised):
    """Write for each serial number whether a hint pointed it out when it could fit.

    The log is followed from the start, using only what everybody knows, so all agree.
    """
    hands = np.empty((MOST_SEATS, MOST_HAND), np.int64)
    told = np.empty(MOST_CARDS, np.int64)
    heights = np.zeros(COLOURS, np.int64)
    for serial in range(MOST_CARDS):
        promised[serial] = False
        told[serial] = nothing_told(view)
    seats = int(view[SEATS])
    drawn = deal_hands(view, hands)
    for ply in range(view[PLIES]):
        action, outcome = int(view[LOG + ply]), int(view[OUTCOME + ply])
        seat = ply % seats
        if action < HINT:
            if outcome & FITTED:
                heights[view[DECK + (outcome & SERIAL)] // VALUES] += 1
            place = action - DISCARD if action >= DISCARD else action
            for after in range(place, MOST_HAND - 1):
                hands[seat, after] = hands[seat, after + 1]
            hands[seat, MOST_HAND - 1] = EMPTY
            if drawn < cards_in_deck(view):
                newest = 0
                while hands[seat, newest] != EMPTY:
                    newest += 1
                hands[seat, newest] = drawn
                drawn += 1
            continue
        onward, hint = divmod(action - HINT, HINTS)
        other = (seat + onward + 1) % seats
        for place in range(MOST_HAND):
            serial = hands[other, place]
            if serial == EMPTY:
                break
            points = outcome >> place & 1
            told[serial] = narrowed(told[serial], hint, points)
            if points and may_fit(told[serial], heights):
                promised[serial] = True


# --- hints ---------------------------------------------------------------------------------------


@compiled()
def is_taken(view, card, but, promised):
    """Tell whether a card like this one, other than `but`, is promised in a hand that is seen."""
    for seat in range(view[SEATS]):
        if seat == view[VIEWER]:
            continue
        for place in range(cards_held(view, seat)):
            serial = view[SLOT + seat * MOST_HAND + place]
            if serial != but and view[DECK + serial] == card and promised[serial]:
                return True
    return False


@compiled()
def judge_hint(view, onward, hint, promised):
    """Give how many new promises of a hint are true, and how many false; two of a kind are."""
    heights = np.empty(COLOURS, np.int64)
    for colour in range(COLOURS):
        heights[colour] = view[FIREWORK + colour]
    true, false = 0, 0
    for place in range(cards_held(view, seat_onward(view, onward))):
        serial = serial_at(view, onward, place)
        card = view[DECK + serial]
        if (
            not has(card, hint)
            or promised[serial]
            or not may_fit(told_after(view[TOLD + serial], card, hint), heights)
        ):
            continue
        twice = is_taken(view, card, serial, promised)
        for before in range(place):
            twice |= view[DECK + serial_at(view, onward, before)] == card
        if is_playable(view, card) and not twice:
            true += 1
        else:
            false += 1
    return true, false


@compiled()
def best_hint(view, promised, passing):
    """Find the hint with most true promises and no false ones; to pass the time, fewest false."""
    best, most, least = NONE, 0, HINTS
    for onward in range(1, view[SEATS]):
        held = cards_held(view, seat_onward(view, onward))
        for hint in range(HINTS):
            points = False
            for place in range(held):
                points |= has(view[DECK + serial_at(view, onward, place)], hint)
            if not points:
                continue
            true, false = judge_hint(view, onward, hint, promised)
            if passing:
                if false < least or (false == least and true > most):
                    best, most, least = hint_of(onward, hint), true, false
            elif false == 0 and true > most:
                best, most = hint_of(onward, hint), true
    return best


# --- the agent -----------------------------------------------------------------------------------


@compiled()
def promised_card(view, own, held, promised):
    """Find the likeliest own card that is promised and may fit, the oldest of equals."""
    best = NONE
    for place in range(held):
        if (
            promised[own_serial(view, place)]
            and own[place, FITS] > 0.0
            and (best == NONE or own[place, FITS] > own[best, FITS])
        ):
            best = place
    return best


@compiled()
def decide(view):
    """Give the reason and the action."""
    own = np.empty((MOST_HAND, FACTS))
    promised = np.empty(MOST_CARDS, np.bool_)
    held = know_own(view, own)
    recall(view, promised)
    place = play_safe(own, held)
    if place != NONE:
        return SURE, place
    place = promised_card(view, own, held, promised)
    if place != NONE:
        return PROMISED, place
    if view[NOTES] > 0:
        action = best_hint(view, promised, False)
        if action != NONE:
            return TELL, action
    if may_discard(view) and held > 0:
        place = discard_probably(own, held, 1.0)
        if place != NONE:
            return DEAD_CARD, as_discard(place)
        return OLDEST, as_discard(max(0, discard_unhinted(view, held)))
    action = best_hint(view, promised, True)
    if action != NONE:
        return PASS, action
    return FORCED, likeliest(own, held, FITS, 0.0)


@compiled(CHOOSE)
def simple(rules, view, actions, n, weights, memory, rng):
    """Play what a hint points out, point out what can be played, discard the oldest."""
    return decide(view)[1]


def _explain(agent: CompiledAgent, view: View) -> Opinion:
    """Say which of its few rules applied."""
    why, action = decide(view.cells)
    return opinion(view, action, REASONS[why], {action: 1.0}, notes_on(view))


SIMPLE = Kind(choose=simple, explain=_explain, games=("hanabi",))
