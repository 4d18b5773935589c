"""Subsumption: a rule that holds wherever another does, and does the same there, can stand for it.

This is told from the text of the rules alone, so it errs to one side: a rule that is as general by
some deeper reason is not seen to be.
"""

from __future__ import annotations

from kibitz.core.compiled import compiled
from kibitz.core.matching import (
    AT_LEAST,
    AT_MOST,
    BOUND,
    CONDITION,
    CONDITION_TESTS,
    CONDITIONS,
    DEED,
    FIRST_CONDITION,
    GROUP,
    LEAST_COUNT,
    NO_RULE,
    NONE,
    ROW,
    SENSE,
    TARGET,
    TARGET_TESTS,
    TEST,
    TESTS,
    UNUSED,
    WORD,
)


@compiled()
def follows(specific, at, general, other):
    """Tell whether whatever passes one test passes another."""
    sense = general[other + SENSE]
    if specific[at + SENSE] != sense or specific[at + WORD] != general[other + WORD]:
        return False
    if sense == AT_LEAST:
        return specific[at + BOUND] >= general[other + BOUND]
    if sense == AT_MOST:
        return specific[at + BOUND] <= general[other + BOUND]
    return specific[at + BOUND] == general[other + BOUND]


@compiled()
def all_follow(specific, at, general, other):
    """Tell whether every test of one condition follows from a test of another."""
    for test in range(CONDITION_TESTS):
        place = other + TESTS + TEST * test
        if general[place + SENSE] == UNUSED:
            return True
        found = False
        for mine in range(CONDITION_TESTS):
            found = found or follows(specific, at + TESTS + TEST * mine, general, place)
        if not found:
            return False
    return True


@compiled()
def condition_follows(specific, at, general, other):
    """Tell whether one condition holds wherever another does."""
    if specific[at + GROUP] != general[other + GROUP]:
        return False
    mine, least = specific[at + LEAST_COUNT], general[other + LEAST_COUNT]
    if (mine > 0) != (least > 0):
        return False
    if least > 0:
        return mine >= least and all_follow(specific, at, general, other)
    # Fewer than so many: what is counted by the specific rule must be all that the other counts.
    return mine >= least and all_follow(general, other, specific, at)


@compiled()
def subsumes(general, specific):
    """Tell whether a rule can stand for another: same deed, same order of targets, no stricter."""
    if general[DEED] != specific[DEED]:
        return False
    # The order of the tests says which target comes first, so it must be the same.
    for test in range(TARGET_TESTS):
        at = TARGET + TEST * test
        if general[at + SENSE] == UNUSED and specific[at + SENSE] == UNUSED:
            break
        if not follows(specific, at, general, at):
            return False
    for condition in range(CONDITIONS):
        other = FIRST_CONDITION + CONDITION * condition
        if general[other + GROUP] == 0:
            break
        found = False
        for mine in range(CONDITIONS):
            at = FIRST_CONDITION + CONDITION * mine
            found = found or (
                specific[at + GROUP] != 0 and condition_follows(specific, at, general, other)
            )
        if not found:
            return False
    return True


@compiled()
def same_rule(genes, child):
    """Find a rule in the population: its place, or NONE."""
    for rule in range(len(genes)):
        same = True
        for place in range(ROW):
            if genes[rule, place] != child[place]:
                same = False
                break
        if same:
            return rule
    return NONE


@compiled()
def stand_in(genes, able, child):
    """Find a rule that can stand for a new one, of those that are able to: its place, or NONE."""
    for rule in range(len(genes)):
        if able[rule] and genes[rule, DEED] != NO_RULE and subsumes(genes[rule], child):
            return rule
    return NONE
