"""The players of Carcassonne, what learners are paid for, and what other programs get."""

from __future__ import annotations

import csv
import io
import json
from xml.etree import ElementTree

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.errors import (
    AmbiguousMove,
    BadOption,
    BadRecord,
    IllegalMove,
    UnknownName,
    UnreadableMove,
)
from kibitz.core.exports import export, exports_of
from kibitz.core.game import HIDDEN, VIEWER
from kibitz.core.table import Table, View
from kibitz.games.carcassonne.board import pending
from kibitz.games.carcassonne.cells import DECIDING, LAYING, MOST_SEATS, POINTING
from kibitz.games.carcassonne.evaluation import WEIGHTS
from tests.conftest import positions, walk

CARCASSONNE = kibitz.game("carcassonne")
KINDS_OF_GAME = [
    {},
    {"farmers": True, "players": 3},
    {"control": "cursor", "tiles": 12},
    {"control": "cursor", "tiles": 12, "exact": True, "farmers": True},
]
NAMESPACE = "{http://graphml.graphdrawing.org/xmlns}"


def standing(table, seat):
    """Give the points of a seat so far, and those pending."""
    more = np.zeros(MOST_SEATS)
    if not table.over:
        pending(table.cells, more)
    return table.points[seat] + more[seat]


def best_standings(table):
    """Play every placement with every meeple: the best standing of the mover after each first."""
    seat = table.seat
    best = {}
    for action in table.legal:
        after = table.copy().play(action)
        ends = [after]
        if after.seat == seat and after["phase"] == DECIDING:
            ends = [after.copy().play(meeple) for meeple in after.legal]
        best[action] = max(standing(end, seat) for end in ends)
    return best


@pytest.mark.parametrize("farmers", [False, True])
def test_greedy_has_as_many_points_as_can_be_had(farmers):
    game = CARCASSONNE.having(farmers=farmers)
    agent = kibitz.agent("greedy", game)
    for deal in range(3):
        for table in positions(game, 11, deal):
            if table.over or table.plies % 5:
                continue
            best = best_standings(table)
            values = dict(zip(table.legal, agent.values(table.view(), table.legal), strict=True))
            assert best[agent.choose(table.view())] == max(best.values())
            shift = max(best.values()) - max(values.values())  # points of before are left out
            if table["phase"] != DECIDING:
                assert {a: v + shift for a, v in values.items()} == pytest.approx(best)


@pytest.mark.parametrize("settings", KINDS_OF_GAME)
def test_players_play_whole_games(settings):
    game = CARCASSONNE.having(**settings)
    names = ["settler", "greedy", "random"][: game.players]
    result = kibitz.match(game, names, games=6, seed=2)
    assert result.games == 6
    assert result.agents[0].points.mean > result.agents[-1].points.mean / 2


def test_players_walk_straight_with_a_cursor():
    """As many steps as there are to the cell and turns to the rotation, and three for a meeple."""
    game = CARCASSONNE.having(control="cursor", tiles=30)
    agents = [kibitz.agent("settler", game), kibitz.agent("greedy", game)]
    table = game.deal(5)
    while not table.over:
        steps = 0
        seat, laid = table.seat, table["laid"]
        while not table.over and table.seat == seat:
            table.play(agents[seat].choose(table.view()))
            steps += 1
        tile = table["laid"] - 1
        assert tile == laid
        far = abs(int(table["x"][tile]) - int(table["x"][0]))
        far += abs(int(table["y"][tile]) - int(table["y"][0]))
        assert steps <= far + 3 + 1 + 3


def test_the_order_of_strength_holds():
    greedy = kibitz.match(CARCASSONNE, ["greedy", "random"], games=40, seed=6)
    assert greedy.agents[0].share.mean > 0.95
    settler = kibitz.match(CARCASSONNE, ["settler", "greedy"], games=200, seed=6)
    assert settler.agents[0].share.mean > 0.6


