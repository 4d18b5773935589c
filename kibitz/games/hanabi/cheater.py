"""The cheater: it sees its own cards too, so it shows how many points a deal is worth.

It plays in the open game only. While the deck lasts it is greedy: it plays what fits, low values
first; discards what nobody will miss, as long as enough turns are left to play all that is wanted;
otherwise passes the turn with a hint; and gives up something of use only where it must. Once two
cards are left in the deck it searches to the end.

For comparison, CheatBot in A. O'Dwyer's framework makes 24.90, 24.98, 24.97 and 24.95 points in
games of 2 to 5. Some deals cannot be won.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion, opinion
from kibitz.core.compiled import CHOOSE, compiled
from kibitz.core.game import SEATS, VIEWER, Game
from kibitz.core.table import View
from kibitz.games.hanabi.card_rules import NONE, as_discard, is_held, may_discard
from kibitz.games.hanabi.cards import cards_held, is_critical, is_dead, is_playable, reach_of
from kibitz.games.hanabi.cells import (
    COLOURS_USED,
    DECK,
    DISCARD,
    DRAWN,
    FIREWORK,
    HINT,
    LAST,
    MAX_NOTES,
    MOST_HAND,
    NOTES,
    SLOT,
    VALUE,
    VALUES,
    VALUES_USED,
    cards_in_deck,
)
from kibitz.games.hanabi.end_game import (
    ALL,
    DESK,
    DISCARD_IDLEST,
    HAND,
    PASS,
    fits,
    idlest,
    lay_out,
    points_to_come,
)
from kibitz.games.hanabi.reasons import notes_on
from kibitz.games.hanabi.tell_rules import hint_of, seat_onward

PLAYS, SPARES, PASSES, GIVES_UP, ENDS = range(5)
REASONS = (
    "It plays what fits, low values first, then what others can follow.",
    "Nothing fits, and nobody will miss this card.",
    "Nothing fits, and a hint passes the turn to somebody with something better to do.",
    "Nothing fits and no hint can pass the turn, so the card that is missed least goes.",
    "The end is near, and all its turns have been searched: this leaves the most points.",
)

SEARCHED = 2  # cards in the deck from which the end is searched; 3 is slower and no better
TO_SPARE = 1  # turns that a discard must leave beyond those that are needed

# What a discard costs, in classes.
NOTHING, HELD_TWICE, HELD_BY_TWO, TO_BE_DRAWN, LOST = 0.0, 1.0, 2.0, 20.0, 100.0


@compiled()
def card_at(view, seat, place):
    """Give somebody's card."""
    return int(view[DECK + view[SLOT + seat * MOST_HAND + place]])


@compiled()
def deck_left(view):
    """Count the cards that have not been drawn."""
    return cards_in_deck(view) - int(view[DRAWN])


@compiled()
def spare_turns(view):
    """Count the turns with a card to come, less those needed to play all that can be played."""
    turns = int(view[LAST]) if view[LAST] > 0 else deck_left(view) + int(view[SEATS])
    for colour in range(view[COLOURS_USED]):
        turns -= reach_of(view, colour) - view[FIREWORK + colour]
    return turns


@compiled()
def worth_of_play(view, card):
    """Rate a card that fits: low values first, then those whose followers are in hands."""
    colour, value = divmod(card, VALUES)
    worth = 10.0 * (VALUES - value)
    for after in range(value + 1, view[VALUES_USED]):
        if not is_held(view, colour * VALUES + after, NONE):
            break
        worth += 1.0
    if value + 1 == view[VALUES_USED] and view[NOTES] < view[MAX_NOTES]:
        worth += 1.0  # it wins a note
    return worth


@compiled()
def cost_of_discard(view, place):
    """Rate how much the viewer's card would be missed."""
    me = int(view[VIEWER])
    card = card_at(view, me, place)
    colour, value = divmod(card, VALUES)
    if is_dead(view, card):
        return NOTHING
    for other in range(cards_held(view, me)):
        if other != place and card_at(view, me, other) == card:
            return HELD_TWICE
    if is_held(view, card, me):
        return HELD_BY_TWO
    if is_critical(view, card):
        return LOST + (reach_of(view, colour) - value)
    return TO_BE_DRAWN - (value - view[FIREWORK + colour])  # the later it is needed the better


