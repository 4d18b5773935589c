"""Matching: which rules of a list hold in what is seen, what they point at, which one acts.

A rule is a row of ROW numbers: its deed, the tests that pick the deed's target, and conditions. A
condition is a group of things, a least number of them (negative: fewer than so many) and tests
that each must pass. A test is a sense, a word and a bound. Rooms write what is seen into `facts`,
see language.py; there too is how a rule is written as text.

facts    of each group from its start: how many things there are, then word by word what each
         thing's is, and for every deed that can be aimed at them each one's action or NO_ACTION
groups   [groups, 2]: where a group starts, how many things there may be
deeds    [deeds, 2]: the group a deed is aimed at, the fact that holds its action
rows     [rules, ROW]: the rules. They are handed over whole, with the number of one: slicing counts
         references, for which threads would wait

What is tried for every rule takes all four as flat runs of numbers (`cells_at`), which makes it
several times as fast; `action_of` and `targets_of` are for those who ask about a single rule.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import cells_at, compiled

NO_ACTION = -1.0
NONE = -1

# Senses of a test. MOST and LEAST always pass; they say which thing comes first.
UNUSED, AT_LEAST, AT_MOST, IS, IS_NOT, MOST, LEAST = range(7)
TEST = 3  # numbers of a test: sense, word, bound
SENSE, WORD, BOUND = range(TEST)

# What fits into a row; learners use less unless their settings say otherwise.
TARGET_TESTS, CONDITIONS, CONDITION_TESTS = 6, 15, 6
DEED = 0
TARGET = 1
FIRST_CONDITION = TARGET + TEST * TARGET_TESTS
GROUP, LEAST_COUNT, TESTS = 0, 1, 2  # of a condition; the group counts from 1, 0 where unused
CONDITION = TESTS + TEST * CONDITION_TESTS
ROW = FIRST_CONDITION + CONDITION * CONDITIONS

START, STRIDE = 0, 1  # of groups
AIMED_AT, ACTION = 0, 1  # of deeds
PAIR = 2  # numbers of a group or a deed

NO_RULE = -1.0  # the deed of a row that holds no rule


@compiled()
def things_passing(facts, start, stride, rows, rule, at, tests):
    """Give the things of a group that pass tests, as bits.

    A test is put to all things at once, without a branch: that is several times as fast.
    """
    count = int(facts[start])
    passing = (1 << count) - 1
    for test in range(tests):
        sense = rows[rule * ROW + at + TEST * test + SENSE]
        if sense == UNUSED or passing == 0:
            break
        if sense >= MOST:
            continue
        first = start + 1 + int(rows[rule * ROW + at + TEST * test + WORD]) * stride
        bound = rows[rule * ROW + at + TEST * test + BOUND]
        found = 0
        if sense == AT_LEAST:
            for thing in range(count):
                found |= int(facts[first + thing] >= bound) << thing
        elif sense == AT_MOST:
            for thing in range(count):
                found |= int(facts[first + thing] <= bound) << thing
        else:
            for thing in range(count):
                found |= int(facts[first + thing] == bound) << thing
            if sense == IS_NOT:
                found = ~found
        passing &= found
    return passing


@compiled()
def all_hold(facts, groups, rows, rule):
    """Tell whether all conditions of a rule hold: enough things pass the tests, or few enough."""
    for condition in range(CONDITIONS):
        at = FIRST_CONDITION + CONDITION * condition
        group = int(rows[rule * ROW + at + GROUP]) - 1
        if group < 0:
            return True
        least = int(rows[rule * ROW + at + LEAST_COUNT])
        start, stride = groups[PAIR * group + START], groups[PAIR * group + STRIDE]
        passing = things_passing(facts, start, stride, rows, rule, at + TESTS, CONDITION_TESTS)
        found = 0
        while passing and found < abs(least):
            passing &= passing - 1
            found += 1
        if (found == abs(least)) != (least > 0):
            return False
    return True


@compiled()
def is_stronger(facts, start, stride, one, other, rows, rule):
    """Tell whether one thing comes before another: by the first test in which they differ."""
    for test in range(TARGET_TESTS):
        at = TARGET + TEST * test
        sense = rows[rule * ROW + at + SENSE]
        if sense == UNUSED:
            return False
        first = start + 1 + int(rows[rule * ROW + at + WORD]) * stride
        if facts[first + one] != facts[first + other]:
            if sense in (AT_LEAST, MOST):
                return facts[first + one] > facts[first + other]
            if sense in (AT_MOST, LEAST):
                return facts[first + one] < facts[first + other]
    return False


@compiled()
def targets_at(facts, groups, deeds, rows, rule):
    """Give the things at which a rule's deed may be aimed, as bits."""
    deed = int(rows[rule * ROW + DEED])
    group = deeds[PAIR * deed + AIMED_AT]
    start, stride = groups[PAIR * group + START], groups[PAIR * group + STRIDE]
    passing = things_passing(facts, start, stride, rows, rule, TARGET, TARGET_TESTS)
    if passing:
        first = start + 1 + deeds[PAIR * deed + ACTION] * stride
        legal = 0
        for thing in range(int(facts[start])):
            legal |= int(facts[first + thing] >= 0.0) << thing
        passing &= legal
    return passing


