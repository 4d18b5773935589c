"""Levels for people: each is harder than the one below, in the settings that the form offers."""

from __future__ import annotations

from itertools import pairwise

import pytest

import kibitz
from bench.levels import share, steps
from kibitz.core.errors import BadOption
from kibitz.play.fingerprint import fingerprint

LEAST = 0.62  # of wins against the level below
SETTINGS = [
    ("nim", {}, 300),
    ("nim", {"misere": "no"}, 300),
    ("nim", {"k": 3}, 300),
    ("nim", {"rows": "3,4,5", "misere": "no"}, 300),
    ("tapnswap", {}, 300),
    ("tapnswap", {"max_plies": 40}, 300),
    pytest.param("mexican_train", {}, 40, marks=pytest.mark.long),
    pytest.param("mexican_train", {"players": 2}, 40, marks=pytest.mark.long),
    pytest.param("carcassonne", {}, 100, marks=pytest.mark.long),
    pytest.param("carcassonne", {"farmers": "yes"}, 100, marks=pytest.mark.long),
    pytest.param("carcassonne", {"players": 5}, 100, marks=pytest.mark.long),
]
TOGETHER = [
    {},
    *({"players": players} for players in (3, 4, 5)),
    {"colours": 3},
    {"notes": 4},
    {"bomb": "pile"},
]


@pytest.mark.parametrize(("name", "settings", "games"), SETTINGS)
def test_each_level_beats_the_one_below(name, settings, games):
    found = list(steps(kibitz.game(name, **settings), games))
    assert len(found) >= 2
    assert {f"{high} > {low}": share for high, low, share in found if share < LEAST} == {}


@pytest.mark.parametrize("settings", TOGETHER, ids=str)
def test_partners_differ_clearly_in_points(settings):
    points = [mean for *_, mean in steps(kibitz.game("hanabi", **settings), 300)]
    assert all(harder > 1.08 * easier for easier, harder in pairwise(points))


# --- blunders ------------------------------------------------------------------------------------


def test_the_more_blunders_the_fewer_wins():
    game = kibitz.game("nim")
    won = [share(game, f"expert:blunders={b}%", "expert:blunders=50%", 400, 3) for b in (0, 50, 99)]
    assert won[0] > 0.85
    assert 0.4 < won[1] < 0.6
    assert won[2] < 0.3


def test_blunders_are_random_moves_at_the_rate_that_is_set():
    game = kibitz.game("nim", rows="63")
    agent = kibitz.agent("nim-sum-misere:blunders=0.25", game)
    view = game.deal(1).view(0)
    wanted = kibitz.agent("nim-sum-misere", game).choose(view)
    chosen = [agent.choose(view) for _ in range(2000)]
    others = [action for action in chosen if action != wanted]
    assert 0.2 < len(others) / len(chosen) < 0.3
    assert len(set(others)) > 50


def test_matches_with_blunders_repeat_on_any_number_of_cores():
    game = kibitz.game("tapnswap")
    who = ["tapper:blunders=30%", "random"]
    one, two = (kibitz.match(game, who, 60, seed=5, cores=cores) for cores in (1, 2))
    assert one == two
    assert one != kibitz.match(game, ["tapper", "random"], 60, seed=5)


def test_an_agent_that_blunders_says_so():
    table = kibitz.game("nim").deal(1)
    said = kibitz.agent("expert:blunders=40%", table.game).explain(table.view())
    assert said.action == kibitz.agent("expert", table.game).explain(table.view()).action
    assert "60% of the time" in said.reason


def test_agents_with_other_blunders_are_other_agents():
    game = kibitz.game("nim")
    names = ("expert", "expert:blunders=10%", "expert:blunders=20%")
    assert len({fingerprint(kibitz.agent(name, game)) for name in names}) == 3


@pytest.mark.parametrize("wrong", ["30", "-1%", "101%", "many", "%", "nan"])
def test_what_is_no_share_is_refused(wrong):
    with pytest.raises(BadOption, match="'blunders' takes a share from 0% to 100%, as in 30%"):
        kibitz.agent(f"expert:blunders={wrong}", kibitz.game("nim"))
