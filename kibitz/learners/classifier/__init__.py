"""A learning classifier system: rules that a person can read, changed until they play well."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from kibitz.core.agent import CompiledAgent
from kibitz.core.errors import Misuse, unknown
from kibitz.core.game import Game
from kibitz.core.language import Language
from kibitz.core.matching import ROW
from kibitz.core.options import AGENTS
from kibitz.core.plots import BLUE, Canvas
from kibitz.core.training import Run, in_one_piece
from kibitz.learners.classifier.agent import MODEL, kind_of, rules_table
from kibitz.learners.classifier.colony import Colony
from kibitz.learners.classifier.compaction import compact
from kibitz.learners.classifier.deals import (
    COMPACTING,
    MOST_COLONIES,
    MOST_GAMES,
    MOST_ISLANDS,
    TESTING,
)
from kibitz.learners.classifier.islands import Archipelago, Arena
from kibitz.learners.classifier.lexicon import OWN_UTILITY, Lexicon, lexicon_of
from kibitz.learners.classifier.lists import count_rules
from kibitz.learners.classifier.relay import Relay
from kibitz.learners.classifier.usage import usage_of

System = Archipelago | Colony | Relay

GLANCE = 400  # games of each look at how it goes
LOOKS = 50  # of a whole run
COLUMNS = ("games", "seconds", "score", "islands", "rules", "trials", "successes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What can be set about a classifier system. The defaults are what works best."""

    method: Annotated[
        Literal["lists", "population", "both"],
        "whole lists of rules compete; one population earns its utility by credit; or lists go on "
        "from what populations have learned",
    ] = "both"
    games: Annotated[int, "games to learn from in all", 1000, MOST_GAMES] = 1_200_000
    vocabulary: Annotated[str, "which words rules may use: see kibitz words"] = "usual"
    without: Annotated[str, "topics, groups, words or deeds left out, with + between them"] = ""
    easy: Annotated[float, "share of the games in which the game is made easier", 0.0, 0.9] = 0.2
    rival: Annotated[str, "lists: an agent at the other seats, where seats are rivals", AGENTS] = (
        "random"
    )
    tested_on: Annotated[int, "fresh games that tell how good the rules are", 100, 10**7] = 10_000
    compacted_on: Annotated[int, "games on which needless rules are left out", 0, 10**7] = 2000
    cores: Annotated[int, "how many cores to use; 0 for all", 0, 1024] = 0

    islands: Annotated[int, "lists: improved side by side at first", 1, MOST_ISLANDS] = 4
    most_rules: Annotated[int, "lists: rules of a list", 1, 200] = 20
    first_rules: Annotated[int, "lists: rules of a random list", 1, 200] = 10
    scouts: Annotated[int, "lists: random ones of which an island takes the best", 1, 10**6] = 500
    stages: Annotated[int, "lists: doublings of the games of a trial, from 40", 3, 9] = 7
    round_games: Annotated[int, "lists: games between two looks at other islands", 100, 10**9] = (
        8000
    )

    polish: Annotated[float, "lists: share of the games in which CMA-ES moves all bounds", 0, 1] = (
        0.0
    )
    colonies: Annotated[int, "both: populations, one after the other", 1, MOST_COLONIES] = 4
    colony_share: Annotated[float, "both: share of the games for each population", 0, 1] = 0.06
    population: Annotated[int, "population: rules in it", 10, 100_000] = 200
    credit: Annotated[Literal["rewards", "contests"], "population: how utility is earned"] = (
        "rewards"
    )
    wages: Annotated[str, "population: what events are paid, as in storm=-3+fits=1"] = ""
    final: Annotated[float, "population: paid for each point of the final score", -100, 100] = 0.0
    thanks: Annotated[float, "population: share of its pay that is also paid to who made it "
                      "possible, good or bad", -10, 10] = 0.9  # fmt: skip
    shared: Annotated[
        bool, "population: pay all who called for the action, not its actor alone"
    ] = False
    contests: Annotated[float, "population: chance that a turn is contested", 0, 1] = 0.0
    explore: Annotated[float, "population: chance that some rule that holds has the turn", 0, 1] = (
        0.05
    )
    momentum: Annotated[float, "population: share of the old utility that is kept at a payment; "
                        "0 for a mean of all payments", 0, 1] = 0.0  # fmt: skip
    rate: Annotated[float, "population: least share that a payment has in a mean", 0, 1] = 0.001
    caution: Annotated[float, "population: standard errors by which utility is lowered", 0, 100] = (
        4.0
    )
    young: Annotated[float, "population: payments before a rule may act", 0, 10**6] = 30.0
    protected: Annotated[float, "population: payments before it may be deleted", 0, 10**6] = 30.0
    crowd: Annotated[float, "population: share of young rules beyond which new ones take their "
                     "places, and not those of the weakest", 0, 1] = 0.15  # fmt: skip
    lane_games: Annotated[int, "population: games of each of four lanes in a round", 1, 10**6] = 60
    generation: Annotated[int, "population: rounds between the genetic steps", 1, 10**6] = 4
    covering: Annotated[bool, "population: renewed rules cover turns that had none"] = True
    fitness: Annotated[Literal["strength", "accuracy"], "population: breed rules that earn much, "
                       "or whose pay varies little"] = "strength"  # fmt: skip
    tolerance: Annotated[float, "population: error of a rule that is as good as none, for "
                         "accuracy", 0.0001, 1000] = 0.3  # fmt: skip
    niches: Annotated[bool, "population: parents are chosen among rules that agree in a situation"
                      ] = False  # fmt: skip
    numerosity: Annotated[bool, "population: a rule that is made again counts for more"] = False
    subsumption: Annotated[bool, "population: more general rules stand for new ones"] = False
    in_place: Annotated[bool, "population: steps change rules, not copies of them"] = False
    renewed: Annotated[float, "population: share deleted and regenerated", 0, 1] = 0.02
    specialised: Annotated[float, "population: share specialised", 0, 1] = 0.02
    generalised: Annotated[float, "population: share generalised", 0, 1] = 0.02
    merged: Annotated[float, "population: share merged", 0, 1] = 0.01
    crept: Annotated[float, "population: share of good rules whose bounds creep", 0, 1] = 0.03


