"""The compiled loops of Q-learning: games on numbered positions, learned from move by move.

A value belongs to a move of a position and is seen by whoever moves; `tops` holds the greatest
value of each position. Behind the positions stand three more, the ends of the game, whose tops are
what they are worth to whoever moved last: so a move's target is always `carry[move] * tops[next]`.
Two ways to look ahead:

minimax   to the other's best answer: the value of a move is minus the top of the position it leads
          to (Littman, 1994, for games in which seats take turns)
played    to the answer that was played: the next position is the learner's own next turn (Watkins,
          1989, with the opponent as a part of the world), so values hold against that opponent
"""

from __future__ import annotations

import numpy as np

from kibitz.core.chance import WORD, below, sow, stirred, toss
from kibitz.core.compiled import compiled, compiled_loop
from kibitz.core.game import SEAT, copy_cells
from kibitz.core.voting import place_of

SELF, RANDOM, AGENT = 0, 1, 2  # who the opponent is
VISITS = -1.0  # a learning rate of one over the visits
NO_MOVE = -1
ENDS = 3  # won, drawn and lost, in this order behind the positions
WORTH = (1.0, 0.0, -1.0)


@compiled(inline=True)
def between(way, done):
    """Give the number on the straight way from way[0] to way[1]."""
    return way[0] + (way[1] - way[0]) * done


@compiled(inline=True)
def rate_at(rates, done):
    """Give the learning rate when so much of a phase is done."""
    return VISITS if rates[0] == VISITS else between(rates, done)


@compiled(inline=True)
def top_of(values, begin, end):
    """Give the greatest value of some moves."""
    best = values[begin]
    for move in range(begin + 1, end):
        best = max(best, values[move])
    return best


@compiled_loop
def find_tops(first, values, tops):
    """Write the greatest value of every position."""
    for index in range(len(first) - 1):
        if first[index] < first[index + 1]:
            tops[index] = top_of(values, first[index], first[index + 1])


@compiled(inline=True)
def pick(values, tops, index, begin, n, threshold, a, b, c, d):
    """Explore below the threshold, otherwise draw one of the best moves; stir the generator.

    One draw tells whether to explore and, if so, where: below the threshold it is uniform, and so
    is its share of the threshold.
    """
    drawn, a, b, c, d = stirred(a, b, c, d)
    place = 0
    if drawn < threshold:
        place = (drawn * n) >> 32 if threshold > WORD else drawn * n // threshold
    else:
        ties = 0
        for i in range(n):
            if values[begin + i] == tops[index]:
                ties += 1
                if ties == 1:
                    place = i
                else:
                    drawn, a, b, c, d = stirred(a, b, c, d)
                    if (drawn * ties) >> 32 == 0:
                        place = i
    return begin + place, a, b, c, d


@compiled(inline=True)
def improve(first, values, visits, tops, index, move, target, rate):
    """Move the value of a position's move towards its target, and keep the top true."""
    visits[move] += 1
    step = 1.0 / visits[move] if rate == VISITS else rate
    old = values[move]
    new = old + step * (target - old)
    if new != old:
        values[move] = new
        if new >= tops[index]:
            tops[index] = new
        elif old == tops[index]:
            tops[index] = top_of(values, first[index], first[index + 1])


