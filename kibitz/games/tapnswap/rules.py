"""TapnSwap: tap the other's hands until both are dead; swap fingers between your own.

Two players hold up one finger on each hand. A turn is a tap or a swap. A tap adds the fingers of
one of your live hands to a live hand of the other; a hand above four dies. A swap moves fingers
from one of your hands to the other: it may empty or revive a hand, may not push one above four,
and may not just mirror your hands. Of the swaps that lead to one pair of hands or its mirror image
only the one that moves fewest fingers is offered; from equal hands the left gives. Whoever has two
dead hands has lost. After `max_plies` turns the game is a draw.

state    hands   seat 0 left, seat 0 right, seat 1 left, seat 1 right; 0 is a dead hand
action   0-3     tap: left on left, left on right, right on left, right on right
         4, 5    swap: left gives 1, left gives 2
         6, 7    swap: right gives 1, right gives 2
points   +1 for the winner, -1 for the loser, 0 each for a draw

A guard `max_plies` of 100 or more is far off (no win takes 50 plies) and not part of a position:
the exact solver takes play that never ends as the draw that the guard makes of it. With a nearer
one the turns count, and the solver counts them.

v1  first release
"""

from __future__ import annotations

from kibitz.core.compiled import (
    DEAL,
    FOLD,
    LEGAL,
    LOOK,
    OBSERVE,
    PLAY,
    REDEAL,
    SCORE,
    STRIP,
    Rules,
    compiled,
)
from kibitz.core.game import OVER, PLIES, SEAT, VIEWER, Cells, Game, Layout, copy_cells, fill_cells
from kibitz.core.options import Whole
from kibitz.core.table import Table

MOST_FINGERS = 4
TAPS = 4
SWAPS = 4
FAR_OFF = 100

OPTIONS = (
    Whole(
        name="max_plies", default=200, help="turns after which the game is a draw",
        low=2, high=30_000,
    ),
)  # fmt: skip

LAYOUT = Layout(OPTIONS, {"hands": Cells(4, 0, MOST_FINGERS)})
LIMIT = LAYOUT.option("max_plies")
HANDS = LAYOUT.start("hands")


@compiled(DEAL)
def deal(state, rng):
    """One finger on every hand; seat 0 begins."""
    fill_cells(state, HANDS, 4, 1)


@compiled()
def may_swap(giver, taker, fingers, left_gives):
    """Tell whether a swap is offered, from the fingers on both hands."""
    if giver < fingers or taker + fingers > MOST_FINGERS:
        return False
    # The mirror image of the result is reached too: by this hand giving `mirror` fingers or, where
    # that is negative, by the other hand giving the opposite number. The fewest fingers move.
    # Nought would mean that the result is the mirror image of what was there before.
    mirror = giver - taker - fingers
    if mirror > 0:
        return fingers <= mirror
    return fingers < -mirror or (fingers == -mirror and left_gives)


@compiled(LEGAL)
def legal(state, actions):
    """Taps of live hands on live hands, then the swaps that lead somewhere new."""
    seat = state[SEAT]
    if seat == OVER:
        return 0
    own = HANDS + 2 * seat
    other = HANDS + 2 - 2 * seat
    n = 0
    for tap in range(TAPS):
        if state[own + tap // 2] > 0 and state[other + tap % 2] > 0:
            actions[n] = tap
            n += 1
    for swap in range(SWAPS):
        giver = swap // 2
        if may_swap(state[own + giver], state[own + 1 - giver], 1 + swap % 2, giver == 0):
            actions[n] = TAPS + swap
            n += 1
    return n


@compiled(PLAY)
def play(state, action):
    """Tap or swap; the game ends when the other has no live hand, or by the guard."""
    seat = state[SEAT]
    own = HANDS + 2 * seat
    other = HANDS + 2 - 2 * seat
    if action < TAPS:
        target = other + action % 2
        state[target] += state[own + action // 2]
        if state[target] > MOST_FINGERS:
            state[target] = 0
    else:
        giver, spare = divmod(action - TAPS, 2)
        state[own + giver] -= spare + 1
        state[own + 1 - giver] += spare + 1
    state[PLIES] += 1
    state[SEAT] = 1 - seat
    if (state[other] == 0 and state[other + 1] == 0) or state[PLIES] >= state[LIMIT]:
        state[SEAT] = OVER


@compiled(SCORE)
def score(state, points):
    """Two dead hands have lost; otherwise nobody has."""
    for seat in range(2):
        hands = HANDS + 2 * seat
        lost = state[hands] == 0 and state[hands + 1] == 0
        won = state[HANDS + 2 - 2 * seat] == 0 and state[HANDS + 3 - 2 * seat] == 0
        points[seat] = 1.0 * won - 1.0 * lost


@compiled(LOOK)
def look(state, seat, out):
    """Nothing is hidden."""
    copy_cells(state, out)
    out[VIEWER] = seat


@compiled(REDEAL)
def redeal(view, rng):
    """Nothing was hidden, so the world is the one that was seen."""
    view[VIEWER] = -1


@compiled(OBSERVE)
def observe(view, features):
    """Five cells for each hand, one of them 1: own left, own right, the other's; then the clock."""
    features[:] = 0.0
    own = 2 * view[VIEWER]
    for hand in range(4):
        fingers = view[HANDS + (own + hand) % 4]
        features[hand * (MOST_FINGERS + 1) + fingers] = 1.0
    features[4 * (MOST_FINGERS + 1)] = view[PLIES] / view[LIMIT]


@compiled(STRIP)
def strip(state):
    """Only the hands matter to what is to come; whoever is to move, or has lost, is seat 0."""
    if state[LIMIT] >= FAR_OFF:
        state[PLIES] = 0
    other_lost = state[HANDS + 2] == 0 and state[HANDS + 3] == 0
    if state[SEAT] == 1 or (state[SEAT] == OVER and other_lost):
        for hand in range(HANDS, HANDS + 2):
            fingers = state[hand]
            state[hand] = state[hand + 2]
            state[hand + 2] = fingers
    if state[SEAT] == 1:
        state[SEAT] = 0


@compiled(FOLD)
def fold(state):
    """Left and right do not matter: put the larger hand of each player left."""
    for left in range(HANDS, HANDS + 4, 2):
        if state[left] < state[left + 1]:
            fingers = state[left]
            state[left] = state[left + 1]
            state[left + 1] = fingers


def flaw(table: Table) -> str | None:
    """Say what is wrong with a table as it stands, or None."""
    hands = table["hands"].tolist()
    if table.plies == 0 and hands != [1, 1, 1, 1]:
        return f"it begins with hands {hands}, not with one finger on each"
    dead = [not any(hands[:2]), not any(hands[2:])]
    if all(dead):
        return "both players have lost"
    if table.over != (any(dead) or table.plies >= table.game.settings["max_plies"]):
        return f"hands {hands} after {table.plies} turns, and the game is wrongly over or not"
    return None


GAME = Game(
    name="tapnswap",
    title="TapnSwap",
    summary="Tap the other's hands until both are dead; swap fingers between your own.",
    version=1,
    room=__package__,
    seats=(2, 2),
    default_seats=2,
    options=OPTIONS,
    layout=LAYOUT,
    functions=Rules(deal, legal, play, score, look, redeal, observe, strip, fold),
    actions=TAPS + SWAPS,
    most_legal=TAPS + SWAPS,
    most_plies=lambda settings: settings["max_plies"],
    features=4 * (MOST_FINGERS + 1) + 1,
    feature_range=(0.0, 1.0),
    zero_sum=True,
    span=lambda settings: (-1.0, 1.0),
    flaw=flaw,
)
