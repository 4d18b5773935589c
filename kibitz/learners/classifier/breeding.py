"""Breeding: how rules come about and change. Everything here is compiled and drawn from `rng`.

Creep mutation has a step of its own for every bound, which adapts itself:
step = step' * exp(rate / sqrt(n) * N(0, 1)), n being how often the rule has crept.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.chance import below, uniform
from kibitz.core.compiled import compiled, compiled_loop
from kibitz.core.matching import (
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
    LEAST,
    LEAST_COUNT,
    MOST,
    SENSE,
    TARGET,
    TARGET_TESTS,
    TEST,
    TESTS,
    UNUSED,
    WORD,
)
from kibitz.learners.classifier.lexicon import (
    CHANGES,
    GENE,
    IS_CHANCE,
    IS_COUNT,
    IS_FLAG,
    STEP,
    STEPS,
    STEPS_OF_CONDITION,
)

UNUSED_STEP = 0.2  # where no test is; whatever is added there begins with its own
SMALLEST_STEP, GREATEST_STEP = 0.02, 1.0
GRAIN = 100.0  # bounds of chances are whole hundredths, so that they can be read


@compiled()
def normal(rng):
    """Draw from the normal distribution (Box and Muller)."""
    return np.sqrt(-2.0 * np.log(1.0 - uniform(rng))) * np.cos(2.0 * np.pi * uniform(rng))


@compiled()
def draw_weighted(rng, weights, first, end):
    """Draw a place from first to end - 1, by weight."""
    total = 0.0
    for place in range(first, end):
        total += weights[place]
    left = uniform(rng) * total
    last = first
    for place in range(first, end):
        if weights[place] > 0.0:
            last = place
            left -= weights[place]
            if left < 0.0:
                break
    return last


# --- new rules -----------------------------------------------------------------------------------


@compiled_loop
def kept_within(lexicon, word, bound):
    """Put a bound into its word's range and grain."""
    bound = min(lexicon.highs[word], max(lexicon.lows[word], bound))
    if lexicon.kinds[word] == IS_CHANCE:
        return round(bound * GRAIN) / GRAIN
    return float(round(bound))


@compiled()
def new_test(rng, lexicon, group, gene, at, ordering):
    """Write a random test on a thing of a group; `ordering` allows `most` and `least` too."""
    first = lexicon.first_word[group]
    word = draw_weighted(rng, lexicon.weights, first, lexicon.first_word[group + 1])
    kind = lexicon.kinds[word]
    low, high = lexicon.lows[word], lexicon.highs[word]
    sense = AT_LEAST if below(rng, 2) else AT_MOST
    bound = low + uniform(rng) * (high - low)
    if kind == IS_FLAG:
        bound = 1.0 if sense == AT_LEAST else 0.0
    elif kind in (IS_CHANCE, IS_COUNT):
        if kind == IS_COUNT:
            bound = low + below(rng, int(high - low) + 1)
            if below(rng, 4) == 0:
                sense = IS if below(rng, 2) else IS_NOT
        if ordering and below(rng, 3) == 0:
            sense, bound = (MOST if below(rng, 2) else LEAST), 0.0
    else:
        bound = low + below(rng, int(high - low) + 1)
        sense = IS if below(rng, 4) else IS_NOT
    gene[at + SENSE] = sense
    gene[at + WORD] = word - first
    gene[at + BOUND] = bound if sense in (MOST, LEAST) else kept_within(lexicon, word, bound)


@compiled()
def new_condition(rng, lexicon, gene, at):
    """Write a random condition."""
    group = draw_weighted(rng, lexicon.group_weights, 0, len(lexicon.group_weights))
    gene[at + GROUP] = group + 1
    least = 1
    while least < lexicon.most[group] and uniform(rng) < 0.25:
        least += 1
    gene[at + LEAST_COUNT] = -least if below(rng, 3) == 0 else least
    tests = 1
    while tests < lexicon.most_tests and uniform(rng) < lexicon.more_tests:
        tests += 1
    for test in range(tests):
        new_test(rng, lexicon, group, gene, at + TESTS + TEST * test, False)


