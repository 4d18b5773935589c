"""The classifier system: breeding, covering, credit, and training that repeats and resumes."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import kibitz
from kibitz.cli import run as command
from kibitz.core.chance import Chance
from kibitz.core.compiled import pointer
from kibitz.core.errors import BadModel, KibitzError, Misuse, UnknownName
from kibitz.core.matching import (
    NONE,
    ROW,
    SENSE,
    TARGET,
    action_of,
    targets_of,
)
from kibitz.core.models import save_model
from kibitz.core.registry import find_agent, find_game
from kibitz.learners.classifier import Settings, words_for
from kibitz.learners.classifier.agent import kind_of, load_rules
from kibitz.learners.classifier.breeding import (
    add_test,
    alter,
    are_similar,
    creep,
    cross_average,
    cross_uniform,
    drop_condition,
    drop_test,
    generalise,
    new_rule,
    share_deed,
    specialise,
)
from kibitz.learners.classifier.colony import wages_of
from kibitz.learners.classifier.compaction import compact
from kibitz.learners.classifier.genetics import cover
from kibitz.learners.classifier.islands import Arena
from kibitz.learners.classifier.lexicon import CHANGES, GENE, STEP, lexicon_of
from kibitz.learners.classifier.lists import count_rules
from kibitz.learners.classifier.population import (
    CREDITS,
    EARNED,
    EARNINGS,
    SQUARES,
    STANDING,
    TIMES,
    UTILITY,
    settle,
)
from tests.lengths import first_always

HANABI = find_game("hanabi")
LANGUAGE = HANABI.language
LEXICON = lexicon_of(LANGUAGE)
SMALL = {
    "games": 3000, "islands": 2, "scouts": 10, "stages": 3, "round_games": 300, "tested_on": 100,
    "compacted_on": 100, "colonies": 2, "colony_share": 0.16, "population": 40, "lane_games": 20,
    "generation": 2, "young": 5.0, "protected": 5.0,
}  # fmt: skip
METHODS = ("lists", "population", "both")


def random_gene(seed: int, lexicon=LEXICON) -> np.ndarray:
    gene = np.zeros(GENE, np.float32)
    new_rule(Chance(seed).words, lexicon, gene)
    return gene


def situations(deals: int = 3) -> list[np.ndarray]:
    """Give the facts at all turns of some games."""
    found = []
    for deal in range(deals):
        table = HANABI.deal(seed=11, deal=deal)
        agent = find_agent("piers", HANABI)
        while not table.over:
            facts = np.zeros(LANGUAGE.facts, np.float32)
            pointer(LANGUAGE.see)(table.view().cells, facts, 255)
            found.append(facts)
            table.play(agent.choose(table.view()))
    return found


# --- breeding ------------------------------------------------------------------------------------


def test_all_that_is_bred_can_be_written_and_read():
    rng = Chance(5).words
    crossed = 0
    for seed in range(300):
        gene = random_gene(seed)
        for change in (specialise, generalise):
            change(rng, LEXICON, gene, 1.0)
        creep(rng, LEXICON, gene, 0.5, 1.0, 0)
        bred = [gene]
        for other in map(random_gene, range(seed + 1000, seed + 1040)):
            child = np.zeros_like(gene)
            if share_deed(gene, other):
                cross_uniform(rng, gene, other, child)
                bred.append(child)
                break
        average, altered = np.zeros_like(gene), gene.copy()
        crept = gene.copy()
        creep(rng, LEXICON, crept, 1.0, 1.0, 0)
        cross_average(LEXICON, gene, crept, average)
        alter(rng, LEXICON, altered, 1.0)
        crossed += len(bred) - 1
        for made in (*bred, average, altered):
            row = made[:ROW]
            assert np.array_equal(LANGUAGE.read(LANGUAGE.write(row)), row)
            assert (made[STEP:CHANGES] > 0.0).all()
    assert crossed > 100


def test_steps_go_with_their_bounds():
    text = "when notes <= 3 and own [old >= 2, dead <= 20%]: play [playable >= 50%, dead <= 30%]"
    gene = np.zeros(GENE, np.float32)
    gene[:ROW] = LANGUAGE.read(text)
    gene[STEP:CHANGES] = np.arange(1, CHANGES - STEP + 1) / 100
    steps = gene[STEP:CHANGES].copy()
    less = gene.copy()
    drop_test(less, TARGET, 2, 0)
    assert less[STEP : STEP + 2].tolist() == pytest.approx([steps[1], 0.2])
    less = gene.copy()
    drop_condition(less, 2, 0)
    assert less[STEP + 4 : STEP + 8].tolist() == pytest.approx(steps[8:12].tolist())
    for seed in range(50):
        more = gene.copy()
        assert add_test(Chance(seed).words, LEXICON, more)
        first = int(np.array_equal(more[TARGET : TARGET + 6], gene[TARGET : TARGET + 6]))
        assert more[STEP + 1 - first : STEP + 3 - first].tolist() == steps[:2].tolist()


def test_stricter_bounds_hold_in_fewer_situations_and_looser_ones_in_more():
    rng = Chance(6).words
    facts = situations(1)
    changed = 0
    for seed in range(200):
        gene = random_gene(seed)
        gene[TARGET + 12 : ROW] = 0.0  # the target alone
        for towards in (1, -1):
            other = gene.copy()
            creep(rng, LEXICON, other, 1.0, 1.0, towards)
            if any(gene[at + SENSE] == 3 for at in range(TARGET, TARGET + 12, 3)):
                continue  # a value that is moved is neither stricter nor looser
            rows = np.stack([gene, other])[:, :ROW].copy()
            for seen in facts:
                args = (seen, LANGUAGE.group_table, LANGUAGE.deed_table, rows)
                before, after = (int(targets_of(*args, rule)) for rule in (0, 1))
                assert before & after == (after if towards == 1 else before)
                changed += before != after
    assert changed > 50


def test_the_step_adapts_itself_and_less_with_every_change():
    rng = Chance(7).words
    spreads = []
    for changes in (1, 400):
        steps = []
        for _ in range(400):
            gene = np.zeros(GENE, np.float32)
            gene[:ROW] = LANGUAGE.read("play [playable >= 50%]")
            gene[STEP:CHANGES] = 0.2
            gene[CHANGES] = changes - 1
            creep(rng, LEXICON, gene, 1.0, 0.5, 0)
            assert gene[CHANGES] == changes
            steps.append(np.log(gene[STEP] / 0.2))
        spreads.append(np.std(steps))
    assert spreads[0] == pytest.approx(0.5, rel=0.15)  # the rate over the root of one change
    assert spreads[1] == pytest.approx(0.5 / 20, rel=0.15)


def test_the_average_of_two_rules_is_their_average():
    one, other = (
        np.concatenate([LANGUAGE.read(text), np.full(GENE - ROW, step, np.float32)])
        for text, step in (
            ("when 4+ own [playable >= 20%]: play [playable >= 50%, most old]", 0.2),
            ("when 2+ own [playable >= 60%]: play [playable >= 90%, most old]", 0.4),
        )
    )
    assert are_similar(one, other)
    child = np.zeros_like(one)
    cross_average(LEXICON, one, other, child)
    assert LANGUAGE.write(child[:ROW]) == (
        "when 3+ own [playable >= 40%]: play [playable >= 70%, most old]"
    )
    assert child[STEP] == pytest.approx(0.3)
    assert not are_similar(one, random_gene(1))


def test_covering_makes_rules_that_act_in_the_situation():
    rng = Chance(8).words
    for seen in situations():
        for _ in range(5):
            gene = np.zeros(GENE, np.float32)
            assert cover(rng, LEXICON, seen, gene)
            rows = gene[None, :ROW].copy()
            called = action_of(seen, LANGUAGE.group_table, LANGUAGE.deed_table, rows, 0)
            assert called != NONE, LANGUAGE.write(gene[:ROW])


def asked_of(text: str, group: str) -> list[str]:
    """List the tests that a rule puts to the things of a group."""
    condition, _, deed = text.rpartition(": ")
    found = re.findall(rf"\b{group} \[([^\]]*)\]", condition)
    if deed.startswith(("play", "discard")) and group == "own":
        found += re.findall(r"\[([^\]]*)\]", deed)
    return [test.strip() for tests in found for test in tests.split(",")]


def test_words_that_are_left_out_do_not_occur():
    plain = words_for(LANGUAGE, Settings(vocabulary="plain"))
    for seed in range(300):
        text = LANGUAGE.write(random_gene(seed, plain)[:ROW])
        assert not any(word in text for word in ("playable", "dead", "hinted", "focus", "chop"))
    lean = words_for(LANGUAGE, Settings(without="own old+tell+discard"))
    for seed in range(300):
        text = LANGUAGE.write(random_gene(seed, lean)[:ROW])
        assert "tell" not in text
        assert not any(re.match(r"(most |least )?old\b", test) for test in asked_of(text, "own"))
        assert not text.rpartition(": ")[2].startswith(("discard", "hint ["))
    with pytest.raises(UnknownName, match="hinte"):
        words_for(LANGUAGE, Settings(without="hinte"))
    with pytest.raises(UnknownName, match="Did you mean 'plain'"):
        words_for(LANGUAGE, Settings(vocabulary="plian"))
    with pytest.raises(Misuse, match="leave out less"):
        words_for(LANGUAGE, Settings(without="play+discard+hint"))


# --- credit --------------------------------------------------------------------------------------


def test_utility_is_a_mean_or_a_momentum_average():
    payments = [3.0, -1.0, 2.0, 2.0, 5.0]
    for momentum, wanted in ((0.0, np.mean(payments)), (0.9, None)):
        standing = np.zeros((1, STANDING))
        slowly = 0.0
        for payment in payments:
            earnings = np.zeros((2, 1, EARNINGS))
            earnings[1, 0, [TIMES, EARNED, SQUARES]] = 1.0, payment, payment**2
            settle(earnings, standing, momentum, 0.0)
            slowly = momentum * slowly + (1 - momentum) * payment
        assert standing[0, UTILITY] == pytest.approx(slowly if wanted is None else wanted)
        assert standing[0, CREDITS] == len(payments)


def test_wages_are_read_by_the_names_of_events():
    names = [event.name for event in LANGUAGE.events]
    wages = wages_of(LANGUAGE, "storm=-7+fits=2")
    assert wages[names.index("storm")] == -7
    assert wages[names.index("fits")] == 2
    assert wages[names.index("discards")] == LANGUAGE.events[names.index("discards")].reward
    with pytest.raises(UnknownName, match="Did you mean 'storm'"):
        wages_of(LANGUAGE, "strom=1")
    with pytest.raises(KibitzError, match="write a number"):
        wages_of(LANGUAGE, "storm=much")


@pytest.mark.parametrize("players", [2, 4])
def test_events_are_what_happens(players):
    """Judge every legal action of real tables, and compare with what playing it does."""
    game = HANABI.having(players=players)
    names = [event.name for event in LANGUAGE.events]
    met = set()
    for deal in range(6):
        table = game.deal(seed=2, deal=deal)
        agent = find_agent(("flawed", "iggi")[deal % 2], game)
        while not table.over:
            for action in table.legal:
                event = names[LANGUAGE.judge(table.cells, action)]
                met.add(event)
                after = table.copy().play(action)
                storms = int(after["storms"]) - int(table["storms"])
                pile = int(np.sum(after["firework"])) - int(np.sum(table["firework"]))
                assert (event == "fits") == (pile == 1)
                assert (event in ("storm", "last-storm")) == (storms == 1)
                assert (event == "last-storm") == (storms == 1 and int(after["storms"]) == 3)
                if event.startswith("tells"):
                    told, then = (np.asarray(t["told"]) for t in (table, after))
                    named = (told ^ then) & 0xC00 != 0  # a hint has named what it had not
                    narrowed = (told ^ then) & 0x3FF != 0
                    assert (event != "tells-nothing") == (named & narrowed).any()
            table.play(agent.choose(table.view()))
    assert met == set(names)


def test_thanks_go_to_the_last_hint_on_the_card():
    table = HANABI.deal(seed=4)
    hint = next(a for a in table.legal if a >= 10)
    table.play(hint)
    touched = int(np.asarray(table["outcome"])[0])
    for place in range(5):
        assert LANGUAGE.thank(table.cells, place) == (0 if touched >> place & 1 else -1)
    assert LANGUAGE.thank(table.cells, 5) == -1  # a discard owes nothing


# --- training ------------------------------------------------------------------------------------


def train(method: str, **settings):
    return kibitz.train("classifier", HANABI, seed=3, **{**SMALL, "method": method, **settings})


@pytest.mark.parametrize("method", first_always(METHODS))  # lists are the quickest
def test_training_repeats_on_any_number_of_cores(method):
    one, two = (train(method, cores=cores) for cores in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert one.games >= one.learned_from >= SMALL["games"]
    assert f"after {one.learned_from:,} games and" in one.summary()
    assert len(one.rules) >= 1


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_training_goes_on_where_it_stopped(method, tmp_path):
    whole = train(method, folder=tmp_path / "whole", games=8000)
    calls = 0
    late = False

    def stop(done, *_):
        nonlocal calls, late
        calls += 1
        # At once, a little later, and where islands have taken over from populations.
        if calls in (1, 3):
            raise KeyboardInterrupt
        if done > 6500 and not late:
            late = True
            raise KeyboardInterrupt

    parts, stops = None, 0
    while parts is None:
        try:
            parts = train(method, folder=tmp_path / "parts", games=8000, progress=stop)
        except KeyboardInterrupt:
            stops += 1
    assert stops >= 2
    assert late
    assert parts.to_dict() == whole.to_dict()
    names = ["model.safetensors", "curve.png", "curve.csv", "run.json"]
    assert all((tmp_path / "parts" / name).exists() for name in names)
    models = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "parts")]
    assert models[0] == models[1]


@pytest.mark.long  # five trainings
def test_other_settings_of_a_population_run(tmp_path):
    for settings in (
        {"credit": "contests", "contests": 0.05},
        {"shared": True, "final": 0.1, "momentum": 0.9},
        {"in_place": True, "covering": False, "explore": 0.0, "thanks": 0.0, "young": 0.0},
        {"vocabulary": "plain"},
    ):
        assert train("population", **settings).rules


@pytest.mark.long  # trains until it pays
def test_learning_pays():
    """Some games lift a list far above random rules, which score next to nothing."""
    learned = kibitz.train(
        "classifier", HANABI, seed=1, method="lists", games=100_000, islands=3, scouts=200,
        tested_on=400, compacted_on=200,
    )  # fmt: skip
    assert learned.otherwise["bomb=pile"] > 8
    assert learned.score > 5


def test_compaction_scores_no_less_with_fewer_rules():
    arena = Arena(HANABI, LEXICON, 30, "random", 1, 2)
    text = ["play [playable >= 80%]", "play [playable >= 80%, newest]", "hint [focus playable]"]
    text += ["when storms >= 3: play", "when notes <= 8: discard [oldest, most old]", "hint"]
    genes = arena.in_full(LANGUAGE.read_all(text))

    def scores(genes):
        return arena.scores(genes, 0, 300)

    small = compact(genes, scores)
    assert count_rules(small) < len(text)
    assert scores(small).mean() >= scores(genes).mean()


# --- the agent -----------------------------------------------------------------------------------


def test_the_agent_of_a_model_plays_its_rules_and_says_which(tmp_path, capsys):
    learned = train("lists", folder=tmp_path / "run")
    path = tmp_path / "run" / "model.safetensors"
    rows, about = load_rules(path, HANABI)
    assert LANGUAGE.write_all(rows) == learned.rules == about["rules"]
    text = tmp_path / "mine.rules"
    text.write_text("# mine\n\n" + "\n".join(learned.rules))
    results = [
        kibitz.match(HANABI, [who, who], games=50, seed=9).agents[0].points.mean
        for who in (str(path), f"classifier:model={text}")
    ]
    assert results[0] == results[1]
    opinion = find_agent(str(path), HANABI).explain(HANABI.deal(1).view())
    assert "Rule" in opinion.reason or "No rule" in opinion.reason
    assert command(["rules-of", str(path)]) == 0
    printed = capsys.readouterr().out
    assert all(rule.split(" [")[0] in printed for rule in learned.rules)
    assert "score" in printed
    assert command(["rules-of", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rules"] == learned.rules


def test_why_a_rule_acts_and_what_comes_next():
    rules = ["play [playable >= 100%]", "hint [new cards >= 1, most new cards]", "discard"]
    agent = kind_of(HANABI, LANGUAGE.read_all(rules))(HANABI)
    opinion = agent.explain(HANABI.deal(1).view())
    assert opinion.reason.startswith("Rule 2 of 3: hint [new cards >= 1, most new cards]. Strength")
    assert opinion.action == agent.choose(HANABI.deal(1).view())
    assert opinion.thoughts[0].note == "rule 2"


def test_bad_models_and_rules_are_refused(tmp_path):
    path = tmp_path / "bad.safetensors"
    save_model(path, "classifier", HANABI, {"rows": np.zeros((1, ROW), np.float32)}, {})
    with pytest.raises(BadModel, match="holds no rules"):
        find_agent(str(path), HANABI)
    about = {"rules": ["play [nonsense >= 3]"]}
    save_model(path, "classifier", HANABI, {"rows": np.zeros((1, ROW), np.float32)}, about)
    with pytest.raises(KibitzError, match="nonsense"):
        find_agent(str(path), HANABI)
    empty = tmp_path / "empty.rules"
    empty.write_text("# nothing\n")
    with pytest.raises(BadModel, match="holds no rule"):
        find_agent(f"classifier:model={empty}", HANABI)
    with pytest.raises(BadModel, match="Cannot read"):
        find_agent(f"classifier:model={tmp_path / 'none.rules'}", HANABI)
    with pytest.raises(Misuse, match="no language"):
        kibitz.train("classifier", find_game("nim"), seed=1)


def test_words_are_listed(capsys):
    assert command(["words", "hanabi"]) == 0
    printed = capsys.readouterr().out
    assert "focus playable" in printed
    assert "hint colour" in printed
    assert command(["words", "hanabi", "--json"]) == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    assert [group["name"] for group in groups] == [group.name for group in LANGUAGE.groups]
    assert command(["words", "nim"]) == 2
