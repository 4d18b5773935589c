"""Simulations: one compiled loop that grows a tree, for every game.

A simulation begins with a world that fits the searcher's view, drawn anew each time where something
is hidden; so statistics are by what the searcher knows, and the true state is never seen (Cowling,
Powley and Whitehouse, 2012). It goes down the tree by what looks best or is little known, adds one
node, is played on from there, and what came of it is added up on the way back.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kibitz.core.chance import below, sow
from kibitz.core.compiled import CHOOSE, VALUE, compiled, compiled_loop
from kibitz.core.game import OVER, SEAT, SEATS, copy_cells
from kibitz.core.voting import place_of
from kibitz.search.tree import (
    ACTION,
    CHILD,
    DRAWN,
    EDGE,
    EDGES_USED,
    FIRST,
    KEY,
    MOVES,
    NO_EDGES,
    NO_NODE,
    NODE,
    NODES_USED,
    ONWARD,
    PROOF,
    ROOM,
    ROOT,
    SIMS,
    SQUARES,
    STAMP,
    SUM,
    TRIES,
    UNKNOWN,
    VISITS,
    WINNER,
    add_edge,
    add_edges,
    back_up,
    child_of,
    merged_node,
    missing,
    more_edges,
    new_node,
    offer,
    pick,
    pick_evenly,
    prove,
    runs_of,
    runs_with,
    set_room_aside,
    slot_of,
)

WIN, MARGIN, POINTS = range(3)  # aims
WIN_SPREAD = 0.5  # of shares of a win; the spread of points is measured
LEAST_SPREAD = 1.0  # of points: a judge may say the same each time, and others are to be tried too
TO_THE_END = 1 << 30
MOST_PATH = 1024  # moves of a simulation within the tree
SHARPNESS = 2.0  # of priors made from values, in units of their spread

# Who helps, by place: plays simulations on, says what options are worth at first, what positions
# are worth where simulations end, and, from MOVERS on, which moves to look at.
PLAYS, WEIGHS, JUDGES, MOVERS = range(4)
MOST_MOVERS = 8
MOST_HELPERS = MOVERS + MOST_MOVERS


class Helpers(NamedTuple):
    """The agents that help, as compiled loops take them."""

    play: Any  # CHOOSE
    weigh: Any  # VALUE
    judge: Any  # VALUE
    movers: Any  # [MOST_MOVERS] of CHOOSE
    notices: Any  # [MOST_HELPERS] of NOTICE
    weights: np.ndarray  # of all, one after the other
    starts: np.ndarray  # [MOST_HELPERS + 1]
    listens: np.ndarray  # [MOST_HELPERS]
    remembers: np.ndarray  # [MOST_HELPERS]: whether it has a memory
    memory: np.ndarray  # [MOST_HELPERS, numbers]: as the game has gone so far


class Plan(NamedTuple):
    """What a simulation does."""

    hides: bool  # worlds are drawn
    by_views: bool
    merge: bool  # equal positions are one node
    prove: bool
    one_by_one: bool  # edges are added when they are tried
    even: bool  # the moves at the root are tried equally often
    aim: int
    cooperative: bool
    plays: bool  # somebody plays on, else chance does
    weighs: bool
    judges: bool
    movers: int
    depth: int  # turns from the root on
    round_cell: int  # or -1: which round it is
    round_points: int  # where the points from the rounds before begin
    round_sign: int  # what makes points of those
    most_legal: int
    worlds: int  # or -1: the seed of worlds, of which every move at the root gets the same ones


@compiled(VALUE)
def worth_nothing(rules, view, actions, n, weights, memory, out):
    """Say nothing of the options."""
    for i in range(n):
        out[i] = 0.0


@compiled(CHOOSE)
def take_first(rules, view, actions, n, weights, memory, rng):
    """Take the first option."""
    return actions[0]


# --- what a simulation brought -------------------------------------------------------------------


@compiled()
def reward(points, aim, cooperative, rewards):
    """Write what points are worth to every seat: a share of the win, a margin, or the points."""
    top = second = -math.inf
    ties = 0
    for seat in range(len(rewards)):
        if points[seat] > top:
            second, top, ties = top, points[seat], 1
        elif points[seat] == top:
            second = top
            ties += 1
        elif points[seat] > second:
            second = points[seat]
    for seat in range(len(rewards)):
        ahead = points[seat] == top
        if cooperative or aim == POINTS:
            rewards[seat] = points[seat]
        elif aim == WIN:
            rewards[seat] = 1.0 / ties if ahead else 0.0
        else:
            rewards[seat] = points[seat] - (second if ahead else top)


@compiled()
def reward_proof(proof, mover, rewards):
    """Write what a proven result is worth to every seat; it counts them from the mover."""
    seats = len(rewards)
    for seat in range(seats):
        if proof == DRAWN:
            rewards[seat] = 1.0 / seats
        else:
            rewards[seat] = 1.0 if (seat - mover) % seats == proof - WINNER else 0.0


@compiled()
def proof_at_end(points, mover, merge, rewards):
    """Give the proof that the end of a game is, for whoever moved last.

    Where equal positions are one, a draw may be due to how long the game has lasted: no proof.
    """
    reward(points, WIN, False, rewards)
    for seat in range(len(rewards)):
        if rewards[seat] == 1.0:
            return WINNER + (seat - mover) % len(rewards)
    return UNKNOWN if merge else DRAWN


@compiled()
def spread_of(returns, aim, cooperative):
    """Give how far what simulations bring is usually off its mean."""
    if aim == WIN and not cooperative:
        return WIN_SPREAD
    n = returns[SIMS]
    if n < 2.0:
        return LEAST_SPREAD
    mean = returns[SUM] / n
    variance = returns[SQUARES] / n - mean * mean
    return max(LEAST_SPREAD, math.sqrt(max(0.0, variance)))


@compiled_loop
def key_of(cells):
    """Give a number above 0 for what is seen: 63 bits, of two hashes (Fowler, Noll and Vo)."""
    one, other = 2166136261, 84696351
    for cell in range(len(cells)):
        held = int(cells[cell]) & 0xFFFF
        one = ((one ^ held) * 16777619) & 0xFFFFFFFF
        other = ((other ^ held) * 19088743) & 0xFFFFFFFF
        other ^= other >> 15
    return ((one & 0x7FFFFFFF) << 32 | other) + 1


@compiled()
def as_chances(values, n):
    """Turn what an agent says of options into chances.

    Values that are chances stay as they are; others are weighed by how far they lie apart.
    """
    total = least = 0.0
    for i in range(n):
        total += values[i]
        least = min(least, values[i])
    if least >= 0.0 and abs(total - 1.0) < 1e-4:
        return
    mean = total / n
    squares, top = 0.0, -math.inf
    for i in range(n):
        squares += (values[i] - mean) ** 2
        top = max(top, values[i])
    spread = math.sqrt(squares / n) + 1e-9
    total = 0.0
    for i in range(n):
        values[i] = math.exp(max(-30.0, SHARPNESS * (values[i] - top) / spread))
        total += values[i]
    for i in range(n):
        values[i] /= total


# --- what helpers say ----------------------------------------------------------------------------


@compiled()
def list_moves(rules, helpers, movers, state, sight, memory, actions, rng):
    """Write the moves that some helper would make; give how many."""
    n = rules.legal(state, actions)
    mover = state[SEAT]
    wanted = np.zeros(n, np.bool_)
    rules.look(state, mover, sight)
    for place in range(movers):
        helper = MOVERS + place
        own = helpers.weights[helpers.starts[helper] : helpers.starts[helper + 1]]
        kept = memory[helper, mover].copy()  # it only says what it would do
        chosen = helpers.movers[place](rules, sight, actions, n, own, kept, rng)
        at = place_of(chosen, actions, n)
        if at >= 0:
            wanted[at] = True
    m = 0
    for i in range(n):
        if wanted[i]:
            actions[m] = actions[i]
            m += 1
    return m


@compiled()
def weigh_moves(rules, helpers, state, sight, memory, actions, n, priors):
    """Write what a helper thinks of moves at first, as chances."""
    mover = state[SEAT]
    rules.look(state, mover, sight)
    own = helpers.weights[helpers.starts[WEIGHS] : helpers.starts[WEIGHS + 1]]
    helpers.weigh(rules, sight, actions, n, own, memory[WEIGHS, mover], priors)
    as_chances(priors, n)


@compiled()
def tell(rules, helpers, state, sight, action, memory):
    """Let helpers that listen see an action, at every seat, just before it is played."""
    for helper in range(MOST_HELPERS):
        if helpers.listens[helper]:
            for seat in range(state[SEATS]):
                rules.look(state, seat, sight)
                helpers.notices[helper](sight, state[SEAT], action, memory[helper, seat])


@compiled()
def expect(rules, helpers, cooperative, state, sight, memory, actions, values, rewards):
    """Add what a helper expects the seat to move to gain, at the cost of the others."""
    mover, seats = state[SEAT], len(rewards)
    rules.look(state, mover, sight)
    n = rules.legal(sight, actions)
    own = helpers.weights[helpers.starts[JUDGES] : helpers.starts[JUDGES + 1]]
    helpers.judge(rules, sight, actions, n, own, memory[JUDGES, mover], values)
    best = values[0]
    for i in range(1, n):
        best = max(best, values[i])
    for seat in range(seats):
        if cooperative or seat == mover:
            rewards[seat] += best
        else:
            rewards[seat] -= best / (seats - 1)


@compiled()
def play_by_helper(rules, helpers, plan, state, sight, memory, actions, turns, now, rng):
    """Play a simulation to its end as a helper would at every seat."""
    own = helpers.weights[helpers.starts[PLAYS] : helpers.starts[PLAYS + 1]]
    listening = helpers.listens.any()
    while turns < plan.depth and not is_over(state, plan.round_cell, now):
        mover = state[SEAT]
        rules.look(state, mover, sight)
        n = rules.legal(sight, actions)
        action = helpers.play(rules, sight, actions, n, own, memory[PLAYS, mover], rng)
        if listening:
            tell(rules, helpers, state, sight, action, memory)
        rules.play(state, action)
        if state[SEAT] != mover:
            turns += 1


# --- the loop ------------------------------------------------------------------------------------


@compiled()
def is_over(state, round_cell, now):
    """Tell whether the game has ended, or the round in which the search began."""
    return state[SEAT] == OVER or (round_cell >= 0 and state[round_cell] != now)


@compiled()
def play_by_chance(rules, plan, state, actions, turns, now, rng):
    """Play a simulation to its end by random moves."""
    while turns < plan.depth and not is_over(state, plan.round_cell, now):
        mover = state[SEAT]
        n = rules.legal(state, actions)
        rules.play(state, actions[below(rng, n)])
        if state[SEAT] != mover:
            turns += 1


@compiled_loop
def grow(rules, helpers, plan, rule, tree, view, allowed, rng, sims):
    """Run simulations from what a seat sees; give how many there were, and the edges of the tree.

    There are fewer where there is no more room for nodes, or the root is proven. Edges may lie
    elsewhere afterwards, for room is made when it is needed: what is found must not depend on how
    much there was. allowed: the only moves to look at in the root, ascending; all if it is empty.
    """
    runs = runs_of(tree)
    edges, worth = tree.edges, tree.worth
    room, mask = len(tree.nodes), len(tree.slots) - 1
    returns, listens, remembers = tree.returns, helpers.listens, helpers.remembers
    seats = int(view[SEATS])
    searcher = view[SEAT]
    state, sight = np.empty_like(view), np.empty_like(view)
    actions = np.empty(plan.most_legal, np.int32)
    offered = np.empty(plan.most_legal, np.int64)
    priors = np.empty(plan.most_legal)
    points, rewards = np.zeros(seats), np.zeros(seats)
    path = np.empty((MOST_PATH, 2), np.int64)
    movers = np.empty(MOST_PATH, np.int64)
    memory = np.zeros((MOST_HELPERS, seats, helpers.memory.shape[1]), np.int64)
    listening, remembering = listens.any(), remembers.any()
    now = view[plan.round_cell] if plan.round_cell >= 0 else 0
    key = np.int64(0)
    if plan.merge and runs.nodes[ROOT * NODE + KEY] == 0:
        copy_cells(view, sight)
        rules.redeal(sight, rng)
        rules.strip(sight)
        runs.nodes[ROOT * NODE + KEY] = key_of(sight)
        runs.slots[slot_of(runs, mask, key_of(sight))] = ROOT
    done = 0
    while done < sims and runs.used[NODES_USED] < room:
        if plan.prove and runs.nodes[ROOT * NODE + PROOF] != UNKNOWN:
            break
        copy_cells(view, state)
        rules.redeal(state, rng)
        if remembering:
            for helper in range(MOST_HELPERS):
                if remembers[helper]:
                    for seat in range(seats):
                        memory[helper, seat, :] = helpers.memory[helper]
        spread = spread_of(returns, plan.aim, plan.cooperative)
        stamp = int(returns[SIMS]) + 1
        node, length, turns = ROOT, 0, 0
        proof, prover = UNKNOWN, 0
        while True:
            if turns >= plan.depth or length >= MOST_PATH or is_over(state, plan.round_cell, now):
                break
            if plan.merge:
                if runs.nodes[node * NODE + STAMP] == stamp:
                    break  # the position has been there before: going on would go round
                runs.nodes[node * NODE + STAMP] = stamp
            mover = state[SEAT]
            fresh = runs.nodes[node * NODE + FIRST] == NO_EDGES
            edge = NO_EDGES
            n = runs.nodes[node * NODE + MOVES]
            if plan.one_by_one and not (node == ROOT and len(allowed) > 0):
                if fresh or n < runs.nodes[node * NODE + ROOM]:
                    n = rules.legal(state, actions)
                    if fresh:
                        if runs.used[EDGES_USED] + n > len(edges):
                            edges, worth = more_edges(edges, worth, n)
                            runs = runs_with(runs, edges, worth)
                        set_room_aside(runs, node, n, rng)
                    edge = add_edge(runs, node, actions, n)
            elif plan.hides or fresh:
                if node == ROOT and len(allowed) > 0:
                    n = len(allowed)
                    for i in range(n):
                        actions[i] = allowed[i]
                elif plan.movers > 0:
                    n = list_moves(rules, helpers, plan.movers, state, sight, memory, actions, rng)
                else:
                    n = rules.legal(state, actions)
                if fresh or missing(runs, node, actions, n) > 0:
                    if plan.weighs:
                        weigh_moves(rules, helpers, state, sight, memory, actions, n, priors)
                    else:
                        for i in range(n):
                            priors[i] = 1.0 / n
                    needed = runs.nodes[node * NODE + MOVES] + n
                    if runs.used[EDGES_USED] + needed > len(edges):
                        edges, worth = more_edges(edges, worth, needed)
                        runs = runs_with(runs, edges, worth)
                    add_edges(runs, node, actions, n, priors, rule.puct)
                if plan.hides:
                    offer(runs, node, actions, n, offered)
            if edge == NO_EDGES and node == ROOT and plan.even:
                edge = pick_evenly(runs, node, offered, n, plan.hides)
                if plan.worlds >= 0:
                    # A world that is good or bad for every move then tells nothing apart.
                    sow(rng, plan.worlds, runs.edges[edge * EDGE + TRIES], 0)
                    copy_cells(view, state)
                    rules.redeal(state, rng)
            elif edge == NO_EDGES:
                edge = pick(runs, node, seats, offered, n, rule, spread, rng)
            path[length, 0], path[length, 1], movers[length] = node, edge, mover
            length += 1
            action = runs.edges[edge * EDGE + ACTION]
            if listening:
                tell(rules, helpers, state, sight, action, memory)
            rules.play(state, action)
            if state[SEAT] != mover:
                turns += 1
            if not plan.hides:
                node = runs.edges[edge * EDGE + CHILD]
            else:
                key = np.int64(state[SEAT])
                if plan.by_views:
                    rules.look(state, searcher, sight)
                    key = key_of(sight)
                node = child_of(runs, edge, key)
            if node == NO_NODE:
                if state[SEAT] != OVER:
                    runs.edges[edge * EDGE + ONWARD] = (state[SEAT] - mover) % seats
                if plan.merge and state[SEAT] != OVER:
                    copy_cells(state, sight)
                    rules.strip(sight)
                    node = merged_node(runs, mask, edge, key_of(sight))
                else:
                    node = new_node(runs, edge, key if plan.hides else 0)
                if plan.prove and state[SEAT] == OVER:
                    rules.score(state, points)
                    ended = proof_at_end(points, mover, plan.merge, rewards)
                    runs.nodes[node * NODE + PROOF] = ended
            if plan.prove:
                proof = runs.nodes[node * NODE + PROOF]
                if proof != UNKNOWN:
                    prover = mover if state[SEAT] == OVER else state[SEAT]
                    break
            if runs.nodes[node * NODE + VISITS] == 0:
                break
        if length == 0:
            break
        if proof != UNKNOWN:
            reward_proof(proof, prover, rewards)
            prove(runs, path, length, seats)
        else:
            if plan.plays:
                play_by_helper(rules, helpers, plan, state, sight, memory, actions, turns, now, rng)
            else:
                play_by_chance(rules, plan, state, actions, turns, now, rng)
            if state[SEAT] == OVER or not is_over(state, plan.round_cell, now):
                rules.score(state, points)
            else:  # the next round is dealt, and what was dealt counts for nothing
                for seat in range(seats):
                    points[seat] = plan.round_sign * state[plan.round_points + seat]
            reward(points, plan.aim, plan.cooperative, rewards)
            if plan.judges and not is_over(state, plan.round_cell, now):
                expect(rules, helpers, plan.cooperative, state, sight, memory, actions, priors,
                       rewards)  # fmt: skip
        back_up(runs, path, movers, length, node, rewards, rule.puct)
        returns[SIMS] += 1.0
        returns[SUM] += rewards[searcher]
        returns[SQUARES] += rewards[searcher] * rewards[searcher]
        done += 1
    return done, edges, worth
