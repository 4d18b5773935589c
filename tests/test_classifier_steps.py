"""Finer steps of the classifier system: subsumption, numerosity, niches, accuracy, CMA-ES."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.errors import KibitzError
from kibitz.core.matching import BOUND, DEED, NO_RULE, NONE, ROW, TARGET, action_of
from kibitz.core.registry import find_agent, find_game
from kibitz.learners.classifier import Settings, words_for
from kibitz.learners.classifier.breeding import new_rule, specialise
from kibitz.learners.classifier.colony import Colony
from kibitz.learners.classifier.genetics import Manner, next_generation, niche_of, weakest
from kibitz.learners.classifier.islands import Arena
from kibitz.learners.classifier.lexicon import CHANGES, GENE, STEP, lexicon_of
from kibitz.learners.classifier.polish import Polish, bounds_of
from kibitz.learners.classifier.population import (
    ACTS,
    BORN,
    CREDITS,
    EARNED,
    EARNINGS,
    HOLDS,
    NUMBER,
    SPREAD,
    SQUARES,
    STANDING,
    TIMES,
    UTILITY,
    settle,
)
from kibitz.learners.classifier.subsumption import subsumes
from tests.test_classifier import HANABI, LANGUAGE, LEXICON, random_gene, situations

SIZE = 60


def gene_of(text: str) -> np.ndarray:
    gene = np.zeros(GENE, np.float32)
    gene[:ROW] = LANGUAGE.read(text)
    gene[STEP:CHANGES] = 0.2
    return gene


@pytest.mark.parametrize(
    ("general", "specific", "does"),
    [
        ("play [playable >= 50%]", "play [playable >= 60%]", True),
        ("play [playable >= 60%]", "play [playable >= 50%]", False),
        ("play [dead <= 50%]", "play [dead <= 40%]", True),
        ("play [playable >= 50%]", "discard [playable >= 50%]", False),
        ("play [playable >= 50%]", "when notes <= 3: play [playable >= 50%]", True),
        ("when notes <= 3: play [playable >= 50%]", "play [playable >= 50%]", False),
        ("when notes <= 3: play [newest]", "when storms = 1 and notes <= 2: play [newest]", True),
        # Another test in front would aim at another card.
        ("play [playable >= 50%]", "play [newest, playable >= 50%]", False),
        ("when 2+ own [hinted]: play [newest]", "when 3+ own [hinted]: play [newest]", True),
        ("when 3+ own [hinted]: play [newest]", "when 2+ own [hinted]: play [newest]", False),
        ("when under 3 own [hinted]: play [newest]", "when no own [hinted]: play [newest]", True),
        ("when no own [hinted]: play [newest]", "when under 3 own [hinted]: play [newest]", False),
        # No hinted card at all is more than no old hinted card.
        ("when no own [hinted, oldest]: play [newest]", "when no own [hinted]: play [newest]",
         True),
        ("when no own [hinted]: play [newest]", "when no own [hinted, oldest]: play [newest]",
         False),
    ],
)  # fmt: skip
def test_which_rules_stand_for_which(general, specific, does):
    assert subsumes(gene_of(general), gene_of(specific)) == does
    assert subsumes(gene_of(general), gene_of(general))


def test_what_stands_for_a_rule_acts_wherever_it_does():
    facts = situations(1)
    rng = Chance(2).words
    pairs = acted = 0
    for seed in range(400):
        general = random_gene(seed)
        specific = general.copy()
        specialise(rng, LEXICON, specific, 1.0)
        if not subsumes(general, specific):
            continue
        pairs += 1
        rows = np.stack([general, specific])[:, :ROW].copy()
        for seen in facts:
            args = (seen, LANGUAGE.group_table, LANGUAGE.deed_table, rows)
            if action_of(*args, 1) != NONE:
                acted += 1
                assert action_of(*args, 0) != NONE
    assert pairs > 100
    assert acted > 100


# --- the population ------------------------------------------------------------------------------


def population(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give random rules, their standing, and how fit they are."""
    rng = Chance(seed).words
    genes = np.zeros((SIZE, GENE), np.float32)
    for gene in genes:
        new_rule(rng, LEXICON, gene)
    standing = np.zeros((SIZE + 1, STANDING))
    standing[:, CREDITS] = 100.0
    standing[:, NUMBER] = 1.0
    return genes, standing, np.arange(SIZE, dtype=np.float64)


