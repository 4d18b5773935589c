"""One population of rules that plays, and earns its utility by credit.

At a turn the rules are tried in decreasing order of worth until one holds, has a target and so
calls for an action. Credit comes in one of two ways:

rewards    whoever acted is paid at once for what came of it, and at the end for the score
contests   now and then another rule that holds is given the move on a copy of the table, and the
           game played to its end from there: the gain over the game as it went is the challenger's
           over the rule that acted. Utilities are ratings: they move until their differences are
           the gains.

Games are played in lanes, which share nothing and write down what the rules have earned; `settle`
then adds that up. So the result does not depend on how many cores play the lanes.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.chance import below, sow, uniform
from kibitz.core.compiled import compiled, compiled_loop
from kibitz.core.game import OVER, SEAT, copy_cells
from kibitz.core.matching import NONE, all_actions, first_in_order, groups_of

# What a lane writes down for each rule: how often it was credited, what with, the squares of that,
# how often it acted, how often it held.
TIMES, EARNED, SQUARES, ACTED, HELD, EARNINGS = range(6)
# What is known of each rule: utility, mean square of its surprises, how often it was credited,
# acted, held; the generation in which it was made; how many rules it counts for.
UTILITY, SPREAD, CREDITS, ACTS, HOLDS, BORN, NUMBER, STANDING = range(8)
# Settings of a lane, as numbers.
CONTESTS, EXPLORE, PAYS, SHARED, FINAL, THANKS, COUNTS, WAGES = range(8)
MOST_CONTESTS = 4  # in one game
BY_LOT = 0.15  # the share of contests in which the challenger is no rule but any legal action
NO_EVENT = -1


@compiled()
def value_to(points, seat, cooperative):
    """Give what a game was worth to a seat: its points, less the mean of its rivals'."""
    if cooperative:
        return points[seat]
    rivals = 0.0
    for other in range(len(points)):
        if other != seat:
            rivals += points[other]
    return points[seat] - rivals / max(1, len(points) - 1)


@compiled()
def band_of(bands, score):
    """Return what the highest band pays that a score reaches. bands [bands, 2], ascending"""
    pays = 0.0
    for band in range(len(bands)):
        if score >= bands[band, 0]:
            pays = bands[band, 1]
    return pays


@compiled()
def play_on(
    rules, see, lexicon, rows, order, acting, wanted, state, view, actions, facts, rng, most_plies,
    points,
):  # fmt: skip
    """Play a table to its end by the rules, and write the points."""
    for _ in range(most_plies):
        if state[SEAT] == OVER:
            break
        rules.look(state, state[SEAT], view)
        see(view, facts, wanted)
        _, action = first_in_order(facts, lexicon.groups, lexicon.deeds, rows, order, acting)
        if action == NONE:
            n = rules.legal(view, actions)
            action = int(actions[below(rng, n)])
        rules.play(state, action)
    rules.score(state, points)


@compiled()
def count_holds(calls, order, earnings):
    """Count the rules that call for an action."""
    for place in range(len(order)):
        if calls[order[place]] != NONE:
            earnings[order[place], HELD] += 1.0


@compiled()
def draw_challenger(calls, order, action, rng):
    """Draw an action other than the one taken that some rule calls for: it, and of how many."""
    seen = np.empty(64, np.int64)
    n = 0
    for place in range(len(order)):
        called = calls[order[place]]
        if called in (NONE, action):
            continue
        known = False
        for k in range(n):
            if seen[k] == called:
                known = True
                break
        if not known and n < len(seen):
            seen[n] = called
            n += 1
    if n == 0:
        return NONE, 0
    return seen[below(rng, n)], n


@compiled()
def draw_untried(calls, order, credits, rng, by_lot):
    """Draw a rule that holds: of two the one with fewer credits; nobody where none holds."""
    best = by_lot
    for _ in range(2):
        drawn = by_lot
        n = 0
        for place in range(len(order)):
            if calls[order[place]] != NONE:
                n += 1
                if below(rng, n) == 0:
                    drawn = order[place]
        if best == by_lot or (drawn != by_lot and credits[drawn] < credits[best]):
            best = drawn
    return best


@compiled()
def credit(earnings, rule, worth):
    """Write down what a rule has earned."""
    earnings[rule, TIMES] += 1.0
    earnings[rule, EARNED] += worth
    earnings[rule, SQUARES] += worth * worth


