"""What can be set about a classifier system, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from kibitz.core.errors import BadOption, Misuse, unknown
from kibitz.core.language import Language
from kibitz.core.matching import CONDITION_TESTS, CONDITIONS, TARGET_TESTS
from kibitz.core.options import AGENTS, MODEL
from kibitz.core.rewards import read_amounts
from kibitz.learners.classifier.deals import MOST_COLONIES, MOST_GAMES, MOST_ISLANDS
from kibitz.learners.classifier.lexicon import SHAPE, Lexicon, lexicon_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What can be set about a classifier system. The defaults are what works best."""

    method: Annotated[
        Literal["lists", "population", "both"],
        "whole lists of rules compete; one population earns its utility by credit; or lists go on "
        "from what populations have learned",
    ] = "both"
    games: Annotated[int, "games to learn from, at most; those that judge rules are counted apart",
                     1000, MOST_GAMES] = 1_200_000  # fmt: skip
    begin_with: Annotated[str, "rules to begin with: a text file, a model, the folder of a run, or "
                          "the name of a model that comes with the game", MODEL] = ""  # fmt: skip
    vocabulary: Annotated[str, "which words rules may use: see kibitz words"] = "usual"
    without: Annotated[str, "topics, groups, words or deeds left out, with + between them"] = ""
    likely: Annotated[str, "how likely topics, groups, words and deeds come into new rules, as in "
                      "own=2+tokens=0.5+play=3; 1 is usual"] = ""  # fmt: skip
    most_conditions: Annotated[int, "conditions of a rule", 0, CONDITIONS] = 4
    most_tests: Annotated[int, "tests of a condition", 1, CONDITION_TESTS] = 3
    most_aims: Annotated[int, "tests of a target", 1, TARGET_TESTS] = 4
    more_conditions: Annotated[float, "chance of one more condition in a new rule", 0, 0.99] = 0.45
    more_tests: Annotated[float, "chance of one more test in a new rule", 0, 0.99] = 0.45
    first_step: Annotated[float, "first step of the creep mutation, as a share of a bound's range",
                          0.02, 1] = 0.2  # fmt: skip
    step_rate: Annotated[float, "learning rate with which steps of the creep mutation adapt",
                         0, 10] = 1.0  # fmt: skip
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
    wages: Annotated[str, "population: what events are paid at once, as in storm=-3+fits=1; see "
                     "kibitz words"] = ""  # fmt: skip
    final: Annotated[float, "population: paid for each point of the final score", -100, 100] = 0.0
    bands: Annotated[str, "population: paid for a final score of so much and more, as in "
                     "0=-5+10=1+20=8; the highest that is reached counts"] = ""  # fmt: skip
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
    tournament: Annotated[int, "population: rules of which the best becomes a parent", 1, 1000] = 4
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
    # Several small populations, of which one is likely to leap, and then one list.
    "quick": {
        "games": 66_000,
        "colonies": 6,
        "colony_share": 0.106,
        "islands": 1,
        "population": 220,
        "generation": 11,
        "explore": 0.09,
        "caution": 2.0,
        "young": 10.0,
        "renewed": 0.014,
        "specialised": 0.003,
        "generalised": 0.036,
        "merged": 0.06,
        "crept": 0.016,
        "tested_on": 4000,
        "compacted_on": 500,
    },
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


def words_for(language: Language, settings: Settings) -> Lexicon:
    """Give the lexicon that the settings allow."""
    if settings.vocabulary not in language.vocabularies:
        raise unknown("vocabulary", settings.vocabulary, language.vocabularies)
    without = {*language.vocabularies[settings.vocabulary]}
    named = {part.strip() for part in settings.without.split("+") if part.strip()}
    known = language.names()
    for name in sorted(named - known):
        raise unknown("topic, group, word or deed", name, known)
    likely = read_likely(language, settings.likely)
    shape = {name: getattr(settings, name) for name in SHAPE}
    lexicon = lexicon_of(language, without | named, likely, **shape)
    if not lexicon.deed_weights.any() or not lexicon.group_weights.any():
        raise Misuse("The vocabulary is empty: leave out less.")
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


def read_likely(language: Language, text: str) -> dict[str, float]:
    """Read how likely words come into new rules, as in `own=2+tokens=0.5`."""
    likely = read_amounts(dict.fromkeys(sorted(language.names()), 1.0), text, "word")
    for name, weight in likely.items():
        if weight < 0.0:
            raise BadOption(f"'{name}={weight:g}': how likely a word is cannot be negative.")
    return likely


def read_bands(text: str) -> np.ndarray:
    """Read what final scores are paid, as in `0=-5+10=1`. [bands, 2], ascending"""
    found: dict[float, float] = {}
    for part in filter(None, (part.strip() for part in text.split("+"))):
        try:
            score, pays = map(float, part.split("="))
        except ValueError:
            score = pays = math.nan
        if not (math.isfinite(score) and math.isfinite(pays)):
            raise BadOption(f"'{part}': write a score and its pay, as in --bands 10=1+20=8.")
        found[score] = pays
    return np.array(sorted(found.items()), np.float64).reshape(len(found), 2)