def test_opinions_tell_points_after_the_move():
    table = CARCASSONNE.deal(4)
    for name in ("greedy", "settler"):
        told = kibitz.agent(name, CARCASSONNE).explain(table.view())
        assert len(told.thoughts) == len(table.legal)
        assert "pending" in told.reason
        assert all("pending" in thought.note for thought in told.thoughts)


# --- rewards -------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", KINDS_OF_GAME)
def test_events_add_up_to_the_game(settings):
    game = CARCASSONNE.having(**settings)
    rewards = game.rewards
    table = game.deal(7)
    rng = Chance(7)
    sums = [dict.fromkeys((event.name for event in rewards.events), 0.0) for _ in table.points]
    while not table.over:
        before = table.cells.copy()
        action = rng.choice(table.legal)
        table.play(action)
        for seat, own in enumerate(sums):
            for name, count in rewards.happened(before, action, table.cells, seat).items():
                own[name] += count
    assert [own["score"] for own in sums] == table.points
    assert sum(own["step"] for own in sums) == table.plies
    assert sum(own["win"] for own in sums) == pytest.approx(1.0)
    assert max(own["margin"] for own in sums) == pytest.approx(
        max(table.points) - sorted(table.points)[-2]
    )
    if settings.get("control") != "cursor":
        assert sum(own["placement"] for own in sums) == table["laid"] - 1
        assert all(own["boundary"] == own["misfit"] == own["meeple-step"] == 0 for own in sums)
    elif not settings.get("exact"):
        assert sum(own["boundary"] for own in sums) > 0
        assert sum(own["misfit"] for own in sums) > 0
        assert sum(own["meeple-refused"] for own in sums) > 0
    else:
        idle = ("boundary", "misfit", "meeple-refused")
        assert all(own[name] == 0 for own in sums for name in idle)


def test_amounts_are_set_by_name():
    rewards = CARCASSONNE.rewards
    names = [event.name for event in rewards.events]
    amounts = rewards.amounts("score=1+win=5")
    assert amounts[names.index("score")] == 1
    assert amounts[names.index("win")] == 5
    assert amounts[names.index("step")] == rewards.events[names.index("step")].reward
    with pytest.raises(UnknownName, match="Did you mean 'score'"):
        rewards.amounts("scoer=1")
    with pytest.raises(BadOption, match="write a number"):
        rewards.amounts("score=much")


# --- exports -------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", KINDS_OF_GAME)
def test_turns_tell_the_whole_game(settings):
    game = CARCASSONNE.having(**settings)
    table = walk(game, 8)
    rows = list(csv.DictReader(io.StringIO(export(table.record(("a", "b")), "turns"))))
    seats = range(game.players)
    assert [int(row["turn"]) for row in rows] == list(range(1, table["laid"]))
    assert [int(row["seat"]) for row in rows] == [n % game.players for n in range(len(rows))]
    assert [float(rows[-1][f"banked {seat}"]) for seat in seats] == table.points
    kinds = [row["tile"] for row in rows]
    assert kinds == ["ABCDEFGHIJKLMNOPQRSTUVWX"[kind] for kind in table["kind"][1 : table["laid"]]]
    spent = dict.fromkeys(seats, 0)
    for before, row in zip([None, *rows], rows, strict=False):
        seat = int(row["seat"])
        spent[seat] += bool(row["meeple"])
        earlier = int(before[f"meeples {seat}"]) if before else 7
        back = int(row[f"meeples {seat}"]) - earlier + bool(row["meeple"])
        assert back >= 0  # what comes back is never less than nothing
    assert sum(spent.values()) > 0