@compiled_loop
def new_rule(rng, lexicon, gene):
    """Write a random rule."""
    for place in range(GENE):
        gene[place] = 0.0
    deed = draw_weighted(rng, lexicon.deed_weights, 0, len(lexicon.deed_weights))
    gene[DEED] = deed
    tests = 1
    while tests < lexicon.most_aims and uniform(rng) < lexicon.more_tests:
        tests += 1
    for test in range(tests):
        new_test(rng, lexicon, lexicon.deeds[deed, AIMED_AT], gene, TARGET + TEST * test, True)
    conditions = 0
    while conditions < lexicon.most_conditions and uniform(rng) < lexicon.more_conditions:
        new_condition(rng, lexicon, gene, FIRST_CONDITION + CONDITION * conditions)
        conditions += 1
    for step in range(STEPS):
        gene[STEP + step] = lexicon.first_step


# --- parts of a rule -----------------------------------------------------------------------------


@compiled_loop
def count_tests(gene, at, most):
    """Count tests."""
    n = 0
    while n < most and gene[at + TEST * n + SENSE] != UNUSED:
        n += 1
    return n


@compiled_loop
def count_conditions(gene):
    """Count conditions."""
    n = 0
    while n < CONDITIONS and gene[FIRST_CONDITION + CONDITION * n + GROUP] != 0:
        n += 1
    return n


@compiled()
def first_step_at(at):
    """Give the step of the first of the tests that begin at a place of a rule."""
    if at == TARGET:
        return 0
    condition = (at - TESTS - FIRST_CONDITION) // CONDITION
    return TARGET_TESTS + STEPS_OF_CONDITION * condition


@compiled_loop
def drop_test(gene, at, tests, which):
    """Take a test out, and its step."""
    for place in range(at + TEST * which, at + TEST * (tests - 1)):
        gene[place] = gene[place + TEST]
    for place in range(at + TEST * (tests - 1), at + TEST * tests):
        gene[place] = 0.0
    if len(gene) > STEP:  # a bare row has no steps
        first = STEP + first_step_at(at)
        for step in range(first + which, first + tests - 1):
            gene[step] = gene[step + 1]
        gene[first + tests - 1] = UNUSED_STEP


@compiled_loop
def drop_condition(gene, conditions, which):
    """Take a condition out."""
    for place in range(
        FIRST_CONDITION + CONDITION * which, FIRST_CONDITION + CONDITION * (conditions - 1)
    ):
        gene[place] = gene[place + CONDITION]
    last = FIRST_CONDITION + CONDITION * (conditions - 1)
    for place in range(last, last + CONDITION):
        gene[place] = 0.0
    if len(gene) > STEP:
        first = STEP + TARGET_TESTS
        for step in range(
            first + STEPS_OF_CONDITION * which, first + STEPS_OF_CONDITION * (conditions - 1)
        ):
            gene[step] = gene[step + STEPS_OF_CONDITION]
        for step in range(STEPS_OF_CONDITION):
            gene[first + STEPS_OF_CONDITION * (conditions - 1) + step] = UNUSED_STEP


# --- creeping ------------------------------------------------------------------------------------


@compiled()
def next_step(rng, gene, step, rate):
    """Let a step adapt itself, and give it."""
    n = max(1.0, gene[CHANGES])
    size = gene[STEP + step] * np.exp(rate / np.sqrt(n) * normal(rng))
    gene[STEP + step] = min(GREATEST_STEP, max(SMALLEST_STEP, size))
    return gene[STEP + step]


@compiled()
def creep_test(rng, lexicon, gene, at, group, step, rate, towards):
    """Move a test's bound; towards 1 makes it stricter, -1 looser, 0 either."""
    sense = gene[at + SENSE]
    if sense not in (AT_LEAST, AT_MOST, IS):
        return
    word = lexicon.first_word[group] + int(gene[at + WORD])
    if lexicon.kinds[word] != IS_CHANCE and lexicon.kinds[word] != IS_COUNT:
        return
    moved = normal(rng) * next_step(rng, gene, step, rate)
    if towards != 0:
        moved = abs(moved) * towards * (1.0 if sense == AT_LEAST else -1.0)
    moved *= lexicon.highs[word] - lexicon.lows[word]
    before = gene[at + BOUND]
    after = kept_within(lexicon, word, before + moved)
    if lexicon.kinds[word] == IS_COUNT and after == before:  # a whole step at least
        after = kept_within(lexicon, word, before + (1.0 if moved > 0.0 else -1.0))
    gene[at + BOUND] = after


@compiled()
def creep_count(rng, lexicon, gene, at, step, rate, towards):
    """Move a condition's least number; stricter is more, or fewer where it is a bound above."""
    group = int(gene[at + GROUP]) - 1
    least = int(gene[at + LEAST_COUNT])
    moved = normal(rng) * next_step(rng, gene, step, rate) * lexicon.most[group]
    if towards != 0:
        moved = abs(moved) * towards * (1.0 if least > 0 else -1.0)
    count = round(abs(least) + moved)
    count = min(lexicon.most[group], max(1, count))
    gene[at + LEAST_COUNT] = count if least > 0 else -count


