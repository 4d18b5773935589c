"""Many boards at once: games stepped in lockstep, and what a learner keeps of them.

Every step asks for one decision on each board. A row of the buffer is a decision: step `t` on board
`b`. Seats take turns, so what follows a decision of a seat is not the next row but the next one of
the same seat: `follow` says which. Rewards are added to the seat's last decision until then.
"""

from __future__ import annotations

import math

import numpy as np

from kibitz.core.chance import WORD, below, sow, uniform
from kibitz.core.compiled import compiled, compiled_loop
from kibitz.core.game import OVER, PLIES, SEAT, copy_cells
from kibitz.play.aims import EVENTS, WIN, worth

LATEST, PAST = -1, -2  # who sits at a seat, or else the number of a named opponent
NONE = -1
CHUNK = 8  # options lie in chunks of so many, all of one decision
ILLEGAL, ENDLESS = 1, 2  # what may be wrong, see `play_boards`
# What is counted for every board, see `end`.
NO_ROUNDS = np.array([-1, 0, 0])
NUMBER, EARLIER, SIGN = range(3)  # which round it is, points of earlier ones, and their sign
TALLY = GAMES, MOVES, EARNED, RIVAL_GAMES, SHARE = range(5)


@compiled()
def is_new_round(before, state, rounds):
    """Tell whether a round has ended, if rounds count as games: rounds are `NO_ROUNDS` if not."""
    return rounds[NUMBER] >= 0 and before[rounds[NUMBER]] != state[rounds[NUMBER]]


@compiled()
def points_of(rules, before, state, rounds, points):
    """Write the points of every seat; those of the round, if rounds count as games."""
    rules.score(state, points)
    if rounds[NUMBER] < 0:
        return
    ended = is_new_round(before, state, rounds) or state[SEAT] == OVER
    for seat in range(len(points)):
        earlier = rounds[SIGN] * float(before[rounds[EARLIER] + seat])
        if ended:  # `score` may count what was dealt since
            points[seat] = rounds[SIGN] * float(state[rounds[EARLIER] + seat])
        points[seat] -= earlier


@compiled()
def start_held(rules, state, rounds, board, aim, held):
    """Write what every seat has in hand after the deal."""
    points = np.zeros(held.shape[1])
    points_of(rules, state, state, rounds, points)
    for seat in range(held.shape[1]):
        held[board, seat] = worth(points, seat, aim, False)


@compiled()
def deal_board(
    rules, board, states, blank, opening, most_legal, seed, own_seed, deals, rngs, rivals, who,
    memory, last,
):  # fmt: skip
    """Deal the next game on a board, and say who sits where: the learner, or one seat of it.

    The game begins after at most `opening` random moves, so that all sorts of positions are seen.
    """
    stream = (deals[board] * len(states) + board) & WORD
    rng = rngs[board]
    state = states[board]
    sow(rng, own_seed, stream, 1)  # what agents see of chance says nothing about the deal
    moves = below(rng, opening + 1)
    actions = np.empty(most_legal, np.int32)
    deal_rng = np.zeros(4, np.int64)
    while True:
        sow(deal_rng, seed, stream, 0)
        copy_cells(blank, state)
        rules.deal(state, deal_rng)
        for _ in range(moves):
            if state[SEAT] != OVER:
                rules.play(state, actions[below(rng, rules.legal(state, actions))])
        if state[SEAT] != OVER or moves == 0:
            break
        moves //= 2  # too many: the game has ended
    deals[board] += 1
    seats = who.shape[1]
    mine = below(rng, seats)
    for seat in range(seats):
        who[board, seat] = rivals[board] if seat != mine else LATEST
        last[board, seat] = NONE
        for number in range(memory.shape[2]):
            memory[board, seat, number] = 0


@compiled_loop
def deal_boards(
    rules, states, blank, opening, most_legal, seed, own_seed, deals, rngs, rivals, who, memory,
    last, rounds, aim, held,
):  # fmt: skip
    """Deal the first games."""
    for board in range(len(states)):
        deal_board(
            rules, board, states, blank, opening, most_legal, seed, own_seed, deals, rngs, rivals,
            who, memory, last,
        )  # fmt: skip
        start_held(rules, states[board], rounds, board, aim, held)