@compiled_loop
def play_lane(
    rules, see, judge, thank, lexicon, rows, order, acting, utility, pay, bands, blank, cooperative,
    seed, agents_seed, first, games, most_legal, most_plies, credits, earnings, uncovered, moments,
    scores,
):  # fmt: skip
    """Play games and write down what the rules have earned; give how many turns had no rule.

    rows [rules, ROW], order [rules in use] by decreasing worth, utility [rules] with a last one
    for an action by lot, earnings [rules + 1, EARNINGS], uncovered [situations, facts] and moments
    [situations, facts], any turns by lot, scores [games]; bands as for `band_of`. Branches of
    contests have the same deal.
    """
    state, branch, view = np.empty_like(blank), np.empty_like(blank), np.empty_like(blank)
    actions = np.empty(most_legal, np.int32)
    facts = np.zeros(uncovered.shape[1], np.float32)
    seats = int(blank[1])
    points = np.zeros(seats)
    rng, lots = np.zeros(4, np.int64), np.zeros(4, np.int64)
    by_lot = len(rows)
    turns = 0
    # New rules may speak of groups that no rule speaks of now.
    wanted = groups_of(lexicon.deeds, rows)
    for group in range(len(lexicon.group_weights)):
        if lexicon.group_weights[group] > 0.0:
            wanted |= 1 << group
    every = int(pay[COUNTS])
    contests_wanted, explore = pay[CONTESTS], pay[EXPLORE]
    pays, shared = pay[PAYS] > 0.0, pay[SHARED] > 0.0
    # Of each contest: the seat, who acted, what it did, the challenge, among how many, its worth.
    contests = np.zeros((MOST_CONTESTS, 6))
    calls = np.empty((MOST_CONTESTS, len(rows)), np.int64)
    # Of each ply, for rewards: who acted, the seat, what it was paid.
    actors = np.empty(most_plies, np.int64)
    movers = np.empty(most_plies, np.int64)
    paid = np.empty(most_plies)
    held = np.empty((most_plies if shared else 1, len(rows)), np.int64)
    taken = np.empty(most_plies, np.int64)
    bare = 0
    for game in range(games):
        sow(rng, seed, first + game, 0)
        copy_cells(blank, state)
        rules.deal(state, rng)
        sow(rng, agents_seed, first + game, 1)
        n_contests = 0
        plies = 0
        while state[SEAT] != OVER and plies < most_plies:
            seat = int(state[SEAT])
            rules.look(state, seat, view)
            see(view, facts, wanted)
            actor, action = by_lot, NONE
            if shared:
                all_actions(facts, lexicon.groups, lexicon.deeds, rows, order, held[plies])
                for place in range(acting):
                    action = held[plies, order[place]]
                    if action != NONE:
                        actor = order[place]
                        break
            else:
                first_rule, action = first_in_order(
                    facts, lexicon.groups, lexicon.deeds, rows, order, acting
                )
                if action != NONE:
                    actor = first_rule
            n = rules.legal(view, actions)
            if action == NONE:
                action = int(actions[below(rng, n)])
                if bare < len(uncovered):
                    for fact in range(len(facts)):
                        uncovered[bare, fact] = facts[fact]
                bare += 1
            if every > 0 and (plies + game) % every == 0:
                if not shared:
                    all_actions(facts, lexicon.groups, lexicon.deeds, rows, order, held[0])
                count_holds(held[plies if shared else 0], order, earnings)
            if len(moments) > 0:
                turns += 1
                kept = below(rng, turns)
                if kept < len(moments):
                    for fact in range(len(facts)):
                        moments[kept, fact] = facts[fact]
            explores = explore > 0.0 and uniform(rng) < explore
            if explores:
                if not shared:
                    all_actions(facts, lexicon.groups, lexicon.deeds, rows, order, held[0])
                actor = draw_untried(held[plies if shared else 0], order, credits, rng, by_lot)
                action = int(actions[below(rng, n)])
                if actor != by_lot:
                    action = held[plies if shared else 0, actor]
            if n_contests < MOST_CONTESTS and n > 1 and uniform(rng) < contests_wanted:
                mine = calls[n_contests]
                all_actions(facts, lexicon.groups, lexicon.deeds, rows, order, mine)
                challenge, among = draw_challenger(mine, order, action, rng)
                if challenge == NONE or uniform(rng) < BY_LOT:
                    challenge = int(actions[below(rng, n)])
                    among = 0
                if challenge != action:
                    copy_cells(state, branch)
                    rules.play(branch, challenge)
                    sow(lots, agents_seed, first + game, 2 + n_contests)
                    play_on(rules, see, lexicon, rows, order, acting, wanted, branch, view, actions,
                            facts, lots, most_plies, points)  # fmt: skip
                    contests[n_contests, 0] = seat
                    contests[n_contests, 1] = actor
                    contests[n_contests, 2] = action
                    contests[n_contests, 3] = challenge
                    contests[n_contests, 4] = among
                    contests[n_contests, 5] = value_to(points, seat, cooperative)
                    n_contests += 1
            if not explores:
                earnings[actor, ACTED] += 1.0
            if pays:
                event = judge(state, action)
                actors[plies], movers[plies], taken[plies] = actor, seat, action
                paid[plies] = pay[WAGES + event] if event != NO_EVENT else 0.0
                if pay[THANKS] != 0.0:
                    helper = thank(state, action)
                    if helper != NONE:
                        paid[helper] += pay[THANKS] * paid[plies]
            rules.play(state, action)
            plies += 1
        rules.score(state, points)
        scores[game] = value_to(points, 0, cooperative)
        for contest in range(n_contests):
            seat = int(contests[contest, 0])
            gain = contests[contest, 5] - value_to(points, seat, cooperative)
            settle_contest(contests[contest], gain, calls[contest], order, utility, earnings, rng)
        if pays:
            for ply in range(plies):
                score = value_to(points, movers[ply], cooperative)
                worth = paid[ply] + pay[FINAL] * score + band_of(bands, score)
                if shared:
                    for place in range(len(order)):
                        if held[ply, order[place]] == taken[ply]:
                            credit(earnings, order[place], worth)
                else:
                    credit(earnings, actors[ply], worth)
    return bare


