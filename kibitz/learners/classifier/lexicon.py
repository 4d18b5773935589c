"""The lexicon: which words rules may use, as arrays that compiled breeding can draw from.

A *gene* is a rule with what breeding keeps beside it: GENE numbers, of which the first ROW are the
rule as it is matched. Behind them stand the steps, one for each bound and each least number, and
how often the rule has been changed by creeping; and last its utility, where it has earned one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from kibitz.core.language import CHANCE, COUNT, FLAG, NAME, Language
from kibitz.core.matching import CONDITION_TESTS, CONDITIONS, ROW, TARGET_TESTS

KINDS = {FLAG: 0, CHANCE: 1, COUNT: 2, NAME: 3}
IS_FLAG, IS_CHANCE, IS_COUNT, IS_NAME = range(4)

# Steps: of the target's tests, then of each condition its tests and its least number.
STEPS_OF_CONDITION = CONDITION_TESTS + 1
STEPS = TARGET_TESTS + CONDITIONS * STEPS_OF_CONDITION
STEP = ROW
CHANGES = ROW + STEPS  # how often it has crept
OWN_UTILITY = CHANGES + 1  # the utility of a rule that has earned one
GENE = OWN_UTILITY + 1


class Lexicon(NamedTuple):
    """What rules may be made of. A weight of nought leaves a word, a group or a deed out."""

    groups: np.ndarray  # [groups, 2], see matching.py
    deeds: np.ndarray  # [deeds, 2]
    first_word: np.ndarray  # [groups + 1]
    most: np.ndarray  # [groups]
    group_weights: np.ndarray  # [groups]
    deed_weights: np.ndarray  # [deeds]
    kinds: np.ndarray  # [words]
    lows: np.ndarray  # [words]
    highs: np.ndarray  # [words]
    weights: np.ndarray  # [words]
    most_aims: int  # tests of a target
    most_conditions: int
    most_tests: int  # of a condition
    more_conditions: float  # the chance of one more in a new rule
    more_tests: float
    first_step: float  # of a bound, as a share of its range
    step_rate: float  # how fast steps adapt


# The fields of a lexicon that are settings of the learner, with what they are unless set.
SHAPE: dict[str, Any] = {
    "most_aims": 4, "most_conditions": 4, "most_tests": 3, "more_conditions": 0.45,
    "more_tests": 0.45, "first_step": 0.2, "step_rate": 1.0,
}  # fmt: skip


def lexicon_of(
    language: Language, without: Collection[str] = (), likely: Mapping[str, float] | None = None,
    **shape: Any,
) -> Lexicon:  # fmt: skip
    """Make the lexicon of a language, without some topics, groups, words (`own red`) or deeds.

    `likely` multiplies the weights of topics, groups, words or deeds in new rules; `shape` gives
    fields of SHAPE that are not as usual.
    """
    factors = likely or {}

    def factor(*names: str) -> float:
        return math.prod(factors.get(name, 1.0) for name in names)

    words = [word for group in language.groups for word in group.words]
    first_word = np.cumsum([0, *(len(group.words) for group in language.groups)])
    weights = np.array(
        [
            factor(word.topic, f"{group.name} {word.name}")
            * (not {group.name, word.topic, f"{group.name} {word.name}"} & set(without))
            for group in language.groups
            for word in group.words
        ],
        np.float64,
    )
    in_use = np.add.reduceat(weights, first_word[:-1]) > 0
    fields: dict[str, Any] = {
        "groups": language.group_table,
        "deeds": language.deed_table,
        "first_word": first_word.astype(np.int64),
        "most": np.array([group.most for group in language.groups], np.int64),
        "group_weights": in_use * np.array([factor(group.name) for group in language.groups]),
        "deed_weights": np.array(
            [
                factor(deed.name)
                * (deed.name not in without and bool(in_use[language.deed_table[i, 0]]))
                for i, deed in enumerate(language.deeds)
            ]
        ),
        "kinds": np.array([KINDS[word.kind] for word in words], np.int64),
        "lows": np.array([word.low for word in words], np.float64),
        "highs": np.array([word.high for word in words], np.float64),
        "weights": weights,
        **SHAPE,
        **shape,
    }
    return Lexicon(**fields)
