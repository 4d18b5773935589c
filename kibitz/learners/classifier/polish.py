"""CMA-ES on the bounds of a list: its words stay, its numbers move together.

The state of CMA-ES cannot be written to a file without running code from it when it is read. It
follows from its seed and from what it was told, so that is what is kept.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kibitz.core.matching import (
    AIMED_AT,
    AT_LEAST,
    AT_MOST,
    BOUND,
    CONDITION,
    CONDITION_TESTS,
    DEED,
    FIRST_CONDITION,
    GROUP,
    SENSE,
    TARGET,
    TARGET_TESTS,
    TEST,
    TESTS,
    WORD,
)
from kibitz.learners.classifier.breeding import count_conditions, count_tests, kept_within
from kibitz.learners.classifier.lexicon import IS_CHANCE, IS_COUNT, Lexicon
from kibitz.learners.classifier.lists import count_rules

CHILDREN, CHILD_GAMES = 12, 300  # of a generation, and of each child
COST = CHILDREN * CHILD_GAMES
FIRST_SIGMA = 0.15  # of a bound's range


def bounds_of(lexicon: Lexicon, genes: np.ndarray) -> list[tuple[int, int, int]]:
    """List the bounds of a list that are numbers: rule, place of the test, word."""
    found = []
    for rule in range(count_rules(genes)):
        gene = genes[rule]
        spots = [(TARGET, TARGET_TESTS, lexicon.deeds[int(gene[DEED]), AIMED_AT])]
        for condition in range(count_conditions(gene)):
            at = FIRST_CONDITION + CONDITION * condition
            spots.append((at + TESTS, CONDITION_TESTS, int(gene[at + GROUP]) - 1))
        for first, most, group in spots:
            for test in range(count_tests(gene, first, most)):
                at = first + TEST * test
                word = int(lexicon.first_word[group] + gene[at + WORD])
                numeric = lexicon.kinds[word] in (IS_CHANCE, IS_COUNT)
                if numeric and gene[at + SENSE] in (AT_LEAST, AT_MOST):
                    found.append((rule, at, word))
    return found


class Polish:
    """CMA-ES at work on one list."""

    def __init__(self, lexicon: Lexicon, generations: int, seed: int) -> None:
        self.lexicon = lexicon
        self.seed = seed % (1 << 32)
        self.told = np.zeros((generations, CHILDREN))
        self.done = np.zeros(1, np.int64)
        self.genes: np.ndarray | None = None

    @property
    def is_over(self) -> bool:
        """Whether all generations have been."""
        return bool(self.done[0] >= len(self.told))

    def begin(self, genes: np.ndarray) -> None:
        """Take a list, and whatever has been told before."""
        from cmaes import CMA

        self.genes = genes.copy()
        self.bounds = bounds_of(self.lexicon, genes)
        words = [word for _, _, word in self.bounds]
        self.lows, self.highs = self.lexicon.lows[words], self.lexicon.highs[words]
        if len(self.bounds) < 2:  # nothing to move together
            self.done[0] = len(self.told)
            return
        start = np.array([genes[rule, at + BOUND] for rule, at, _ in self.bounds])
        place = (start - self.lows) / (self.highs - self.lows)
        limits = np.tile([0.0, 1.0], (len(place), 1))
        self.cma = CMA(
            np.clip(place, 0.0, 1.0), FIRST_SIGMA, bounds=limits, seed=self.seed,
            population_size=CHILDREN,
        )  # fmt: skip
        for generation in range(int(self.done[0])):
            children = [self.cma.ask() for _ in range(CHILDREN)]
            self.cma.tell(list(zip(children, self.told[generation].tolist(), strict=True)))

    def ask(self) -> list[np.ndarray]:
        """Give the lists of a generation."""
        self.children = [self.cma.ask() for _ in range(CHILDREN)]
        return [self.written(child) for child in self.children]

    def tell(self, scores: list[float]) -> None:
        """Say what they scored."""
        losses = [-score for score in scores]
        self.cma.tell(list(zip(self.children, losses, strict=True)))
        self.told[self.done[0]] = losses
        self.done[0] += 1

    def written(self, place: np.ndarray) -> np.ndarray:
        """Give the list with other bounds."""
        assert self.genes is not None
        genes = self.genes.copy()
        bounds = self.lows + place * (self.highs - self.lows)
        for (rule, at, word), bound in zip(self.bounds, bounds.tolist(), strict=True):
            genes[rule, at + BOUND] = kept_within(self.lexicon, word, bound)
        return genes

    def best(self) -> np.ndarray | None:
        """Give the list at the mean of the distribution, if there is any."""
        return self.written(self.cma.mean) if self.done[0] and len(self.bounds) > 1 else None

    def arrays(self) -> dict[str, np.ndarray]:
        """Give all that is needed to go on."""
        return {"polish told": self.told, "polish done": self.done}

    def restore(self, kept: Mapping[str, np.ndarray]) -> None:
        """Take up what was kept; `begin` does the rest."""
        self.told[:], self.done[:] = kept["polish told"], kept["polish done"]
