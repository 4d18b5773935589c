"""The end of an open game, searched to its last turn: all hands are seen, only the deck is not.

The search knows plays that fit, the discard of the least useful card, and hints, which merely pass
the turn and cost a note. Draws are averaged over the cards that may come. After as many hints in a
row as there are others, the turn is back and a note is lost, so no more are tried.
"""

from __future__ import annotations

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
def points_to_come(desk, seat, notes, deck, turns, idle, only):
    """Give the points that all still make together, on average, if they play as well as they can.

    deck     cards left in it
    turns    to come, once it is empty
    idle     hints in a row that led here
    only     the option to look at: a place to play, DISCARD_IDLEST or PASS; ALL for the best
    """
    if deck == 0 and turns == 0:
        return 0.0
    after = seat + 1 if seat + 1 < desk[SEATS_HERE] else 0
    best = 0.0
    for option in range(ALL):
        if only != ALL and option != only:
            continue
        if option == PASS or (option == only and deck == 0 and option == DISCARD_IDLEST):
            if deck == 0:  # a hint and a discard are then the same
                best = max(best, points_to_come(desk, after, notes, 0, turns - 1, 0, ALL))
            elif notes > 0 and idle + 1 < desk[SEATS_HERE]:
                worth = points_to_come(desk, after, notes - 1, deck, 0, idle + 1, ALL)
                best = max(best, worth)
            continue
        place = option
        if option == DISCARD_IDLEST:
            place = idlest(desk, seat)
            if deck == 0 or notes == desk[NOTES_HERE] or place == GONE:
                continue
        at = HAND + seat * MOST_HAND + place
        card = desk[at]
        fitted = option != DISCARD_IDLEST and fits(desk, card)
        if option != DISCARD_IDLEST and not fitted:
            continue
        colour, value = divmod(card, VALUES)
        won = not fitted or value + 1 == desk[VALUES_HERE]
        noted = notes + 1 if won and notes < desk[NOTES_HERE] else notes
        worth = 1.0 if fitted else 0.0
        desk[at] = GONE
        desk[HEIGHT + colour] += fitted
        if deck == 0:
            worth += points_to_come(desk, after, noted, 0, turns - 1, 0, ALL)
        else:
            then = desk[SEATS_HERE] if deck == 1 else 0
            for drawn in range(CARDS):
                count = desk[LEFT + drawn]
                if count > 0:
                    desk[LEFT + drawn] -= 1
                    desk[at] = drawn
                    share = count / deck
                    worth += share * points_to_come(desk, after, noted, deck - 1, then, 0, ALL)
                    desk[LEFT + drawn] += 1
        desk[at] = card
        desk[HEIGHT + colour] -= fitted
        best = max(best, worth)
    return best
