"""Kuhn poker: one card each, one bet at most, the highest card takes the pot.

Everybody pays an ante of one chip and gets one card of a deck that has one card more than there
are seats; the last card stays face down. In turn each seat checks or bets one chip. Once somebody
has bet, every other seat in turn calls for one chip or folds, and that is the end. If nobody bets,
everybody stays in. The highest card among those still in takes the pot. If two or more are still
in they show their cards; whoever folded does not, nor does somebody whom all others left alone.

With two seats this is the game of H. W. Kuhn (1950).

state    cards      of each seat, 1 is the lowest; 0 where nobody sits
         face_down  the card that nobody has
         paid       chips that each seat has put in; 0 where nobody sits
         still_in   1 for each seat that has not folded; 0 where nobody sits
         bettor     the seat that bet, or -1
         winner     -1 until the game is over
action   0 check, 1 bet, 2 fold, 3 call
points   chips won or lost; 0 until the game is over

v1  first release
"""

from __future__ import annotations

import numpy as np

from kibitz.core.chance import shuffle
from kibitz.core.compiled import (
    DEAL,
    LEGAL,
    LOOK,
    OBSERVE,
    PLAY,
    REDEAL,
    SCORE,
    Rules,
    compiled,
)
from kibitz.core.game import HIDDEN, OVER, PLIES, SEAT, SEATS, VIEWER, Cells, Game, Layout
from kibitz.core.table import Table

FEWEST = 2
MOST = 4
CHECK, BET, FOLD, CALL = 0, 1, 2, 3

LAYOUT = Layout(
    (),
    {
        "cards": Cells(MOST, 0, MOST + 1),
        "face_down": Cells(1, 1, MOST + 1),
        "paid": Cells(MOST, 0, 2),
        "still_in": Cells(MOST, 0, 1),
        "bettor": Cells(1, -1, MOST - 1),
        "winner": Cells(1, -1, MOST - 1),
    },
)
CARDS = LAYOUT.start("cards")
FACE_DOWN = LAYOUT.start("face_down")
PAID = LAYOUT.start("paid")
STILL_IN = LAYOUT.start("still_in")
BETTOR = LAYOUT.start("bettor")
WINNER = LAYOUT.start("winner")


@compiled(DEAL)
def deal(state, rng):
    """Take the antes and deal the cards; seat 0 begins."""
    seats = state[SEATS]
    deck = np.arange(1, seats + 2)
    shuffle(rng, deck)
    for seat in range(seats):
        state[CARDS + seat] = deck[seat]
        state[PAID + seat] = 1
        state[STILL_IN + seat] = 1
    state[FACE_DOWN] = deck[seats]
    state[BETTOR] = -1
    state[WINNER] = -1


@compiled(LEGAL)
def legal(state, actions):
    """Check or bet; once somebody has bet, fold or call."""
    if state[SEAT] == OVER:
        return 0
    first = CHECK if state[BETTOR] < 0 else FOLD
    actions[0] = first
    actions[1] = first + 1
    return 2


@compiled(PLAY)
def play(state, action):
    """Pay or not; the round ends with the seat before the bettor, or the last if nobody bet."""
    seat = state[SEAT]
    state[PLIES] += 1
    if action == BET:
        state[BETTOR] = seat
    if action in (BET, CALL):
        state[PAID + seat] += 1
    if action == FOLD:
        state[STILL_IN + seat] = 0
    after = (seat + 1) % state[SEATS]
    last = state[BETTOR] if state[BETTOR] >= 0 else 0
    if after != last:
        state[SEAT] = after
        return
    best = 0
    for other in range(state[SEATS]):
        if state[STILL_IN + other] and state[CARDS + other] > best:
            best = state[CARDS + other]
            state[WINNER] = other
    state[SEAT] = OVER


@compiled(SCORE)
def score(state, points):
    """Give the pot to the winner."""
    points[:] = 0.0
    if state[WINNER] < 0:
        return
    for seat in range(state[SEATS]):
        points[seat] -= state[PAID + seat]
        points[state[WINNER]] += state[PAID + seat]


