"""A colony: one population of rules that plays together, and is renewed by the genetic steps.

All seats play by the same rules. As with islands, everything is decided by the seed and the number
of games, never by the clock or the cores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kibitz.core.chance import WORDS, agents_seed, sow
from kibitz.core.compiled import pointer
from kibitz.core.errors import Misuse
from kibitz.core.language import Language
from kibitz.core.matching import ROW
from kibitz.core.rewards import read_amounts
from kibitz.learners.classifier.breeding import new_rule
from kibitz.learners.classifier.deals import COLONIES, COLONY_DEALS, LOOKING
from kibitz.learners.classifier.genetics import Manner, next_generation, weigh_rules
from kibitz.learners.classifier.islands import LANES, Arena
from kibitz.learners.classifier.lexicon import CHANGES, GENE, OWN_UTILITY, STEP
from kibitz.learners.classifier.population import (
    ACTS,
    CONTESTS,
    COUNTS,
    CREDITS,
    EARNINGS,
    EXPLORE,
    FINAL,
    HOLDS,
    NUMBER,
    PAYS,
    SHARED,
    SPREAD,
    STANDING,
    THANKS,
    UTILITY,
    WAGES,
    play_lane,
    settle,
)
from kibitz.learners.classifier.settings import read_bands
from kibitz.learners.classifier.usage import judge_nothing, thank_nobody

REMEMBERED = 8  # situations without a rule that a lane keeps
COUNTED_EVERY = 8  # turns, at which it is counted which rules hold
FADES = 0.8  # what is left of the counts of acts and holds after a generation
INACCURATE, STEEPNESS = 0.1, 5.0  # accuracy beyond the tolerance, and how fast it falls


def wages_of(language: Language, text: str) -> np.ndarray:
    """Read what events are paid: `storm=-3+fits=1`, the rest as the language has it."""
    usual = {event.name: event.reward for event in language.events}
    return np.array(list(read_amounts(usual, text).values()))


class Lane(NamedTuple):
    """What came of the games of one lane."""

    earnings: np.ndarray
    uncovered: np.ndarray  # situations without a rule
    bare: int  # how many there were
    moments: np.ndarray  # other situations
    scores: np.ndarray


class Colony:
    """The population, what is known of each rule, and its chance."""

    def __init__(
        self, arenas: tuple[Arena, Arena], settings: Any, seed: int, number: int = 0
    ) -> None:
        self.arenas = arenas  # the easier game, and the game itself
        self.settings = settings
        self.seed = seed
        # How many games it is to learn from, of all.
        alone = settings.method == "population"
        self.budget = settings.games if alone else int(settings.colony_share * settings.games)
        self.agents_seed = agents_seed(seed)
        arena = arenas[1]
        self.language: Language = arena.game.language
        self.lexicon = arena.lexicon
        self.pool = arena.pool
        n = settings.population
        self.rng = np.zeros(WORDS, np.int64)
        sow(self.rng, seed, number, 13)
        self.first = COLONIES + number * COLONY_DEALS
        self.genes = np.zeros((n, GENE), np.float32)
        self.standing = np.zeros((n + 1, STANDING))
        self.count = np.zeros(3, np.int64)  # games, rounds, new rules
        self.pay = np.zeros(WAGES + max(1, len(self.language.events)))
        self.pay[CONTESTS] = settings.contests
        self.pay[EXPLORE] = settings.explore
        self.pay[PAYS] = float(settings.credit == "rewards")
        self.pay[SHARED] = float(settings.shared)
        self.pay[FINAL] = settings.final
        self.pay[THANKS] = settings.thanks
        self.pay[COUNTS] = COUNTED_EVERY
        wages = wages_of(self.language, settings.wages)
        self.pay[WAGES : WAGES + len(wages)] = wages
        self.bands = read_bands(settings.bands)
        self.shares = np.array(
            [settings.renewed, settings.specialised, settings.generalised, settings.merged,
             settings.crept]
        )  # fmt: skip
        self.manner = Manner(
            settings.covering, settings.in_place, settings.numerosity, settings.subsumption,
            settings.protected, settings.crowd, settings.step_rate,
            settings.tournament,
        )  # fmt: skip

    @property
    def games(self) -> int:
        """Games learned from so far."""
        return int(self.count[0])

    @property
    def judged(self) -> int:
        """Games played to compare lists: none."""
        return 0

    @property
    def is_done(self) -> bool:
        """Whether its games are played."""
        return self.games >= self.budget

    def begin(self, start: np.ndarray | None = None) -> None:
        """Fill the population with random rules; some may be given. start [rules, ROW]"""
        for rule in range(len(self.genes)):
            new_rule(self.rng, self.lexicon, self.genes[rule])
        self.standing[:, NUMBER] = 1.0
        if start is not None:
            self.take_in(start)

    def take_in(self, start: np.ndarray) -> None:
        """Begin with a list of rules that plays in its order, whatever they will earn later.

        They play a round, by which each has its first utility: what it earned, or what a rule
        behind it earned if that is more. start [rules, ROW]
        """
        given = len(start)
        if given > len(self.genes):
            raise Misuse(
                f"{given} rules to begin with do not fit into a population of {len(self.genes)}: "
                f"add --population {max(2 * given, 200)}."
            )
        self.genes[:given, :ROW] = start
        self.genes[:given, STEP:CHANGES] = self.lexicon.first_step
        pay = self.pay.copy()
        pay[[CONTESTS, EXPLORE]] = 0.0
        pay[PAYS] = 1.0
        order = np.arange(len(self.genes))
        self.count[0] = min(LANES * self.settings.lane_games, self.budget)
        lanes = self.play(self.arenas[1], order, given, self.first, self.games, pay)
        settle(np.stack([lane.earnings for lane in lanes]), self.standing, 0.0, 0.0)
        known = self.standing[:given]
        known[:, UTILITY] = np.maximum.accumulate(known[::-1, UTILITY])[::-1]
        known[:, SPREAD] = 0.0
        known[:, CREDITS] = np.maximum(known[:, CREDITS], self.settings.young)
        self.standing[given:, CREDITS] = 0.0  # the rest is untried

    def arena(self) -> Arena:
        """Give where the rules play now: the easier game at first."""
        return self.arenas[0 if self.games < self.settings.easy * self.budget else 1]

    def order(self) -> tuple[np.ndarray, int, np.ndarray]:
        """Give the rules by decreasing worth, how many may act, and what each is worth."""
        settings = self.settings
        n = len(self.genes)
        worth = np.empty(n)
        weigh_rules(self.standing, settings.caution, settings.rate, settings.young, worth)
        acting = int((self.standing[:n, CREDITS] >= settings.young).sum())
        return np.argsort(-worth, kind="stable"), acting, worth

    def round(self) -> None:
        """Play some games, credit the rules, and every so often run the genetic steps."""
        settings = self.settings
        order, acting, _ = self.order()
        games = min(LANES * settings.lane_games, self.budget - self.games)
        lanes = self.play(self.arena(), order, acting, self.first + self.games, games, self.pay)
        settle(
            np.stack([lane.earnings for lane in lanes]),
            self.standing,
            settings.momentum,
            settings.rate,
        )
        self.count[0] += games
        self.count[1] += 1
        if self.count[1] % settings.generation == 0:
            self.renew(lanes)

    def renew(self, lanes: list[Lane]) -> None:
        """Run the genetic steps once."""
        settings = self.settings
        n = len(self.genes)
        bare = np.concatenate([lane.uncovered[: min(lane.bare, REMEMBERED)] for lane in lanes])
        self.count[2] += next_generation(
            self.rng, self.lexicon, self.genes, self.standing, self.fitness(),
            self.standing[:n, CREDITS] >= settings.young, self.shares, bare,
            np.concatenate([lane.moments for lane in lanes]), self.manner, int(self.count[1]),
        )  # fmt: skip
        self.standing[:, [ACTS, HOLDS]] *= FADES

    def fitness(self) -> np.ndarray:
        """Give by what rules are bred and deleted: what they are worth, or how sure that is."""
        settings = self.settings
        *_, worth = self.order()
        if settings.fitness == "strength":
            return worth
        n = len(self.genes)
        error = np.sqrt(self.standing[:n, SPREAD])
        accuracy = np.where(
            error <= settings.tolerance,
            1.0,
            INACCURATE * (np.maximum(error, 1e-9) / settings.tolerance) ** -STEEPNESS,
        )
        return np.where(self.standing[:n, CREDITS] >= settings.young, accuracy, 0.0)

    def play(
        self, arena: Arena, order: np.ndarray, acting: int, first: int, games: int, pay: np.ndarray
    ) -> list[Lane]:
        """Play games in lanes: what each earned, what was uncovered, and the scores."""
        game = arena.game
        rows = np.ascontiguousarray(self.genes[:, :ROW])
        language = self.language
        judge = pointer(language.judge or judge_nothing)
        thank = pointer(language.thank or thank_nobody)

        ends = [games * (number + 1) // LANES for number in range(LANES)]

        def lane(number: int) -> Lane:
            begins = ends[number - 1] if number else 0
            earnings = np.zeros((len(rows) + 1, EARNINGS))
            uncovered = np.zeros((REMEMBERED, language.facts), np.float32)
            moments = np.zeros((REMEMBERED * self.settings.niches, language.facts), np.float32)
            scores = np.zeros(ends[number] - begins)
            bare = play_lane(
                game.rules, pointer(language.see), judge, thank, self.lexicon, rows.copy(),
                order.copy(), acting, self.standing[:, UTILITY].copy(), pay, self.bands,
                game.blank(), game.cooperative, self.seed, self.agents_seed, first + begins,
                len(scores), game.bound("most_legal"), game.bound("most_plies"),
                self.standing[:, CREDITS].copy(), earnings, uncovered, moments, scores,
            )  # fmt: skip
            return Lane(earnings, uncovered, bare, moments, scores)

        return list(self.pool.map(lane, range(LANES)))

    def score(self, games: int) -> float:
        """Score the population as it is, on games that nobody learns from."""
        order, acting, _ = self.order()
        lanes = self.play(self.arenas[1], order, acting, LOOKING, games, np.zeros_like(self.pay))
        return float(np.concatenate([lane.scores for lane in lanes]).mean())

    def as_list(self) -> np.ndarray:
        """Give the rules that act as one list, in order of use. [rules, GENE]"""
        order, acting, _ = self.order()
        used = order[:acting]
        used = used[self.standing[used, ACTS] > 0.0]
        genes = self.genes[used].copy()
        genes[:, OWN_UTILITY] = self.standing[used, UTILITY]
        return genes

    def so_far(self) -> np.ndarray:
        """Give the list that plays in the middle of it. [rules, GENE]"""
        return self.as_list()

    def figures(self) -> dict[str, Any]:
        """Give the figures for the curve."""
        return {
            "islands": 1, "rules": len(self.as_list()), "trials": int(self.count[1]),
            "successes": int(self.count[2]),
        }  # fmt: skip

    # --- checkpoints ---------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """Give all that is needed to go on."""
        return {
            "genes": self.genes, "standing": self.standing, "chance": self.rng,
            "count": self.count,
        }  # fmt: skip

    def restore(self, kept: Mapping[str, np.ndarray]) -> None:
        """Take up what was kept."""
        self.genes[:], self.standing[:] = kept["genes"], kept["standing"]
        self.rng[:], self.count[:] = kept["chance"], kept["count"]
