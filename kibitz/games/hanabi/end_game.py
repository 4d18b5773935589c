"""The end of an open game, searched to its last turn: all hands are seen, only the deck is not.

The search knows plays that fit, the discard of the least useful card, and hints, which merely pass
the turn and cost a note. Draws are averaged over the cards that may come. After as many hints in a
row as there are others, the turn is back and a note is lost, so no more are tried.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.game import SEATS
from kibitz.games.hanabi.cards import cards_held, count_unseen
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOURS,
    DECK,
    FIREWORK,
    MAX_NOTES,
    MOST_HAND,
    MOST_SEATS,
    SLOT,
    VALUES,
    VALUES_USED,
)

GONE = -1  # an empty place of a hand
DISCARD_IDLEST, PASS, ALL = MOST_HAND, MOST_HAND + 1, MOST_HAND + 2  # options besides plays
# The desk on which the search moves cards: heights, hands, cards that may come, and the game's
# seats, values and notes.
HEIGHT = 0
HAND = HEIGHT + COLOURS
LEFT = HAND + MOST_SEATS * MOST_HAND
SEATS_HERE = LEFT + CARDS
VALUES_HERE = SEATS_HERE + 1
NOTES_HERE = VALUES_HERE + 1
DESK = NOTES_HERE + 1
# A position on the stack of the search: how it stands, and how far it has been looked at.
MOVER, NOTES_LEFT, IN_DECK, TURNS_LEFT, IDLE, ONLY, OPTION, PHASE = 0, 1, 2, 3, 4, 5, 6, 7
AT, CARD, FITS, NOTED, DRAWN_CARD, FRAME = 8, 9, 10, 11, 12, 13
BEGIN, NOTHING, PASSED, ACTED, DREW = 0, 1, 2, 3, 4  # phases: what was done with the last option
DEPTHS = 64  # more than a few cards, each with a round of hints before it, and the last turns


@compiled()
def lay_out(view, desk):
    """Lay the table out on the desk."""
    for colour in range(COLOURS):
        desk[HEIGHT + colour] = view[FIREWORK + colour]
    for seat in range(view[SEATS]):
        held = cards_held(view, seat)
        for place in range(MOST_HAND):
            serial = view[SLOT + seat * MOST_HAND + place]
            desk[HAND + seat * MOST_HAND + place] = view[DECK + serial] if place < held else GONE
    count_unseen(view, desk[LEFT:])
    desk[SEATS_HERE] = view[SEATS]
    desk[VALUES_HERE] = view[VALUES_USED]
    desk[NOTES_HERE] = view[MAX_NOTES]


@compiled()
def fits(desk, card):
    """Tell whether a card is the next of its colour."""
    return card != GONE and desk[HEIGHT + card // VALUES] == card % VALUES


@compiled()
def idlest(desk, seat):
    """Find the place of the least useful card of a hand: played, held twice, or of high value."""
    best, most = GONE, -1
    for place in range(MOST_HAND):
        card = desk[HAND + seat * MOST_HAND + place]
        if card == GONE:
            continue
        colour, value = divmod(card, VALUES)
        worth = value
        if value < desk[HEIGHT + colour]:
            worth = 100
        else:
            for other in range(desk[SEATS_HERE] * MOST_HAND):
                if other != seat * MOST_HAND + place and desk[HAND + other] == card:
                    worth = 50
        if worth > most:
            best, most = place, worth
    return best


@compiled()
def call(frames, depth, seat, notes, deck, turns, idle, only):
    """Begin a position on the stack."""
    frames[depth, MOVER] = seat
    frames[depth, NOTES_LEFT] = notes
    frames[depth, IN_DECK] = deck
    frames[depth, TURNS_LEFT] = turns
    frames[depth, IDLE] = idle
    frames[depth, ONLY] = only
    frames[depth, OPTION] = -1
    frames[depth, PHASE] = BEGIN


@compiled()
def can_act(desk, frames, depth):
    """Tell whether the option now looked at is a play that fits, or a discard; note its card."""
    option, deck = frames[depth, OPTION], frames[depth, IN_DECK]
    seat, notes = frames[depth, MOVER], frames[depth, NOTES_LEFT]
    place = option
    if option == DISCARD_IDLEST:
        place = idlest(desk, seat)
        if deck == 0 or notes == desk[NOTES_HERE] or place == GONE:
            return False
    at = HAND + seat * MOST_HAND + place
    fitted = option != DISCARD_IDLEST and fits(desk, desk[at])
    frames[depth, AT] = at
    frames[depth, CARD] = desk[at]
    frames[depth, FITS] = fitted
    return fitted or option == DISCARD_IDLEST


@compiled()
def act(desk, frames, depth):
    """Take the card of an option from the hand, and put it into its firework if it fits."""
    card, fitted = frames[depth, CARD], frames[depth, FITS]
    won = not fitted or card % VALUES + 1 == desk[VALUES_HERE]
    notes = frames[depth, NOTES_LEFT]
    frames[depth, NOTED] = notes + 1 if won and notes < desk[NOTES_HERE] else notes
    desk[frames[depth, AT]] = GONE
    desk[HEIGHT + card // VALUES] += fitted


@compiled()
def take_back(desk, frames, depth):
    """Undo `act`."""
    card = frames[depth, CARD]
    desk[frames[depth, AT]] = card
    desk[HEIGHT + card // VALUES] -= frames[depth, FITS]


@compiled()
def points_to_come(desk, seat, notes, deck, turns, idle, only):
    """Give the points that all still make together, on average, if they play as well as they can.

    deck     cards left in it
    turns    to come, once it is empty
    idle     hints in a row that led here
    only     the option to look at: a place to play, DISCARD_IDLEST or PASS; ALL for the best
    """
    # On a stack of its own: Numba cannot keep functions that call themselves in its cache.
    frames = np.empty((DEPTHS, FRAME), np.int64)
    best, worth = np.zeros(DEPTHS), np.zeros(DEPTHS)
    depth = 0
    answer = 0.0  # of the position that was left last
    call(frames, 0, seat, notes, deck, turns, idle, only)
    while depth >= 0:
        phase = frames[depth, PHASE]
        deck, turns = frames[depth, IN_DECK], frames[depth, TURNS_LEFT]
        after = frames[depth, MOVER] + 1 if frames[depth, MOVER] + 1 < desk[SEATS_HERE] else 0
        if phase == BEGIN:
            best[depth] = 0.0
            if deck == 0 and turns == 0:
                answer = 0.0
                depth -= 1
                continue
        elif phase == PASSED:
            best[depth] = max(best[depth], answer)
        elif phase == ACTED:
            worth[depth] += answer
            take_back(desk, frames, depth)
            best[depth] = max(best[depth], worth[depth])
        elif phase == DREW:
            drawn = frames[depth, DRAWN_CARD]
            if answer >= 0.0:
                desk[LEFT + drawn] += 1
                worth[depth] += desk[LEFT + drawn] / deck * answer
            drawn += 1
            while drawn < CARDS and desk[LEFT + drawn] <= 0:
                drawn += 1
            if drawn < CARDS:
                desk[LEFT + drawn] -= 1
                desk[frames[depth, AT]] = drawn
                frames[depth, DRAWN_CARD] = drawn
                then = desk[SEATS_HERE] if deck == 1 else 0
                call(frames, depth + 1, after, frames[depth, NOTED], deck - 1, then, 0, ALL)
                depth += 1
                continue
            take_back(desk, frames, depth)
            best[depth] = max(best[depth], worth[depth])
        frames[depth, OPTION] += 1
        option, only = frames[depth, OPTION], frames[depth, ONLY]
        frames[depth, PHASE] = NOTHING
        if option == ALL:
            answer = best[depth]
            depth -= 1
        elif only != ALL and option != only:
            continue
        elif option == PASS or (option == only and deck == 0 and option == DISCARD_IDLEST):
            notes, idle = frames[depth, NOTES_LEFT], frames[depth, IDLE]
            if deck == 0:  # a hint and a discard are then the same
                frames[depth, PHASE] = PASSED
                call(frames, depth + 1, after, notes, 0, turns - 1, 0, ALL)
                depth += 1
            elif notes > 0 and idle + 1 < desk[SEATS_HERE]:
                frames[depth, PHASE] = PASSED
                call(frames, depth + 1, after, notes - 1, deck, 0, idle + 1, ALL)
                depth += 1
        elif can_act(desk, frames, depth):
            act(desk, frames, depth)
            worth[depth] = 1.0 if frames[depth, FITS] else 0.0
            if deck == 0:
                frames[depth, PHASE] = ACTED
                call(frames, depth + 1, after, frames[depth, NOTED], 0, turns - 1, 0, ALL)
                depth += 1
            else:
                frames[depth, PHASE] = DREW
                frames[depth, DRAWN_CARD] = -1
                answer = -1.0  # nothing was drawn yet
    return answer