@compiled()
def is_showdown(state):
    """Tell whether the game is over and two or more seats compare their cards."""
    staying = 0
    for seat in range(state[SEATS]):
        staying += state[STILL_IN + seat]
    return state[SEAT] == OVER and staying > 1


@compiled(LOOK)
def look(state, seat, out):
    """Hide the cards of the others, but not those on show at the end, and the face-down card."""
    out[:] = state
    out[VIEWER] = seat
    shown = is_showdown(state)
    for other in range(state[SEATS]):
        if other != seat and not (shown and state[STILL_IN + other]):
            out[CARDS + other] = HIDDEN
    out[FACE_DOWN] = HIDDEN


@compiled(REDEAL)
def redeal(view, rng):
    """Deal the cards that are not seen to where they may lie, each way equally likely.

    Nobody's moves tell for certain what they hold, and a card that decided the game is on show.
    """
    seats = view[SEATS]
    seen = np.zeros(MOST + 2, np.int64)
    for seat in range(seats):
        if view[CARDS + seat] != HIDDEN:
            seen[view[CARDS + seat]] = 1
    unseen = np.zeros(seats + 1 - seen.sum(), np.int64)
    n = 0
    for card in range(1, seats + 2):
        if not seen[card]:
            unseen[n] = card
            n += 1
    shuffle(rng, unseen)
    view[FACE_DOWN] = unseen[0]
    n = 1
    for seat in range(seats):
        if view[CARDS + seat] == HIDDEN:
            view[CARDS + seat] = unseen[n]
            n += 1
    view[VIEWER] = -1


@compiled(OBSERVE)
def observe(view, features):
    """One of each: the own card, the own seat; then from there, who is in and who has paid 2."""
    features[:] = 0.0
    seats = view[SEATS]
    own = view[VIEWER]
    features[view[CARDS + own] - 1] = 1.0
    at = seats + 1
    features[at + own] = 1.0
    at += seats
    for step in range(seats):
        seat = (own + step) % seats
        features[at + 2 * step] = view[STILL_IN + seat]
        features[at + 2 * step + 1] = view[PAID + seat] - 1


def flaw(table: Table) -> str | None:
    """Say what is wrong with a table as it stands, or None."""
    seats = table.game.players
    cards, paid, still_in = (table[name].tolist() for name in ("cards", "paid", "still_in"))
    if any(cards[seats:] + paid[seats:] + still_in[seats:]):
        return "something lies at an empty seat"
    if sorted([*cards[:seats], table["face_down"]]) != list(range(1, seats + 2)):
        return f"cards {cards[:seats]} and {table['face_down']} are not the whole deck"
    if 0 in paid[:seats] or (2 in paid) != (table["bettor"] >= 0):
        return f"paid {paid} does not fit a bet by seat {table['bettor']}"
    if table.plies == 0 and (table.seat, sum(paid), sum(still_in)) != (0, seats, seats):
        return "it begins in the middle of a game"
    best = max(range(seats), key=lambda seat: (still_in[seat], cards[seat]))
    if table["winner"] != (best if table.over else -1):
        return f"seat {table['winner']} cannot have the pot"
    return None


GAME = Game(
    name="kuhn",
    title="Kuhn poker",
    summary="One card each, one bet at most; the highest card takes the pot.",
    version=1,
    room=__package__,
    seats=(FEWEST, MOST),
    default_seats=2,
    layout=LAYOUT,
    functions=Rules(deal, legal, play, score, look, redeal, observe),
    actions=4,
    most_legal=2,
    most_plies=lambda settings: 2 * settings["players"] - 1,
    features=lambda settings: 4 * settings["players"] + 1,
    hides=True,
    zero_sum=True,
    span=lambda settings: (-2.0, 2.0 * (settings["players"] - 1)),
    flaw=flaw,
)
