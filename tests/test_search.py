"""Search: it finds what is right, knows only what its seat may know, and does as it is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import kibitz
from bench.models import where
from kibitz.core.chance import Chance
from kibitz.core.compiled import JIT, Rules, in_python
from kibitz.core.errors import BadOption, Misuse
from kibitz.core.game import VIEWER
from kibitz.core.table import View
from kibitz.search.mcts import Search
from kibitz.search.simulation import (
    JUDGES,
    MARGIN,
    PLAYS,
    POINTS,
    WEIGHS,
    WIN,
    as_chances,
    key_of,
    proof_at_end,
    reward,
    reward_proof,
)
from kibitz.search.tree import (
    ACTION,
    CHILD,
    DRAWN,
    EDGES_USED,
    FIRST,
    KEY,
    MOVES,
    NO_EDGES,
    NO_NODE,
    NODES_USED,
    PRIOR,
    ROOT,
    TOTAL,
    TRIES,
    TWIN,
    UNKNOWN,
    VISITS,
    WINNER,
    new_tree,
    replant,
)
from tests.search_parts import add_to_root

SIMS = 300


def searcher(game: kibitz.Game, settings: str = "", seed: int = 1) -> Search:
    agent = kibitz.agent(f"mcts:sims={SIMS}" + (f",{settings}" if settings else ""), game)
    assert isinstance(agent, Search)
    agent.begin(0, Chance(seed, 0, 1))
    return agent


def midway(game: kibitz.Game, seed: int, plies: int) -> kibitz.Table:
    """Give a table after some random moves, with several to choose from."""
    table, rng = game.deal(seed), Chance(seed, 0, 5)
    while not table.over and (table.plies < plies or len(table.legal) < 2):
        table.play(rng.choice(table.legal))
    return table


# --- it is right ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "settings", "budget", "least"),
    [("nim", {"rows": (1, 3, 5)}, 2000, 1.0), ("tapnswap", {}, 5000, 0.95)],
)
def test_it_makes_a_move_that_wins(name, settings, budget, least):
    game = kibitz.game(name, **settings)
    solution = kibitz.solve(game)
    agent = kibitz.agent(f"mcts:sims={budget}", game)
    right = total = 0
    for place, (state, verdict) in enumerate(zip(solution.states, solution.verdicts, strict=True)):
        if verdict <= 0:
            continue
        cells = state.copy()
        cells[VIEWER] = 0
        view = View(game, cells)
        options = solution.options(view)
        agent.begin(0, Chance(1, place, 1))
        right += options[agent.choose(view)] > 0
        total += 1
    assert total > 20
    assert right >= least * total


def test_proofs_are_true():
    game = kibitz.game("nim", rows=(1, 3, 5))
    solution = kibitz.solve(game)
    agent = searcher(game, "sims=20000")
    proven = 0
    for seed in range(12):
        table = midway(game, seed, seed % 5)
        if table.over:
            continue
        options = solution.options(table)
        for move in agent.search(table.view()).moves:
            if move.proven:
                proven += 1
                assert (options[move.action] > 0) == (move.proof > 0)
    assert proven > 20


def test_a_proven_root_ends_the_search():
    game = kibitz.game("nim", rows=(1, 2))
    found = searcher(game, "sims=100000").search(game.deal(seed=1).view())
    assert found.best.proven
    assert found.best.proof == 1
    assert found.sims < 1000


@pytest.mark.long
def test_search_beats_its_own_helper():
    game = kibitz.game("carcassonne", tiles=12)
    who = "mcts:sims=100,prior=greedy,rollout=greedy"
    found = kibitz.match(game, [who, "greedy"], games=40, seed=5).agents[0]
    assert found.margin.mean - found.margin.plus_minus > 0.0


# --- it knows only what its seat may know --------------------------------------------------------


@pytest.mark.parametrize("settings", ["", "nodes=views"])
def test_the_truth_may_change_behind_its_back(any_game, settings):
    """Two worlds that look the same to the searcher are searched in exactly the same way."""
    if not any_game.hides:
        return
    sims = "sims=40" + (f",{settings}" if settings else "")
    for seed in range(2):
        table = midway(any_game, seed, 6)
        other = table.view().redeal(Chance(seed, 3, 3))
        assert not np.array_equal(other.cells, table.cells)
        one = searcher(any_game, sims).search(table.view())
        two = searcher(any_game, sims).search(other.view(table.seat))
        assert one.moves == two.moves


# --- it does as it is told -----------------------------------------------------------------------


def test_the_same_seed_finds_the_same(any_game):
    view = midway(any_game, 3, 4).view()
    settings = "sims=60,trees=2"
    first = searcher(any_game, settings).search(view)
    assert first.moves == searcher(any_game, settings).search(view).moves
    assert sum(move.tries for move in first.moves) == first.sims
    assert {move.action for move in first.moves} == set(view.legal)


def test_trees_add_up():
    game = kibitz.game("tapnswap")
    view = game.deal(seed=1).view()
    found = searcher(game, "sims=301,trees=3,prove=no").search(view)
    assert found.sims == 303
    assert sum(move.tries for move in found.moves) == 303


def test_time_is_a_budget_too():
    game = kibitz.game("tapnswap")
    found = searcher(game, "ms=30,prove=no").search(game.deal(seed=1).view())
    assert found.sims > SIMS


def test_two_moves_are_tried_equally_often(any_game):
    table = midway(any_game, 3, 2)
    view, one, other = table.view(), table.legal[0], table.legal[-1]
    found = searcher(any_game).duel(view, one, other, 40)
    assert (found.one.action, found.other.action) == (one, other)
    assert found.one.tries == found.other.tries == 20
    assert found.unsure >= 0.0
    again = table.view().redeal(Chance(3, 3, 3)).view(table.seat)
    assert searcher(any_game).duel(again, one, other, 40) == found


def test_the_same_worlds_tell_moves_apart_sooner():
    """Moves are compared in the same worlds: what those are like counts for both alike."""
    game = kibitz.game("mexican_train", hands=1)
    view = midway(game, 3, 4).view()
    agent = searcher(game, "rollout=planner")
    apart = 1.96 * agent.search(view).spread * (4 / SIMS) ** 0.5  # in worlds of their own
    assert 0.0 < agent.duel(view, view.legal[0], view.legal[-1], SIMS).unsure < apart


def test_a_search_goes_on_with_its_tree():
    game = kibitz.game("nim")
    agent, table = searcher(game, "prove=no"), game.deal(seed=1)
    best = agent.search(table.view(), keep=True).best.action
    for action in (best, table.copy().play(best).legal[0]):
        agent.notice(table.view(0), table.seat, action)
        table.play(action)
    again = agent.search(table.view(), keep=True)
    assert sum(move.tries for move in again.moves) > SIMS
    # Another table, or another line of play, is searched anew.
    agent.notice(table.view(0), table.seat, table.legal[0])
    fresh = agent.search(game.deal(seed=1).view())
    assert sum(move.tries for move in fresh.moves) == SIMS
    agent = searcher(game, "prove=no,reuse=no")
    agent.search(table.view(), keep=True)
    assert sum(move.tries for move in agent.search(table.view()).moves) == SIMS


@pytest.mark.parametrize("settings", ["", "trees=2", "prove=no", "merge=no"])
def test_what_is_asked_between_moves_changes_nothing(settings):
    game = kibitz.game("tapnswap")
    games = []
    for asked in (False, True):
        agent, table = searcher(game, settings), game.deal(seed=1)
        rng = Chance(5)
        while not table.over and table.plies < 30:
            if table.seat == 0:
                if asked:
                    agent.explain(table.view())
                    agent.search(table.view(), sims=700)
                    if len(table.legal) > 1:
                        agent.duel(table.view(), table.legal[0], table.legal[-1], 700)
                agent.rng = Chance(9, table.plies)
                action = agent.choose(table.view())
            else:
                action = rng.choice(table.legal)
            agent.notice(table.view(0), table.seat, action)
            table.play(action)
        games.append(table.actions)
    assert games[0] == games[1]


def test_helpers_play_weigh_judge_and_choose_what_to_look_at():
    game = kibitz.game("carcassonne", tiles=12)
    view = midway(game, 2, 6).view()
    agent = searcher(game, "sims=50,rollout=greedy,depth=2,judge=settler,prior=greedy")
    assert set(agent.agents) == {PLAYS, WEIGHS, JUDGES}
    assert agent.rule.puct
    found = agent.search(view)
    greedy = kibitz.agent("greedy", game)
    likeliest = max(found.moves, key=lambda move: move.prior)
    values = dict(zip(view.legal, greedy.values(view, view.legal), strict=True))
    assert values[likeliest.action] == max(values.values())
    assert sum(move.prior for move in found.moves) == pytest.approx(1.0)
    few = searcher(game, "sims=20,moves=greedy+settler").search(view)
    wanted = set()
    for name in ("greedy", "settler"):
        values = kibitz.agent(name, game).values(view, view.legal)
        wanted |= {a for a, v in zip(view.legal, values, strict=True) if v == max(values)}
    assert {move.action for move in few.moves} <= wanted
    assert len(wanted) < len(view.legal)


def test_helpers_that_listen_have_heard_the_game():
    """`smart` keeps notes of every hint; in a simulation it must know those before it."""
    game = kibitz.game("hanabi", players=2)
    agent = searcher(game, "sims=30,rollout=smart")
    smart = kibitz.agent("smart", game)
    table = game.deal(seed=4)
    for _ in range(6):
        action = smart.choose(table.view()) if table.seat == 0 else table.legal[-1]
        for one in (agent, smart):
            one.notice(table.view(0), table.seat, action)
        table.play(action)
    notes = agent.helpers.memory[PLAYS]
    assert notes.any()
    assert np.array_equal(notes[: len(smart.memory)], smart.memory)
    agent.begin(0, Chance(1))
    assert not agent.helpers.memory.any()


def test_a_round_is_the_horizon():
    game = kibitz.game("mexican_train", hands=3)
    view = game.deal(seed=1).view()
    near = searcher(game, "sims=30,aim=points").search(view)
    far = searcher(game, "sims=30,aim=points,rounds=no").search(view)
    assert 0 > near.best.value > 0.6 * far.best.value


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("rollout=nobody", "No agent"),
        ("prior=random", "no values"),
        ("judge=random,depth=1", "not in points"),
        ("judge=td,depth=1", "not in points"),  # where only the win counts
        ("rollout=mcts", "only compiled"),
        ("moves=" + "+".join(["random"] * 9), "At most 8"),
    ],
)
def test_helpers_that_cannot_help_are_refused(settings, words):
    with pytest.raises(Misuse, match=words):
        searcher(kibitz.game("nim"), settings)


def test_a_judge_needs_an_end_and_points():
    game = kibitz.game("carcassonne", tiles=12)
    with pytest.raises(Misuse, match="set depth"):
        searcher(game, "judge=settler")
    with pytest.raises(Misuse, match="not in points"):
        searcher(kibitz.game("carcassonne"), "judge=policy,depth=1")
    train = kibitz.game("mexican_train")
    path = where("mexican_train/models/td")
    agent = searcher(train, f"sims=20,model={path}")
    assert set(agent.agents) == {WEIGHS, JUDGES}
    assert agent.search(midway(train, 1, 8).view()).sims == 20
    policy = searcher(kibitz.game("carcassonne"), f"model={where('carcassonne/models/policy-2')}")
    assert set(policy.agents) == {WEIGHS}


def test_bad_settings_are_refused():
    with pytest.raises(BadOption, match="sims"):
        kibitz.agent("mcts:sims=0", kibitz.game("nim"))
    game = kibitz.game("nim")
    plain = replace(game, name="plain", functions=Rules(*map(in_python, game.functions)))
    if JIT:
        with pytest.raises(Misuse, match="not compiled"):
            kibitz.agent("mcts", plain)


def test_it_says_what_it_tried_and_expects():
    game = kibitz.game("tapnswap")
    agent = searcher(game)
    table = game.deal(seed=1)
    before = agent.rng.words.copy()
    told = agent.explain(table.view())
    assert np.array_equal(agent.rng.words, before)
    assert "simulations" in told.reason
    assert "It expects: " in told.reason
    assert told.words in told.reason
    assert agent.choose(table.view()) == told.action
    assert all("tries" in thought.note for thought in told.thoughts)


def test_it_plays_in_matches_on_any_number_of_cores():
    game = kibitz.game("nim", rows=(1, 3, 5))
    one = kibitz.match(game, ["mcts:sims=50", "random"], games=20, seed=3, cores=1)
    two = kibitz.match(game, ["mcts:sims=50", "random"], games=20, seed=3, cores=2)
    assert one.to_dict()["agents"] == two.to_dict()["agents"]
    assert one.agents[0].share.mean > 0.8


@pytest.mark.skipif(not JIT, reason="this compares with the compiler")
def test_the_compiler_changes_nothing():
    code = (
        "import kibitz; g = kibitz.game('nim', rows=(3, 4)); "
        "a = kibitz.agent('mcts:sims=200', g); f = a.search(g.deal(seed=1).view()); "
        "print([(m.action, m.tries, m.value, m.proof) for m in f.moves])"
    )
    told = {
        off: subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "NUMBA_DISABLE_JIT": off},
            capture_output=True, text=True, check=True,
        ).stdout
        for off in ("0", "1")
    }  # fmt: skip
    assert told["0"] == told["1"] != ""


# --- parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "aim", "wanted"),
    [
        ((3.0, 1.0), WIN, (1.0, 0.0)),
        ((2.0, 2.0), WIN, (0.5, 0.5)),
        ((2.0, 5.0, 5.0), WIN, (0.0, 0.5, 0.5)),
        ((9.0, 4.0, 6.0), MARGIN, (3.0, -5.0, -3.0)),
        ((9.0, 9.0, 6.0), MARGIN, (0.0, 0.0, -3.0)),
        ((9.0, 4.0), POINTS, (9.0, 4.0)),
    ],
)
def test_rewards(points, aim, wanted):
    out = np.zeros(len(points))
    reward(np.array(points), aim, False, out)
    assert tuple(out) == wanted


def test_ends_of_games_are_proofs():
    out = np.zeros(3)
    assert proof_at_end(np.array([1.0, 4.0, 2.0]), 1, False, out) == WINNER
    assert proof_at_end(np.array([1.0, 4.0, 2.0]), 2, True, out) == WINNER + 2
    assert proof_at_end(np.array([4.0, 4.0, 2.0]), 0, False, out) == DRAWN
    assert proof_at_end(np.array([4.0, 4.0, 2.0]), 0, True, out) == UNKNOWN
    reward_proof(WINNER + 2, 2, out)
    assert out.tolist() == [0.0, 1.0, 0.0]
    reward_proof(DRAWN, 2, out)
    assert out.tolist() == [1 / 3] * 3


def test_values_become_chances():
    values = np.array([0.25, 0.5, 0.25, 9.0])
    as_chances(values, 3)
    assert values.tolist() == [0.25, 0.5, 0.25, 9.0]
    values = np.array([-3.0, 5.0, 5.0])
    as_chances(values, 3)
    assert values.sum() == pytest.approx(1.0)
    assert values[1] == values[2] > 5 * values[0]


def test_keys_tell_cells_apart():
    rng = np.random.default_rng(1)
    cells = rng.integers(-1, 3, (20_000, 12)).astype(np.int16)
    keys = {int(key_of(row)) for row in cells}
    assert len(keys) == len(np.unique(cells, axis=0))
    assert min(keys) > 0


def test_new_actions_find_their_place_among_the_edges():
    tree = new_tree(10, 40)

    def add(actions):
        add_to_root(tree, np.array(actions, np.int32), np.array(actions) / 10.0)

    add([2, 5, 9])
    tree.edges[[0, 1, 2], TRIES] = 20, 50, 90
    tree.worth[[0, 1, 2], TOTAL] = 2.0, 5.0, 9.0
    add([1, 5, 7])
    first, count = tree.nodes[ROOT, [FIRST, MOVES]]
    block = slice(first, first + count)
    assert tree.edges[block, ACTION].tolist() == [1, 2, 5, 7, 9]
    assert tree.edges[block, TRIES].tolist() == [0, 20, 50, 0, 90]
    assert tree.worth[block, TOTAL].tolist() == [0.0, 2.0, 5.0, 0.0, 9.0]
    assert tree.worth[block, PRIOR].tolist() == pytest.approx([0.1, 0.2, 0.5, 0.7, 0.9])


@pytest.mark.parametrize("merge", ["yes", "no"])
def test_what_is_replanted_is_the_same(merge):
    game = kibitz.game("tapnswap")
    tree = searcher(game, f"prove=no,merge={merge}").search(game.deal(seed=1).view()).tree
    edge = max(range(tree.nodes[ROOT, MOVES]), key=lambda e: tree.edges[e, TRIES])
    child = int(tree.edges[edge, CHILD])
    into = new_tree(len(tree.nodes), len(tree.edges))
    replant(tree, child, into)

    def unrolled(tree, node, depth=6):
        first, count = tree.nodes[node, [FIRST, MOVES]]
        below = []
        for edge in range(first, first + count) if first != NO_EDGES and depth else ():
            twins, twin = [], int(tree.edges[edge, CHILD])
            while twin != NO_NODE:
                twins.append((int(tree.nodes[twin, KEY]), unrolled(tree, twin, depth - 1)))
                twin = int(tree.nodes[twin, TWIN])
            about = (*tree.edges[edge, [ACTION, TRIES]].tolist(), *tree.worth[edge].tolist())
            below.append((about, sorted(twins)))
        return int(tree.nodes[node, VISITS]), below

    assert unrolled(into, ROOT) == unrolled(tree, child)
    assert into.used[NODES_USED] <= tree.used[NODES_USED]
    assert into.used[EDGES_USED] <= tree.used[EDGES_USED]


# --- analysis ------------------------------------------------------------------------------------


def blundered() -> kibitz.Record:
    """Give a game of Nim in which seat 0 throws a win away, and seat 1 takes it."""
    table = kibitz.game("nim", rows=(1, 2)).deal(seed=1)
    table.play("take 1 from row 2")  # leaves 1 1, which the other wins; all of row 2 would have won
    table.play("take 1 from row 1")
    table.play("take 1 from row 2")
    return table.record(("me", "you"))


@pytest.mark.parametrize("agent", ["", "mcts:sims=2000"])
def test_a_thrown_win_is_found(agent):
    found = kibitz.analyse(blundered(), agent)
    first, second, third = found.moves
    assert first.cost == pytest.approx(1.0, abs=0.1)
    assert first.best_words == "take 2 from row 2"
    assert second.cost == third.cost == 0.0
    assert found.cost_of(0) == pytest.approx(1.0, abs=0.1)
    assert found.agreement_of(0) == 0.5
    assert found.agreement_of(1) == 1.0
    assert found.worst_of(0) == first
    assert found.worst_of(1) is None
    assert json.loads(json.dumps(found.to_dict()))["seats"][1]["name"] == "you"


def test_a_bad_move_of_a_hidden_game_costs_points():
    game = kibitz.game("hanabi", players=2)
    table = game.deal(seed=3)
    table.play("play 1")  # in the dark
    found = kibitz.analyse(table.record(), "mcts:sims=400,rollout=iggi")
    assert len(found.moves) == 1
    assert found.unit == "points"
    assert found.moves[0].cost >= 0.0
    assert found.moves[0].unsure > 0.0 or found.moves[0].best == found.moves[0].action


def test_only_a_search_can_judge():
    with pytest.raises(Misuse, match="does not search"):
        kibitz.analyse(blundered(), "expert")
