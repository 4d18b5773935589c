"""Matches: fair, repeatable on any number of cores, with intervals that mean what they say."""

from __future__ import annotations

import numpy as np
import pytest

import kibitz
from kibitz.core.agent import Agent, Kind
from kibitz.core.compiled import CHOOSE, NOTICE, compiled
from kibitz.core.errors import AgentFailed, BadModel, BadOption, BrokenRules, Misuse, UnknownName
from kibitz.core.game import SEAT, VIEWER
from kibitz.play.result import estimate_of, share_of
from tests import toys


class First(Agent):
    """Take the first legal move."""

    def choose(self, view):
        return view.legal[0]


def last_move(view):
    """Take the last legal move."""
    return view.legal[-1]


@compiled(CHOOSE)
def first_compiled(rules, view, actions, n, weights, memory, rng):
    """Take the first legal move, compiled."""
    return actions[0]


@compiled(CHOOSE)
def wrong(rules, view, actions, n, weights, memory, rng):
    """Answer with an action that is not legal."""
    return -7


@compiled(CHOOSE)
def counting(rules, view, actions, n, weights, memory, rng):
    """Take the first move while what was noticed agrees with the plies, otherwise the last."""
    if memory[0] == view[2] and view[VIEWER] == view[SEAT]:
        return actions[0]
    return actions[n - 1]


@compiled(NOTICE)
def count(view, actor, action, memory):
    if view[SEAT] == actor and view[2] == memory[0]:
        memory[0] += 1


def test_the_same_seed_gives_the_same_result_on_any_number_of_cores(any_game):
    results = [
        kibitz.match(any_game, ["random"], 5000, seed=11, cores=cores) for cores in (1, 2, 3)
    ]
    assert results[0] == results[1] == results[2]
    assert results[0] != kibitz.match(any_game, ["random"], 5000, seed=12)


def test_a_hundred_thousand_games_of_compiled_agents():
    game = kibitz.game("nim")
    one = kibitz.match(game, ["random", "perfect"], 100_000, seed=1, cores=1)
    two = kibitz.match(game, ["random", "perfect"], 100_000, seed=1, cores=2)
    assert one == two
    assert one.games == 100_000
    assert one.agents[1].share.mean > 0.999


def test_compiled_and_python_agents_play_the_same_games():
    game = kibitz.game("tapnswap")
    whole = kibitz.match(game, [Kind(choose=first_compiled), "random"], 300, seed=5)
    mixed = kibitz.match(game, [First, "random"], 300, seed=5)
    for ours, theirs in zip(whole.agents, mixed.agents, strict=True):
        assert (ours.wins, ours.draws, ours.points) == (theirs.wins, theirs.draws, theirs.points)
    assert whole.seats == mixed.seats
    assert whole.moves == mixed.moves


def test_python_agents_by_name_play_the_same_on_several_cores(tmp_path, monkeypatch):
    """Agents that can be named are played in further processes, which must not change anything."""
    import kibitz.play.match as module

    path = kibitz.solve(kibitz.game("nim")).save(tmp_path / "nim.safetensors")
    names = [str(path), "random"]
    game = kibitz.game("nim")
    expected = kibitz.match(game, names, 60, seed=3)
    monkeypatch.setattr(
        module.Runner, "is_compiled", property(lambda self: False, _ignore), raising=False
    )
    alone = kibitz.match(game, names, 60, seed=3, cores=1)
    monkeypatch.setattr(module, "WORTH_WORKERS", 0.0)
    monkeypatch.setattr(module, "WORTH_WAITING", 0.0)
    sent = []
    really = module.in_workers
    monkeypatch.setattr(module, "in_workers", lambda *a: (sent.append(a[5].shape), really(*a)))
    assert kibitz.match(game, names, 60, seed=3, cores=2) == alone == expected
    assert len(sent) == 1
    path.write_bytes(b"gone")  # what a worker cannot do reaches us as the error it is
    with pytest.raises(BadModel, match="Cannot read"):
        really(game, names, 3, True, 0, np.zeros((60, 2)), np.zeros(60, np.int32), 2, None)


def _ignore(self, value):
    """Swallow the assignment."""


