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


def compact(genes: np.ndarray, scores: Scores) -> np.ndarray:
    """Give the smallest list found that scores no less on the same games.

    Whole rules are tried first, the last ones before the others; then conditions and tests; then,
    since what is left may have become needless, whole rules once more.
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
                try_without(lambda list, rule=rule: take_out(list, rule))

    try_rules()
    for rule in range(count_rules(kept)):
        for i in reversed(range(count_conditions(kept[rule]))):
            try_without(
                lambda list, rule=rule, i=i: drop_condition(
                    list[rule], count_conditions(list[rule]), i
                )
            )
        spots = [(TARGET, TARGET_TESTS, 0)]
        for i in range(count_conditions(kept[rule])):
            spots.append((FIRST_CONDITION + CONDITION * i + TESTS, CONDITION_TESTS, 1))
        for at, most, least in spots:
            for i in reversed(range(count_tests(kept[rule], at, most))):
                if count_tests(kept[rule], at, most) > least:
                    try_without(
                        lambda list, rule=rule, at=at, most=most, i=i: drop_test(
                            list[rule], at, count_tests(list[rule], at, most), i
                        )
                    )
    try_rules()
    return kept
