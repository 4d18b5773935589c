"""The genetic steps: weak rules go, and new ones are made from chance, from what no rule covered,
and from rules that have proved themselves.

deletion         weak rules are deleted and regenerated: at random, or so that they cover a
                 situation in which no rule held
specialisation   rules of low utility that hold often, chosen by tournament
generalisation   the same the other way round: high utility, hold seldom
merging          good rules of the same kind with the same deed are crossed
"""

from __future__ import annotations

import numpy as np

from kibitz.core.chance import below, uniform
from kibitz.core.compiled import compiled
from kibitz.core.matching import (
    ACTION,
    AIMED_AT,
    AT_LEAST,
    AT_MOST,
    BOUND,
    CONDITION,
    CONDITION_TESTS,
    CONDITIONS,
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
    TARGET_TESTS,
    TEST,
    TESTS,
    WORD,
)
from kibitz.learners.classifier.breeding import (
    FIRST_STEP,
    MORE,
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
    SPREAD,
    UTILITY,
)

# How many rules of a generation each step makes, as shares of the population.
SHARES = RENEW, SPECIALISE, GENERALISE, MERGE, CREEP = range(5)


@compiled()
def worth_of(standing, rule, caution, least_rate, young):
    """Give the utility of a rule less its uncertainty; the untried come last."""
    credits = standing[rule, CREDITS]
    if credits < young:
        return -1e6 + standing[rule, UTILITY]
    weighed = max(1.0, min(credits, 1.0 / max(least_rate, 1e-9)))
    return standing[rule, UTILITY] - caution * np.sqrt(standing[rule, SPREAD] / weighed)


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
        gene[STEP + step] = FIRST_STEP
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
        while tests < TARGET_TESTS and uniform(rng) < MORE:
            tests += 1
        for test in range(tests):
            test_that_holds(rng, lexicon, facts, group, thing, gene, TARGET + TEST * test)
        condition = 0
        while condition < CONDITIONS and uniform(rng) < MORE:
            group = draw_weighted(rng, lexicon.group_weights, 0, len(lexicon.group_weights))
            count = int(facts[lexicon.groups[group, START]])
            if count > 0:
                at = FIRST_CONDITION + CONDITION * condition
                gene[at + GROUP] = group + 1
                gene[at + LEAST_COUNT] = 1
                thing = below(rng, count)
                tests = 1
                while tests < CONDITION_TESTS and uniform(rng) < MORE:
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
def tournament(rng, scores, genes, size):
    """Draw some rules and give the one with the greatest score, or NONE."""
    best = NONE
    for _ in range(size):
        rule = below(rng, len(scores))
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
def is_weak_sign(standing, rule, young, generation):
    """Tell whether a rule may be deleted: it is no longer young."""
    return standing[rule, CREDITS] >= young or generation - standing[rule, BORN] > 60


@compiled()
def weakest(rng, genes, standing, merit, young, generation, taken, size):
    """Find a rule to delete: of some, the one of least merit; NONE if all are young."""
    best = NONE
    for rule in range(len(genes)):
        if genes[rule, DEED] == NO_RULE and not taken[rule]:
            return rule
    for _ in range(size):
        rule = below(rng, len(genes))
        if taken[rule] or not is_weak_sign(standing, rule, young, generation):
            continue
        if best == NONE or merit[rule] < merit[best]:
            best = rule
    return best


@compiled()
def is_there(genes, child):
    """Tell whether a rule is in the population already."""
    for rule in range(len(genes)):
        same = True
        for place in range(ROW):
            if genes[rule, place] != child[place]:
                same = False
                break
        if same:
            return True
    return False


@compiled()
def clear(standing, rule, generation, utility):
    """Forget what was known of a rule."""
    for fact in range(standing.shape[1]):
        standing[rule, fact] = 0.0
    standing[rule, UTILITY] = utility
    standing[rule, BORN] = generation


@compiled()
def next_generation(
    rng, lexicon, genes, standing, worth, shares, covering, facts, bare, young, in_place,
    generation, rate, size,
):  # fmt: skip
    """Run the genetic steps once; give how many rules are new.

    shares [5], facts [situations, facts] of which `bare` are there, genes [rules, GENE],
    standing [rules + 1, STANDING], worth [rules]. With `in_place` the steps change the rules
    themselves, otherwise what they make takes the place of weak rules.
    """
    n = len(genes)
    taken = np.zeros(n, np.bool_)  # new in this generation
    coverage = np.zeros(n)
    strong = np.empty(n)
    weak = np.empty(n)
    for rule in range(n):
        coverage[rule] = np.log1p(standing[rule, HOLDS])
        strong[rule] = worth[rule]
    # Low utility and high coverage: the sum of both ranks. Merit: high utility, and often acting.
    by_worth, by_coverage = np.argsort(worth), np.argsort(coverage)
    by_acts = np.argsort(standing[:n, ACTS])
    merit = np.zeros(n)
    for rank in range(n):
        weak[by_worth[rank]] = -rank
        merit[by_worth[rank]] += rank
        merit[by_acts[rank]] += rank
    for rank in range(n):
        weak[by_coverage[rank]] += rank
    made = 0
    for step in range(len(shares)):
        count = int(shares[step] * n)
        if uniform(rng) < shares[step] * n - count:
            count += 1
        for _ in range(count):
            child = np.zeros(GENE, genes.dtype)
            parent = NONE
            if step == RENEW:
                if covering and bare > 0:
                    cover(rng, lexicon, facts[below(rng, min(bare, len(facts)))], child)
                else:
                    new_rule(rng, lexicon, child)
            else:
                scores = weak if step == SPECIALISE else strong
                if step == GENERALISE:
                    scores = -weak
                parent = tournament(rng, scores, genes, size)
                if parent == NONE or taken[parent]:
                    continue
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
                        continue
                    if similar:
                        cross_average(lexicon, genes[parent], genes[other], child)
                    else:
                        cross_uniform(rng, genes[parent], genes[other], child)
            if is_there(genes, child):
                continue
            place_for = parent
            if parent == NONE or not in_place:
                place_for = weakest(rng, genes, standing, merit, young, generation, taken, 2 * size)
            if place_for == NONE:
                continue
            for place in range(GENE):
                genes[place_for, place] = child[place]
            clear(standing, place_for, generation, 0.0)
            taken[place_for] = True
            made += 1
    return made