@compiled()
def creep(rng, lexicon, gene, share, rate, towards):
    """Let a share of all bounds creep, one at least."""
    group = lexicon.deeds[int(gene[DEED]), AIMED_AT]
    tests = count_tests(gene, TARGET, TARGET_TESTS)
    conditions = count_conditions(gene)
    total = tests
    for condition in range(conditions):
        at = FIRST_CONDITION + CONDITION * condition
        total += 1 + count_tests(gene, at + TESTS, CONDITION_TESTS)
    if total == 0:
        return
    sure = below(rng, total)
    gene[CHANGES] += 1.0
    k = 0
    for test in range(tests):
        if k == sure or uniform(rng) < share:
            creep_test(rng, lexicon, gene, TARGET + TEST * test, group, test, rate, towards)
        k += 1
    for condition in range(conditions):
        at = FIRST_CONDITION + CONDITION * condition
        first = TARGET_TESTS + STEPS_OF_CONDITION * condition
        group = int(gene[at + GROUP]) - 1
        for test in range(count_tests(gene, at + TESTS, CONDITION_TESTS)):
            if k == sure or uniform(rng) < share:
                creep_test(
                    rng, lexicon, gene, at + TESTS + TEST * test, group, first + test, rate, towards
                )
            k += 1
        if k == sure or uniform(rng) < share:
            creep_count(rng, lexicon, gene, at, first + CONDITION_TESTS, rate, towards)
        k += 1


# --- structure -----------------------------------------------------------------------------------


@compiled()
def add_condition(rng, lexicon, gene):
    """Add a random condition, if there is room."""
    conditions = count_conditions(gene)
    if conditions >= lexicon.most_conditions:
        return False
    new_condition(rng, lexicon, gene, FIRST_CONDITION + CONDITION * conditions)
    first = STEP + TARGET_TESTS + STEPS_OF_CONDITION * conditions
    for step in range(first, first + STEPS_OF_CONDITION):
        gene[step] = lexicon.first_step
    return True


@compiled()
def remove_condition(rng, gene):
    """Take a random condition out, if there is one."""
    conditions = count_conditions(gene)
    if conditions == 0:
        return False
    drop_condition(gene, conditions, below(rng, conditions))
    return True


@compiled()
def add_test(rng, lexicon, gene):
    """Add a random test to the target, if there is room; at the end or in front."""
    tests = count_tests(gene, TARGET, TARGET_TESTS)
    if tests >= lexicon.most_aims:
        return False
    group = lexicon.deeds[int(gene[DEED]), AIMED_AT]
    at = TARGET + TEST * tests
    if below(rng, 2):  # what stands first decides among several targets
        for place in range(TARGET + TEST * tests - 1, TARGET - 1, -1):
            gene[place + TEST] = gene[place]
        for step in range(STEP + tests, STEP, -1):
            gene[step] = gene[step - 1]
        gene[STEP] = lexicon.first_step
        at = TARGET
    else:
        gene[STEP + tests] = lexicon.first_step
    new_test(rng, lexicon, group, gene, at, True)
    return True


@compiled()
def remove_test(rng, gene):
    """Take a random test out of the target, if there is one."""
    tests = count_tests(gene, TARGET, TARGET_TESTS)
    if tests == 0:
        return False
    drop_test(gene, TARGET, tests, below(rng, tests))
    return True


@compiled()
def replace_test(rng, lexicon, gene):
    """Draw one of the target's tests, or of a condition's, anew."""
    tests = count_tests(gene, TARGET, TARGET_TESTS)
    conditions = count_conditions(gene)
    which = below(rng, max(1, tests + conditions))
    if which < tests:
        group = lexicon.deeds[int(gene[DEED]), AIMED_AT]
        new_test(rng, lexicon, group, gene, TARGET + TEST * which, True)
    elif conditions > 0:
        at = FIRST_CONDITION + CONDITION * (which - tests)
        for place in range(at, at + CONDITION):
            gene[place] = 0.0
        new_condition(rng, lexicon, gene, at)


@compiled()
def alter(rng, lexicon, gene, rate):
    """Change a rule in one random way."""
    way = below(rng, 10)
    if way < 4:
        creep(rng, lexicon, gene, 0.2, rate, 0)
    elif way == 4:
        add_condition(rng, lexicon, gene)
    elif way == 5:
        remove_condition(rng, gene)
    elif way == 6:
        add_test(rng, lexicon, gene)
    elif way == 7:
        remove_test(rng, gene)
    else:
        replace_test(rng, lexicon, gene)