def test_the_graph_is_the_last_board():
    table = walk(CARCASSONNE.having(players=3, farmers=True), 9)
    root = ElementTree.fromstring(export(table.record(), "graph"))
    nodes = {node.get("id"): facts(node) for node in root.iter(f"{NAMESPACE}node")}
    tiles = {name: node for name, node in nodes.items() if node["what"] == "tile"}
    assert len(tiles) == table["laid"]
    places = {(int(node["x"]), int(node["y"])) for node in tiles.values()}
    pairs = sum(((x + 1, y) in places) + ((x, y + 1) in places) for x, y in places)
    edges = [(edge.get("source"), facts(edge)) for edge in root.iter(f"{NAMESPACE}edge")]
    assert sum("shows" in about for _, about in edges) == pairs
    standing_meeples = sum("meeple" in node for node in tiles.values())
    assert standing_meeples == int((table["meeple"] > 0).sum())
    counted = sum(sum(map(int, n["meeples"].split())) for n in nodes.values() if "meeples" in n)
    assert counted == standing_meeples
    for name, node in nodes.items():
        if node["what"] in ("road", "city"):
            parts = [edge for edge in root.iter(f"{NAMESPACE}edge") if edge.get("target") == name]
            assert len(parts) == int(node["size"])


def facts(element):
    """Read the facts of a node or an edge."""
    return {data.get("key"): data.text for data in element.iter(f"{NAMESPACE}data")}


def test_every_game_exports_its_moves(any_game):
    table = any_game.deal(3)
    rng = Chance(3)
    while not table.over and table.plies < 30:
        table.play(rng.choice(table.legal))
    rows = list(csv.DictReader(io.StringIO(export(table.record(), "moves"))))
    assert [row["words"] for row in rows] == [move.words for move in table.history]
    assert [float(rows[-1][f"points {s}"]) for s in range(any_game.players)] == table.points
    assert "moves" in exports_of(any_game)
    with pytest.raises(UnknownName, match="There are"):
        export(table.record(), "nothing")


# --- evolution -----------------------------------------------------------------------------------


def test_evolution_tunes_the_weights(tmp_path):
    game = CARCASSONNE.having(tiles=12)
    settings = {"offspring": 3, "budget": 6, "games": 4, "seed": 3, "plots": False}
    made = kibitz.train("evolution", game, folder=tmp_path / "one", **settings)
    assert list(made.weights) == list(WEIGHTS)
    assert made.columns == ("weight", "value")
    again = kibitz.train("evolution", game, folder=tmp_path / "two", cores=1, **settings)
    assert again.weights == made.weights
    agent = kibitz.agent(str(made.path), game)
    table = game.deal(1)
    assert agent.choose(table.view()) in table.legal
    assert agent.weights.tolist() == list(made.weights.values())
    without = kibitz.train(
        "evolution", game, folder=tmp_path / "three", without="rivals+road hope", **settings
    )
    assert without.weights["rivals"] == without.weights["road hope"] == 0.0
    with pytest.raises(BadOption, match="nothing of that name"):
        kibitz.train("evolution", game, folder=tmp_path / "four", without="rival", **settings)


@pytest.mark.parametrize("farmers", [False, True])
def test_nothing_depends_on_the_tiles_to_come(farmers):
    """Opinions, features, words and pictures are the same where the deck lies open."""
    game = CARCASSONNE.having(farmers=farmers, tiles=30)
    agent = kibitz.agent("settler", game)
    for table in positions(game, 12):
        if table.plies % 9 or table.over:
            continue
        view = table.view()
        open_cells = table.cells.copy()
        open_cells[VIEWER] = view.seat
        seen = View(game, open_cells)
        assert (view["deck"][table["drawn"] : 29] == HIDDEN).all()
        assert (seen["deck"] != view["deck"]).any() == (table["drawn"] < 29)
        assert agent.explain(seen) == agent.explain(view)
        assert np.array_equal(seen.features(), view.features())
        assert str(seen) == str(view)
        assert seen.svg() == view.svg()


@pytest.mark.parametrize("name", ["greedy", "settler"])
@pytest.mark.parametrize("settings", KINDS_OF_GAME[2:])
def test_whoever_is_asked_in_the_middle_of_a_turn_can_answer(name, settings):
    """A fresh agent answers in every phase with a cursor, and means what it says."""
    game = CARCASSONNE.having(**settings)
    phases = set()
    for table in positions(game, 14):
        if table.over or (table["phase"] == LAYING and table.plies % 40):
            continue
        phases.add(table["phase"])
        told = kibitz.agent(name, game).explain(table.view())
        assert told.action in table.legal
        assert told.thoughts[0].action == told.action
        assert told.thoughts[0].value == 1.0
    assert phases == {LAYING, DECIDING, POINTING}


