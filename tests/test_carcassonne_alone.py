"""Carcassonne with one seat: the best own score, by people, agents, learners and environments."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.compiled import JIT
from kibitz.core.errors import Misuse
from kibitz.games.carcassonne.cells import LAID
from kibitz.learners import train
from kibitz.play.sparring import Sparring
from tests.networks import SMALL
from tests.test_cli import ask

ALONE = kibitz.game("carcassonne", players=1)
compiled_only = pytest.mark.skipif(not JIT, reason="loops are compiled")


def followed(game, deal):
    """Play by random moves, and give the table after each."""
    table, rng = game.deal(5, deal), Chance(5, deal, 1)
    while not table.over:
        table.play(rng.choice(table.legal))
        yield table


def test_every_tile_is_laid_by_the_same_seat():
    for table in followed(ALONE.having(tiles=20), 0):
        assert table.seat in (0, -1)
    assert table["laid"] + table["aside"] == 20
    assert table.points == [table["bank"][0]]


@pytest.mark.parametrize("exact", [False, True])
def test_a_turn_that_wanders_too_long_lays_one_tile_only(exact):
    # The next turn belongs to the same seat: it must not be ended with the one that was too long.
    game = ALONE.having(control="cursor", tiles=12, steps=5, exact=exact)
    for deal in range(10):
        laid = 1
        for table in followed(game, deal):
            assert table.cells[LAID] - laid in (0, 1)
            laid = int(table.cells[LAID])
            assert table.cells[game.cell("steps")][0] < 5
            assert game.flaw(table) is None


@compiled_only
def test_better_agents_have_more_points():
    points = {
        name: kibitz.match(ALONE, [name], 40, seed=3).agents[0].points.mean
        for name in ("random", "greedy", "settler")
    }
    assert points["random"] + 40 < points["greedy"] < points["settler"] - 20


def test_one_seat_plays_for_its_score():
    assert ALONE.cooperative
    assert not ALONE.having(players=2).cooperative
    assert kibitz.game("hanabi").cooperative
    assert ALONE.having(players=2) == kibitz.game("carcassonne")


def test_matches_on_the_command_line(capsys):
    one = ("--set", "players=1", "--set", "tiles=8", "--games", "4", "--seed", "1")
    code, out, _ = ask(capsys, "match", "carcassonne", "greedy", *one)
    assert code == 0
    assert "greedy" in out
    assert "team" not in out
    code, _, wrong = ask(capsys, "match", "carcassonne", "greedy", "random", *one)
    assert code != 0
    assert "one at a time" in " ".join(wrong.split())


def test_watching_says_how_many_points_there_are(capsys):
    one = ("--set", "players=1", "--set", "tiles=6", "--seed", "3")
    code, out, _ = ask(capsys, "watch", "carcassonne", "--seats", "greedy", *one)
    assert code == 0
    assert re.search(r"greedy has \d+ points\.", out)


def test_drawings_show_one_seat():
    table = ALONE.deal(1)
    assert "seat 1" not in table.svg(seat=0).lower()
    assert "seat 1" not in str(table).lower()


@compiled_only
@pytest.mark.parametrize("control", ["direct", "cursor"])
@pytest.mark.long
def test_networks_learn_to_play_alone(tmp_path, control):
    game = ALONE.having(control=control, tiles=6, encoding="vector")
    learned = train("ppo", game, seed=1, folder=tmp_path, decisions=512, **SMALL)
    assert [row[0] for row in learned.rows()] == ["score"]
    again = kibitz.match(game, [str(tmp_path / "model.safetensors")], 4, seed=1)
    assert again.agents[0].points.mean >= 0


def test_evolution_says_why_it_cannot():
    with pytest.raises(Misuse, match="nobody to win against"):
        train("evolution", ALONE, seed=1)


@compiled_only
def test_many_games_at_once_without_opponents():
    assert Sparring(ALONE.having(tiles=6), size=4, seed=1).size == 4
    with pytest.raises(Misuse, match="nobody to play against"):
        Sparring(ALONE, size=4, seed=1, opponents=["greedy"])


def test_gymnasium_plays_it_to_the_end():
    pytest.importorskip("gymnasium")
    from kibitz.bridges import gymnasium as bridge

    env = bridge.make("carcassonne", players=1, tiles=8, illegal="raise")
    _, info = env.reset(seed=1)
    earned, over = 0.0, False
    while not over:
        _, reward, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        earned += reward
    assert [earned] == list(info["points"])


@pytest.mark.long
def test_a_person_plays_alone_in_the_browser(tmp_path):
    from tests.browser import browsers
    from tests.web import new_page, open_table, play_on, serving

    with browsers() as browser, serving(tmp_path) as server:
        page = new_page(browser.new_context(viewport={"width": 1280, "height": 800}))
        open_table(page, server.url, "carcassonne", players="1", tiles="5", seed="4")
        while play_on(page):
            pass
        page.wait_for_selector(".kb-status >> text=/You have \\d+ points/")
        assert page.locator(".kb-seat").count() == 1
        assert "exchanged" not in page.inner_text(".kb-status")
        assert not page.wrong
