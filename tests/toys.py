"""Small games for tests: shapes that our own games do not have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kibitz.core.chance import below
from kibitz.core.compiled import (
    DEAL,
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
from kibitz.core.game import OVER, PLIES, SEAT, SEATS, VIEWER, Cells, Game, Layout
from kibitz.core.table import Table

LAYOUT = Layout((), {"place": Cells(1, 0, 9)})
PLACE = LAYOUT.start("place")
END = 9


@compiled(DEAL)
def deal(state, rng):
    state[PLACE] = 4


@compiled(DEAL)
def deal_by_lot(state, rng):
    state[PLACE] = below(rng, 8)


@compiled(LEGAL)
def legal(state, actions):
    """0: step back (from 1 to 5 only). 1: step on. 2: jump two on."""
    if state[SEAT] == OVER:
        return 0
    n = 0
    for action in range(3):
        if action == 0 and not 0 < state[PLACE] < 6:
            continue
        if action == 2 and state[PLACE] > END - 2:
            continue
        actions[n] = action
        n += 1
    return n


@compiled(PLAY)
def play(state, action):
    """Whoever steps onto a multiple of three moves again; reaching the end wins."""
    state[PLACE] += action if action > 0 else -1
    state[PLIES] += 1
    if state[PLACE] == END or state[PLIES] >= 100:
        state[SEAT] = OVER
        return
    if state[PLACE] % 3 != 0:
        state[SEAT] = (state[SEAT] + 1) % state[SEATS]


@compiled(SCORE)
def score(state, points):
    """Points come and go during the game: every seat has the place, times its number."""
    for seat in range(state[SEATS]):
        points[seat] = state[PLACE] * (seat + 1)


@compiled(LOOK)
def look(state, seat, out):
    out[:] = state
    out[VIEWER] = seat


@compiled(REDEAL)
def redeal(view, rng):
    view[VIEWER] = -1


@compiled(OBSERVE)
def observe(view, features):
    features[0] = view[PLACE]


@compiled(STRIP)
def strip(state):
    state[PLIES] = 0


LOSER = Layout((), {"place": Cells(1, 0, 9), "winner": Cells(1, -1, 1)})
WINNER = LOSER.start("winner")


@compiled(PLAY)
def ring_play(state, action):
    mover = state[SEAT]
    play(state, action)
    if state[PLACE] == END:
        state[WINNER] = mover


@compiled(DEAL)
def ring_deal(state, rng):
    state[PLACE] = 4
    state[WINNER] = -1


@compiled(SCORE)
def ring_score(state, points):
    points[:] = 0.0
    if state[WINNER] >= 0:
        points[state[WINNER]] = 1.0


def _game(name: str, functions: Rules, layout: Layout) -> Game:
    return Game(
        name=name, title=name, summary="A toy.", version=1, room="tests.toys", seats=(2, 3),
        default_seats=2, layout=layout, functions=functions, actions=3, most_legal=3,
        most_plies=100, features=1,
    )  # fmt: skip


SHUFFLED = _game(
    "shuffled", Rules(deal_by_lot, legal, play, score, look, redeal, observe, strip), LAYOUT
)
RING = _game(
    "ring", Rules(ring_deal, legal, ring_play, ring_score, look, redeal, observe, strip), LOSER
)


CORRIDOR = Layout((), {"place": Cells(1, 0, 2000), "winner": Cells(1, -1, 1)})


@compiled(DEAL)
def corridor_deal(state, rng):
    state[PLACE] = 1500
    state[WINNER] = -1


@compiled(LEGAL)
def corridor_legal(state, actions):
    """0: walk one step to the end. 1: walk back. The other seat can only wait (2)."""
    if state[SEAT] == OVER:
        return 0
    if state[SEAT] == 1:
        actions[0] = 2
        return 1
    actions[0] = 0
    actions[1] = 1
    return 2 if state[PLACE] < 2000 else 1


@compiled(PLAY)
def corridor_play(state, action):
    if action == 0:
        state[PLACE] -= 1
    elif action == 1:
        state[PLACE] += 1
    state[PLIES] += 1
    if state[PLACE] == 0:
        state[WINNER] = 0
        state[SEAT] = OVER
    elif state[PLIES] >= 10_000:
        state[SEAT] = OVER
    else:
        state[SEAT] = 1 - state[SEAT]


LONG = replace(
    _game(
        "corridor",
        Rules(
            corridor_deal, corridor_legal, corridor_play, ring_score, look, redeal, observe, strip
        ),
        CORRIDOR,
    ),
    most_plies=10_000,
)


def ring_at(place: int, seat: int) -> Table:
    """Set up a position of the ring."""
    state = RING.deal(0).cells
    state[PLACE], state[SEAT] = place, seat
    return Table(RING, state)


def ring_by_hand() -> dict[tuple[int, int], int]:
    """Find the verdicts of all reachable positions of the ring by repeated passes."""

    def children(place: int, seat: int) -> list[tuple[int, int]]:
        places = [place - 1] * (0 < place < 6) + [place + 1] + [place + 2] * (place <= END - 2)
        return [(p, seat if p % 3 == 0 else 1 - seat) for p in places]

    reached, waiting = {(4, 0)}, [(4, 0)]
    while waiting:
        for child in children(*waiting.pop()):
            if child not in reached and child[0] != END:
                reached.add(child)
                waiting.append(child)
    verdicts: dict[tuple[int, int], int] = {}
    for plies in range(1, 100):
        new = {}
        for place, seat in reached - verdicts.keys():
            seen = []
            for child in children(place, seat):
                if child[0] == END:
                    seen.append(1)
                else:
                    verdict = verdicts.get(child, 0)
                    seen.append(np.sign(verdict) * (1 if child[1] == seat else -1))
            if max(seen) > 0:
                new[place, seat] = plies
            elif max(seen) < 0:
                new[place, seat] = -plies
        verdicts.update(new)
    return {position: verdicts.get(position, 0) for position in reached}