def test_a_meeple_goes_where_it_is_worth_most_with_a_cursor_too():
    game = CARCASSONNE.having(control="cursor")
    direct = CARCASSONNE
    agent = kibitz.agent("greedy", direct)
    table = direct.deal(31)
    compared = 0
    while not table.over:
        if table["phase"] == DECIDING:
            cells = table.cells.copy()
            cells[game.layout.options["control"]] = 1
            wanted = agent.values(table.view(), table.legal)
            best = table.legal[int(np.argmax(wanted))]
            other = Table(game, cells)
            chosen = kibitz.agent("greedy", game)
            before = table["supply"].tolist()
            seat = table.seat
            while other.seat == seat:
                other.play(chosen.choose(other.view()))
            after = table.copy().play(best)
            assert other["supply"].tolist() == after["supply"].tolist()
            assert other.points == after.points
            compared += before != after["supply"].tolist()
        table.play(agent.choose(table.view()))
    assert compared > 5


# --- words ---------------------------------------------------------------------------------------


def test_people_may_say_it_in_their_own_words():
    table = CARCASSONNE.deal(3)  # a city to be laid: s1 in three ways, n1 turned 2
    assert table.read("n1") == table.read("N1 turned 2") == table.read("lay north 1, rotate 2")
    with pytest.raises(AmbiguousMove, match="several ways"):
        table.read("s1")
    with pytest.raises(IllegalMove, match="fits only like this: 'n1 turned 2'"):
        table.read("n1 turned 1")
    for far in ("e39 s39", "e40 s38", "e" + "9" * 50, "n1 n2", "north", "0", ""):
        with pytest.raises(UnreadableMove):
            table.read(far)
    table.play("s1 turned 2")
    assert table.read("city s") == table.read("s") == table.read("city")
    assert table.read("none") == table.read("skip") == table.read("pass")
    with pytest.raises(UnreadableMove):
        table.read("castle")
    table.play("no")
    walk_there = CARCASSONNE.having(control="cursor").deal(3)
    assert walk_there.read("n") == walk_there.read("up") == walk_there.read("north")
    assert walk_there.read("rotate") == walk_there.read("turn")
    assert walk_there.read("ok") == walk_there.read("confirm")


def test_the_cursor_is_always_on_the_screen():
    game = CARCASSONNE.having(control="cursor", tiles=60, steps=20)
    agents = [kibitz.agent("greedy", game), kibitz.agent("random", game)]
    table = game.deal(2)
    while not table.over:
        if table["phase"] == LAYING:
            assert "[" in str(table)
            assert "]" in str(table)
        table.play(agents[table["laid"] % 2].choose(table.view()))


def test_letters_tell_what_a_meeple_stands_on():
    table = CARCASSONNE.having(farmers=True).deal(3)
    marks = {"city south": "A", "field nnw": "α"}
    for words, mark in marks.items():
        board = table.copy().play("s1 turned 2").play(words)
        assert f" {mark}" in str(board).split("lay")[0]


# --- records -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("root", 0, 1), ("part", 0, 0), ("tile", 0, 0), ("phase", 0, 1), ("features", 0, 0),
        ("box", 1, 90), ("size", 0, 7), ("open", 0, 0), ("feature", 0, 2), ("aside", 0, 1),
        ("drawn", 0, 0), ("supply", 0, 6), ("bank", 1, 9), ("edges", 0, 2), ("grid", 7, 101),
        ("cursor", 0, 3), ("deck", 5, 23), ("meeple", 0, 1),
    ],
)  # fmt: skip
def test_a_damaged_record_is_refused(name, place, value):
    table = CARCASSONNE.deal(6)
    dealt = table.dealt.copy()
    cell = CARCASSONNE.cell(name).start + place
    assert dealt[cell] != value
    dealt[cell] = value
    text = json.loads(table.record().to_json())
    text["dealt"] = dealt.tolist()
    with pytest.raises(BadRecord):
        kibitz.Record.from_json(json.dumps(text).encode())
