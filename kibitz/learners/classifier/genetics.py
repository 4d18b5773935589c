"""The genetic steps: weak rules go, and new ones are made from chance, from what no rule covered,
and from rules that have proved themselves.

deletion         weak rules are deleted and regenerated: at random, or so that they cover a
                 situation in which no rule held
specialisation   rules of low utility that hold often, chosen by tournament
generalisation   the same the other way round: high utility, hold seldom
merging          good rules of the same kind with the same deed are crossed
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kibitz.core.chance import below, uniform
from kibitz.core.compiled import compiled, compiled_loop
from kibitz.core.matching import (
    ACTION,
    AIMED_AT,
    AT_LEAST,
    AT_MOST,
    BOUND,
    CONDITION,
    DEED,
    FIRST_CONDITION,
    GROUP,
    IS,
    IS_NOT,
    LEAST_COUNT,
    NO_RULE,
    NONE,
    ROW,
    SENSE,
    START,
    STRIDE,
    TARGET,
    TEST,
    TESTS,
    WORD,
    action_of,
)
from kibitz.learners.classifier.breeding import (
    are_similar,
    creep,
    cross_average,
    cross_uniform,
    draw_weighted,
    generalise,
    kept_within,
    new_rule,
    new_test,
    share_deed,
    specialise,
)
from kibitz.learners.classifier.lexicon import GENE, IS_COUNT, IS_FLAG, IS_NAME, STEP, STEPS
from kibitz.learners.classifier.population import (
    ACTS,
    BORN,
    CREDITS,
    HOLDS,
    NUMBER,
    SPREAD,
    UTILITY,
)
from kibitz.learners.classifier.subsumption import same_rule, stand_in

# How many rules of a generation each step makes, as shares of the population.
SHARES = RENEW, SPECIALISE, GENERALISE, MERGE, CREEP = range(5)


@compiled_loop
def weigh_rules(standing, caution, least_rate, young, worth):
    """Write the utility of every rule less its uncertainty; the untried come last."""
    for rule in range(len(worth)):
        credits = standing[rule, CREDITS]
        if credits < young:
            worth[rule] = -1e6 + standing[rule, UTILITY]
            continue
        weighed = max(1.0, min(credits, 1.0 / max(least_rate, 1e-9)))
        unsure = caution * np.sqrt(standing[rule, SPREAD] / weighed)
        worth[rule] = standing[rule, UTILITY] - unsure


@compiled()
def test_that_holds(rng, lexicon, facts, group, thing, gene, at):
    """Write a random test that a thing passes."""
    new_test(rng, lexicon, group, gene, at, False)
    word = lexicon.first_word[group] + int(gene[at + WORD])
    start, stride = lexicon.groups[group, START], lexicon.groups[group, STRIDE]
    value = facts[start + 1 + int(gene[at + WORD]) * stride + thing]
    kind = lexicon.kinds[word]
    if kind == IS_FLAG:
        gene[at + SENSE] = AT_LEAST if value >= 0.5 else AT_MOST
        gene[at + BOUND] = 1.0 if value >= 0.5 else 0.0
    elif kind == IS_NAME or gene[at + SENSE] == IS or gene[at + SENSE] == IS_NOT:
        gene[at + SENSE], gene[at + BOUND] = IS, value
    else:
        # Somewhere between what is seen and the end of the range.
        low, high = lexicon.lows[word], lexicon.highs[word]
        slack = uniform(rng) * uniform(rng)
        if gene[at + SENSE] == AT_LEAST:
            bound = value - slack * (value - low)
            bound = kept_within(lexicon, word, bound if kind == IS_COUNT else bound - 0.005)
            gene[at + BOUND] = bound if bound <= value else low
        else:
            bound = value + slack * (high - value)
            bound = kept_within(lexicon, word, bound if kind == IS_COUNT else bound + 0.005)
            gene[at + BOUND] = bound if bound >= value else high


@compiled()
def cover(rng, lexicon, facts, gene):
    """Write a rule that holds in a situation and has a target there; tell whether it could."""
    for place in range(GENE):
        gene[place] = 0.0
    for step in range(STEPS):
        gene[STEP + step] = lexicon.first_step
    deeds = len(lexicon.deed_weights)
    for _ in range(4 * deeds):
        deed = draw_weighted(rng, lexicon.deed_weights, 0, deeds)
        group = lexicon.deeds[deed, AIMED_AT]
        start, stride = lexicon.groups[group, START], lexicon.groups[group, STRIDE]
        count = int(facts[start])
        if count == 0:
            continue
        thing = below(rng, count)
        if facts[start + 1 + lexicon.deeds[deed, ACTION] * stride + thing] < 0.0:
            continue
        gene[DEED] = deed
        tests = 1
        while tests < lexicon.most_aims and uniform(rng) < lexicon.more_tests:
            tests += 1
        for test in range(tests):
            test_that_holds(rng, lexicon, facts, group, thing, gene, TARGET + TEST * test)
        condition = 0
        while condition < lexicon.most_conditions and uniform(rng) < lexicon.more_conditions:
            group = draw_weighted(rng, lexicon.group_weights, 0, len(lexicon.group_weights))
            count = int(facts[lexicon.groups[group, START]])
            if count > 0:
                at = FIRST_CONDITION + CONDITION * condition
                gene[at + GROUP] = group + 1
                gene[at + LEAST_COUNT] = 1
                thing = below(rng, count)
                tests = 1
                while tests < lexicon.most_tests and uniform(rng) < lexicon.more_tests:
                    tests += 1
                for test in range(tests):
                    test_that_holds(
                        rng, lexicon, facts, group, thing, gene, at + TESTS + TEST * test
                    )
                condition += 1
        return True
    new_rule(rng, lexicon, gene)
    return False


# --- one generation ------------------------------------------------------------------------------


@compiled()
def tournament(rng, scores, genes, inside, size):
    """Draw some of the rules inside a niche; give the one with the greatest score, or NONE."""
    candidates = np.flatnonzero(inside)
    best = NONE
    for _ in range(size if len(candidates) > 0 else 0):
        rule = candidates[below(rng, len(candidates))]
        if genes[rule, DEED] != NO_RULE and (best == NONE or scores[rule] > scores[best]):
            best = rule
    return best


@compiled()
def partner_of(rng, scores, genes, rule, similar):
    """Find a good rule that can be crossed with another: of the same deed, or quite similar."""
    best = NONE
    seen = 0
    start = below(rng, len(scores))
    for k in range(len(scores)):
        other = (start + k) % len(scores)
        if other == rule or genes[other, DEED] == NO_RULE:
            continue
        fits = (
            are_similar(genes[rule], genes[other])
            if similar
            else share_deed(genes[rule], genes[other])
        )
        if fits:
            seen += 1
            if best == NONE or scores[other] > scores[best]:
                best = other
            if seen == 3:
                break
    return best


@compiled()
def is_no_longer_young(standing, rule, young, generation):
    """Tell whether a rule may be deleted: it is no longer young."""
    return standing[rule, CREDITS] >= young or generation - standing[rule, BORN] > 60


@compiled()
def weakest(rng, genes, standing, merit, manner, generation, taken):
    """Find a rule to delete: of some, the one of least merit; NONE if there is none.

    Young rules are spared, until they crowd out those that have proved themselves: then one of
    them goes that was seldom tried.
    """
    rules = waiting = 0
    for rule in range(len(genes)):
        if genes[rule, DEED] != NO_RULE:
            rules += 1
            if not is_no_longer_young(standing, rule, manner.protected, generation):
                waiting += 1
    crowded = waiting > manner.crowd * rules
    best = NONE
    least = 0.0
    for _ in range(2 * manner.size):
        rule = below(rng, len(genes))
        if taken[rule] or genes[rule, DEED] == NO_RULE:
            continue
        is_young = not is_no_longer_young(standing, rule, manner.protected, generation)
        if is_young != crowded:
            continue
        found = merit[rule]
        if crowded:
            found = standing[rule, CREDITS] / max(1.0, generation - standing[rule, BORN])
        if best == NONE or found < least:
            best, least = rule, found
    return best


@compiled()
def clear(standing, rule, generation):
    """Forget what was known of a rule."""
    for fact in range(standing.shape[1]):
        standing[rule, fact] = 0.0
    standing[rule, BORN] = generation
    standing[rule, NUMBER] = 1.0


class Manner(NamedTuple):
    """How the genetic steps are run."""

    covering: bool  # new rules cover situations without a rule
    in_place: bool  # steps change the rules themselves; else what they make replaces weak ones
    numerosity: bool  # a rule that is made twice counts twice, and is deleted as often
    subsumption: bool  # a rule for which a proven, more general one can stand is not added
    protected: float  # credits before a rule may be deleted
    crowd: float  # share of young rules beyond which they are no longer spared
    rate: float  # how fast steps adapt
    size: int  # of tournaments


@compiled()
def ranks_of(fitness, standing):
    """Give two scores by which rules are chosen: how weak and wide they are, and their merit.

    Weak and wide: low fitness and high coverage, the sum of both ranks. Merit: high fitness, and
    often acting.
    """
    n = len(fitness)
    weak, merit = np.empty(n), np.zeros(n)
    by_fitness = np.argsort(fitness)
    by_coverage = np.argsort(np.log1p(standing[:n, HOLDS]))
    by_acts = np.argsort(standing[:n, ACTS])
    for rank in range(n):
        weak[by_fitness[rank]] = -rank
        merit[by_fitness[rank]] += rank
        merit[by_acts[rank]] += rank
    for rank in range(n):
        weak[by_coverage[rank]] += rank
    return weak, merit


@compiled()
def niche_of(rng, lexicon, genes, rows, moment, inside):
    """Mark the rules that call for the same action in a situation, an action drawn by lot."""
    calls = np.full(len(genes), NONE)
    chosen = NONE
    n = 0
    for rule in range(len(genes)):
        calls[rule] = action_of(moment, lexicon.groups, lexicon.deeds, rows, rule)
        if calls[rule] != NONE:
            n += 1
            if below(rng, n) == 0:
                chosen = calls[rule]
    for rule in range(len(genes)):
        inside[rule] = chosen != NONE and calls[rule] == chosen


@compiled()
def make_child(rng, lexicon, genes, step, parent, strong, rate, child):
    """Write what a step makes of a rule; tell whether it could."""
    for place in range(GENE):
        child[place] = genes[parent, place]
    if step == SPECIALISE:
        specialise(rng, lexicon, child, rate)
    elif step == GENERALISE:
        generalise(rng, lexicon, child, rate)
    elif step == CREEP:
        creep(rng, lexicon, child, 0.3, rate, 0)
    else:
        similar = below(rng, 2) == 0
        other = partner_of(rng, strong, genes, parent, similar)
        if other == NONE:
            return False
        if similar:
            cross_average(lexicon, genes[parent], genes[other], child)
        else:
            cross_uniform(rng, lexicon, genes[parent], genes[other], child)
    return True


@compiled()
def make_room_for_one(rng, genes, standing, merit, manner, generation, taken):
    """Find or make a place for a new rule: NONE if all rules are young."""
    empty = NONE
    for rule in range(len(genes)):
        if genes[rule, DEED] == NO_RULE:
            empty = rule
    while True:
        rule = weakest(rng, genes, standing, merit, manner, generation, taken)
        if rule == NONE:
            return NONE
        standing[rule, NUMBER] -= 1.0
        if standing[rule, NUMBER] < 1.0:
            return rule
        if empty != NONE:
            return empty


@compiled()
def count_twice(rng, genes, standing, twin, merit, manner, generation, taken):
    """Let a rule count for one more; some other then counts for one less, or is deleted."""
    rule = weakest(rng, genes, standing, merit, manner, generation, taken)
    if rule in (NONE, twin):
        return
    standing[twin, NUMBER] += 1.0
    standing[rule, NUMBER] -= 1.0
    if standing[rule, NUMBER] < 1.0:
        clear(standing, rule, generation)
        standing[rule, NUMBER] = 0.0
        genes[rule, DEED] = NO_RULE


@compiled_loop
def next_generation(
    rng, lexicon, genes, standing, fitness, able, shares, bare, moments, manner, generation
):  # fmt: skip
    """Run the genetic steps once; give how many rules are new.

    genes [rules, GENE], standing [rules + 1, STANDING], fitness [rules], able [rules] to stand for
    others, shares [5], bare [situations, facts] without a rule, moments [situations, facts] from
    whose niches parents are chosen; if there are none, from all rules.
    """
    n = len(genes)
    taken = np.zeros(n, np.bool_)  # new in this generation
    inside = np.ones(n, np.bool_)
    weak, merit = ranks_of(fitness, standing)
    rows = np.ascontiguousarray(genes[:, :ROW])
    made = 0
    for step in range(len(shares)):
        count = int(shares[step] * n)
        if uniform(rng) < shares[step] * n - count:
            count += 1
        for _ in range(count):
            child = np.zeros(GENE, genes.dtype)
            parent = NONE
            if step == RENEW:
                if manner.covering and len(bare) > 0:
                    cover(rng, lexicon, bare[below(rng, len(bare))], child)
                else:
                    new_rule(rng, lexicon, child)
            else:
                scores = weak if step == SPECIALISE else fitness
                if step == GENERALISE:
                    scores = -weak
                if len(moments) > 0:
                    moment = moments[below(rng, len(moments))]
                    niche_of(rng, lexicon, genes, rows, moment, inside)
                parent = tournament(rng, scores, genes, inside, manner.size)
                if parent == NONE or taken[parent]:
                    continue
                if not make_child(rng, lexicon, genes, step, parent, fitness, manner.rate, child):
                    continue
            twin = same_rule(genes, child)
            if twin == NONE and manner.subsumption:
                twin = stand_in(genes, able, child)
            if twin != NONE:
                if manner.numerosity:
                    count_twice(rng, genes, standing, twin, merit, manner, generation, taken)
                continue
            at = parent
            if parent == NONE or not manner.in_place:
                at = make_room_for_one(rng, genes, standing, merit, manner, generation, taken)
            if at == NONE:
                continue
            for place in range(GENE):
                genes[at, place] = child[place]
            counts_for = standing[at, NUMBER]
            clear(standing, at, generation)
            if manner.in_place and at == parent:
                standing[at, NUMBER] = counts_for
            taken[at] = True
            able[at] = False
            made += 1
    return made
