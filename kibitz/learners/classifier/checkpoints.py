"""Checkpoints of earlier versions, in which rows were shorter and games were counted otherwise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kibitz.core.matching import CONDITION, FIRST_CONDITION, TARGET, TARGET_TESTS, TEST, TESTS
from kibitz.learners.classifier.lexicon import CHANGES, GENE, SHAPE, STEP, STEPS_OF_CONDITION

# What fitted into a row before: tests of a target, conditions, tests of a condition.
AIMS, NESTED, EACH = 4, 4, 3
OLD_CONDITION = TESTS + TEST * EACH
OLD_ROW = TARGET + TEST * AIMS + NESTED * OLD_CONDITION
OLD_GENE = OLD_ROW + AIMS + NESTED * (EACH + 1) + 2


def upgraded(
    kept: Mapping[str, np.ndarray], like: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return a checkpoint as this version writes it, with the arrays of `like`."""
    found = {
        name: np.zeros_like(array) for name, array in like.items() if name.endswith("compared")
    }
    for name, array in kept.items():
        is_old = name.endswith("genes") and array.shape[-1] == OLD_GENE
        found[name] = widened(array) if is_old else array
    return found


def widened(genes: np.ndarray) -> np.ndarray:
    """Return genes with room for more tests and conditions. [.., OLD_GENE] to [.., GENE]"""
    out = np.zeros((*genes.shape[:-1], GENE), genes.dtype)
    out[..., STEP:CHANGES] = SHAPE["first_step"]
    aimed = TARGET + TEST * AIMS
    out[..., :aimed] = genes[..., :aimed]
    out[..., STEP : STEP + AIMS] = genes[..., OLD_ROW : OLD_ROW + AIMS]
    for i in range(NESTED):
        old, new = aimed + OLD_CONDITION * i, FIRST_CONDITION + CONDITION * i
        out[..., new : new + OLD_CONDITION] = genes[..., old : old + OLD_CONDITION]
        old = OLD_ROW + AIMS + (EACH + 1) * i
        new = STEP + TARGET_TESTS + STEPS_OF_CONDITION * i
        out[..., new : new + EACH] = genes[..., old : old + EACH]
        out[..., new + STEPS_OF_CONDITION - 1] = genes[..., old + EACH]  # of the least number
    out[..., CHANGES:] = genes[..., -2:]
    return out
