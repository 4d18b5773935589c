"""Environments that pay for events: the same amounts as learners get, in all three of them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

import gymnasium

import kibitz
import kibitz.bridges.gymnasium as seats
from kibitz.bridges.pettingzoo import env as make_env
from kibitz.core.chance import Chance
from kibitz.core.errors import Misuse, UnknownName
from kibitz.core.game import SEAT, Game

CURSOR = {"control": "cursor", "tiles": 8}
PAID = {"step": -0.25, "meeple-step": -0.5, "score": 2.0}
AS_TEXT = "step=-0.25+meeple-step=-0.5+score=2"


def game() -> Game:
    return kibitz.game("carcassonne", **CURSOR)


def paid(one: Game, before: np.ndarray, action: int, after: np.ndarray, seat: int) -> float:
    """Add up by name what an action brings a seat."""
    amounts = {event.name: event.reward for event in one.rewards.events} | PAID
    happened = one.rewards.happened(before, action, after, seat)
    return sum(amounts[name] * count for name, count in happened.items())


def test_events_of_this_game_are_named_as_they_are_here():
    assert set(PAID) <= {event.name for event in game().rewards.events}


def test_pettingzoo_pays_every_seat_for_what_happens_to_it():
    one = game()
    env = make_env(one, aim="events", rewards=PAID)
    env.reset(seed=3)
    table, rng, seen = one.deal(3), Chance(5), set()
    while not table.over:
        action = rng.choice(table.legal)
        before = table.cells.copy()
        table.play(action)
        env.step(action)
        wanted = [paid(one, before, action, table.cells, seat) for seat in range(one.players)]
        assert list(env.rewards.values()) == pytest.approx(wanted)
        seen |= {round(value, 6) for value in wanted}
    assert len(seen) > 3  # steps, points and nothing at all
    assert env.terminations["seat_0"]


@pytest.mark.parametrize("rewards", [PAID, AS_TEXT])
def test_gymnasium_pays_from_one_decision_to_the_next(rewards):
    """Checked by the record of the game: what happens before the first decision is not paid."""
    one = game()
    env = seats.make(one, opponents="random", seat=1, aim="events", rewards=rewards)
    mover, earned = kibitz.agent("greedy", one), set()
    for seed in range(3):
        env.reset(seed=seed)
        got, over = [], False
        while not over:
            _, reward, over, _, _ = env.step(mover.choose(env.board.view(1)))
            got.append(reward)
        wanted: list[float] = []
        cells = [table.cells.copy() for table, _ in env.record().steps()]  # one table moves on
        cells.append(env.record().table().cells)
        for place, action in enumerate(env.record().actions):
            if cells[place][SEAT] == 1:
                wanted.append(0.0)
            if wanted:
                wanted[-1] += paid(one, cells[place], action, cells[place + 1], 1)
        assert got == pytest.approx(wanted)
        earned |= {round(reward, 6) for reward in got}
    assert len(earned) > 3  # points, too


def test_the_vector_environment_pays_the_same():
    how = {"opponents": "random", "seat": 1, "aim": "events", "rewards": PAID, **CURSOR}
    alone = gymnasium.make("kibitz/carcassonne-v1", disable_env_checker=True, **how)
    many = gymnasium.make_vec("kibitz/carcassonne-v1", num_envs=1, **how)
    (_, info), (_, infos) = alone.reset(seed=4), many.reset(seed=4)
    rng, ended, earned = Chance(7), 0, set()
    while ended < 2:
        assert np.array_equal(info["action_mask"], infos["action_mask"][0])
        action = rng.choice(np.flatnonzero(info["action_mask"]).tolist())
        _, reward, over, _, info = alone.step(action)
        _, rewards, overs, _, infos = many.step(np.array([action]))
        assert reward == pytest.approx(rewards[0])
        assert over == overs[0]
        earned.add(round(reward, 6))
        if over:
            ended += 1
            _, info = alone.reset()
    assert len(earned) > 3


def test_cores_make_no_difference():
    how = {"num_envs": 6, "opponents": "random", "aim": "events", "rewards": PAID, **CURSOR}
    envs = [gymnasium.make_vec("kibitz/carcassonne-v1", cores=cores, **how) for cores in (1, 2)]
    for env in envs:
        env.reset(seed=1)
    total, rng = 0.0, np.random.default_rng(2)
    for _ in range(40):
        actions = envs[0].unwrapped.sparring.draw(rng)
        one, two = (env.step(actions)[1] for env in envs)
        assert np.array_equal(one, two)
        total += np.abs(one).sum()
    assert total > 0


def test_what_cannot_be_paid_is_told():
    with pytest.raises(Misuse, match="nim offers no events to be paid for"):
        seats.make("nim", aim="events")
    with pytest.raises(Misuse, match="paid with aim=events only"):
        make_env("carcassonne", rewards=PAID)
    with pytest.raises(UnknownName, match=r"No event is called 'stpe'\. Did you mean 'step'"):
        gymnasium.make_vec("kibitz/carcassonne-v1", num_envs=2, aim="events", rewards={"stpe": 1})
    with pytest.raises(UnknownName, match=r"No aim is called 'event'\. Did you mean 'events'"):
        make_env("carcassonne", aim="event")
