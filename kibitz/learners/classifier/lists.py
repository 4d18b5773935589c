"""Whole lists of rules compete: each island improves one list by change and paired trial.

A changed list plays the same deals as the list it came from. Most changes alter few games, so the
differences say much sooner than the scores which list is better; most trials end after some dozen
games. Deals are fresh after every success and every so many trials.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.chance import below, uniform
from kibitz.core.compiled import compiled, compiled_loop
from kibitz.core.matching import DEED, NO_RULE, ROW, groups_of
from kibitz.learners.classifier.breeding import alter, new_rule
from kibitz.play.loop import WHAT, play_games

FIRST_STAGE = 40  # games of a trial before it is first judged; every stage doubles them
# What a difference must reach, in standard errors, to go on after each stage.
HURDLES = np.array([-0.5, 0.0, 0.3, 0.6, 0.9, 1.1, 1.3, 1.4, 1.5])
SURE = 4.0  # standard errors with which a trial is won early
DRIFT = 0.3  # the chance that a list that plays no game differently takes the place of its parent
PATIENCE = 300  # trials on the same deals


@compiled_loop
def count_rules(genes):
    """Count the rules of a list."""
    n = 0
    while n < len(genes) and genes[n, DEED] != NO_RULE:
        n += 1
    return n


@compiled()
def copy_genes(source, target):
    """Copy a list."""
    for rule in range(len(source)):
        for place in range(source.shape[1]):
            target[rule, place] = source[rule, place]


@compiled()
def make_room(genes, at):
    """Move the rules from a place on down by one; the last falls off a full list."""
    for rule in range(len(genes) - 1, at, -1):
        for place in range(genes.shape[1]):
            genes[rule, place] = genes[rule - 1, place]


@compiled_loop
def take_out(genes, at):
    """Remove the rule at a place."""
    for rule in range(at, len(genes) - 1):
        for place in range(genes.shape[1]):
            genes[rule, place] = genes[rule + 1, place]
    genes[len(genes) - 1, DEED] = NO_RULE


@compiled_loop
def new_list(rng, lexicon, genes, rules):
    """Fill a list with so many random rules."""
    for rule in range(len(genes)):
        genes[rule, DEED] = NO_RULE
    for rule in range(rules):
        new_rule(rng, lexicon, genes[rule])


@compiled()
def change_list(rng, lexicon, genes, other):
    """Change a list in one way or more; rules of another list may come in."""
    again = True
    while again:
        n = count_rules(genes)
        way = below(rng, 100)
        if way < 45 and n > 0:
            alter(rng, lexicon, genes[below(rng, n)], lexicon.step_rate)
        elif way < 57 or n < 2:
            at = below(rng, n + 1) if n < len(genes) else below(rng, n)
            if n < len(genes):
                make_room(genes, at)
            new_rule(rng, lexicon, genes[at])
        elif way < 65:
            take_out(genes, below(rng, n))
        elif way < 76:
            at, to = below(rng, n), below(rng, n)
            kept = genes[at].copy()
            take_out(genes, at)
            make_room(genes, to)
            genes[to, :] = kept
        elif way < 86:
            at = below(rng, n)
            kept = genes[at].copy()
            alter(rng, lexicon, kept, lexicon.step_rate)
            if n < len(genes):
                at += below(rng, 2)
                make_room(genes, at)
            genes[at, :] = kept
        elif way < 90:
            new_rule(rng, lexicon, genes[below(rng, n)])
        else:
            m = count_rules(other)
            if m > 0:
                at = below(rng, n + 1) if n < len(genes) else below(rng, n)
                if n < len(genes):
                    make_room(genes, at)
                genes[at, :] = other[below(rng, m)]
        again = uniform(rng) < 0.4


@compiled()
def write_weights(deeds, genes, weights, shares):
    """Write a list as the weights of the first agents, as many as play by it."""
    rows = genes[:, :ROW].copy()
    size = 1 + len(genes) * ROW
    for share in range(shares):
        at = share * size
        weights[at] = groups_of(deeds, rows)
        for rule in range(len(genes)):
            for place in range(ROW):
                weights[at + 1 + rule * ROW + place] = rows[rule, place]


@compiled_loop
def play_list(
    table, deeds, genes, shares, weights, memory, seed, first, games, scores, points, plies, trouble
):  # fmt: skip
    """Play games from a number on with a list; write what each was worth to it.

    A score is the points of the first agent, less the mean of those who play otherwise.
    """
    rules, chooses, notices, listens, starts, blank, agents_seed, most_legal, most_plies = table
    write_weights(deeds, genes, weights, shares)
    seats = points.shape[1]
    play_games(
        rules, chooses, notices, listens, weights, starts, memory, blank, seed, agents_seed, first,
        False, most_legal, most_plies, points[:games], plies[:games], trouble,
    )  # fmt: skip
    for game in range(games):
        score = points[game, 0]
        for other in range(shares, seats):
            score -= points[game, other] / (seats - shares)
        scores[game] = score


@compiled_loop
def improve_list(
    table, lexicon, genes, other, shares, weights, memory, seed, budget, limit, stages, scores,
    known, rng, trouble,
):  # fmt: skip
    """Try changes of a list until so many games are played; give games, trials and successes.

    A trial is played to its end, unless that took more games than the limit.
    scores [most games of a trial] keeps what the list itself has scored on the present deals: in
    the first known[0] of them; known[1] counts the trials since, known[2] numbers the first game.
    """
    most = len(scores)
    child = np.empty_like(genes)
    theirs = np.empty(most)
    seats = len(memory)
    points = np.empty((most, seats))
    plies = np.empty(most, np.int32)
    played = trials = successes = 0
    while played < budget:
        copy_genes(genes, child)
        change_list(rng, lexicon, child, other)
        trials += 1
        known[1] += 1
        done = 0
        total = squares = 0.0
        goes_on = True
        wins = False
        for stage in range(stages):
            size = FIRST_STAGE << stage
            if played + size - done + max(0, size - known[0]) > limit:
                if stage == 0:
                    return played, trials, successes
                break
            if known[0] < size:
                play_list(table, lexicon.deeds, genes, shares, weights, memory, seed,
                          known[2] + known[0], size - known[0], scores[known[0]:], points, plies,
                          trouble)  # fmt: skip
                played += size - known[0]
                known[0] = size
            play_list(table, lexicon.deeds, child, shares, weights, memory, seed, known[2] + done,
                      size - done, theirs[done:], points, plies, trouble)  # fmt: skip
            if trouble[WHAT]:
                return played, trials, successes
            played += size - done
            for game in range(done, size):
                gain = theirs[game] - scores[game]
                total += gain
                squares += gain * gain
            done = size
            mean = total / done
            error = np.sqrt(max(squares / done - mean * mean, 0.0) / done)
            if squares == 0.0:
                if stage >= 1:
                    wins = uniform(rng) < DRIFT and count_rules(child) <= count_rules(genes)
                    goes_on = False
            elif mean < HURDLES[stage] * error:
                goes_on = False
            elif stage == stages - 1 or (stage >= 1 and mean > SURE * error):
                goes_on = False
                wins = True
            if not goes_on:
                break
        if wins:
            copy_genes(child, genes)
            if squares > 0.0:
                successes += 1
                for game in range(done):
                    scores[game] = theirs[game]
                known[0] = done
        if known[1] >= PATIENCE or (wins and squares > 0.0):
            known[0] = known[1] = 0
            known[2] += most
    return played, trials, successes