@compiled()
def pay(
    count, amounts, aim, before, action, state, points, over, board, held, last, rewards
):  # fmt: skip
    """Pay every seat for what an action has brought it."""
    seats = held.shape[1]
    counts = np.zeros(len(amounts))
    for seat in range(seats):
        if aim == EVENTS:
            earned = 0.0
            count(before, action, state, seat, counts)
            for event in range(len(counts)):
                earned += counts[event] * amounts[event]
        else:
            now = worth(points, seat, aim, over)
            earned = now - held[board, seat]
            held[board, seat] = now
        if last[board, seat] != NONE:
            rewards[last[board, seat], board] += earned


@compiled()
def end(points, plies, board, who, last, ended, tally):
    """Close what was open on a board whose game, or round, is over, and count it."""
    seats = who.shape[1]
    learning, earned, share, rivals = 0, 0.0, 0.0, False
    for seat in range(seats):
        if last[board, seat] != NONE:
            ended[last[board, seat], board] = True
            last[board, seat] = NONE
        if who[board, seat] == LATEST:
            learning += 1
            earned += points[seat]
            share += worth(points, seat, WIN, True) + 1.0 / seats
        else:
            rivals = True
    tally[board, GAMES] += 1
    tally[board, MOVES] += plies
    tally[board, EARNED] += earned / learning
    if rivals:
        tally[board, RIVAL_GAMES] += 1
        tally[board, SHARE] += share


@compiled_loop
def play_boards(
    rules, chooses, notices, listens, weights, starts, count, amounts, aim, first, last_board,
    chosen, states, blank, opening, most_legal, seed, own_seed, deals, rngs, rivals, who, memory,
    last, rounds, held, rewards, ended, tally, most_plies, trouble,
):  # fmt: skip
    """Play the chosen action on each board, and then for named opponents until a learner moves."""
    before = np.empty_like(blank)
    view = np.empty_like(blank)
    actions = np.empty(most_legal, np.int32)
    points = np.zeros(who.shape[1])
    for board in range(first, last_board):
        state = states[board]
        action = chosen[board]
        while True:
            if state[PLIES] > most_plies:
                trouble[0] = ENDLESS
                return
            if action == NONE:  # a game was dealt, or somebody has moved: who is next?
                seat = state[SEAT]
                agent = who[board, seat]
                if agent < 0:
                    break
                rules.look(state, seat, view)
                n = rules.legal(view, actions)
                own = weights[starts[agent] : starts[agent + 1]]
                action = chooses[agent](
                    rules, view, actions, n, own, memory[board, seat], rngs[board]
                )
                found = False
                for place in range(n):
                    found |= actions[place] == action
                if not found:
                    trouble[0], trouble[1], trouble[2] = ILLEGAL, agent, action
                    return
            for seat in range(who.shape[1]):
                agent = who[board, seat]
                if agent >= 0 and listens[agent]:
                    rules.look(state, seat, view)
                    notices[agent](view, state[SEAT], action, memory[board, seat])
            copy_cells(state, before)
            rules.play(state, action)
            points_of(rules, before, state, rounds, points)
            new_round, over = is_new_round(before, state, rounds), state[SEAT] == OVER
            pay(
                count, amounts, aim, before, action, state, points, over or new_round, board, held,
                last, rewards,
            )  # fmt: skip
            if over or new_round:
                end(points, state[PLIES], board, who, last, ended, tally)
            if over:
                deal_board(
                    rules, board, states, blank, opening, most_legal, seed, own_seed, deals, rngs,
                    rivals, who, memory, last,
                )  # fmt: skip
            if over or new_round:
                start_held(rules, state, rounds, board, aim, held)
            action = NONE