@compiled()
def any_hint(view):
    """Give a hint to the nearest player who has cards, about the oldest; NONE where none can be."""
    if view[NOTES] > 0:
        for onward in range(1, view[SEATS]):
            seat = seat_onward(view, onward)
            if cards_held(view, seat) > 0:
                return hint_of(onward, VALUE + card_at(view, seat, 0) % VALUES)
    return NONE


@compiled()
def be_greedy(view):
    """Give the reason and the action while the end is far."""
    me = int(view[VIEWER])
    held = cards_held(view, me)
    best, most = NONE, 0.0
    cheapest, least = 0, 2 * LOST
    for place in range(held):
        card = card_at(view, me, place)
        if is_playable(view, card) and worth_of_play(view, card) > most:
            best, most = place, worth_of_play(view, card)
        if cost_of_discard(view, place) < least:
            cheapest, least = place, cost_of_discard(view, place)
    if best != NONE:
        return PLAYS, best
    hint = any_hint(view)
    if hint == NONE and not may_discard(view):
        return GIVES_UP, cheapest  # nothing is legal but to play
    if may_discard(view) and least <= HELD_BY_TWO and spare_turns(view) > TO_SPARE:
        return SPARES, as_discard(cheapest)
    if hint != NONE:
        return PASSES, hint
    return SPARES if least <= HELD_BY_TWO else GIVES_UP, as_discard(cheapest)


@compiled()
def search_end(view, worths):
    """Write the points that each option leaves, below 0 where it cannot be taken. worths [ALL].

    Gives the place of the card that is missed least.
    """
    desk = np.empty(DESK, np.int64)
    lay_out(view, desk)
    me = int(view[VIEWER])
    can_hint = any_hint(view) != NONE
    for option in range(ALL):
        worths[option] = -1.0
        if option == PASS:
            possible = can_hint
        elif option == DISCARD_IDLEST:
            possible = may_discard(view) and cards_held(view, me) > 0
        else:
            possible = fits(desk, desk[HAND + me * MOST_HAND + option])
        if possible:
            worths[option] = points_to_come(
                desk, me, int(view[NOTES]), deck_left(view), int(view[LAST]), 0, option
            )
    return idlest(desk, me)


@compiled()
def option_of(action):
    """Give the option of the search that an action is."""
    if action < DISCARD:
        return action
    return DISCARD_IDLEST if action < HINT else PASS


@compiled()
def decide(view, worths):
    """Give the reason and the action; near the end write what each option leaves."""
    why, action = be_greedy(view)
    if deck_left(view) > SEARCHED:
        return why, action
    spared = search_end(view, worths)
    best = option_of(action)  # of equals, what it would have done
    for option in range(ALL):
        if worths[option] > worths[best] + 1e-9:
            best = option
    if best == DISCARD_IDLEST:
        action = as_discard(spared)
    elif best != option_of(action):
        action = any_hint(view) if best == PASS else best
    return ENDS, action


@compiled(CHOOSE)
def cheater(rules, view, actions, n, weights, memory, rng):
    """See its own cards too, in the open game: how many points a deal is worth."""
    return decide(view, np.empty(ALL))[1]


def _explain(agent: CompiledAgent, view: View) -> Opinion:
    """Say why, and near the end how many points each option leaves."""
    worths = np.full(ALL, np.nan)
    why, action = decide(view.cells, worths)
    notes = notes_on(view)
    values = {action: 1.0}
    if why == ENDS:
        shown = (action, *(option for option in view.legal if option < DISCARD))
        values = {option: float(worths[option_of(option)]) for option in shown}
        values = {option: value for option, value in values.items() if value >= 0.0}
    return opinion(view, action, REASONS[why], values, notes)


def _unfit(game: Game) -> str | None:
    if game.settings["open"]:
        return None
    return "it must see its own cards, so play the open game: --set open=yes"


CHEATER = Kind(choose=cheater, explain=_explain, games=("hanabi",), unfit_for=_unfit)
