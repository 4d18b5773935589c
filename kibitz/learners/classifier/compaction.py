"""Compaction: what a list does not need is left out, as long as it scores no less."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kibitz.core.matching import (
    CONDITION,
    CONDITION_TESTS,
    FIRST_CONDITION,
    TARGET,
    TARGET_TESTS,
    TESTS,
)
from kibitz.learners.classifier.breeding import (
    count_conditions,
    count_tests,
    drop_condition,
    drop_test,
)
from kibitz.learners.classifier.lists import count_rules, take_out

Scores = Callable[[np.ndarray], np.ndarray]  # of a list, on the same deals every time
Cut = Callable[[np.ndarray], None]


def compact(genes: np.ndarray, scores: Scores, finely: bool = True) -> np.ndarray:
    """Give the smallest list found that scores no less on the same games.

    Whole rules are tried first, the last ones before the others; then, if `finely`, conditions and
    tests; then, since what is left may have become needless, whole rules once more.
    """
    kept = genes.copy()
    best = scores(kept).mean()

    def try_without(cut: Cut) -> None:
        nonlocal kept, best
        smaller = kept.copy()
        cut(smaller)
        score = scores(smaller).mean()
        if score >= best:
            kept, best = smaller, score

    def try_rules() -> None:
        for rule in reversed(range(count_rules(kept))):
            if count_rules(kept) > 1:
                try_without(without_rule(rule))

    try_rules()
    if not finely:
        return kept
    for rule in range(count_rules(kept)):
        for i in reversed(range(count_conditions(kept[rule]))):
            try_without(without_condition(rule, i))
        spots = [(TARGET, TARGET_TESTS, 0)]
        for i in range(count_conditions(kept[rule])):
            spots.append((FIRST_CONDITION + CONDITION * i + TESTS, CONDITION_TESTS, 1))
        for at, most, least in spots:
            for i in reversed(range(count_tests(kept[rule], at, most))):
                if count_tests(kept[rule], at, most) > least:
                    try_without(without_test(rule, at, most, i))
    try_rules()
    return kept


def without_rule(rule: int) -> Cut:
    """Make the cut that takes out a rule."""
    return lambda genes: take_out(genes, rule)


def without_condition(rule: int, i: int) -> Cut:
    """Make the cut that takes a condition out of a rule."""
    return lambda genes: drop_condition(genes[rule], count_conditions(genes[rule]), i)


def without_test(rule: int, at: int, most: int, i: int) -> Cut:
    """Make the cut that takes one of the tests out that begin at a place of a rule."""
    return lambda genes: drop_test(genes[rule], at, count_tests(genes[rule], at, most), i)
