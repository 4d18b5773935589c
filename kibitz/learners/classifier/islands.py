"""Islands, on each of which one list of rules gets better; the worse islands are given up.

Everything is decided by the seed and the number of games, never by the clock or the cores: an
island has its own chance and its own deals, and only reads the others' lists between two rounds.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from kibitz.core.agent import Agent, Kind
from kibitz.core.chance import WORDS, below, sow
from kibitz.core.errors import Misuse
from kibitz.core.game import Game
from kibitz.core.matching import DEED, NO_RULE, ROW
from kibitz.core.registry import find_agent
from kibitz.learners.classifier.deals import (
    CHOOSING,
    COMPARING,
    ISLAND_DEALS,
    ISLANDS,
    LOOKING,
    POLISHED,
    POLISHING,
    SCOUTING,
)
from kibitz.learners.classifier.lexicon import CHANGES, GENE, STEP, Lexicon
from kibitz.learners.classifier.lists import (
    FIRST_STAGE,
    count_rules,
    improve_list,
    new_list,
    play_list,
)
from kibitz.learners.classifier.polish import CHILD_GAMES, COST, Polish
from kibitz.play.match import Runner

SCOUT_GAMES = 20
CHOSEN_ON = 200  # games that say which island is shown
LEAST = 2 * FIRST_STAGE  # games of a trial
SCOUTING_SHARE = 0.25  # of all games, at most
LANES = 4  # shares of a long series of games, which two cores can play at once


class Arena:
    """Where a list plays: at all seats of a game in which all win together, or against rivals."""

    def __init__(
        self, game: Game, lexicon: Lexicon, most_rules: int, rival: str, seed: int, cores: int
    ) -> None:
        if game.language is None:
            raise Misuse(f"{game.name} offers no language in which rules could be written.")
        self.game = game
        self.seed = seed
        self.lexicon = lexicon
        self.most_rules = most_rules
        self.size = 1 + ROW * most_rules
        kind = Kind(choose=game.language.choose, weights=lambda *_: np.zeros(self.size, np.float32))
        self.shares = game.players if game.cooperative else 1
        agents: list[Agent] = [kind(game) for _ in range(self.shares)]
        agents += [find_agent(rival, game) for _ in range(game.players - self.shares)]
        runner = Runner(game, agents, seed, False)
        if not runner.is_compiled:
            raise Misuse(f"Rules learn against compiled agents only, and '{rival}' is not one.")
        self.runner = runner
        self.table = (
            game.rules, runner.chooses, runner.notices, runner.listens, runner.starts, runner.blank,
            runner.agents_seed, *runner.bounds,
        )  # fmt: skip
        self.pool = ThreadPoolExecutor(cores or os.cpu_count() or 1)
        self.played = 0  # games of all series

    def scores(self, genes: np.ndarray, first: int, games: int) -> np.ndarray:
        """Play a series of games with a list; give what each was worth."""
        self.played += games
        out = np.empty(games)
        parts = np.array_split(np.arange(games), LANES)

        def play(part: np.ndarray) -> None:
            if len(part):
                span = slice(int(part[0]), int(part[-1]) + 1)
                self.play(genes, first + int(part[0]), out[span])

        list(self.pool.map(play, parts))
        return out

    def play(self, genes: np.ndarray, first: int, out: np.ndarray) -> None:
        """Play as many games as `out` holds, in this thread."""
        trouble = np.zeros(4, np.int64)
        play_list(
            self.table, self.lexicon.deeds, self.in_full(genes), self.shares,
            self.runner.weights.copy(), self.runner.fresh_memory(), self.seed, first, len(out), out,
            np.empty((len(out), self.game.players)), np.empty(len(out), np.int32), trouble,
        )  # fmt: skip
        self.runner.check(trouble)

    def in_full(self, genes: np.ndarray) -> np.ndarray:
        """Give a list as genes, with as many rows as lists have here."""
        full = np.zeros((self.most_rules, GENE), np.float32)
        full[:, DEED] = NO_RULE
        full[:, STEP:CHANGES] = self.lexicon.first_step
        full[: len(genes), : genes.shape[1]] = genes
        return full


class Island:
    """One list, its chance, and what it has scored on its present deals."""

    def __init__(self, number: int, arena: Arena, most_games: int) -> None:
        self.number = number
        self.rng = np.zeros(WORDS, np.int64)
        sow(self.rng, arena.seed, number, 11)
        self.genes = arena.in_full(np.zeros((0, GENE), np.float32))
        self.scores = np.zeros(most_games)
        self.known = np.array([0, 0, ISLANDS + number * ISLAND_DEALS], np.int64)
        self.tally = np.zeros(3, np.int64)  # games, trials, successes

    def scout(self, arena: Arena, lists: int, rules: int) -> None:
        """Begin with the best of so many random lists."""
        best = -np.inf
        tried = self.genes.copy()
        scores = np.empty(SCOUT_GAMES)
        for _ in range(lists):
            new_list(self.rng, arena.lexicon, tried, rules)
            arena.play(tried, SCOUTING, scores)
            if scores.mean() > best:
                best = float(scores.mean())
                self.genes[:] = tried
        self.tally[0] += lists * SCOUT_GAMES

    def improve(
        self, arena: Arena, other: np.ndarray, budget: int, limit: int, stages: int
    ) -> None:
        """Try changes for about so many games, and not beyond a limit."""
        trouble = np.zeros(4, np.int64)
        self.tally += improve_list(
            arena.table, arena.lexicon, self.genes, other, arena.shares,
            arena.runner.weights.copy(), arena.runner.fresh_memory(), arena.seed, budget, limit,
            stages, self.scores, self.known, self.rng, trouble,
        )  # fmt: skip
        arena.runner.check(trouble)


class Archipelago:
    """All islands; the worse ones are given up as the budget is used."""

    def __init__(self, arenas: tuple[Arena, Arena], settings: Any, seed: int) -> None:
        self.arenas = arenas  # the easier game, and the game itself
        self.settings = settings
        most_games = FIRST_STAGE << (settings.stages - 1)
        self.islands = [Island(i, arenas[1], most_games) for i in range(settings.islands)]
        self.alive = np.arange(settings.islands)
        self.rng = np.zeros(WORDS, np.int64)
        sow(self.rng, seed, 0, 12)
        self.pool = arenas[1].pool
        self.spent = np.zeros(1, np.int64)  # games of trials
        self.compared = np.zeros(1, np.int64)  # games that compare lists
        self.shown = 0  # the island whose list was scored last
        # After populations, which have had their share of the games, nothing is made easier.
        after = settings.method == "both"
        share = settings.colonies * settings.colony_share if after else 0.0
        self.budget = int((1.0 - share) * settings.games)
        generations = int(settings.polish * self.budget) // COST
        self.polish = Polish(arenas[1].lexicon, generations, seed)
        self.easy = 0.0 if after else settings.easy

    @property
    def games(self) -> int:
        """Games learned from so far, on islands given up too."""
        return int(self.spent[0])

    @property
    def judged(self) -> int:
        """Games played to compare lists."""
        return int(self.compared[0])

    @property
    def room(self) -> int:
        """Games that each island may still play, before bounds are polished or at all."""
        share = 1.0 if self.polish.is_over else 1.0 - self.settings.polish
        return (int(share * self.budget) - self.games) // len(self.alive)

    @property
    def is_done(self) -> bool:
        """Whether no further trial fits into the games."""
        return self.room < LEAST and self.polish.is_over

    def begin(self, start: np.ndarray | None = None) -> None:
        """Scout on every island, or begin everywhere with the same rules. start [rules, ROW]"""
        settings = self.settings
        if start is not None:
            self.take_in(start)
            return
        most = int(SCOUTING_SHARE * self.budget) // (SCOUT_GAMES * settings.islands)
        lists = max(1, min(settings.scouts, most))

        def scout(island: Island) -> None:
            island.scout(self.arena(), lists, settings.first_rules)

        list(self.pool.map(scout, self.islands))
        self.spent[0] = sum(int(island.tally[0]) for island in self.islands)

    def take_in(self, start: np.ndarray) -> None:
        """Begin on every island with the same rules. start [rules, ROW]"""
        arena = self.arenas[1]
        if len(start) > arena.most_rules:
            raise Misuse(
                f"{len(start)} rules to begin with do not fit into a list of {arena.most_rules}: "
                f"add --most-rules {len(start)}."
            )
        for island in self.islands:
            island.genes[:] = arena.in_full(start)

    def arena(self) -> Arena:
        """Give where the lists play now: the easier game at first."""
        return self.arenas[0 if self.games < self.easy * self.budget else 1]

    def round(self) -> None:
        """Let every island that is left try changes, then give some up if it is time."""
        settings = self.settings
        limit = self.room
        if limit < LEAST and not self.polish.is_over:
            self.polish_bounds()
            return
        arena = self.arena()
        done = self.games / self.budget
        # Later trials take more games: what is left to gain is smaller.
        stages = min(settings.stages, settings.stages - 2 + int(3 * done))
        islands = [self.islands[i] for i in self.alive]
        others = [islands[below(self.rng, len(islands))].genes.copy() for _ in islands]
        before = sum(int(island.tally[0]) for island in islands)

        def improve(pair: tuple[Island, np.ndarray]) -> None:
            pair[0].improve(arena, pair[1], settings.round_games, limit, stages)

        list(self.pool.map(improve, zip(islands, others, strict=True)))
        self.spent[0] += sum(int(island.tally[0]) for island in islands) - before
        if self.arena() is not arena:  # what was scored in the easier game counts no more
            for island in islands:
                island.known[0] = 0
        left = self.left_at(self.games / self.budget)
        if left < len(self.alive):
            order = np.argsort([-score for score in self.compare()], kind="stable")
            self.alive = self.alive[np.sort(order[:left])]

    def polish_bounds(self) -> None:
        """Run a generation of CMA-ES on the bounds of the best list; take the last one if better.

        Every generation has fresh deals, the same for all its children.
        """
        if self.polish.genes is None:
            self.alive = np.array([self.best().number])
            self.polish.begin(self.islands[self.alive[0]].genes)
        island = self.islands[self.alive[0]]
        if not self.polish.is_over:
            first = POLISHING + int(self.polish.done[0]) * CHILD_GAMES
            arena = self.arena()
            lists = self.polish.ask()
            scores = [float(arena.scores(genes, first, CHILD_GAMES).mean()) for genes in lists]
            self.polish.tell(scores)
            self.spent[0] += COST
        if self.polish.is_over:
            polished = self.polish.best()
            if polished is not None and self.is_better(polished, island.genes):
                island.genes[:] = polished
            island.known[0] = 0

    def is_better(self, genes: np.ndarray, other: np.ndarray, games: int = 4000) -> bool:
        """Tell whether a list scores more than another on the same deals."""
        arena = self.arena()
        self.compared[0] += 2 * games
        gain = arena.scores(genes, POLISHED, games) - arena.scores(other, POLISHED, games)
        return bool(gain.mean() > 0.0)

    def left_at(self, done: float) -> int:
        """Give how many islands are left when so much is done: half each time, one at the end."""
        count = self.settings.islands
        steps = max(1, int(np.ceil(np.log2(count)))) if count > 1 else 1
        begun = max(0.0, (done - self.easy) / max(1e-9, 0.75 - self.easy))
        return max(1, count >> min(steps, int(begun * steps)))

    def compare(self, games: int = 1000) -> list[float]:
        """Score the lists of all islands that are left on the same deals."""
        arena = self.arena()
        self.compared[0] += games * len(self.alive)
        return [
            float(arena.scores(self.islands[i].genes, COMPARING, games).mean()) for i in self.alive
        ]

    def best(self, games: int = 2000) -> Island:
        """Give the best island."""
        scores = self.compare(games)
        return self.islands[self.alive[int(np.argmax(scores))]]

    def score(self, games: int) -> float:
        """Score the list that seems best, on games that nobody learns from."""
        arena = self.arenas[1]
        tried = [
            arena.scores(self.islands[i].genes, CHOOSING, CHOSEN_ON).mean() for i in self.alive
        ]
        self.shown = int(self.alive[int(np.argmax(tried))])
        return float(arena.scores(self.islands[self.shown].genes, LOOKING, games).mean())

    def as_list(self) -> np.ndarray:
        """Give the best list. [rules, GENE]"""
        best = self.best()
        return best.genes[: count_rules(best.genes)]

    def so_far(self) -> np.ndarray:
        """Give the list that was last seen to be best; no games are played for it. [rules, GENE]"""
        seen = self.shown if self.shown in self.alive else int(self.alive[0])
        genes = self.islands[seen].genes
        return genes[: count_rules(genes)]

    def figures(self) -> dict[str, Any]:
        """Give the figures for the curve."""
        tally = np.sum([island.tally for island in self.islands], axis=0)
        return {
            "islands": len(self.alive), "rules": int(count_rules(self.islands[self.shown].genes)),
            "trials": int(tally[1]), "successes": int(tally[2]),
        }  # fmt: skip

    # --- checkpoints ---------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """Give all that is needed to go on."""
        return {
            "genes": np.stack([island.genes for island in self.islands]),
            "chance": np.stack([self.rng, *(island.rng for island in self.islands)]),
            "scores": np.stack([island.scores for island in self.islands]),
            "known": np.stack([island.known for island in self.islands]),
            "tally": np.stack([island.tally for island in self.islands]),
            "alive": np.isin(np.arange(len(self.islands)), self.alive).astype(np.int64),
            "spent": self.spent,
            "compared": self.compared,
            **self.polish.arrays(),
        }

    def restore(self, kept: Mapping[str, np.ndarray]) -> None:
        """Take up what was kept."""
        self.rng[:] = kept["chance"][0]
        self.spent[:] = kept["spent"]
        self.compared[:] = kept["compared"]
        self.alive = np.flatnonzero(kept["alive"])
        for i, island in enumerate(self.islands):
            island.genes[:] = kept["genes"][i]
            island.rng[:] = kept["chance"][i + 1]
            island.scores[:] = kept["scores"][i]
            island.known[:] = kept["known"][i]
            island.tally[:] = kept["tally"][i]
        self.polish.restore(kept)
        if self.polish.done[0] and not self.polish.is_over:
            self.polish.begin(self.islands[self.alive[0]].genes)
