"""Sparring: many boards with agents at the other seats, held against tables and agents."""

from __future__ import annotations

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance, agents_seed
from kibitz.core.errors import AgentFailed, IllegalMove, Misuse
from kibitz.core.registry import find_agent
from kibitz.play.seats import announce
from kibitz.play.sparring import Sparring

OTHERS = {
    "nim": ("gabriele",),
    "tapnswap": ("tapper",),
    "mexican_train": ("greedy", "random"),
    "hanabi": ("smart",),  # follows what others do
    "carcassonne": ("random",),
}


def first_game(game, names, seed, stream, choose):
    """Play one game at a table as a board of that stream must; give seat, actions and rewards."""
    own = agents_seed(seed)
    table = game.deal(seed, stream)
    mine = Chance(own, stream, 0).below(game.players)
    agents = [None] * game.players
    for step in range(1, game.players):
        seat = (mine + step) % game.players
        agents[seat] = find_agent(names[(step - 1) % len(names)], game)
        agents[seat].begin(seat, Chance(own, stream, 1 + seat))
    actions, rewards, held = [], [], table.points[mine]
    while not table.over:
        if table.seat == mine:
            if actions:
                rewards.append(table.points[mine] - held)
                held = table.points[mine]
            action = choose(table.view())
            actions.append(action)
        else:
            action = agents[table.seat].choose(table.view())
        announce(agents, table, action)
        table.play(action)
    rewards.append(table.points[mine] - held)
    return mine, actions, rewards, table


def by_features(view):
    """Choose by what is seen, so that whatever differs shows."""
    return view.legal[int(np.abs(view.features()).sum() * 1000 + view.plies) % len(view.legal)]


@pytest.mark.parametrize("name", OTHERS)
def test_boards_play_the_same_games_as_tables(name):
    game = kibitz.game(name)
    size, seed = 3, 11
    sparring = Sparring(game, size, seed, opponents=OTHERS[name], cores=2)
    for _ in range(2):  # and once more after a reset
        told = [first_game(game, OTHERS[name], seed, board, by_features) for board in range(size)]
        seen = [([], []) for _ in range(size)]
        over = np.zeros(size, bool)
        while not over.all():
            views = [kibitz.View(game, row.copy()) for row in sparring.views]
            for board, view in enumerate(views):
                assert view.features().tolist() == sparring.features[board].tolist()
                assert view.legal == np.flatnonzero(sparring.masks[board]).tolist()
                assert view.seat == view.mover == sparring.seat[board]
                assert over[board] or view.seat == told[board][0]
            actions = np.array([by_features(view) for view in views])
            sparring.step(actions)
            for board in np.flatnonzero(~over):
                seen[board][0].append(int(actions[board]))
                seen[board][1].append(float(sparring.rewards[board]))
                if sparring.done[board]:
                    table = told[board][3]
                    assert sparring.final[board].tolist() == table.points
                    end = table.view(told[board][0]).features()
                    assert np.array_equal(sparring.final_features[board], end)
            over |= sparring.done
        for board in range(size):
            assert seen[board][0] == told[board][1]
            assert seen[board][1] == pytest.approx(told[board][2])
        sparring.reset(seed)


def test_cores_do_not_matter():
    game = kibitz.game("hanabi", players=3)
    runs = []
    for cores in (1, 2):
        sparring = Sparring(game, 7, 5, opponents=("piers", "random"), cores=cores)
        rng = np.random.default_rng(1)
        rewards = []
        for _ in range(200):
            sparring.step(sparring.draw(rng))
            rewards.append(sparring.rewards.copy())
        runs.append((np.array(rewards), sparring.features.copy(), sparring.deals))
        sparring.close()
    assert np.array_equal(runs[0][0], runs[1][0])
    assert np.array_equal(runs[0][1], runs[1][1])
    assert runs[0][2] == runs[1][2]


def test_a_fixed_seat_is_kept_and_another_is_drawn():
    game = kibitz.game("mexican_train", players=4, hands=1)
    fixed = Sparring(game, 50, 1, seat=2)
    drawn = Sparring(game, 50, 1)
    assert set(fixed.seat.tolist()) == {2}
    assert set(drawn.seat.tolist()) == {0, 1, 2, 3}


