"""A relay: populations learn first, and what they have learned is handed on to islands.

A population finds rules that work together much sooner than random lists do; whole lists that
compete then find the better order, and the last bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.matching import ROW
from kibitz.learners.classifier.colony import Colony
from kibitz.learners.classifier.compaction import compact
from kibitz.learners.classifier.deals import COMPARING, HANDING_OVER
from kibitz.learners.classifier.islands import Archipelago, Arena
from kibitz.learners.classifier.lists import count_rules
from kibitz.learners.classifier.usage import COUNTED_ON, usage_of

JUDGED_ON = 400  # games on which lists are made small enough to hand on
NOT_SEEN = -1e9  # of what a checkpoint keeps
COMPARED_ON = 1000  # games on which it is seen whose lists are best


class Relay:
    """Colonies one after the other, then islands that begin with their lists."""

    def __init__(
        self, large: tuple[Arena, Arena], small: tuple[Arena, Arena], settings: Any, seed: int
    ) -> None:
        self.settings = settings
        self.large = large  # arenas for populations, and for lists
        self.colonies = [Colony(large, settings, seed, i) for i in range(settings.colonies)]
        self.islands = Archipelago(small, settings, seed)
        self.handed = np.zeros(1, np.int64)  # whether the islands have begun
        self.shown = np.full(settings.colonies, -np.inf)  # what each colony was last seen to score

    @property
    def games(self) -> int:
        """Games learned from so far."""
        return sum(colony.games for colony in self.colonies) + self.islands.games

    @property
    def judged(self) -> int:
        """Games played to compare lists, and to make them shorter."""
        return self.islands.judged

    @property
    def is_done(self) -> bool:
        """Whether populations and islands have played their games."""
        return bool(self.handed[0]) and self.islands.is_done

    @property
    def running(self) -> Colony | Archipelago:
        """Give who runs now."""
        if self.handed[0]:
            return self.islands
        return next((colony for colony in self.colonies if not colony.is_done), self.colonies[-1])

    def begin(self, start: np.ndarray | None = None) -> None:
        """Fill the populations; rules that are given go to the islands too. start [rules, ROW]"""
        if start is not None:
            self.islands.take_in(start)
        for colony in self.colonies:
            colony.begin(start)

    def round(self) -> None:
        """Let whoever runs play a round; hand on when the colonies are done."""
        self.running.round()
        if not self.handed[0] and all(colony.is_done for colony in self.colonies):
            self.hand_on()

    def hand_on(self) -> None:
        """Give the islands the lists of the best colonies, as small as they can be.

        Populations differ much, and a bad one is seldom worth more games: at least half are given
        up here, and all beyond the number of islands. Rules that were given at the beginning count
        as one more list.
        """
        arena, large = self.islands.arenas[1], self.large[1]
        before = arena.played + large.played
        lists = [colony.as_list() for colony in self.colonies]
        heirs = min(max(1, (len(lists) + 1) // 2), len(self.islands.islands))
        best = [self.shortened(lists[i])[: arena.most_rules] for i in ranked(large, lists)[:heirs]]
        given = self.islands.islands[0].genes
        if count_rules(given):
            best.append(given[: count_rules(given)].copy())
            best = [best[i] for i in ranked(arena, best)[:heirs]]
        if any(len(genes) for genes in best):
            for number, island in enumerate(self.islands.islands):
                island.genes[:] = arena.in_full(best[number % len(best)])
        else:  # no rule has earned its place yet
            self.islands.begin()
        counted = heirs * COUNTED_ON
        self.islands.compared[0] += arena.played + large.played - before + counted
        self.handed[0] = 1

    def shortened(self, genes: np.ndarray) -> np.ndarray:
        """Give a colony's list without what it does not need."""
        arena = self.large[1]
        acts, _ = usage_of(arena.game, genes[:, :ROW], arena.seed)
        used = arena.in_full(genes[np.array(acts) > 0.0])
        short = compact(used, lambda tried: arena.scores(tried, HANDING_OVER, JUDGED_ON), False)
        return short[: count_rules(short)]

    def score(self, games: int) -> float:
        """Score the islands, or the best colony so far, on games that nobody learns from."""
        if self.handed[0]:
            return self.islands.score(games)
        running = next(i for i, colony in enumerate(self.colonies) if colony is self.running)
        self.shown[running] = self.colonies[running].score(games)
        return float(self.shown.max())

    def as_list(self) -> np.ndarray:
        """Give the best list. [rules, GENE]"""
        return self.islands.as_list()

    def so_far(self) -> np.ndarray:
        """Give the list that was last seen to be best, and hand nothing on yet. [rules, GENE]"""
        if self.handed[0]:
            return self.islands.so_far()
        return self.colonies[int(np.argmax(self.shown))].so_far()

    def figures(self) -> dict[str, Any]:
        """Give the figures for the curve."""
        return self.running.figures()

    # --- checkpoints ---------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """Give all that is needed to go on."""
        kept = {f"islands {name}": array for name, array in self.islands.arrays().items()}
        for i, colony in enumerate(self.colonies):
            kept.update({f"colony {i} {name}": a for name, a in colony.arrays().items()})
        shown = np.where(np.isfinite(self.shown), self.shown, NOT_SEEN)
        return {**kept, "handed": self.handed, "shown": shown}

    def restore(self, kept: Mapping[str, np.ndarray]) -> None:
        """Take up what was kept."""
        self.handed[:] = kept["handed"]
        self.shown[:] = np.where(kept["shown"] == NOT_SEEN, -np.inf, kept["shown"])
        self.islands.restore(_under("islands ", kept))
        for i, colony in enumerate(self.colonies):
            colony.restore(_under(f"colony {i} ", kept))


def ranked(arena: Arena, lists: list[np.ndarray]) -> list[int]:
    """Return the places of lists, the best on the same deals first."""
    scores = [arena.scores(genes, COMPARING, COMPARED_ON).mean() for genes in lists]
    return [int(place) for place in np.argsort(-np.array(scores), kind="stable")]


def _under(prefix: str, kept: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {
        name.removeprefix(prefix): array for name, array in kept.items() if name.startswith(prefix)
    }