@compiled_loop
def learn_minimax(
    first, children, carry, flips, starts, values, visits, tops, opponent, epsilons, rates, rng,
    from_game, to_game, games, most_plies,
):  # fmt: skip
    """Learn from games of a phase of so many, looking at the best answer; give the updates made.

    first [positions + 1]; children, carry, flips, values and visits [moves]; tops [positions +
    ENDS]; starts [positions to begin in]; epsilons and rates [2], from the beginning of the phase
    to its end. The learner is to move first in even games. `rng` goes on from call to call.

    `pick` and `improve` are written out here: a move takes 11 ns that way, and twice as long where
    arrays are handed over, for Numba counts references to them.
    """
    ends = len(first) - 1
    a, b, c, d = rng[0], rng[1], rng[2], rng[3]
    updates = 0
    for game in range(from_game, to_game):
        rate = rate_at(rates, game / games)
        bound = int(between(epsilons, game / games) * (WORD + 1))
        others_bound = bound if opponent == SELF else WORD + 1
        if game & 1 == 1:
            bound, others_bound = others_bound, bound
        drawn, a, b, c, d = stirred(a, b, c, d)
        index = starts[(drawn * len(starts)) >> 32]
        for _ in range(most_plies):
            begin = first[index]
            n = first[index + 1] - begin
            drawn, a, b, c, d = stirred(a, b, c, d)
            if drawn < bound:
                move = begin + ((drawn * n) >> 32 if bound > WORD else drawn * n // bound)
            else:
                top = tops[index]
                move = begin
                ties = 0
                for i in range(begin, begin + n):
                    if values[i] == top:
                        ties += 1
                        if ties == 1:
                            move = i
                        else:
                            drawn, a, b, c, d = stirred(a, b, c, d)
                            if (drawn * ties) >> 32 == 0:
                                move = i
            after = children[move]
            visits[move] += 1
            step = rate
            if rate == VISITS:
                step = 1.0 / visits[move]
            old = values[move]
            new = old + step * (carry[move] * tops[after] - old)
            if new != old:
                values[move] = new
                if new >= tops[index]:
                    tops[index] = new
                elif old == tops[index]:
                    best = values[begin]
                    for i in range(begin + 1, begin + n):
                        best = max(best, values[i])
                    tops[index] = best
            updates += 1
            if after >= ends:
                break
            if flips[move]:
                bound, others_bound = others_bound, bound
            index = after
    rng[0], rng[1], rng[2], rng[3] = a, b, c, d
    return updates


@compiled_loop
def learn_played(
    first, children, gamma, flips, starts, values, visits, tops, opponent, epsilons, rates, rng,
    from_game, to_game, games, most_plies,
):  # fmt: skip
    """Learn from games of a phase of so many, looking at the answer played; the same otherwise."""
    ends = len(first) - 1
    at = np.empty(2, np.int64)  # where the learner and the other moved last, and how
    by = np.empty(2, np.int64)
    a, b, c, d = rng[0], rng[1], rng[2], rng[3]
    updates = 0
    for game in range(from_game, to_game):
        rate = rate_at(rates, game / games)
        threshold = int(between(epsilons, game / games) * (WORD + 1))
        drawn, a, b, c, d = stirred(a, b, c, d)
        index = int(starts[(drawn * len(starts)) >> 32])
        side = game & 1  # 0 where the learner is to move
        by[:] = NO_MOVE
        for _ in range(most_plies):
            learns = side == 0 or opponent == SELF
            if learns and by[side] != NO_MOVE:
                target = gamma * tops[index]
                improve(first, values, visits, tops, at[side], by[side], target, rate)
                updates += 1
            begin = first[index]
            n = first[index + 1] - begin
            bound = threshold if learns else WORD + 1
            move, a, b, c, d = pick(values, tops, index, begin, n, bound, a, b, c, d)
            at[side] = index
            by[side] = move
            index = int(children[move])
            if index >= ends:
                for who in range(2):
                    if by[who] != NO_MOVE and (who == 0 or opponent == SELF):
                        target = tops[index] if who == side else -tops[index]
                        improve(first, values, visits, tops, at[who], by[who], target, rate)
                        updates += 1
                break
            if flips[move]:
                side = 1 - side
    rng[0], rng[1], rng[2], rng[3] = a, b, c, d
    return updates


@compiled_loop
def learn_against(
    rules, choose, notice, weights, memory, rival_rng, states, whole_first, whole_children, share,
    groups, first, children, carry, flips, gamma, minimax, starts, values, visits, tops, epsilons,
    rates, rng, from_game, to_game, games, most_legal, most_plies,
):  # fmt: skip
    """Learn from games against a compiled agent, in either way; the same otherwise.

    The agent is shown real tables, so positions are followed both as they are (whole_first,
    whole_children, starts, states) and with mirror images folded, as the values have them: share
    and groups give the move and the position there. Gives -1 less the agent's action where that is
    not legal.
    """
    ends = len(first) - 1
    state = np.empty(states.shape[1], states.dtype)
    view = np.empty(states.shape[1], states.dtype)
    actions = np.empty(most_legal, np.int32)
    updates = 0
    for game in range(from_game, to_game):
        rate = rate_at(rates, game / games)
        threshold = int(between(epsilons, game / games) * (WORD + 1))
        whole = int(starts[below(rng, len(starts))])
        copy_cells(states[whole], state)
        memory[:] = 0
        ours = game & 1 == 0
        at = by = NO_MOVE  # where the learner moved last, and how
        for _ in range(most_plies):
            index = int(groups[whole])
            if ours and not minimax and by != NO_MOVE:
                improve(first, values, visits, tops, at, by, gamma * tops[index], rate)
                updates += 1
            mover = state[SEAT]
            rules.look(state, mover, view)
            n = rules.legal(view, actions)
            place = 0
            if not ours:
                action = choose(rules, view, actions, n, weights, memory, rival_rng)
                place = place_of(action, actions, n)
                if place < 0:
                    return -1 - action
            elif toss(rng) < threshold:
                place = below(rng, n)
            else:
                ties = 0
                for i in range(n):
                    if values[share[whole_first[whole] + i]] == tops[index]:
                        ties += 1
                        if below(rng, ties) == 0:
                            place = i
            rules.look(state, 1 - mover if ours else mover, view)
            notice(view, mover, int(actions[place]), memory)
            rules.play(state, int(actions[place]))
            edge = whole_first[whole] + place
            move = int(share[edge])
            after = int(children[move])
            if minimax:
                improve(first, values, visits, tops, index, move, carry[move] * tops[after], rate)
                updates += 1
            elif ours:
                at, by = index, move
            if after >= ends:
                if not minimax and by != NO_MOVE:
                    target = tops[after] if ours else -tops[after]
                    improve(first, values, visits, tops, at, by, target, rate)
                    updates += 1
                break
            ours = ours != flips[move]
            whole = int(whole_children[edge])
    return updates


@compiled_loop
def evaluate(first, children, flips, values, tops, seed, stream, games, most_plies, shares):
    """Play greedily against random without learning, so many games from each seat.

    shares [2]: won as first and as second to move, a draw counting half.
    """
    ends = len(first) - 1
    rng = np.zeros(4, np.int64)
    sow(rng, seed, stream, 0)  # phases of learning have the other lanes
    a, b, c, d = rng[0], rng[1], rng[2], rng[3]
    shares[:] = 0.0
    for game in range(2 * games):
        index = 0
        ours = game & 1 == 0
        gain = 0.0
        for _ in range(most_plies):
            begin = first[index]
            n = first[index + 1] - begin
            bound = 0 if ours else WORD + 1
            move, a, b, c, d = pick(values, tops, index, begin, n, bound, a, b, c, d)
            index = int(children[move])
            if index >= ends:
                gain = tops[index] if ours else -tops[index]
                break
            ours = ours != flips[move]
        shares[game & 1] += (gain + 1.0) / 2.0
    shares /= games