@compiled_loop
def look_at(
    rules, t, first, last_board, states, views, features, legal, counts, seat_of, mine, follow,
    who, last,
):  # fmt: skip
    """Write what whoever is to move sees, and tie the decision to the seat's last one."""
    for board in range(first, last_board):
        state = states[board]
        seat = state[SEAT]
        rules.look(state, seat, views[board])
        counts[t, board] = rules.legal(views[board], legal[t, board])
        rules.observe(views[board], features[t, board])
        seat_of[t, board] = seat
        mine[t, board] = who[board, seat] == LATEST
        follow[t, board] = NONE
        if mine[t, board]:
            if last[board, seat] != NONE:
                follow[last[board, seat], board] = t
            last[board, seat] = t


@compiled()
def describe_options(rules, view, actions, n, ahead, prospects):
    """Write what the room says of each option; or, to look ahead, what the position after it shows.

    Only where nothing is hidden can one play on a view.
    """
    if not ahead:
        rules.describe(view, actions, n, prospects)
        return
    tried = np.empty_like(view)
    for i in range(n):
        copy_cells(view, tried)
        rules.play(tried, actions[i])
        row = prospects[i]
        row[:] = 0.0
        row[0] = -1.0
        rules.observe(tried, row[1:])


@compiled_loop
def describe_at(rules, t, first, last_board, views, legal, counts, begins, ahead, options):
    """Write the features of all options at step t, each decision in whole chunks."""
    for board in range(first, last_board):
        start = begins[t, board] * CHUNK
        n = counts[t, board]
        describe_options(rules, views[board], legal[t, board], n, ahead, options[start : start + n])


@compiled_loop
def pick(
    t, first, last_board, logits, past_logits, by_number, epsilon, temperature, mine, legal, counts,
    begins, rngs, chosen, places, chances, taken, best,
):  # fmt: skip
    """Draw an action on each board from the policy, and keep the logarithm of its chance.

    At a temperature of 0 the best is taken. A share of epsilon is by lot.

    logits: flat; of option i on a board at CHUNK * its first chunk in this step, plus i; or, by
    number, [boards, actions]. past_logits: the same of an earlier self, for the boards where one
    may be to move; these come first.
    """
    most = legal.shape[2]
    numbers, raised = np.empty(most), np.empty(most)
    first_chunk = begins[t, 0]
    for board in range(first, last_board):
        n = counts[t, board]
        top = -np.inf
        for place in range(n):
            if by_number > 0:
                at = board * by_number + legal[t, board, place]
            else:
                at = (begins[t, board] - first_chunk) * CHUNK + place
            numbers[place] = logits[at] if mine[t, board] else past_logits[at]
            top = max(top, numbers[place])
        total = 0.0
        by_lot = epsilon > 0.0 and uniform(rngs[board]) < epsilon
        for place in range(n):
            if by_lot:
                raised[place] = 1.0
            elif temperature > 0.0:
                raised[place] = math.exp((numbers[place] - top) / temperature)
            else:
                raised[place] = 1.0 if numbers[place] == top else 0.0
            total += raised[place]
        drawn = uniform(rngs[board]) * total
        place = 0
        while place < n - 1 and drawn >= raised[place]:
            drawn -= raised[place]
            place += 1
        while raised[place] == 0.0 and place > 0:  # rounding must not choose the impossible
            place -= 1
        places[t, board] = place
        chances[t, board] = math.log(raised[place] / total)
        taken[t, board], best[t, board] = numbers[place], top
        chosen[board] = legal[t, board, place]


@compiled_loop
def best_numbers(t, numbers, by_number, legal, counts, begins, best):
    """Write what the network gives the best option on each board, where nobody moves."""
    first_chunk = begins[t, 0]
    for board in range(counts.shape[1]):
        best[t, board] = -np.inf
        for place in range(counts[t, board]):
            if by_number > 0:
                at = board * by_number + legal[t, board, place]
            else:
                at = (begins[t, board] - first_chunk) * CHUNK + place
            best[t, board] = max(best[t, board], numbers[at])