def test_seats_rotate_and_deals_are_played_in_every_rotation():
    game = toys.SHUFFLED.having(players=3)
    seen: list[tuple[int, int, int]] = []

    class Spy(Agent):
        def begin(self, seat, rng):
            super().begin(seat, rng)
            self.seat = seat
            self.moved = False

        def choose(self, view):
            assert view.seat == view.mover == self.seat
            if view.plies == 0:
                seen.append((id(self), self.seat, view["place"]))
            return view.legal[-1]

    spies = [Spy(game) for _ in range(3)]
    result = kibitz.match(game, spies, 9, seed=1)
    assert result.games == 9
    firsts = [place for _, _, place in seen]
    assert len(seen) == 9
    for deal in range(3):
        assert len(set(firsts[3 * deal : 3 * deal + 3])) == 1  # one deal, three rotations
    assert len(set(firsts)) > 1
    assert {spy for spy, _, _ in seen[:3]} == {id(spy) for spy in spies}
    seen.clear()
    kibitz.match(game, spies, 9, seed=1, duplicate=False)
    assert [place for _, _, place in seen] != firsts


def test_games_are_rounded_up_to_whole_rounds():
    assert kibitz.match(kibitz.game("nim"), ["random"], 3, seed=1).games == 4


def test_results_add_up(any_game):
    result = kibitz.match(any_game, ["random"], 2000, seed=2)
    for agent in result.agents:
        assert agent.wins + agent.draws + agent.losses == result.games
        assert agent.share.low <= agent.share.mean <= agent.share.high
        assert sum(seat.games for seat in agent.seats) == result.games
    assert sum(agent.share.mean for agent in result.agents) == pytest.approx(1)
    assert sum(agent.margin.mean for agent in result.agents) == pytest.approx(0)
    assert sum(seat.share.mean for seat in result.seats) == pytest.approx(1)
    assert 0 < result.moves <= result.games * any_game.bound("most_plies")
    assert result.longest <= any_game.bound("most_plies")
    assert result.to_dict()["games"] == result.games
    assert str(result.seed) in str(result)


def test_intervals_hold_the_truth_about_as_often_as_they_claim():
    rng = np.random.default_rng(1)
    for chance in (0.5, 0.9, 0.99):
        inside = 0
        for _ in range(400):
            share = share_of((rng.random(500) < chance).astype(float), 1)
            inside += share.low <= chance <= share.high
        assert 0.92 <= inside / 400 <= 0.985
    inside = 0
    for _ in range(400):  # pairs that share their luck: only the difference within a pair counts
        luck = np.repeat(rng.normal(size=200), 2) * np.tile([1, -1], 200)
        estimate = estimate_of(3 + 10 * luck + rng.normal(size=400), 2)
        inside += abs(estimate.mean - 3) <= estimate.plus_minus
    assert 0.92 <= inside / 400 <= 0.985
    assert share_of(np.ones(100), 1).low < 1
    assert share_of(np.zeros(100), 1).high > 0


def test_seat_effects_take_the_deal_as_the_unit():
    """Rotations of one deal share a seat's luck; intervals must not pretend otherwise."""
    from kibitz.play.result import summarise

    rng = np.random.default_rng(2)
    game = kibitz.game("nim")
    inside = 0
    for _ in range(300):
        deals = 100
        luck = np.repeat(rng.normal(size=deals), 2)  # of seat 0, in both rotations
        rotation = np.arange(2 * deals) % 2
        first = luck + 0.1 * rng.normal(size=2 * deals)
        points = np.zeros((2 * deals, 2))
        points[np.arange(2 * deals), (0 - rotation) % 2] = first
        result = summarise(game, ["a", "b"], 1, True, points, np.ones(2 * deals, np.int32), 1.0)
        inside += abs(result.seats[0].points.mean) <= result.seats[0].points.plus_minus
    assert 0.92 <= inside / 300 <= 0.99


def test_an_agent_cannot_work_out_the_deal_from_its_own_chance():
    """The generator can be run backwards to its seed, which must not be that of the deal."""
    game = toys.SHUFFLED
    seeds = []

    class Spy(Agent):
        def begin(self, seat, rng):
            super().begin(seat, rng)
            words = [int(word) for word in rng.words]
            for _ in range(15):
                words = _backwards(words)
            seeds.append(words[0] | words[1] << 32)

        def choose(self, view):
            return view.legal[0]

    kibitz.match(game, [Spy, "random"], 2, seed=1234)
    assert len(set(seeds)) == 1  # it does run backwards
    assert seeds[0] != 1234
    assert seeds[0] > 2**32


def _backwards(words):
    mask = 0xFFFFFFFF
    a, b, c, counter = words
    counter = (counter - 1) & mask
    # b was c + (c << 3) = 9c; undo by the inverse of 9 modulo 2**32
    old_c = b * pow(9, -1, 2**32) & mask
    drawn = (c - ((old_c << 21 | old_c >> 11) & mask)) & mask
    old_b = a
    for shift in (9, 18):
        old_b ^= old_b >> shift
    old_a = (drawn - old_b - counter) & mask
    return [old_a, old_b, old_c, counter]


