"""A learning classifier system: rules that a person can read, changed until they play well."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kibitz.core.agent import CompiledAgent
from kibitz.core.errors import Misuse, NothingLearned
from kibitz.core.game import Game
from kibitz.core.language import Language
from kibitz.core.matching import ROW
from kibitz.core.plots import BLUE, Canvas
from kibitz.core.training import Run, in_one_piece
from kibitz.learners.classifier.agent import MODEL, kind_of, rules_table, rules_to_begin_with
from kibitz.learners.classifier.checkpoints import upgraded
from kibitz.learners.classifier.colony import Colony
from kibitz.learners.classifier.compaction import compact
from kibitz.learners.classifier.deals import COMPACTING, TESTING
from kibitz.learners.classifier.islands import Archipelago, Arena
from kibitz.learners.classifier.lexicon import OWN_UTILITY
from kibitz.learners.classifier.lists import count_rules
from kibitz.learners.classifier.relay import Relay
from kibitz.learners.classifier.settings import PRESETS, Settings, check, words_for
from kibitz.learners.classifier.usage import usage_of

__all__ = ["PRESETS", "Learned", "Settings", "train", "unfit", "words_for"]

System = Archipelago | Colony | Relay

GLANCE = 400  # games of each look at how it goes, at most
LOOKS = 50  # of a whole run
LOOKING_SHARE = 0.1  # games of all looks for each that is learned from, at most
TRY = (
    "Try another --seed, more --games, or rules to begin with (--begin-with FILE); with few games, "
    "a lower --young lets rules act sooner."
)
COLUMNS = ("games", "seconds", "score", "islands", "rules", "trials", "successes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What training gives: the rules as text, in order of use, their score and the agent."""

    rules: list[str]
    score: float
    spread: float  # half of the 95% interval of the score
    otherwise: dict[str, float]  # the score under other ways to count points
    games: int  # that were learned from
    judged: int  # games that compared lists, or said which rules are needless
    whole: float  # the score before needless rules were left out
    utility: list[float]  # what each rule has earned, where rules earn something
    acts: list[float]  # each rule's share of the moves
    holds: list[float]  # how often each holds and has a target
    by_lot: float  # what random moves score on the same games
    agent: CompiledAgent
    path: Path | None

    columns: ClassVar[tuple[str, ...]] = ("rule", "", "utility", "moves", "holds")

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """List the rules in order of use."""
        return rules_table(self.to_dict())

    def summary(self) -> str:
        """Return in a line how it went."""
        others = "".join(f", {score:.2f} with {name}" for name, score in self.otherwise.items())
        return (
            f"score {self.score:.2f} ± {self.spread:.2f}{others}, after {self.games:,} games and "
            f"{self.judged:,} that judged rules; {self.whole:.2f} with the rules that were left "
            f"out at the end{self.warning()}"
        )

    def warning(self) -> str:
        """Return what to try where the rules play no better than random moves."""
        if self.score > self.by_lot + self.spread:
            return ""
        return f"\nRandom moves score {self.by_lot:.2f}: nothing was learned. {TRY}"

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain data."""
        return {
            "rules": self.rules, "score": self.score, "spread": self.spread,
            "otherwise": self.otherwise, "games": self.games, "judged": self.judged,
            "whole": self.whole, "utility": self.utility, "acts": self.acts, "holds": self.holds,
            "by_lot": self.by_lot,
        }  # fmt: skip


def unfit(game: Game) -> str | None:
    """Say why no rules can be learned for a game, or None."""
    return None if game.language is not None else "the game offers no language for rules"


def train(game: Game, settings: Settings, seed: int, run: Run) -> Learned:
    """Let rules learn until the games are played, and give the best list found."""
    if unfit(game):
        raise Misuse(f"{game.name} offers no language in which rules could be written.")
    language: Language = game.language
    check(settings)
    lexicon = words_for(language, settings)
    easier = game.having(**language.easier)

    def arenas(rules: int) -> tuple[Arena, Arena]:
        rest = (lexicon, rules, settings.rival, seed, settings.cores)
        return Arena(easier, *rest), Arena(game, *rest)

    small, large = arenas(settings.most_rules), arenas(settings.population)
    system: System
    if settings.method == "lists":
        system = Archipelago(small, settings, seed)
    elif settings.method == "population":
        system = Colony(large, settings, seed)
    else:
        system = Relay(large, small, settings, seed)
    began = time.monotonic()
    kept = run.load_checkpoint()
    if kept is None:
        start = rules_to_begin_with(settings.begin_with, game) if settings.begin_with else None
        system.begin(start)
    else:
        kept = upgraded(kept, system.arrays())
        run.check(kept, {**system.arrays(), "curve": np.zeros((1, len(COLUMNS)))})
        system.restore(kept)
        run.restore(kept["curve"], COLUMNS)
        began -= run.rows[-1]["seconds"] if run.rows else 0.0

    def keep() -> None:
        curve = run.curve() if run.rows else np.zeros((0, len(COLUMNS)))
        run.save_checkpoint({**system.arrays(), "curve": curve})
        run.save_snapshot(system.games, MODEL, model)

    def model() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        rows = np.ascontiguousarray(system.so_far()[:, :ROW])
        return {"rows": rows}, {"rules": language.write_all(rows), "games": system.games}

    glance = max(40, min(GLANCE, int(LOOKING_SHARE * settings.games / LOOKS)))
    try:
        while not system.is_done:
            with in_one_piece():
                system.round()
                if system.games * LOOKS >= (len(run.rows) + 1) * settings.games:
                    run.log(
                        games=system.games, seconds=time.monotonic() - began,
                        score=system.score(glance), **system.figures(),
                    )  # fmt: skip
            last = run.rows[-1]["score"] if run.rows else 0.0
            run.tell(system.games, settings.games, f"score {last:.2f}")
            if run.is_time:
                keep()
    except KeyboardInterrupt:  # comes between two rounds only
        keep()
        raise
    keep()
    arena = large[1] if settings.method == "population" else small[1]
    return finished(game, arena, system, settings, seed, run)


def finished(
    game: Game, arena: Arena, system: System, settings: Settings, seed: int, run: Run
) -> Learned:
    """Take the best list, leave out what it does not need, test it and write the files."""
    language: Language = game.language
    genes = system.as_list()
    acts, _ = usage_of(game, genes[:, :ROW], seed)
    genes = arena.in_full(genes[np.array(acts, np.float64) > 0.0])
    by_lot = float(arena.scores(genes[:0], TESTING, settings.tested_on).mean())
    if not count_rules(genes):
        raise NothingLearned(
            f"No rule has come into use in {system.games:,} games, so there is no model. {TRY}",
            by_lot,
        )
    whole = arena.scores(genes, TESTING, settings.tested_on).mean()
    before = arena.played
    if settings.compacted_on:
        genes = compact(genes, lambda tried: arena.scores(tried, COMPACTING, settings.compacted_on))
    judged = system.judged + arena.played - before
    rows = genes[: count_rules(genes), :ROW].copy()
    scores = arena.scores(genes, TESTING, settings.tested_on)
    rest = (arena.lexicon, arena.most_rules, settings.rival, seed, settings.cores)
    otherwise = {
        name: float(Arena(other, *rest).scores(genes, TESTING, settings.tested_on).mean())
        for name, other in game.scored_otherwise().items()
    }
    acts, holds = usage_of(game, rows, seed)
    utility = genes[: len(rows), OWN_UTILITY].tolist() if settings.method == "population" else []
    about: dict[str, Any] = {
        "rules": language.write_all(rows), "score": float(scores.mean()),
        "spread": float(1.96 * scores.std() / np.sqrt(len(scores))), "otherwise": otherwise,
        "games": system.games, "judged": judged, "whole": float(whole), "acts": acts,
        "holds": holds, "utility": utility, "by_lot": by_lot,
    }  # fmt: skip
    path = run.finish(MODEL, {"rows": rows}, about, lambda rows, to: plot(rows, to, run))
    return Learned(**about, agent=kind_of(game, rows)(game), path=path)


def plot(rows: Sequence[Mapping[str, float]], path: Path, run: Run) -> None:
    """Draw the score over the games and over the time."""
    canvas = Canvas(
        f"{run.game.described()}: classifier system",
        f"score of the list that seems best on fresh games; seed {run.about['seed']}",
    )
    left, right = canvas.axes(2)
    score = [row["score"] for row in rows]
    left.plot([row["games"] for row in rows], score, color=BLUE)
    left.set(xlabel="games", ylabel="score")
    right.plot([row["seconds"] for row in rows], score, color=BLUE)
    right.set(xlabel="seconds")
    canvas.save(path)