@compiled()
def action_at(facts, groups, deeds, rows, rule):
    """Give the action that a rule calls for, or NONE where it does not hold or has no target.

    Of several targets it takes the strongest.
    """
    deed = int(rows[rule * ROW + DEED])
    if deed == NO_RULE:
        return NONE
    targets = targets_at(facts, groups, deeds, rows, rule)
    if targets == 0 or not all_hold(facts, groups, rows, rule):
        return NONE
    group = deeds[PAIR * deed + AIMED_AT]
    start, stride = groups[PAIR * group + START], groups[PAIR * group + STRIDE]
    best = NONE
    thing = 0
    while targets:
        if targets & 1 and (
            best == NONE or is_stronger(facts, start, stride, thing, best, rows, rule)
        ):
            best = thing
        targets >>= 1
        thing += 1
    return int(facts[start + 1 + deeds[PAIR * deed + ACTION] * stride + best])


@compiled()
def targets_of(facts, groups, deeds, rows, rule):
    """Give the things at which a rule's deed may be aimed, as bits."""
    return targets_at(cells_at(facts), cells_at(groups), cells_at(deeds), cells_at(rows), rule)


@compiled()
def action_of(facts, groups, deeds, rows, rule):
    """Give the action that a rule calls for, or NONE where it does not hold or has no target."""
    return action_at(cells_at(facts), cells_at(groups), cells_at(deeds), cells_at(rows), rule)


@compiled()
def all_actions(facts, groups, deeds, rows, order, calls):
    """Write the action that each rule of an order calls for, or NONE."""
    seen, things = cells_at(facts), cells_at(groups)
    aims, tests = cells_at(deeds), cells_at(rows)
    for place in range(len(order)):
        calls[order[place]] = action_at(seen, things, aims, tests, order[place])


@compiled()
def first_in_order(facts, groups, deeds, rows, order, acting):
    """Find the first rule of an order, of so many, that calls for an action: it and the action."""
    seen, things = cells_at(facts), cells_at(groups)
    aims, tests = cells_at(deeds), cells_at(rows)
    for place in range(acting):
        action = action_at(seen, things, aims, tests, order[place])
        if action != NONE:
            return order[place], action
    return NONE, NONE


@compiled()
def first_to_act(facts, groups, deeds, rows, count, after):
    """Find the first rule behind `after` that calls for an action: its place and the action."""
    seen, things = cells_at(facts), cells_at(groups)
    aims, tests = cells_at(deeds), cells_at(rows)
    for place in range(after + 1, count):
        action = action_at(seen, things, aims, tests, place)
        if action != NONE:
            return place, action
    return NONE, NONE


# --- lists of rules as weights: first the groups they speak of, as bits --------------------------


@compiled()
def groups_of(deeds, rows):
    """Give the groups that some rules speak of, as bits."""
    wanted = 0
    for place in range(len(rows)):
        if rows[place, DEED] != NO_RULE:
            wanted |= 1 << deeds[int(rows[place, DEED]), AIMED_AT]
            for condition in range(CONDITIONS):
                group = int(rows[place, FIRST_CONDITION + CONDITION * condition + GROUP])
                if group > 0:
                    wanted |= 1 << (group - 1)
    return wanted


@compiled()
def rows_in(weights):
    """Give the rules of a list that is held as weights."""
    return weights[1:].reshape(len(weights) // ROW, ROW)


def as_weights(deeds: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Give a list of rules as the weights of an agent."""
    rows = np.ascontiguousarray(rows[:, :ROW], np.float32)
    return np.concatenate([[groups_of(deeds, rows)], rows.ravel()]).astype(np.float32)


def empty_row() -> np.ndarray:
    """Give a rule without tests or conditions."""
    return np.zeros(ROW, np.float32)