def test_an_agent_that_notices_sees_every_action():
    game = kibitz.game("tapnswap")
    noticing = Kind(choose=counting, notice=count, memory=1)
    first = kibitz.match(game, [Kind(choose=first_compiled), "random"], 200, seed=5)
    assert kibitz.match(game, [noticing, "random"], 200, seed=5).moves == first.moves

    class Noticing(Agent):
        def begin(self, seat, rng):
            super().begin(seat, rng)
            self.seen = 0

        def notice(self, view, actor, action):
            assert view.mover == actor
            assert action in view.legal
            assert view.plies == self.seen
            self.seen += 1

        def choose(self, view):
            assert view.plies == self.seen
            return view.legal[0]

    assert kibitz.match(game, [Noticing, "random"], 200, seed=5).moves == first.moves


def test_agents_that_fail_are_named_and_nobody_is_forfeited():
    game = kibitz.game("nim")
    with pytest.raises(AgentFailed, match="wrong at seat 0 answered with action -7, which is not"):
        kibitz.match(game, [Kind(choose=wrong), "random"], 10, seed=1)

    def raising(view):
        raise ValueError("no idea")

    with pytest.raises(AgentFailed, match=r"ValueError\('no idea'\)"):
        kibitz.match(game, [raising, "random"], 10, seed=1)
    for answer in (None, "take 1", 3.5, True):
        with pytest.raises(AgentFailed, match="no action number"):
            kibitz.match(game, [lambda view, answer=answer: answer, "random"], 10, seed=1)
    with pytest.raises(AgentFailed, match="not legal"):
        kibitz.match(game, [lambda view: 10**6, "random"], 10, seed=1)


def test_rules_that_run_past_their_bound_are_named():
    from dataclasses import replace

    with pytest.raises(BrokenRules, match="ran past its 2 plies"):
        kibitz.match(replace(kibitz.game("nim"), most_plies=2), ["random"], 10, seed=1)


def test_an_agent_cannot_change_the_game_through_its_view():
    game = kibitz.game("nim")

    def vandal(view):
        action = view.legal[0]
        view.cells[:] = 0
        return action

    vandalised = kibitz.match(game, [vandal, "random"], 50, seed=1)
    honest = kibitz.match(game, [lambda view: view.legal[0], "random"], 50, seed=1)
    assert vandalised.moves == honest.moves
    assert vandalised.seats == honest.seats


def test_misuse_is_refused_clearly():
    game = kibitz.game("nim")
    with pytest.raises(Misuse, match="3 agents are too many"):
        kibitz.match(game, ["random"] * 3, 10)
    with pytest.raises(Misuse, match="list of agents"):
        kibitz.match(game, "random", 10)
    with pytest.raises(Misuse, match="1 to 50,000,000 games, not 0"):
        kibitz.match(game, ["random"], 0)
    with pytest.raises(Misuse, match="at least 1 core"):
        kibitz.match(game, ["random"], 10, cores=0)
    with pytest.raises(UnknownName, match="Did you mean 'perfect'"):
        kibitz.match(game, ["prefect"], 10)
    with pytest.raises(UnknownName, match="No option of perfect"):
        kibitz.match(game, ["perfect:depth=3"], 10)
    with pytest.raises(BadOption, match="seed"):
        kibitz.match(game, ["random"], 10, seed=-1)
    with pytest.raises(Misuse, match="was made for nim, not tapnswap"):
        kibitz.match(kibitz.game("tapnswap"), [kibitz.agent("random", game)], 10)


def test_an_agent_object_sits_at_one_seat():
    game = kibitz.game("nim")
    with pytest.raises(Misuse, match="cannot sit at two seats"):
        kibitz.match(game, [First(game)], 10)
    with pytest.raises(Misuse, match="cannot sit at two seats"):
        kibitz.match(game, [agent := First(game), agent], 10)
    assert kibitz.match(game, [First], 10).games == 10
    assert kibitz.match(game, [kibitz.agent("random", game)], 10).games == 10


def test_progress_is_told_and_ends_at_the_total():
    told = []
    kibitz.match(
        kibitz.game("nim"), ["random"], 20_000, seed=1, progress=lambda *at: told.append(at)
    )
    assert told[-1] == (20_000, 20_000)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_copies_of_an_agent_are_told_apart():
    names = [a.name for a in kibitz.match(kibitz.game("nim"), ["random"], 2, seed=1).agents]
    assert names == ["random", "random #2"]