@compiled_loop
def lambda_returns(
    gamma, lam, steps, scale, rewards, values, taken, best, mine, follow, ended, gains, usable
):
    """Work out what every decision should have been valued at, less what its position was.

    A decision is worth what it earned until the seat's next one, and then: the value of the best
    option there, or, as far as lam says and if that was chosen, what came of it.
    """
    for board in range(rewards.shape[1]):
        for t in range(steps, -1, -1):
            gains[t, board] = 0.0
            usable[t, board] = False
            if not mine[t, board] or t == steps:
                continue
            following = follow[t, board]
            if ended[t, board]:
                ahead = 0.0
            elif following != NONE:
                ahead = values[following, board] + best[following, board]
                if usable[following, board] and (taken[following, board] == best[following, board]):
                    came = values[following, board] + gains[following, board]
                    ahead += lam * (came - ahead)
            else:
                continue
            gains[t, board] = scale * rewards[t, board] + gamma * ahead - values[t, board]
            usable[t, board] = True


@compiled_loop
def advantages(gamma, lam, steps, scale, rewards, values, mine, follow, ended, gains, usable):
    """Work out the generalised advantage of every decision, from the last one on.

    A seat's last decision in the buffer, if its game goes on, only says what it is worth there.
    """
    for board in range(rewards.shape[1]):
        for t in range(steps, -1, -1):
            gains[t, board] = 0.0
            usable[t, board] = False
            if not mine[t, board] or t == steps:
                continue
            following = follow[t, board]
            if ended[t, board]:
                gains[t, board] = scale * rewards[t, board] - values[t, board]
                usable[t, board] = True
            elif following != NONE:
                ahead = values[following, board] + lam * gains[following, board]
                gains[t, board] = scale * rewards[t, board] + gamma * ahead - values[t, board]
                usable[t, board] = True


@compiled_loop
def gather(
    rows, features, counts, begins, options, legal, places, out_features, out_options, owner, known,
    chosen,
):  # fmt: skip
    """Write the features, and the options in chunks, of some decisions; give how many chunks.

    rows: t * boards + board. owner of a chunk: its decision, or len(rows) for none. known: which
    options are there. chosen: the option that was taken, counted over all chunks; or its number.
    """
    boards = counts.shape[1]
    by_number = out_options.shape[0] == 0
    chunk = 0
    for at in range(len(rows)):
        t, board = divmod(rows[at], boards)
        for feature in range(features.shape[2]):
            out_features[at, feature] = features[t, board, feature]
        n = counts[t, board]
        if by_number:
            for action in range(known.shape[1]):
                known[at, action] = False
            for place in range(n):
                known[at, legal[t, board, place]] = True
            chosen[at] = legal[t, board, places[t, board]]
            continue
        chosen[at] = chunk * CHUNK + places[t, board]
        start = begins[t, board]
        for part in range((n + CHUNK - 1) // CHUNK):
            owner[chunk] = at
            for place in range(CHUNK):
                is_there = part * CHUNK + place < n
                known[chunk, place] = is_there
                for feature in range(options.shape[1]):
                    out_options[chunk, place, feature] = (
                        options[(start + part) * CHUNK + place, feature] if is_there else 0.0
                    )
            chunk += 1
    if not by_number:
        for spare in range(chunk, len(owner)):
            owner[spare] = len(rows)
            for place in range(CHUNK):
                known[spare, place] = False
                for feature in range(options.shape[1]):
                    out_options[spare, place, feature] = 0.0
    return chunk


@compiled_loop
def gather_chosen(
    rows, features, begins, options, legal, places, by_number, out_features, out_options, actions
):
    """Write the features of some decisions, and the option that was taken: described, or numbered.

    rows: t * boards + board.
    """
    boards = begins.shape[1]
    for at in range(len(rows)):
        t, board = divmod(rows[at], boards)
        for feature in range(features.shape[2]):
            out_features[at, feature] = features[t, board, feature]
        actions[at] = legal[t, board, places[t, board]]
        if by_number == 0:
            start = begins[t, board] * CHUNK + places[t, board]
            for feature in range(options.shape[1]):
                out_options[at, feature] = options[start, feature]