@compiled()
def specialise(rng, lexicon, gene, rate):
    """Make a rule hold less often: stricter bounds, and perhaps one more condition or test."""
    creep(rng, lexicon, gene, 0.3, rate, 1)
    way = below(rng, 3)
    if way == 0:
        add_condition(rng, lexicon, gene)
    elif way == 1:
        add_test(rng, lexicon, gene)


@compiled()
def generalise(rng, lexicon, gene, rate):
    """Make a rule hold more often: looser bounds, and perhaps one condition or test less."""
    creep(rng, lexicon, gene, 0.3, rate, -1)
    way = below(rng, 3)
    if way == 0:
        remove_condition(rng, gene)
    elif way == 1:
        remove_test(rng, gene)


# --- crossing ------------------------------------------------------------------------------------


@compiled()
def are_similar(one, other):
    """Tell whether two rules say the same but for their bounds and least numbers."""
    if one[DEED] != other[DEED]:
        return False
    for test in range(TARGET_TESTS):
        at = TARGET + TEST * test
        if one[at + SENSE] != other[at + SENSE] or one[at + WORD] != other[at + WORD]:
            return False
    for condition in range(CONDITIONS):
        at = FIRST_CONDITION + CONDITION * condition
        if one[at + GROUP] != other[at + GROUP]:
            return False
        if one[at + LEAST_COUNT] * other[at + LEAST_COUNT] < 0:
            return False
        for test in range(CONDITION_TESTS):
            place = at + TESTS + TEST * test
            if one[place + SENSE] != other[place + SENSE]:
                return False
            if one[place + WORD] != other[place + WORD]:
                return False
    return True


@compiled()
def share_deed(one, other):
    """Tell whether two rules have the same deed and the same number of conditions."""
    return one[DEED] == other[DEED] and count_conditions(one) == count_conditions(other)


@compiled()
def cross_uniform(rng, lexicon, one, other, child):
    """Take every part, the target's tests or a condition, from one of two rules by lot.

    Both must have the same deed and as many conditions. Steps go with their bounds.
    """
    for place in range(GENE):
        child[place] = one[place]
    if below(rng, 2):
        for place in range(TARGET, FIRST_CONDITION):
            child[place] = other[place]
        for step in range(STEP, STEP + TARGET_TESTS):
            child[step] = other[step]
    for condition in range(max(lexicon.most_conditions, count_conditions(one))):
        if below(rng, 2):
            at = FIRST_CONDITION + CONDITION * condition
            for place in range(at, at + CONDITION):
                child[place] = other[place]
            first = STEP + TARGET_TESTS + STEPS_OF_CONDITION * condition
            for step in range(first, first + STEPS_OF_CONDITION):
                child[step] = other[step]
    child[CHANGES] = max(one[CHANGES], other[CHANGES])


@compiled()
def cross_average(lexicon, one, other, child):
    """Take the mean of every bound and least number of two similar rules, and of their steps."""
    for place in range(GENE):
        child[place] = one[place]
    group = lexicon.deeds[int(one[DEED]), AIMED_AT]
    for test in range(count_tests(one, TARGET, TARGET_TESTS)):
        average_bound(lexicon, group, one, other, child, TARGET + TEST * test)
    for condition in range(count_conditions(one)):
        at = FIRST_CONDITION + CONDITION * condition
        group = int(one[at + GROUP]) - 1
        child[at + LEAST_COUNT] = round((one[at + LEAST_COUNT] + other[at + LEAST_COUNT]) / 2)
        for test in range(count_tests(one, at + TESTS, CONDITION_TESTS)):
            average_bound(lexicon, group, one, other, child, at + TESTS + TEST * test)
    for step in range(STEPS):
        child[STEP + step] = (one[STEP + step] + other[STEP + step]) / 2
    child[CHANGES] = max(one[CHANGES], other[CHANGES])


@compiled()
def average_bound(lexicon, group, one, other, child, at):
    """Write the mean of two bounds, where a bound is a number."""
    word = lexicon.first_word[group] + int(one[at + WORD])
    kind = lexicon.kinds[word]
    if one[at + SENSE] in (AT_LEAST, AT_MOST) and (kind in (IS_CHANCE, IS_COUNT)):
        child[at + BOUND] = kept_within(lexicon, word, (one[at + BOUND] + other[at + BOUND]) / 2)
