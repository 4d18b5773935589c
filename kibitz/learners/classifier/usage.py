"""How a list of rules is used: the share of moves that each rule makes, and how often it holds."""

from __future__ import annotations

import numpy as np

from kibitz.core.chance import agents_seed
from kibitz.core.compiled import JUDGE, THANK, compiled, pointer
from kibitz.core.game import Game
from kibitz.learners.classifier.deals import COUNTING
from kibitz.learners.classifier.lexicon import lexicon_of
from kibitz.learners.classifier.population import (
    ACTED,
    COUNTS,
    EARNINGS,
    HELD,
    NO_EVENT,
    WAGES,
    play_lane,
)

COUNTED_ON = 2000  # games


@compiled(JUDGE)
def judge_nothing(state, action):
    """Say that nothing comes of an action."""
    return NO_EVENT


@compiled(THANK)
def thank_nobody(state, action):
    """Owe nothing to anybody."""
    return -1


def usage_of(game: Game, rows: np.ndarray, seed: int) -> tuple[list[float], list[float]]:
    """Give each rule's share of moves, and the share of turns at which it holds.

    All seats play by the rules. rows [rules, ROW]
    """
    language = game.language
    rows = np.ascontiguousarray(rows, np.float32)
    earnings = np.zeros((len(rows) + 1, EARNINGS))
    pay = np.zeros(WAGES + 1)
    pay[COUNTS] = 1.0
    play_lane(
        game.rules, pointer(language.see), pointer(judge_nothing), pointer(thank_nobody),
        lexicon_of(language), rows, np.arange(len(rows)), len(rows), np.zeros(len(rows) + 1), pay,
        np.zeros((0, 2)), game.blank(), game.cooperative, seed, agents_seed(seed), COUNTING,
        COUNTED_ON, game.bound("most_legal"), game.bound("most_plies"), np.zeros(len(rows) + 1),
        earnings, np.zeros((1, language.facts), np.float32),
        np.zeros((0, language.facts), np.float32), np.zeros(COUNTED_ON),
    )  # fmt: skip
    moves = max(1.0, earnings[:, ACTED].sum())
    return (earnings[:-1, ACTED] / moves).tolist(), (earnings[:-1, HELD] / moves).tolist()
