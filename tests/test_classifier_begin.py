"""The classifier system: what it begins with, what its settings do, and rules in text files."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import kibitz
from kibitz.cli import run as command
from kibitz.core.chance import Chance
from kibitz.core.compiled import pointer
from kibitz.core.errors import KibitzError
from kibitz.core.matching import CONDITION, DEED, FIRST_CONDITION, ROW
from kibitz.core.registry import find_game
from kibitz.games.hanabi.cards import hand_chances
from kibitz.games.hanabi.cells import CARDS, MOST_HAND
from kibitz.games.hanabi.vocabulary import CARD_NAMES
from kibitz.learners.classifier import Settings, words_for
from kibitz.learners.classifier.breeding import (
    add_condition,
    add_test,
    count_conditions,
    creep,
    new_rule,
)
from kibitz.learners.classifier.checkpoints import OLD_GENE, OLD_ROW, widened
from kibitz.learners.classifier.lexicon import CHANGES, GENE, STEP
from kibitz.learners.classifier.population import band_of
from kibitz.learners.classifier.settings import read_bands
from kibitz.learners.classifier_optimizer.space import SPACE, as_settings, space_of
from tests.lengths import first_always

HANABI = find_game("hanabi")
LANGUAGE = HANABI.language
SMALL = {
    "games": 1200, "islands": 2, "scouts": 10, "stages": 3, "round_games": 300, "tested_on": 100,
    "compacted_on": 0, "colonies": 2, "colony_share": 0.2, "population": 40, "lane_games": 20,
    "generation": 2, "young": 5.0, "protected": 5.0,
}  # fmt: skip
FLAGS = [part for name, of in SMALL.items() for part in (f"--{name.replace('_', '-')}", str(of))]
MINE = """# mine
play [playable >= 100%]
when notes > 0 and fellow +1 [playable, not hinted]: hint +1 [focus playable]
discard [oldest]
hint
"""


def ask(capsys, *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = command(list(arguments))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def random_genes(count: int, **settings) -> list[np.ndarray]:
    lexicon = words_for(LANGUAGE, Settings(**settings))
    genes = [np.zeros(GENE, np.float32) for _ in range(count)]
    for seed, gene in enumerate(genes):
        new_rule(Chance(seed).words, lexicon, gene)
    return genes


# --- what it begins with -------------------------------------------------------------------------


@pytest.mark.parametrize("method", first_always(["population", "lists", "both"]))
def test_training_begins_with_the_rules_that_come_with_the_game(method):
    """So few games change a list that scores 21.8 but little; from nothing they teach nothing."""
    learned = kibitz.train(
        "classifier", HANABI, seed=2, method=method, begin_with="classifier-2", **SMALL
    )
    assert learned.score > (15 if method == "population" else 20)
    assert learned.games <= SMALL["games"]


@pytest.mark.long  # three trainings
def test_training_begins_with_a_file_and_goes_on_from_a_run(capsys, tmp_path):
    mine, first, second = tmp_path / "mine.rules", tmp_path / "first", tmp_path / "second"
    mine.write_text(MINE)
    train = ["train", "hanabi", "classifier", "--seed", "1", "--method", "lists", *FLAGS]
    code, _, err = ask(capsys, *train, "--begin-with", str(mine), "--out", str(first))
    assert code == 0, err
    assert json.loads((first / "run.json").read_text())["settings"]["begin_with"] == str(mine)
    played = kibitz.match(HANABI, [str(mine)] * 2, games=200, seed=1).agents[0].points.mean
    assert played > 1.0  # rules in the plainest form
    for source in (first, first / "model.safetensors"):
        code, out, err = ask(
            capsys, *train, "--begin-with", str(source), "--out", str(second / source.name),
            "--json",
        )  # fmt: skip
        assert code == 0, err
        learned = json.loads(out)
        assert learned["score"] > learned["by_lot"] + 0.5


def test_what_cannot_begin_says_why(capsys, tmp_path):
    many = tmp_path / "many.rules"
    many.write_text("play [old = 1]\n" * 30)
    train = ["train", "hanabi", "classifier", "--seed", "1", *FLAGS, "--out", str(tmp_path / "run")]
    for given, says in (
        (["--begin-with", "classifer"], "there are: classifier-2"),
        (["--begin-with", str(tmp_path)], "has no model.safetensors yet"),
        (["--begin-with", str(many), "--method", "lists"], "add --most-rules 30"),
        (["--begin-with", str(many), "--method", "population", "--population", "20"],
         "add --population 200"),
    ):  # fmt: skip
        code, _, err = ask(capsys, *train, *given)
        assert code == 2
        assert says in err


def test_a_run_that_learned_nothing_says_so(capsys, tmp_path):
    folder = tmp_path / "run"
    code, out, err = ask(
        capsys, "train", "hanabi", "classifier", "--seed", "1", "--method", "population",
        "--games", "1000", "--young", "100000", "--tested-on", "100", "--out", str(folder),
    )  # fmt: skip
    assert (code, out) == (1, "")
    assert "No rule has come into use in 1,000 games" in err
    assert "--begin-with" in err
    assert not (folder / "model.safetensors").exists()


def test_rules_no_better_than_random_moves_are_called_so():
    learned = kibitz.train(
        "classifier", HANABI, seed=1, method="population", **{**SMALL, "games": 1000, "young": 1.0}
    )
    assert learned.score <= learned.by_lot + learned.spread  # so few games teach nothing
    assert "nothing was learned. Try" in learned.summary()


# --- settings ------------------------------------------------------------------------------------


def test_rules_are_as_large_as_the_settings_allow():
    usual = random_genes(400)
    assert max(map(count_conditions, usual)) == 4
    large = random_genes(400, most_conditions=15, more_conditions=0.9)
    assert max(map(count_conditions, large)) == 15
    assert {count_conditions(gene) for gene in random_genes(50, most_conditions=0)} == {0}
    texts = [LANGUAGE.write(gene[:ROW]) for gene in random_genes(200, most_tests=6, more_tests=0.9)]
    tests = [
        inside.count(",") + 1
        for text in texts
        for inside in re.findall(r"\[([^]]*)\]", text.partition(": ")[0])
    ]
    assert max(tests) == 6
    for gene in large[:100]:
        row = gene[:ROW]
        assert np.array_equal(LANGUAGE.read(LANGUAGE.write(row)), row)
    few = words_for(LANGUAGE, Settings(most_conditions=2, most_aims=1))
    gene = large[int(np.argmax([count_conditions(gene) for gene in large]))]
    assert not add_condition(Chance(1).words, few, gene)
    assert not add_test(Chance(1).words, few, gene)


def test_what_is_likely_comes_more_often():
    def shares(likely: str) -> tuple[float, float]:
        genes = random_genes(1000, likely=likely)
        texts = [LANGUAGE.write(gene[:ROW]).partition(": ")[0] for gene in genes]
        plays = np.mean([LANGUAGE.deeds[int(gene[DEED])].name == "play" for gene in genes])
        return float(plays), float(np.mean(["discard pile" in text for text in texts]))

    usual, likely = shares(""), shares("play=5+discard pile=0")
    assert likely[0] > usual[0] + 0.2
    assert likely[1] == 0.0
    for text, says in (("ply=2", "Did you mean 'play'"), ("play=-1", "cannot be negative")):
        with pytest.raises(KibitzError, match=says):
            words_for(LANGUAGE, Settings(likely=text))


def test_creeping_begins_with_the_first_step_and_adapts_by_its_rate():
    gene = np.zeros(GENE, np.float32)
    gene[:ROW] = LANGUAGE.read("play [playable >= 50%]")
    steps = {}
    for rate in (0.0, 2.0):
        lexicon = words_for(LANGUAGE, Settings(first_step=0.1, step_rate=rate))
        new_rule(Chance(1).words, lexicon, gene)
        assert np.allclose(gene[STEP:CHANGES], 0.1)
        for _ in range(20):
            creep(Chance(2).words, lexicon, gene, 1.0, lexicon.step_rate, 0)
        steps[rate] = gene[STEP:CHANGES].copy()
    assert np.allclose(steps[0.0], 0.1)
    assert not np.allclose(steps[2.0], 0.1)


@pytest.mark.long
def test_bands_pay_for_the_final_score():
    bands = read_bands("20=8+0=-5+10=1")
    assert [band_of(bands, score) for score in (-1.0, 0.0, 9.5, 10.0, 19.0, 20.0, 25.0)] == [
        0.0, -5.0, -5.0, 1.0, 1.0, 8.0, 8.0,
    ]  # fmt: skip
    with pytest.raises(KibitzError, match="--bands 10=1"):
        read_bands("good=3")
    usual, paid = (
        kibitz.train("classifier", HANABI, seed=2, begin_with="classifier", method="population",
                     bands=text, **SMALL)
        for text in ("", "0=100")
    )  # fmt: skip
    assert min(usual.utility) < 50.0
    assert min(paid.utility) > 90.0


def test_the_search_can_vary_every_setting_that_is_named():
    named = {
        "likely", "most_conditions", "first_step", "step_rate", "tournament", "momentum", "wages",
        "final", "vocabulary", "more_conditions", "more_tests",
    }  # fmt: skip
    found = space_of(HANABI, "+".join([*sorted(named | set(SPACE)), "bands.20", "bands.10"]))
    assert {name.partition(".")[0] for name in found} == named | set(SPACE) | {"bands"}
    assert {name for name in found if name.startswith("wages.")} == {
        f"wages.{event.name}" for event in LANGUAGE.events
    }
    drawn = {
        name: choices[0] if not (len(choices) == 3 and isinstance(choices[2], bool)) else choices[1]
        for name, choices in found.items()
    }
    settings = as_settings(drawn)
    words_for(LANGUAGE, Settings(**settings))
    assert settings["bands"] == "20=20+10=20"
    assert space_of(HANABI, "wages.last-storm") == {"wages.last-storm": (-30.0, 10.0, False)}
    for text, says in (
        ("wages.strom", "Did you mean 'storm'"), ("likely.ownn", "Did you mean 'own'"),
        ("bands", "bands.20"), ("vocabularies", "Did you mean 'vocabulary'"),
    ):  # fmt: skip
        with pytest.raises(KibitzError, match=says):
            space_of(HANABI, text)


@pytest.mark.long
def test_a_search_over_wages_bands_and_words(tmp_path):
    found = kibitz.train(
        "classifier-optimizer", HANABI, seed=1, folder=tmp_path, trials=2, seeds=1, games=2000,
        tested_on=100, vary="wages.storm+likely.play+bands.10+vocabulary+young+tournament",
    )  # fmt: skip
    for trial in found.tried:
        assert re.fullmatch(r"storm=-?[\d.]+", trial["settings"]["wages"])
        assert trial["settings"]["vocabulary"] in LANGUAGE.vocabularies
    assert "--bands 10=" in found.summary()


@pytest.mark.long  # half a minute and more
@pytest.mark.parametrize("seed", [1, 8])
def test_the_first_command_of_the_docs_learns(seed):
    learned = kibitz.train("classifier", HANABI, seed=seed, preset="quick")
    assert learned.score > 15.0


def test_checkpoints_of_shorter_rows_go_on():
    """A rule in the layout of earlier versions: 4 conditions of 3 tests, 4 tests of a target."""
    text = "when notes <= 3 and 2+ own [old >= 2, dead <= 20%]: play [playable >= 50%, most old]"
    row = LANGUAGE.read(text)
    old = np.zeros((1, 1, OLD_GENE), np.float32)
    first, second = (LANGUAGE.groups.index(LANGUAGE._group(name)) + 1 for name in ("game", "own"))
    old[0, 0, :7] = row[:7]  # the deed, two tests of the target
    at = 1 + 3 * 4
    old[0, 0, at : at + 5] = first, 1.0, 2.0, 0.0, 3.0
    old[0, 0, at + 11 : at + 19] = second, 2.0, *row[FIRST_CONDITION + CONDITION + 2 :][:6]
    old[0, 0, OLD_ROW:-2] = np.arange(20)
    old[0, 0, -2:] = 7.0, 0.5
    new = widened(old)[0, 0]
    assert new.shape == (GENE,)
    assert LANGUAGE.write(new[:ROW]) == text
    assert new[STEP : STEP + 4].tolist() == [0, 1, 2, 3]
    assert new[STEP + 6 : STEP + 9].tolist() == [4, 5, 6]
    assert new[STEP + 12] == 7  # the step of the least number stands last
    assert new[STEP + 13 : STEP + 16].tolist() == [8, 9, 10]
    assert new[CHANGES:].tolist() == [7.0, 0.5]


# --- words ---------------------------------------------------------------------------------------


def test_own_cards_by_colour_and_value():
    table = HANABI.deal(seed=5)
    chances = np.zeros((MOST_HAND, CARDS))
    for _ in range(40):
        view = table.view()
        facts = np.zeros(LANGUAGE.facts, np.float32)
        pointer(LANGUAGE.see)(view.cells, facts, (1 << len(LANGUAGE.groups)) - 1)
        held = hand_chances(view.cells, chances)
        for name, group_name, most in (("", "own", held), ("drawn ", "next card", 1)):
            place = [group.name for group in LANGUAGE.groups].index(group_name)
            start, stride = LANGUAGE.group_table[place]
            names = [word.name for word in LANGUAGE.groups[place].words]
            first = names.index(f"{name}{CARD_NAMES[0]}")
            seen = np.array(
                [[facts[start + 1 + (first + card) * stride + thing] for card in range(CARDS)]
                 for thing in range(most)]
            )  # fmt: skip
            assert np.allclose(seen.sum(axis=1), 1.0, atol=1e-5)
            if group_name == "own":
                assert np.allclose(seen, chances[:held], atol=1e-5)
        table.play(table.legal[-1])
        if table.over:
            break
    row = LANGUAGE.read("when own [red 3 >= 50%] and drawn red 3 <= 4%: play [blue 5 >= 100%]")
    assert "own [red 3 >= 50%]" in LANGUAGE.write(row)
    assert "red 3" not in " ".join(LANGUAGE.write(gene[:ROW]) for gene in random_genes(300))
    patterns = random_genes(300, vocabulary="patterns")
    assert any(
        f"[{name} " in LANGUAGE.write(gene[:ROW]) for gene in patterns for name in CARD_NAMES
    )


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("when notes < 4: play", "when notes <= 3: play"),
        ("when storms > 1: discard [old < 2]", "when storms >= 2: discard [old <= 1]"),
        ("when fellow [colour red]: hint", "when fellow [colour = red]: hint"),
        ("when fellow [not red, value 3]: hint", "when fellow [colour != red, value = 3]: hint"),
        ("when no fellow +1 [hinted]: hint +2", "when no fellow [onward = 1, hinted]: "
         "hint [onward = 2]"),
        ("when fellow [+1, red, 3+ old]: hint", None),
        ("when table [colour == red]: play", "when table [colour = red]: play"),
        ("when fellow +1 [red, value 3, not colour told, not value told]: hint colour +1 [red]",
         "when fellow [onward = 1, colour = red, value = 3, not colour told, not value told]: "
         "hint colour [onward = 1, colour = red]"),
        ("play [playable > 50%]", None),
    ],
)  # fmt: skip
def test_what_people_write_is_understood_or_explained(text, means):
    if means is not None:
        assert LANGUAGE.write(LANGUAGE.read(text)) == means
        return
    with pytest.raises(
        KibitzError, match=r"write >= or <=|No word for 'fellow' is called '3\+ old'"
    ):
        LANGUAGE.read(text)


# --- files of rules ------------------------------------------------------------------------------


def test_a_file_of_rules_plays_and_is_printed(capsys, tmp_path):
    mine = tmp_path / "mine.rules"
    mine.write_text(MINE)
    code, out, err = ask(
        capsys, "match", "hanabi", str(mine), "--games", "20", "--seed", "1", "--json"
    )
    assert code == 0, err
    code, out, err = ask(capsys, "rules-of", str(mine))
    assert code == 0, err
    assert "discard [oldest]" in out
    assert "%" in out  # how often each acts
    code, out, _ = ask(capsys, "rules-of", str(mine), "--text")
    assert out.splitlines()[1:] == LANGUAGE.write_all(LANGUAGE.read_all(MINE))
    for name in ("hanabi", "rules"):
        printed = ask(capsys, "rules-of", "hanabi" if name == "hanabi" else str(mine), "--text")[1]
        again = tmp_path / f"{name}.rules"
        again.write_text(printed)
        assert (
            ask(capsys, "rules-of", str(again), "--text")[1].splitlines()[1:]
            == (printed.splitlines()[1:])
        )
    assert ask(capsys, "rules-of", str(mine), "--text", "--json")[0] == 2


@pytest.mark.parametrize("verb", [("match", "hanabi"), ("rules-of",)])
def test_errors_name_the_file_and_the_line(capsys, tmp_path, verb):
    bad = tmp_path / "bad.rules"
    bad.write_text("# one\nplay\n\ndiscard [olddest]\n")
    code, out, err = ask(capsys, *verb, str(bad))
    assert (code, out) == (2, "")
    assert f"{bad}, line 4: No word for 'own' is called 'olddest'. Did you mean 'oldest'?" in err


def test_events_and_vocabularies_are_listed(capsys):
    for asked in (["learners"], ["words", "hanabi"]):
        code, out, _ = ask(capsys, *asked)
        assert code == 0
        for name in ("tells-critical", "last-storm", "patterns", "usual"):
            assert name in out
    learners = {one["name"]: one for one in json.loads(ask(capsys, "learners", "--json")[1])}
    assert "storm" in learners["classifier"]["names"]["wages"]["hanabi"]
    assert "meeple-set" in learners["ppo"]["names"]["rewards"]["carcassonne"]
    events = json.loads(ask(capsys, "words", "hanabi", "--json")[1])["events"]
    assert [event["name"] for event in events] == [event.name for event in LANGUAGE.events]