def run_steps(numerosity: bool, subsumption: bool, rounds: int = 60, in_place: bool = False):
    genes, standing, fitness = population(4)
    rng = Chance(9).words
    none = np.zeros((0, LANGUAGE.facts), np.float32)
    manner = Manner(False, in_place, numerosity, subsumption, 5.0, 1.0, 1.0, 4)
    shares = np.array([0.02, 0.1, 0.1, 0.1, 0.1])
    made = 0
    for generation in range(rounds):
        made += next_generation(
            rng, LEXICON, genes, standing, fitness, np.ones(SIZE, np.bool_), shares, none, none,
            manner, generation,
        )  # fmt: skip
        standing[:, CREDITS] = 100.0
        yield genes, standing, made


@pytest.mark.parametrize(
    ("subsumption", "in_place"),
    [
        pytest.param(False, False, marks=pytest.mark.long),
        pytest.param(False, True, marks=pytest.mark.long),
        pytest.param(True, False, marks=pytest.mark.long),
        (True, True),
    ],
)
def test_rules_are_counted_and_their_number_stays(subsumption, in_place):
    most = 1.0
    for genes, standing, _ in run_steps(True, subsumption, in_place=in_place):
        there = genes[:, DEED] != NO_RULE
        assert standing[:SIZE, NUMBER].sum() == SIZE
        assert (standing[:SIZE, NUMBER] >= 1.0).tolist() == there.tolist()
        assert len({gene[:ROW].tobytes() for gene in genes[there]}) == there.sum()
        most = max(most, standing[:SIZE, NUMBER].max())
    assert most >= 3.0


def test_without_numerosity_every_rule_counts_once():
    for genes, standing, _ in run_steps(False, True, 20):
        assert (standing[:SIZE, NUMBER] == 1.0).all()
        assert (genes[:, DEED] != NO_RULE).all()


def test_fewer_rules_are_added_where_others_stand_for_them():
    (*_, (_, _, plain)), (*_, (_, _, fewer)) = run_steps(False, False), run_steps(False, True)
    assert fewer < 0.8 * plain


@pytest.mark.parametrize("young", [6, 30])
def test_young_rules_are_spared_until_they_crowd_out_others(young):
    """With a tenth of young rules the weakest of the others goes, with half one seldom tried."""
    genes, standing, merit = population(6)
    standing[:young, CREDITS] = np.arange(young) * 0.1
    standing[:young, BORN] = 8.0
    manner = Manner(False, False, False, False, 5.0, 0.15, 1.0, 4)
    taken = np.zeros(SIZE, np.bool_)
    gone = [
        int(weakest(Chance(seed).words, genes, standing, merit, manner, 10, taken))
        for seed in range(200)
    ]
    crowded = young > 0.15 * SIZE
    assert all((rule < young) == crowded for rule in gone if rule != NONE)
    kept = [rule for rule in gone if rule != NONE]
    middle = young / 2 if crowded else (young + SIZE) / 2
    assert len(kept) > 190
    assert np.mean(kept) < middle - SIZE / 20  # of several, the least tried or the weakest


def test_a_niche_is_who_calls_for_the_same():
    genes, *_ = population(5)
    rows = np.ascontiguousarray(genes[:, :ROW])
    inside = np.zeros(SIZE, np.bool_)
    sizes = []
    for number, moment in enumerate(situations(1)):
        niche_of(Chance(number).words, LEXICON, genes, rows, moment, inside)
        calls = [
            int(action_of(moment, LEXICON.groups, LEXICON.deeds, rows, rule))
            for rule in range(SIZE)
        ]
        called = {calls[rule] for rule in np.flatnonzero(inside)}
        assert len(called) == 1
        assert called != {NONE}
        assert inside.tolist() == [call in called for call in calls]
        sizes.append(inside.sum())
    assert min(sizes) < max(sizes) < SIZE


