"""Matching: which rules of a list hold in what is seen, what they point at, which one acts.

A rule is a row of ROW numbers: its deed, the tests that pick the deed's target, and conditions. A
condition is a group of things, a least number of them (negative: fewer than so many) and tests
that each must pass. A test is a sense, a word and a bound. Rooms write what is seen into `facts`,
see language.py; there too is how a rule is written as text.

facts    of each group from its start: how many things there are, then each thing's words and, for
         every deed that can be aimed at it, the number of the action or NO_ACTION
groups   [groups, 2]: where a group starts, how many facts a thing has
deeds    [deeds, 2]: the group a deed is aimed at, the fact that holds its action
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled

NO_ACTION = -1.0
NONE = -1

# Senses of a test. MOST and LEAST always pass; they say which thing comes first.
UNUSED, AT_LEAST, AT_MOST, IS, IS_NOT, MOST, LEAST = range(7)
TEST = 3  # numbers of a test: sense, word, bound
SENSE, WORD, BOUND = range(TEST)

TARGET_TESTS, CONDITIONS, CONDITION_TESTS = 4, 4, 3
DEED = 0
TARGET = 1
FIRST_CONDITION = TARGET + TEST * TARGET_TESTS
GROUP, LEAST_COUNT, TESTS = 0, 1, 2  # of a condition; the group counts from 1, 0 where unused
CONDITION = TESTS + TEST * CONDITION_TESTS
ROW = FIRST_CONDITION + CONDITION * CONDITIONS

START, STRIDE = 0, 1  # of groups
AIMED_AT, ACTION = 0, 1  # of deeds

NO_RULE = -1.0  # the deed of a row that holds no rule


@compiled()
def passes(facts, thing, row, at, tests):
    """Tell whether a thing passes tests, which end early at an unused one."""
    for test in range(tests):
        sense = row[at + TEST * test + SENSE]
        if sense == UNUSED:
            return True
        value = facts[thing + int(row[at + TEST * test + WORD])]
        bound = row[at + TEST * test + BOUND]
        if sense == AT_LEAST:
            if value < bound:
                return False
        elif sense == AT_MOST:
            if value > bound:
                return False
        elif sense == IS:
            if value != bound:
                return False
        elif sense == IS_NOT and value == bound:
            return False
    return True


@compiled()
def condition_holds(facts, groups, row, at):
    """Tell whether enough things of a group pass a condition's tests, or few enough."""
    group = int(row[at + GROUP]) - 1
    start, stride = groups[group, START], groups[group, STRIDE]
    least = int(row[at + LEAST_COUNT])
    wanted = abs(least)
    found = 0
    thing = start + 1
    for _ in range(int(facts[start])):
        if passes(facts, thing, row, at + TESTS, CONDITION_TESTS):
            found += 1
            if found >= wanted:
                return least > 0
        thing += stride
    return least < 0


@compiled()
def all_hold(facts, groups, row):
    """Tell whether all conditions of a rule hold."""
    for condition in range(CONDITIONS):
        at = FIRST_CONDITION + CONDITION * condition
        if row[at + GROUP] == 0:
            return True
        if not condition_holds(facts, groups, row, at):
            return False
    return True


@compiled()
def is_stronger(facts, one, other, row):
    """Tell whether one thing comes before another: by the first test in which they differ."""
    for test in range(TARGET_TESTS):
        at = TARGET + TEST * test
        sense = row[at + SENSE]
        if sense == UNUSED:
            return False
        word = int(row[at + WORD])
        if facts[one + word] != facts[other + word]:
            if sense in (AT_LEAST, MOST):
                return facts[one + word] > facts[other + word]
            if sense in (AT_MOST, LEAST):
                return facts[one + word] < facts[other + word]
    return False


@compiled()
def target_of(facts, groups, deeds, row):
    """Find the strongest thing at which a rule's deed may be aimed: its first fact, or NONE."""
    deed = int(row[DEED])
    group, action = deeds[deed, AIMED_AT], deeds[deed, ACTION]
    start, stride = groups[group, START], groups[group, STRIDE]
    best = NONE
    thing = start + 1
    for _ in range(int(facts[start])):
        if (
            facts[thing + action] >= 0.0
            and passes(facts, thing, row, TARGET, TARGET_TESTS)
            and (best == NONE or is_stronger(facts, thing, best, row))
        ):
            best = thing
        thing += stride
    return best


@compiled()
def action_of(facts, groups, deeds, row):
    """Give the action that a rule calls for, or NONE where it does not hold or has no target."""
    if row[DEED] == NO_RULE or not all_hold(facts, groups, row):
        return NONE
    thing = target_of(facts, groups, deeds, row)
    if thing == NONE:
        return NONE
    return int(facts[thing + deeds[int(row[DEED]), ACTION]])


@compiled()
def first_to_act(facts, groups, deeds, rows, count, after):
    """Find the first rule behind `after` that calls for an action: its place and the action."""
    for place in range(after + 1, count):
        action = action_of(facts, groups, deeds, rows[place])
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