def test_all_seats_may_be_yours_where_everybody_wins_together():
    game = kibitz.game("hanabi", players=3)
    sparring = Sparring(game, 20, 1, opponents="self")
    rng = np.random.default_rng(2)
    earned, finished, seats = np.zeros(20), 0, set()
    for _ in range(300):
        seats |= set(sparring.seat.tolist())
        sparring.step(sparring.draw(rng))
        earned += sparring.rewards
        for board in np.flatnonzero(sparring.done):
            assert earned[board] == sparring.final[board, 0]
            earned[board] = 0.0
            finished += 1
    assert seats == {0, 1, 2}
    assert finished > 20


@pytest.mark.parametrize("aim", ["win", "margin", "points"])
def test_rewards_add_up_to_the_aim(aim):
    game = kibitz.game("carcassonne", tiles=6)
    sparring = Sparring(game, 10, 4, aim=aim, seat=1)
    rng = np.random.default_rng(3)
    earned, checked = np.zeros(10), 0
    for _ in range(60):
        sparring.step(sparring.draw(rng))
        earned += sparring.rewards
        for board in np.flatnonzero(sparring.done):
            other, mine = sparring.final[board]
            share = 1.0 if mine > other else 0.0 if mine < other else 0.5
            wanted = {"win": share - 0.5, "margin": mine - other, "points": mine}[aim]
            assert earned[board] == pytest.approx(wanted)
            earned[board] = 0.0
            checked += 1
    assert checked > 10


def test_wrong_requests_say_what_is_right():
    game = kibitz.game("nim")
    sparring = Sparring(game, 2, 1)
    before = sparring.views.copy()
    with pytest.raises(IllegalMove, match="action 255 is not legal in game 0"):
        sparring.step(np.array([255, 255]))
    assert np.array_equal(before, sparring.views)
    with pytest.raises(Misuse, match="takes 2 actions"):
        sparring.step(np.array([0]))
    with pytest.raises(Misuse, match="win together"):
        Sparring(game, 2, opponents="self")
    with pytest.raises(Misuse, match="1 other seats"):
        Sparring(game, 2, opponents=["random", "random"])
    with pytest.raises(Misuse, match="no seat 2"):
        Sparring(game, 2, seat=2)
    with pytest.raises(Misuse, match="compiled opponents"):
        Sparring(game, 2, opponents=["mcts"])
    with pytest.raises(Misuse, match="No aim is called 'fun'"):
        Sparring(game, 2, aim="fun")
    with pytest.raises(Misuse, match="nothing to decide"):
        Sparring(kibitz.game("nim", rows=(1,)), 2, seat=1)


def test_an_opponent_that_cheats_is_named(monkeypatch):
    from kibitz.core.agent import Kind
    from kibitz.core.compiled import CHOOSE, compiled

    @compiled(CHOOSE)
    def cheat(rules, view, actions, n, weights, memory, rng):
        """Answer with what is never legal."""
        return -7

    monkeypatch.setattr(
        "kibitz.play.rivals.find_agent", lambda name, game: Kind(choose=cheat)(game)
    )
    with pytest.raises(AgentFailed, match="cheat answered with action -7"):
        Sparring(kibitz.game("nim"), 4, 1, seat=1, opponents=["cheat"])
    sparring = Sparring(kibitz.game("nim"), 4, 1, seat=0, opponents=["cheat"])
    actions = sparring.draw(np.random.default_rng(1))
    with pytest.raises(AgentFailed):
        sparring.step(actions)
    with pytest.raises(Misuse, match="left halfway"):  # what was legal is so no more
        sparring.step(actions)
    sparring.reset(1)
    assert (sparring.counts > 0).all()


def test_what_is_legal_cannot_be_written_on():
    sparring = Sparring(kibitz.game("nim"), 2, 1)
    for array in (sparring.legal, sparring.counts, sparring.masks, sparring.views, sparring.seat):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 1