def test_accuracy_is_how_little_pay_varies():
    settings = Settings(
        method="population", population=10, fitness="accuracy", tolerance=0.5, young=10.0
    )
    arena = Arena(HANABI, words_for(LANGUAGE, settings), 10, "random", 1, 1)
    colony = Colony((arena, arena), settings, 1)
    colony.begin()
    colony.standing[:, CREDITS] = 50.0
    colony.standing[:4, SPREAD] = np.array([0.0, 0.5, 1.0, 2.0]) ** 2
    colony.standing[4, CREDITS] = 9.0
    expected = [1.0, 1.0, 0.1 * 2.0**-5, 0.1 * 4.0**-5, 0.0]
    assert colony.fitness()[:5].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"fitness": "accuracy"}, id="accuracy", marks=pytest.mark.long),
        pytest.param({"niches": True}, id="niches", marks=pytest.mark.long),
        pytest.param({"numerosity": True, "subsumption": True}, id="numerosity"),
        pytest.param({"in_place": True, "momentum": 0.9}, id="in-place", marks=pytest.mark.long),
    ],
)
def test_every_manner_trains_and_repeats(settings):
    def once(cores: int):
        return kibitz.train(
            "classifier", HANABI, seed=3, method="population", games=1500, tested_on=100,
            compacted_on=0, population=40, lane_games=20, generation=2, young=5.0, protected=5.0,
            cores=cores, **settings,
        )  # fmt: skip

    one, two = once(1), once(2)
    assert one.to_dict() == two.to_dict()
    assert one.rules


def lane_earnings(pays: list[float]) -> np.ndarray:
    earnings = np.zeros((1, 2, EARNINGS))
    earnings[0, 0, [TIMES, EARNED, SQUARES]] = len(pays), sum(pays), sum(p * p for p in pays)
    return earnings


def test_pay_that_never_varies_has_no_spread():
    standing = np.zeros((2, STANDING))
    for _ in range(3):
        settle(lane_earnings([1.0] * 40), standing, 0.0, 0.001)
        assert standing[0, UTILITY] == pytest.approx(1.0)
        assert standing[0, SPREAD] == pytest.approx(0.0, abs=1e-12)
    settle(lane_earnings([0.0, 2.0] * 2000), standing, 0.0, 0.001)
    assert standing[0, SPREAD] == pytest.approx(1.0, rel=0.05)


def test_rules_that_hold_are_counted_whoever_acts():
    settings = Settings(
        method="population", population=30, explore=0.0, young=0.0, protected=0.0, lane_games=20
    )
    arena = Arena(HANABI, words_for(LANGUAGE, settings), 30, "random", 1, 1)
    colony = Colony((arena, arena), settings, 1)
    colony.begin()
    colony.round()
    held, acted = colony.standing[:30, HOLDS], colony.standing[:30, ACTS]
    assert (held > 0.0).sum() > (acted > 0.0).sum() > 0


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"method": "lists", "most_rules": 5}, "--first-rules"),
        ({"credit": "contests"}, "--contests"),
        ({"contests": 0.1}, "--credit"),
        ({"colonies": 4, "colony_share": 0.3}, "--colony-share"),
        ({"method": "population", "wages": "storm=nan"}, "storm=nan"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings, says):
    with pytest.raises(KibitzError, match=says):
        kibitz.train("classifier", HANABI, seed=1, games=1000, **settings)


@pytest.mark.long  # whole trainings
def test_populations_that_use_up_all_games_hand_on_all_the_same():
    learned = kibitz.train(
        "classifier", HANABI, seed=1, games=6000, colonies=4, colony_share=0.24, lane_games=60,
        generation=2, population=60, islands=2, young=5.0, protected=5.0, tested_on=100,
        compacted_on=0, most_rules=12,
    )  # fmt: skip
    assert 1 <= len(learned.rules) <= 12


# --- CMA-ES --------------------------------------------------------------------------------------

RULES = "when notes <= 3: play [playable >= 20%]\ndiscard [dead >= 90%, newest]\nhint [cards = 2]"


