"""The strategies of Nim, their vote, and the expert system against the exact solver."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import kibitz
from kibitz.core.agent import Kind
from kibitz.core.chance import Chance
from kibitz.core.compiled import pointer
from kibitz.core.game import Game
from kibitz.core.table import Table
from kibitz.games.nim import agents
from kibitz.games.nim.agents import AGENTS, NIM_SUM, STRATEGIES, VOTERS, ballot, wish
from kibitz.games.nim.expert import EXPERT, EXPERT_RULES, LOST, ONLY, fired
from tests.lengths import long_but
from tests.test_nim import all_positions, at

ROW_SETS = ["1,3,5,7", "1,3,5,7,9", "4,4,6", "2,9,10", "1,1,1,8", "12", "6,7,8", "1,1,1,1,1", "5,5"]
NO_MEMORY = np.zeros(0, np.int64)
NO_WEIGHTS = np.zeros(0, np.float32)


def asking(table: Table):
    """Give a function that asks compiled strategies about one position."""
    rules, cells, actions = table.game.rules, table.view().cells, np.array(table.legal, np.int32)

    def ask(choose, rng: Chance, weights: np.ndarray = NO_WEIGHTS) -> int:
        given = (rules, cells, actions, len(actions), weights, NO_MEMORY, rng.words)
        return int(pointer(choose)(*given))

    return ask


def choice(choose, table: Table, rng: Chance, weights: np.ndarray = NO_WEIGHTS) -> int:
    """Ask a compiled strategy about a position once."""
    return asking(table)(choose, rng, weights)


def choice_of(name: str, table: Table, rng: Chance) -> int:
    """Ask a strategy about a position once."""
    kind = STRATEGIES[name]
    return choice(kind.choose, table, rng, kind.weights(table.game, {}))


def drawn(name: str, table: Table, times: int = 200) -> set[str]:
    """Collect all that a strategy takes in one position, in short: '3 from 2'."""
    ask, rng, kind = asking(table), Chance(7), STRATEGIES[name]
    own = kind.weights(table.game, {})
    chosen = {ask(kind.choose, rng, own) for _ in range(times)}
    return {table.say(action).replace("take ", "").replace("row ", "") for action in chosen}


def wanderings(count: int, seed: int = 1):
    """Give random positions of games with random settings, capped and not."""
    chance = np.random.default_rng(seed)
    while True:
        rows = chance.integers(1, chance.choice([4, 10, 64]), chance.integers(1, 7)).tolist()
        k = int(chance.choice([0, 1, 2, 3, 4, 20]))
        table = kibitz.game("nim", rows=rows, k=k, misere=bool(chance.integers(2))).deal(0)
        while not table.over:
            if count == 0:
                return
            yield table
            count -= 1
            table.play(int(chance.choice(table.legal)))


# --- the expert ----------------------------------------------------------------------------------


@pytest.mark.parametrize("misere", [True, False], ids=["misere", "normal"])
@pytest.mark.parametrize("k", long_but([0, 3], range(5)))
@pytest.mark.parametrize("rows", ROW_SETS)
def test_the_expert_wins_every_won_position_and_knows_every_option(rows, k, misere):
    game = kibitz.game("nim", rows=rows, misere=misere, k=k)
    solution = kibitz.solve(game)
    expert = EXPERT(game)
    won = 0
    for position in all_positions(game):
        table = at(game, position)
        verdicts = solution.options(table)
        wins = max(verdicts.values()) > 0
        rule, action = fired(table.cells, np.array(list(verdicts), np.int32), len(verdicts))
        assert action == choice(EXPERT.choose, table, Chance(1))
        assert (verdicts[action] > 0) == wins
        assert rule == ONLY if len(verdicts) == 1 else (rule == LOST) == (not wins)
        values = expert.values(table.view(), list(verdicts))
        assert [value > 0 for value in values] == [verdict > 0 for verdict in verdicts.values()]
        won += wins
    assert won > 0


@pytest.mark.parametrize("misere", [True, False], ids=["misere", "normal"])
@pytest.mark.parametrize("k", long_but([0, 3], range(5)))
def test_a_match_against_the_perfect_agent_gives_every_won_start_to_the_expert(k, misere):
    for rows in ROW_SETS:
        game = kibitz.game("nim", rows=rows, misere=misere, k=k)
        expert, perfect = kibitz.match(game, ["expert", "perfect"], games=20, seed=1).agents
        better = 0 if kibitz.solve(game).verdict > 0 else 1
        assert expert.seats[better].share.mean == 1
        assert perfect.seats[better].share.mean == 1


def test_the_expert_says_which_rule_fired():
    def said(rows: tuple[int, ...], **settings) -> kibitz.Opinion:
        game = kibitz.game("nim", rows=rows, **settings)
        return kibitz.agent("expert", game).explain(game.deal(0).view())

    assert [rule.number for rule in EXPERT_RULES] == [1, 2, 3, 4]
    assert said((1,)).reason == (
        "Rule 1, only move: row 1 (binary 1) has nim-sum 1 (1); there is nothing else to take."
    )
    end = said((1, 1, 6))
    assert end.reason == (
        "Rule 2, misère end-game: rows 1, 1, 6 (binary 001, 001, 110) have nim-sum 6 (110); "
        "take 5 from row 3 leaves nim-sum 1, no long row."
    )
    assert [(t.words, t.value, t.note) for t in end.thoughts[:2]] == [
        ("take 5 from row 3", 1.0, "leaves nim-sum 1, no long row"),
        ("take 1 from row 1", -1.0, "leaves nim-sum 7"),
    ]
    assert said((3, 5, 7)).reason == (
        "Rule 3, nim-sum: rows 3, 5, 7 (binary 011, 101, 111) have nim-sum 1 (001); "
        "take 1 from row 1 leaves nim-sum 0."
    )
    assert said((7, 6), k=3).reason == (
        "Rule 3, nim-sum: rows 7, 6 (modulo 4: 3, 2; binary 11, 10) have nim-sum 1 (01); "
        "take 1 from row 1 leaves nim-sum 0."
    )
    lost = said((1, 3, 5, 7))
    assert lost.words == "take 1 from row 4"
    assert lost.reason == (
        "Rule 4, lost: rows 1, 3, 5, 7 (binary 001, 011, 101, 111) have nim-sum 0 (000); "
        "every move loses against best play, and one stick from the longest row prolongs it."
    )
    assert {thought.value for thought in lost.thoughts} == {-1.0}
    # Normal play has no end-game of its own: the same rows, the nim-sum alone.
    assert said((1, 1, 6), misere=False).words == "take 6 from row 3"
    assert said((1, 1, 6), misere=False).reason.startswith("Rule 3, nim-sum")


# --- the strategies ------------------------------------------------------------------------------


def test_there_are_many_strategies_and_everybody_can_name_them():
    assert len(STRATEGIES) >= 12
    assert NIM_SUM.issubset(STRATEGIES)
    assert set(AGENTS) == {*STRATEGIES, "expert"} - {"random"}
    assert len(VOTERS) == len(STRATEGIES) == len({kind.summary() for kind in STRATEGIES.values()})
    for name, kind in STRATEGIES.items():
        assert kind.summary().endswith("."), name
        assert name in kibitz.agent_names(kibitz.game("nim"))


@pytest.mark.parametrize(
    ("name", "rows", "settings", "taken"),
    [
        ("gabriele", (0, 3, 5), {}, "3 from 2"),
        ("gabriele", (0, 3, 5), {"k": 2}, "2 from 2"),
        ("random", (0, 2, 1), {}, "1 from 2, 2 from 2, 1 from 3"),
        ("take-one", (0, 3, 5), {}, "1 from 2, 1 from 3"),
        ("take-all-but-one", (3, 6, 6), {}, "5 from 2"),
        ("take-all-but-one", (3, 6, 6), {"k": 2}, "2 from 1"),
        ("take-all-but-one", (5, 6, 6), {"k": 2}, "1 from 2"),
        ("take-all-but-one", (0, 1, 1), {}, "1 from 2"),
        ("longest", (3, 6, 6), {}, "6 from 2"),
        ("longest", (3, 6, 6), {"k": 4}, "4 from 2"),
        ("shortest", (6, 0, 2, 2), {}, "2 from 3"),
        ("shortest", (6, 0, 2, 2), {"k": 1}, "1 from 3"),
        ("one-from-longest", (3, 6, 6), {}, "1 from 2"),
        ("thin-out", (3, 7), {}, "4 from 2"),
        ("thin-out", (3, 6), {}, "3 from 2"),
        ("thin-out", (3, 7), {"k": 2}, "2 from 2"),
        ("thin-out", (1, 1), {}, "1 from 1"),
        ("level", (1, 3, 5, 7), {}, "2 from 4"),
        ("level", (1, 3, 5, 7), {"k": 1}, "1 from 4"),
        ("level", (4, 4, 5), {}, "1 from 3"),
        ("level", (4, 0, 0), {}, "1 from 1"),
        ("even", (1, 3), {}, "2 from 2"),
        ("even", (2, 3), {}, "1 from 1, 1 from 2, 3 from 2"),
        ("even", (1, 3), {"k": 1}, "1 from 1, 1 from 2"),
        ("odd", (1, 3), {}, "1 from 1, 1 from 2, 3 from 2"),
        ("odd", (2, 3), {"k": 1}, "1 from 1, 1 from 2"),
        ("even-rows", (0, 2, 2), {}, "1 from 2, 1 from 3"),
        ("even-rows", (1, 2, 2), {}, "1 from 1, 2 from 2, 2 from 3"),
        ("even-rows", (2, 2, 2), {"k": 1}, "1 from 1, 1 from 2, 1 from 3"),
        ("odd-rows", (0, 2, 2), {}, "2 from 2, 2 from 3"),
        ("odd-rows", (1, 2, 2), {}, "1 from 2, 1 from 3"),
        ("odd-rows", (0, 2, 2), {"k": 1}, "1 from 2, 1 from 3"),
        ("finish", (0, 0, 4), {}, "3 from 3"),
        ("finish", (0, 1, 4), {}, "4 from 3"),
        ("finish", (0, 0, 4), {"misere": False}, "4 from 3"),
        ("finish", (1, 2), {"misere": False}, "1 from 1, 1 from 2, 2 from 2"),
        ("finish", (0, 3), {"k": 1}, "1 from 2"),
        ("nim-sum", (3, 5), {}, "2 from 2"),
        ("nim-sum", (1, 1, 6), {}, "6 from 3"),
        ("nim-sum", (5, 2), {"k": 3}, "1 from 2, 3 from 1"),
        ("nim-sum", (1, 2, 3), {"k": 1}, "1 from 1, 1 from 2, 1 from 3"),
        ("nim-sum-misere", (3, 5), {}, "2 from 2"),
        ("nim-sum-misere", (1, 1, 6), {}, "5 from 3"),
        ("nim-sum-misere", (1, 1, 6), {"misere": False}, "6 from 3"),
        ("nim-sum-misere", (1, 2, 3), {}, "1 from 3"),
        ("spoil", (1, 2), {}, "1 from 1, 2 from 2"),
        ("spoil", (0, 1), {}, "1 from 2"),
    ],
)
def test_strategies_do_as_they_say(name, rows, settings, taken):
    game = kibitz.game("nim", rows=[max(row, 1) for row in rows], **settings)
    assert drawn(name, at(game, rows)) == set(taken.split(", "))


def test_strategies_only_ever_take_what_is_legal():
    rng = Chance(5)
    weights = np.ones(len(VOTERS), np.float32)
    for table in wanderings(3000):
        ask, actions, before = asking(table), table.legal, table.cells.copy()
        for kind in STRATEGIES.values():
            assert ask(kind.choose, rng, kind.weights(table.game, {})) in actions
        for choose in (EXPERT.choose, ballot):
            assert ask(choose, rng, weights) in actions
        assert np.array_equal(table.cells, before)


def test_wishes_hang_on_what_strip_keeps_and_are_places_in_order():
    for table in wanderings(500, seed=6):
        stripped = table.cells.copy()
        table.game.rules.strip(stripped)
        actions = np.array(table.legal, np.int32)
        for which in range(len(VOTERS)):
            wanted = np.full((2, len(actions)), -1, np.int32)
            for cells, out in zip((table.view().cells, stripped), wanted, strict=True):
                count = pointer(wish)(which, cells, actions, len(actions), out)
            assert np.array_equal(wanted[0], wanted[1])
            assert 1 <= count <= len(actions)
            assert (np.diff(wanted[0, :count]) > 0).all()
            assert ((wanted[0, :count] >= 0) & (wanted[0, :count] < len(actions))).all()


def test_strategies_that_draw_no_lots_leave_chance_alone():
    lots = {"random", "take-one", "even", "odd", "even-rows", "odd-rows", "finish"} | NIM_SUM
    drew = set()
    for table in wanderings(30, seed=2):
        for name in STRATEGIES:
            rng = Chance(3)
            choice_of(name, table, rng)
            if not np.array_equal(rng.words, Chance(3).words):
                drew.add(name)
    assert drew == lots


def test_every_two_strategies_differ_in_what_they_may_take():
    tables = [
        at(kibitz.game("nim", rows=[9] * 4, k=k), rows)
        for rows in [(1, 3), (3, 1), (1, 1, 4), (1, 1, 2), (0, 2, 3), (4, 2), (3, 3, 1), (6,)]
        for k in (0, 2)
    ]
    taken = {name: [drawn(name, table) for table in tables] for name in STRATEGIES}
    for one, other in itertools.combinations(STRATEGIES, 2):
        assert taken[one] != taken[other], (one, other)


# --- the vote ------------------------------------------------------------------------------------


def weighted(**weights: float) -> np.ndarray:
    """Give the weights of a few strategies, named with underscores; the others have none."""
    made = np.zeros(len(STRATEGIES), np.float32)
    for name, weight in weights.items():
        made[list(STRATEGIES).index(name.replace("_", "-"))] = weight
    return made


def test_all_weight_on_one_strategy_plays_its_move():
    for table in wanderings(200, seed=3):
        for name in STRATEGIES:
            weights = weighted(**{name: 0.5})
            alone = choice_of(name, table, Chance(9))
            assert choice(ballot, table, Chance(9), weights) == alone


def test_ties_go_to_the_first_action_and_without_weight_there_is_no_vote():
    game = kibitz.game("nim")
    table = game.deal(0)
    votes = {"gabriele": "take 1 from row 1", "longest": "take 7 from row 4"}
    for name, words in votes.items():
        assert table.say(choice_of(name, table, Chance(1))) == words
    cases = [
        ({"gabriele": 1, "longest": 1}, "take 1 from row 1"),
        ({"gabriele": 1, "longest": 1.01}, "take 7 from row 4"),
        ({"gabriele": 0, "longest": 0.01}, "take 7 from row 4"),
        ({"gabriele": -5, "longest": 0.01}, "take 7 from row 4"),
        # Two weak voices for one move outvote a strong one for another.
        ({"gabriele": 1, "shortest": 1, "longest": 1.5}, "take 1 from row 1"),
        ({}, "take 1 from row 1"),
        ({"longest": -1}, "take 1 from row 1"),
    ]
    for weights, words in cases:
        assert table.say(choice(ballot, table, Chance(1), weighted(**weights))) == words
    rng = Chance(1)
    choice(ballot, table, rng, weighted())
    assert np.array_equal(rng.words, Chance(1).words)


def test_the_ballot_equals_a_recount_in_plain_python():
    chance = np.random.default_rng(4)
    for table in wanderings(1000, seed=4):
        weights = chance.normal(size=len(VOTERS)).astype(np.float32)
        rng, again = Chance(11), Chance(11)
        ask, votes = asking(table), dict.fromkeys(table.legal, 0.0)
        for name, weight in zip(STRATEGIES, weights.tolist(), strict=True):
            if weight > 0:
                votes[choice_of(name, table, rng)] += weight
        assert ask(ballot, again, weights) == max(votes, key=votes.__getitem__)
        assert np.array_equal(rng.words, again.words)


def test_the_ballot_plays_matches_like_any_agent():
    game: Game = kibitz.game("nim", rows=(3, 4, 5))
    expert = Kind(choose=ballot, weights=lambda game, settings: weighted(nim_sum_misere=1))
    first = kibitz.match(game, [expert, "perfect"], games=200, seed=1).agents[0]
    assert first.seats[0].share.mean == 1
    assert agents.ballot.compiled.signature == EXPERT.choose.compiled.signature
