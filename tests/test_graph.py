"""The graph of positions: the same as a plain search with tables finds, move by move."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import kibitz
from kibitz.core.compiled import Rules, in_python
from kibitz.core.errors import NotSolvable
from kibitz.play.graph import DREW, LOST, NONE, WON, chart, number_of
from tests import toys
from tests.conftest import positions

ENDS = {WON: "won", DREW: "drew", LOST: "lost"}


def nim_key(table, folded):
    """Rows alone tell positions apart; all that is over is one position."""
    rows = tuple(table["rows"].tolist())
    return "over" if table.over else tuple(sorted(rows)) if folded else rows


def tapnswap_key(table, folded):
    """The plies matter, and who moves does not: whoever is to move, or has lost, comes first.

    Where nobody has lost, whoever moved last comes first: in the chart that was seat 0.
    """
    hands = [tuple(table["hands"][at : at + 2].tolist()) for at in (0, 2)]
    if folded:
        hands = [tuple(sorted(pair)) for pair in hands]
    drawn = table.over and (0, 0) not in hands
    seat_1_moved = len(table.actions) % 2 == 0 and len(table.actions) > 0
    if table.seat == 1 or (table.over and hands[1] == (0, 0)) or (drawn and seat_1_moved):
        hands.reverse()
    return (table.plies, table.over, *hands)


def ring_key(table, folded):
    return ("over", table["winner"]) if table.over else (table["place"], table.seat)


def by_search(game, key, folded):
    """Give for every position its moves in order: the action, where it leads, whether seats change.

    What ends the game leads to how it ended for whoever moved.
    """
    found, waiting = {}, [game.deal(0)]
    while waiting:
        table = waiting.pop(0)
        here = key(table, folded)
        if here in found:
            continue
        found[here] = []
        for action in table.legal:
            after = table.copy().play(action)
            if after.over:
                gain = np.sign(after.points[table.seat] - after.points[1 - table.seat])
                to = {1: "won", 0: "drew", -1: "lost"}[int(gain)]
            else:
                to = key(after, folded)
            found[here].append((action, to, after.seat != table.seat))
            waiting.append(after)
    return found


def by_chart(game, key, folded):
    graph = chart(game, folded=folded)
    keys = [key(kibitz.Table(game, state), folded) for state in graph.positions.states]
    assert len(set(keys)) == len(keys)
    actions = graph.actions()
    assert len(actions) == len(graph.children) == len(graph.flips) == graph.first[-1]
    found = {}
    for index, here in enumerate(keys):
        edges = range(graph.first[index], graph.first[index + 1])
        found[here] = [
            (int(actions[e]), ENDS.get(to := int(graph.children[e])) or keys[to], graph.flips[e])
            for e in edges
        ]
        assert (len(edges) == 0) == graph.finished[index]
    return found, keys[0]


GAMES = [
    (kibitz.game("nim", rows="1,2,2"), nim_key),
    (kibitz.game("nim", rows="3,1,4", misere=False, k=2), nim_key),
    (kibitz.game("tapnswap", max_plies=8), tapnswap_key),
    (toys.RING, ring_key),
]


@pytest.mark.parametrize(("game", "key"), GAMES, ids=lambda value: getattr(value, "name", ""))
def test_every_position_and_move_is_as_a_plain_search_finds_them(game, key):
    found, start = by_chart(game, key, folded=False)
    assert found == by_search(game, key, folded=False)
    assert start == key(game.deal(5), False)


@pytest.mark.parametrize(("game", "key"), GAMES, ids=lambda value: getattr(value, "name", ""))
def test_folded_every_position_stands_for_its_mirror_images(game, key):
    """Which of them is kept does not matter, nor the order of moves: they lead to the same."""
    found, _ = by_chart(game, key, folded=True)
    searched = by_search(game, key, folded=True)
    assert found.keys() == searched.keys()
    for here, moves in found.items():
        assert Counter(m[1:] for m in moves) == Counter(m[1:] for m in searched[here])
    if key is not ring_key:
        assert len(found) < len(by_search(game, key, folded=False))


def test_graphs_that_outgrow_their_arrays_have_every_position_and_move_once():
    """Nim in closed form: any number left in any row, and a move for every stick."""
    rows = (9, 9, 9, 21)
    graph = chart(kibitz.game("nim", rows=rows), folded=False)
    everything = np.prod(np.add(rows, 1))
    assert len(graph.positions) == everything > 20_000
    assert len(graph.children) == everything * sum(rows) / 2
    states = graph.positions.states
    assert len(np.unique(states, axis=0)) == len(states)
    assert [graph.positions.find(state) for state in states[::97]] == [*range(0, len(states), 97)]
    assert (graph.children[graph.children >= 0] < len(states)).all()


@pytest.mark.parametrize("folded", [False, True])
def test_any_table_is_found_whoever_is_to_move(folded):
    game = kibitz.game("tapnswap")
    graph = chart(game, folded=folded)
    words = graph.positions.packed(np.arange(3, dtype=np.int32)).view(np.int32)
    assert words[-3:].tolist() == [0, 1, 2]
    seats = Counter()
    for seed in range(20):
        for table in positions(game, seed):
            before = table.cells.copy()
            index = graph.positions.find(table.cells)
            assert np.array_equal(table.cells, before)
            kept = kibitz.Table(game, graph.positions.states[index])
            assert tapnswap_key(kept, folded)[1:] == tapnswap_key(table, folded)[1:]
            assert graph.finished[index] == table.over
            assert number_of(game.rules, words, words.view(np.int16), before) == index
            seats[table.seat] += 1
    assert min(seats[0], seats[1], seats[-1]) >= 20


def test_what_cannot_be_reached_has_no_number():
    game = kibitz.game("nim", rows="1,2")
    found = chart(game, folded=False).positions
    words = found.packed().view(np.int32)
    for rows, place in (((1, 2), 0), ((1, 3), NONE), ((2, 2), NONE), ((0, 0), NONE)):
        state = game.deal(1).cells
        state[game.cell("rows")][:2] = rows
        assert found.find(state) == place
        assert number_of(game.rules, words, words.view(np.int16), state) == place
    near = kibitz.game("tapnswap", max_plies=8)
    state = near.deal(1).cells
    state[near.cell("plies")] = 1  # one finger on every hand, one turn later
    assert chart(near).positions.find(state) == NONE


def test_plain_python_rules_give_the_same_graph():
    game = kibitz.game("nim", rows="1,2,3")
    plain = replace(game, name="plain", functions=Rules(*map(in_python, game.functions)))
    assert not plain.is_compiled
    for folded in (False, True):
        graphs = [chart(one, folded=folded) for one in (game, plain)]
        for name in ("finished", "first", "children", "flips"):
            assert np.array_equal(*(getattr(graph, name) for graph in graphs))
        assert np.array_equal(*(graph.positions.states for graph in graphs))
        assert np.array_equal(*(graph.actions() for graph in graphs))


def test_bounds_are_kept_and_what_cannot_be_numbered_is_refused():
    nim = kibitz.game("nim", rows="1,2")
    assert len(chart(nim, most=5).positions) == 5  # of 2 * 3: folded, 1-0 and 0-1 are one
    for bounds in ({"most": 4}, {"most_bytes": 100}):
        with pytest.raises(NotSolvable, match=r"nim rows=1,2 has more than .* Choose smaller"):
            chart(nim, **bounds)
    with pytest.raises(NotSolvable, match="left to chance"):
        chart(toys.SHUFFLED)
    with pytest.raises(NotSolvable, match="two seats, and this has 3"):
        chart(toys.RING.having(players=3))
    with pytest.raises(NotSolvable, match="nothing is hidden"):
        chart(replace(toys.RING, hides=True))
    with pytest.raises(NotSolvable, match="against each other"):
        chart(replace(toys.RING, cooperative=True))