PRESETS: dict[str, dict[str, Any]] = {
    # One population and a little polish: it plays well after half a minute.
    "quick": {"games": 60_000, "colonies": 1, "colony_share": 0.6, "islands": 2},
    "population": {"method": "population", "easy": 0.0},
    # The plain system: the plain language, strength as a momentum average, rewards at once and at
    # the end, rules changed where they stand, nobody protected.
    "seed": {
        "method": "population",
        "vocabulary": "plain",
        "easy": 0.0,
        "covering": False,
        "momentum": 0.9,
        "caution": 0.0,
        "young": 0.0,
        "protected": 0.0,
        "crowd": 1.0,
        "explore": 0.0,
        "thanks": 0.0,
        "final": 0.5,
        "in_place": True,
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What training gives: the rules as text, in order of use, their score and the agent."""

    rules: list[str]
    score: float
    spread: float  # half of the 95% interval of the score
    otherwise: dict[str, float]  # the score under other ways to count points
    games: int  # played in all, those for leaving out rules included
    learned_from: int  # of these
    whole: float  # the score before needless rules were left out
    utility: list[float]  # what each rule has earned, where rules earn something
    acts: list[float]  # each rule's share of the moves
    holds: list[float]  # how often each holds and has a target
    agent: CompiledAgent
    path: Path | None

    columns: ClassVar[tuple[str, ...]] = ("rule", "", "utility", "moves", "holds")

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """List the rules in order of use."""
        return rules_table(self.to_dict())

    def summary(self) -> str:
        """Say in a line how it went."""
        others = "".join(f", {score:.2f} with {name}" for name, score in self.otherwise.items())
        return (
            f"score {self.score:.2f} ± {self.spread:.2f}{others}, after "
            f"{self.learned_from:,} games and {self.games - self.learned_from:,} more to leave out "
            f"needless rules; {self.whole:.2f} with those"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain data."""
        return {
            "rules": self.rules, "score": self.score, "spread": self.spread,
            "otherwise": self.otherwise, "games": self.games, "whole": self.whole,
            "utility": self.utility, "acts": self.acts, "holds": self.holds,
        }  # fmt: skip


def unfit(game: Game) -> str | None:
    """Say why no rules can be learned for a game, or None."""
    return None if game.language is not None else "the game offers no language for rules"


def words_for(language: Language, settings: Settings) -> Lexicon:
    """Give the lexicon that the settings allow."""
    if settings.vocabulary not in language.vocabularies:
        raise unknown("vocabulary", settings.vocabulary, language.vocabularies)
    without = {*language.vocabularies[settings.vocabulary]}
    named = {part.strip() for part in settings.without.split("+") if part.strip()}
    known = language.names()
    for name in sorted(named - known):
        raise unknown("topic, group, word or deed", name, known)
    lexicon = lexicon_of(language, without | named)
    if not lexicon.deed_weights.any() or not lexicon.group_weights.any():
        raise Misuse("Nothing is left to make rules of; leave out less.")
    return lexicon


def check(settings: Settings) -> None:
    """Refuse settings that do not go together."""
    if settings.first_rules > settings.most_rules:
        raise Misuse("A list begins with more rules than it may have: lower --first-rules.")
    if settings.credit == "contests" and settings.contests == 0.0:
        raise Misuse("Nothing is earned without contests: give their rate, as --contests 0.05.")
    if settings.credit == "rewards" and settings.contests > 0.0:
        raise Misuse("Contests are paid in another currency: add --credit contests.")
    shares = settings.colonies * settings.colony_share
    if settings.method == "both" and shares >= 1.0:
        raise Misuse("The populations use up all games: lower --colony-share or --colonies.")


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
        system.begin()
    else:
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

    try:
        while system.games < settings.games:
            with in_one_piece():
                system.round()
                if system.games * LOOKS >= (len(run.rows) + 1) * settings.games:
                    run.log(
                        games=system.games, seconds=time.monotonic() - began,
                        score=system.score(GLANCE), **system.figures(),
                    )  # fmt: skip
            last = run.rows[-1]["score"] if run.rows else 0.0
            run.tell(min(system.games, settings.games), settings.games, f"score {last:.2f}")
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
    genes = arena.in_full(genes[np.array(acts) > 0.0])
    whole = arena.scores(genes, TESTING, settings.tested_on).mean()
    before = arena.played
    if settings.compacted_on:
        genes = compact(genes, lambda tried: arena.scores(tried, COMPACTING, settings.compacted_on))
    games = system.games + arena.played - before
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
        "games": games, "whole": float(whole), "acts": acts, "holds": holds,
        "utility": utility,
    }  # fmt: skip
    path = run.finish(MODEL, {"rows": rows}, about, lambda rows, to: plot(rows, to, run))
    return Learned(**about, learned_from=system.games, agent=kind_of(game, rows)(game), path=path)


def plot(rows: Sequence[Mapping[str, float]], path: Path, run: Run) -> None:
    """Draw the score over the games and over the time."""
    canvas = Canvas(
        f"{run.game.described()}: classifier system",
        f"score of the list that seems best on {GLANCE} fresh games; seed {run.about['seed']}",
    )
    left, right = canvas.axes(2)
    score = [row["score"] for row in rows]
    left.plot([row["games"] for row in rows], score, color=BLUE)
    left.set(xlabel="games", ylabel="score")
    right.plot([row["seconds"] for row in rows], score, color=BLUE)
    right.set(xlabel="seconds")
    canvas.save(path)
