"""The loops that play games. One compiled loop serves every game and every mix of agents.

Run as plain Python (`in_python`), the same loop seats agents and games that are not compiled.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.chance import below, sow
from kibitz.core.compiled import compiled, compiled_loop
from kibitz.core.game import OVER, SEAT, copy_cells
from kibitz.core.voting import place_of

# Places in `trouble`, filled when a game cannot go on.
WHAT, GAME, SEAT_OF, ACTION = 0, 1, 2, 3
ILLEGAL, ENDLESS, STUCK = 1, 2, 3


@compiled_loop
def play_games(
    rules, chooses, notices, listens, weights, starts, memory, blank, seed, agents_seed, first,
    duplicate, most_legal, most_plies, points, plies, trouble,
):  # fmt: skip
    """Play games `first`, `first + 1`, .. and write points by agent and plies of each.

    Agent i sits at seat (i + game) % seats, so that seats rotate. With `duplicate`, as many games
    in a row as there are seats share a deal. Every game and seat has its own stream of chance,
    named by the game's number: results do not depend on who plays which games where. Threads must
    not share `weights`: slicing counts references, and they would wait for each other there.

    chooses, notices [12 each], listens [seats], weights flat with agent i's from starts[i],
    memory [seats, numbers], points [games, seats], plies [games], trouble [4].
    """
    seats = points.shape[1]
    state = np.empty_like(blank)
    view = np.empty_like(blank)
    actions = np.empty(most_legal, np.int32)
    scored = np.zeros(seats)
    deal_rng = np.zeros(4, np.int64)
    rngs = np.zeros((seats, 4), np.int64)
    for place in range(len(points)):
        game = first + place
        turn = game % seats
        copy_cells(blank, state)
        sow(deal_rng, seed, game // seats if duplicate else game, 0)
        rules.deal(state, deal_rng)
        for agent in range(seats):
            sow(rngs[agent], agents_seed, game, 1 + (agent + turn) % seats)
            for number in range(memory.shape[1]):
                memory[agent, number] = 0
        played = 0
        while state[SEAT] != OVER:
            seat = state[SEAT]
            agent = (seat - turn) % seats
            rules.look(state, seat, view)
            n = rules.legal(view, actions)
            if n == 0 or played >= most_plies:
                trouble[WHAT] = STUCK if n == 0 else ENDLESS
                trouble[GAME] = game
                trouble[SEAT_OF] = seat
                return
            own = weights[starts[agent] : starts[agent + 1]]
            action = chooses[agent](rules, view, actions, n, own, memory[agent], rngs[agent])
            if place_of(action, actions, n) < 0:
                trouble[WHAT] = ILLEGAL
                trouble[GAME] = game
                trouble[SEAT_OF] = seat
                trouble[ACTION] = action
                return
            for other in range(seats):
                if listens[other]:
                    rules.look(state, (other + turn) % seats, view)
                    notices[other](view, seat, action, memory[other])
            rules.play(state, action)
            played += 1
        rules.score(state, scored)
        for agent in range(seats):
            points[place, agent] = scored[(agent + turn) % seats]
        plies[place] = played


@compiled()
def roll_out(rules, state, actions, rng):
    """Play a state to its end by random moves; give how many."""
    moves = 0
    while state[SEAT] != OVER:
        n = rules.legal(state, actions)
        rules.play(state, actions[below(rng, n)])
        moves += 1
    return moves


@compiled_loop
def random_games(rules, blank, most_legal, seed, games):
    """Deal and play random games one after another; give how many moves that took."""
    state = np.empty_like(blank)
    actions = np.empty(most_legal, np.int32)
    rng = np.zeros(4, np.int64)
    sow(rng, seed, 0, 0)
    moves = 0
    for _ in range(games):
        copy_cells(blank, state)
        rules.deal(state, rng)
        moves += roll_out(rules, state, actions, rng)
    return moves