def polish_for(genes: np.ndarray, generations: int) -> Polish:
    polish = Polish(lexicon_of(LANGUAGE), generations, 5)
    polish.begin(genes)
    return polish


def closeness(genes: np.ndarray) -> float:
    """A score that is best with 70% in the first rule and 30% in the second."""
    first, second = genes[0, TARGET + BOUND], genes[1, TARGET + BOUND]
    return -((first - 0.7) ** 2) - (second - 0.3) ** 2


def test_bounds_move_to_where_the_score_is_best():
    genes = np.stack([gene_of(line) for line in RULES.splitlines()])
    assert len(bounds_of(LEXICON, genes)) == 3  # not what must be equal, not flags
    polish = polish_for(genes, 40)
    while not polish.is_over:
        polish.tell([float(closeness(child)) for child in polish.ask()])
    best = polish.best()
    assert closeness(best) > -0.002 > closeness(genes)
    text = LANGUAGE.write_all(best[:, :ROW].copy())
    assert [line.split()[0] for line in text] == ["when", "discard", "hint"]


def test_cma_goes_on_from_what_it_was_told():
    genes = np.stack([gene_of(line) for line in RULES.splitlines()])
    whole, part = polish_for(genes, 6), polish_for(genes, 6)
    for _ in range(3):
        for polish in (whole, part):
            polish.tell([float(closeness(child)) for child in polish.ask()])
    other = Polish(lexicon_of(LANGUAGE), 6, 5)
    other.restore({name: array.copy() for name, array in part.arrays().items()})
    other.begin(genes)
    assert np.array_equal(np.stack(whole.ask()), np.stack(other.ask()))


@pytest.mark.long
def test_training_with_cma_resumes(tmp_path):
    settings = {
        "method": "lists", "games": 40_000, "islands": 2, "scouts": 5, "stages": 3, "easy": 0.0,
        "round_games": 300, "tested_on": 100, "compacted_on": 0, "polish": 0.9,
    }  # fmt: skip
    whole = kibitz.train("classifier", HANABI, seed=1, folder=tmp_path / "whole", **settings)
    calls = 0

    def stop(done, total, words):
        nonlocal calls
        calls += done > 15_000
        if calls == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kibitz.train(
            "classifier", HANABI, seed=1, folder=tmp_path / "parts", progress=stop, **settings
        )
    parts = kibitz.train("classifier", HANABI, seed=1, folder=tmp_path / "parts", **settings)
    assert parts.to_dict() == whole.to_dict()


# --- the search for settings ---------------------------------------------------------------------


def search(folder, **settings):
    return kibitz.train(
        "classifier-optimizer", HANABI, seed=2, folder=folder,
        **{"trials": 3, "seeds": 1, "games": 1500, "tested_on": 100, "vary": "population+young",
           **settings},
    )  # fmt: skip


@pytest.mark.long
def test_the_search_tries_settings_and_gives_the_best(tmp_path):
    found = search(tmp_path / "whole")
    assert len(found.tried) == 3
    assert found.score == max(trial["score"] for trial in found.tried)
    assert len({trial["settings"]["population"] for trial in found.tried}) > 1
    assert json.loads((tmp_path / "whole" / "trials.json").read_text()) == found.tried
    agent = find_agent(found.path, HANABI)
    assert kibitz.match(HANABI, [agent] * 2, games=10, seed=1).agents[0].points.mean >= 0.0

    def stop(done, total, words):
        if done == 1 and words.startswith("best"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(tmp_path / "parts", progress=stop)
    assert search(tmp_path / "parts").to_dict() == found.to_dict()


def test_the_search_says_what_it_cannot_vary(tmp_path):
    with pytest.raises(KibitzError, match="colour"):
        search(tmp_path / "x", vary="colour")
    with pytest.raises(KibitzError, match="--vary"):
        search(tmp_path / "y", vary="+")


def test_a_game_without_a_language_is_refused():
    with pytest.raises(KibitzError, match="language"):
        kibitz.train("classifier-optimizer", find_game("nim"), seed=1, trials=2, games=1000)