@compiled()
def settle_contest(contest, gain, calls, order, utility, earnings, rng):
    """Write down what a contest says of all rules that called for either action."""
    actor, action, challenge = int(contest[1]), int(contest[2]), int(contest[3])
    among = max(1, int(contest[4]))
    base = utility[actor]
    best = len(utility) - 1  # the strongest rule that called for the challenge, or the lot
    found = False
    for place in range(len(order)):
        rule = order[place]
        if calls[rule] == challenge:
            credit(earnings, rule, base + gain)
            if not found:
                best, found = rule, True
        # Rules that agree with the one that acted are as good here. That is seen every time, a
        # challenge only when it is drawn: so it counts as seldom.
        elif calls[rule] == action and rule != actor and below(rng, among) == 0:
            credit(earnings, rule, base)
    credit(earnings, actor, utility[best] - gain)


@compiled_loop
def settle(earnings, standing, keep, least_rate):
    """Add up what lanes have written down: utilities move towards what was earned.

    The rate is one over the credits so far, at least `least_rate`; with `keep`, utility is a
    momentum average. earnings [lanes, rules + 1, EARNINGS], standing [rules + 1, STANDING]
    """
    for rule in range(standing.shape[0]):
        times = earned = squares = 0.0
        for lane in range(len(earnings)):
            times += earnings[lane, rule, TIMES]
            earned += earnings[lane, rule, EARNED]
            squares += earnings[lane, rule, SQUARES]
            standing[rule, ACTS] += earnings[lane, rule, ACTED]
            standing[rule, HOLDS] += earnings[lane, rule, HELD]
        if times == 0.0:
            continue
        before = standing[rule, CREDITS]
        standing[rule, CREDITS] = before + times
        share = times / (before + times)  # a plain mean at first
        share = max(share, 1.0 - (1.0 - least_rate) ** times)
        if keep > 0.0:
            share = 1.0 - keep**times
        mean = earned / times
        old = standing[rule, UTILITY]
        if before == 0.0:  # what it was before says nothing
            old = mean
        surprise = max(0.0, squares / times - 2.0 * old * mean + old * old)
        standing[rule, UTILITY] += share * (mean - standing[rule, UTILITY])
        standing[rule, SPREAD] += share * (surprise - standing[rule, SPREAD])
