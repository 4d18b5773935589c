"""Rules about hints: whom to tell what.

What the holder of a card knows is taken from the hints alone, the negative ones included, and from
what has been played and discarded: that much is known to all.
"""

from __future__ import annotations

from kibitz.core.chance import below
from kibitz.core.compiled import compiled
from kibitz.core.game import SEATS, VIEWER
from kibitz.games.hanabi.card_rules import NONE
from kibitz.games.hanabi.cards import allows, cards_held, is_critical, is_dead, is_playable
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOUR_MASK,
    COLOUR_NAMED,
    DECK,
    DISCARDED,
    FIREWORK,
    HINT,
    HINTS,
    MOST_HAND,
    SLOT,
    TOLD,
    VALUE,
    VALUE_BITS,
    VALUE_MASK,
    VALUE_NAMED,
    VALUES,
    VALUES_USED,
    copies_of,
)

PLAYABLE, USELESS, LAST_OF_KIND, ANY_CARD = 0, 1, 2, 3  # what a hint is to be about


@compiled()
def seat_onward(view, onward):
    """Give the seat that many turns after the viewer."""
    return (int(view[VIEWER]) + onward) % int(view[SEATS])


@compiled()
def serial_at(view, onward, place):
    """Give the serial number of somebody's card."""
    return view[SLOT + seat_onward(view, onward) * MOST_HAND + place]


@compiled()
def hint_of(onward, hint):
    """Give the action that tells somebody a colour or a value."""
    return HINT + HINTS * (onward - 1) + hint


@compiled()
def has(card, hint):
    """Tell whether a hint points out a card."""
    colour, value = divmod(card, VALUES)
    return hint == colour or hint == VALUE + value


@compiled()
def narrowed(told, hint, points):
    """Give what hints say of a card after one more, which points it out or does not."""
    if not points:
        return told & ~(1 << hint)
    if hint < VALUE:
        return told & ~COLOUR_MASK | 1 << hint | COLOUR_NAMED
    return told & ~(VALUE_MASK << VALUE_BITS) | 1 << hint | VALUE_NAMED


@compiled()
def told_after(told, card, hint):
    """Give what hints say of a card that is seen, after one more."""
    return narrowed(int(told), hint, int(has(card, hint)))


@compiled()
def is_known(told, hint):
    """Tell whether hints leave only this colour, or only this value."""
    if hint < VALUE:
        return told & COLOUR_MASK == 1 << hint
    return told >> VALUE_BITS & VALUE_MASK == 1 << (hint - VALUE)


@compiled()
def must_be(view, told, about):
    """Tell whether a card is surely PLAYABLE, or surely USELESS, as far as all can know."""
    values = int(view[VALUES_USED])
    for card in range(CARDS):
        if not allows(told, card):
            continue
        colour, value = divmod(card, VALUES)
        gone = view[DISCARDED + card] + (view[FIREWORK + colour] > value)
        if gone == copies_of(values, value):
            continue
        if about == PLAYABLE and not is_playable(view, card):
            return False
        if about == USELESS and not is_dead(view, card):
            return False
    return True


@compiled()
def is_about(view, card, about):
    """Tell whether a card is of the kind that a hint is to be about."""
    if about == PLAYABLE:
        return is_playable(view, card)
    if about == USELESS:
        return is_dead(view, card)
    if about == LAST_OF_KIND:
        return is_critical(view, card)
    return True


@compiled()
def tell_next(view, about, only_new, rng):
    """Tell the next player, by lot, a fact about any card of a kind; perhaps only a new one."""
    chosen = NONE
    count = 0
    for place in range(cards_held(view, seat_onward(view, 1))):
        serial = serial_at(view, 1, place)
        card = view[DECK + serial]
        if not is_about(view, card, about):
            continue
        colour, value = divmod(card, VALUES)
        for hint in (colour, VALUE + value):
            if only_new and is_known(view[TOLD + serial], hint):
                continue
            count += 1
            if below(rng, count) == 0:
                chosen = hint_of(1, hint)
    return chosen


@compiled()
def tell_anyone(view, about):
    """Tell the nearest player with such a card that is not known, its value, or else its colour."""
    for onward in range(1, view[SEATS]):
        for place in range(cards_held(view, seat_onward(view, onward))):
            serial = serial_at(view, onward, place)
            card = view[DECK + serial]
            if not is_about(view, card, about):
                continue
            colour, value = divmod(card, VALUES)
            for hint in (VALUE + value, colour):
                if not is_known(view[TOLD + serial], hint):
                    return hint_of(onward, hint)
    return NONE


@compiled()
def tell_sure(view, about):
    """Give the hint that makes most cards surely playable, or useless; the nearest of equals."""
    best = NONE
    most = 0
    for onward in range(1, view[SEATS]):
        held = cards_held(view, seat_onward(view, onward))
        for hint in range(HINTS):
            sure = 0
            points = False
            for place in range(held):
                serial = serial_at(view, onward, place)
                card = view[DECK + serial]
                points |= has(card, hint)
                told = view[TOLD + serial]
                if is_about(view, card, about) and not must_be(view, told, about):
                    sure += must_be(view, told_after(told, card, hint), about)
            if points and sure > most:
                most = sure
                best = hint_of(onward, hint)
    return best


@compiled()
def tell_dispensable(view):
    """Tell the nearest player with a useless card the one fact by which it can know so."""
    for onward in range(1, view[SEATS]):
        for place in range(cards_held(view, seat_onward(view, onward))):
            serial = serial_at(view, onward, place)
            card = view[DECK + serial]
            told = view[TOLD + serial]
            if not is_dead(view, card) or must_be(view, told, USELESS):
                continue
            colour, value = divmod(card, VALUES)
            for hint in (VALUE + value, colour):
                if must_be(view, told_after(told, card, hint), USELESS):
                    return hint_of(onward, hint)
    return NONE


@compiled()
def tell_most(view, only_new):
    """Give the hint that points out most cards, perhaps counting only those to which it is new."""
    best = NONE
    most = 0
    for onward in range(1, view[SEATS]):
        held = cards_held(view, seat_onward(view, onward))
        for hint in range(HINTS):
            count = 0
            for place in range(held):
                serial = serial_at(view, onward, place)
                if has(view[DECK + serial], hint):
                    count += not (only_new and is_known(view[TOLD + serial], hint))
            if count > most:
                most = count
                best = hint_of(onward, hint)
    return best


@compiled()
def tell_number(view, value):
    """Tell the nearest player who has cards of a value and does not know it."""
    for onward in range(1, view[SEATS]):
        for place in range(cards_held(view, seat_onward(view, onward))):
            serial = serial_at(view, onward, place)
            hint = VALUE + value
            if has(view[DECK + serial], hint) and not is_known(view[TOLD + serial], hint):
                return hint_of(onward, hint)
    return NONE
