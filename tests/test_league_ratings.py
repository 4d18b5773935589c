"""Ratings against what is known: examples by hand, the library's own, simulated players."""

from __future__ import annotations

import math

import numpy as np
import pytest
from openskill.models import PlackettLuce

from kibitz.core.chance import Chance
from kibitz.league.contest import cells, circles, lottery, matrix
from kibitz.league.digest import digest, together
from kibitz.league.elo import elo
from kibitz.league.pairings import PAIRINGS, Standings, pair
from kibitz.league.played import Played, pack, ranked, unpack
from kibitz.league.skill import skills
from kibitz.league.strength import POINTS, Strength, orders_of, strengths, strict_orders, tally


def rated(played: list[Played], members: int, **more) -> list[Strength]:
    return strengths([tally(match) for match in played], members, **more)


def simulated(strength, seats: int, matches: int, games: int, rng) -> list[Played]:
    """Players who come first with chances exp(s) / sum: points with Gumbel's noise do that."""
    found = []
    for number in range(matches):
        lineup = tuple(rng.choice(len(strength), seats, replace=False).tolist())
        points = rng.gumbel(size=(games, seats)) + np.array(strength)[list(lineup)]
        found.append(Played(lineup, points, number))
    return found


# --- Elo ---------------------------------------------------------------------------------------


def test_elo_of_two_by_hand():
    assert elo([Played((0, 1), np.array([[1.0, 0.0]]))], 2).tolist() == [1516.0, 1484.0]
    # 400 points apart the stronger expects 10/11; a draw costs it 32 * (10/11 - 1/2).
    after = elo([Played((0, 1), np.array([[3.0, 3.0]]))], 2, start=[1900.0, 1500.0])
    assert after.tolist() == pytest.approx(
        [1900 - 32 * (10 / 11 - 0.5), 1500 + 32 * (10 / 11 - 0.5)]
    )


def test_elo_of_three_by_hand():
    """Scores 0, 10 and 15 at dominoes: the first beat the second, the second beat the third."""
    after = elo([Played((0, 1, 2), np.array([[0.0, -10.0, -15.0]]))], 3)
    assert after.tolist() == [1516.0, 1500.0, 1484.0]
    # From unequal ratings, all from those before the game: 1 lost to 0 and beat 2.
    start = [1500.0, 1600.0, 1700.0]
    low = 1 / (1 + 10 ** (100 / 400))  # what the weaker of two neighbours expects
    after = elo([Played((0, 1, 2), np.array([[0.0, -10.0, -15.0]]))], 3, start)
    won = 32 * (1 - low)
    assert after.tolist() == pytest.approx([1500 + won, 1600, 1700 - won])


def test_elo_goes_game_by_game_and_match_by_match():
    games = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    whole = elo([Played((0, 1), games)], 2)
    parts = elo([Played((0, 1), games[:1]), Played((0, 1), games[1:])], 2)
    assert whole.tolist() == parts.tolist()
    up = 1 / (1 + 10 ** (-32 / 400))
    assert elo([Played((0, 1), games[:2])], 2)[0] == pytest.approx(1516 - 32 * up)


def test_copies_of_one_take_nothing_from_each_other():
    alone = Played((0, 0, 0), np.array([[3.0, 2.0, 1.0]]))
    assert elo([alone], 1).tolist() == [1500.0]


# --- OpenSkill ---------------------------------------------------------------------------------


def test_skills_are_those_of_the_library():
    model = PlackettLuce()
    ratings = [model.rating() for _ in range(3)]
    points = np.array([[3.0, 2.0, 1.0], [1.0, 5.0, 5.0], [0.0, 0.0, 7.0]])
    for ranks in ([0, 1, 2], [1, 0, 0], [1, 1, 0]):
        ratings = [team[0] for team in model.rate([[r] for r in ratings], ranks=ranks)]
    ours = skills([Played((0, 1, 2), points)], 3)
    assert [one.mean for one in ours] == pytest.approx([one.mu for one in ratings])
    assert [one.spread for one in ours] == pytest.approx([one.sigma for one in ratings])


def test_skills_of_the_first_game_by_the_papers_figures():
    """Weng and Lin's update for two equals: the winner's mean rises by sigma^2 / c / 2."""
    first, second = skills([Played((0, 1), np.array([[1.0, 0.0]]))], 2)
    tau, beta = 25 / 300, 25 / 6
    variance = (25 / 3) ** 2 + tau**2
    rise = variance / math.sqrt(2 * (variance + beta**2)) / 2
    assert (first.mean, second.mean) == pytest.approx((25 + rise, 25 - rise))
    assert first.floor() == first.mean - 3 * first.spread


def test_of_a_long_match_some_games_are_seen_evenly():
    points = np.zeros((1000, 2))
    points[:, 0] = 1
    assert skills([Played((0, 1), points)], 2) == skills([Played((0, 1), points[:40])], 2)


# --- strengths ---------------------------------------------------------------------------------


def test_two_players_by_hand():
    """Three wins of four, and one won and lost against a third: odds of the best fit are known."""
    points = np.array([[1.0, 0.0]] * 30 + [[0.0, 1.0]] * 10)
    one, two = rated([Played((0, 1), points)], 2, prior=1e-6, draws=0)
    assert one.mean - two.mean == pytest.approx(400 * math.log10(3), abs=0.1)
    assert one.mean + two.mean == pytest.approx(3000)


def test_a_draw_is_half_a_win():
    draws = rated([Played((0, 1), np.zeros((40, 2)))], 2, draws=0)
    assert [one.mean for one in draws] == pytest.approx([1500, 1500])


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_fit_is_the_top_of_the_likelihood(seats):
    rng = np.random.default_rng(seats)
    played = simulated([0.8, 0.1, -0.3, -0.6], seats, 12, 30, rng)
    best = np.array([one.mean for one in rated(played, 4, draws=0, prior=0.5)]) / POINTS
    # The scale has no zero of its own: the prior's does, so move along it to the top first.
    orders = orders_of([tally(match) for match in played])

    def likelihood(strength: np.ndarray) -> float:
        total = 0.0
        for order, count in zip(orders.order, orders.count, strict=True):
            row = strength[order]
            total += count * sum(
                row[place] - np.log(np.exp(row[place:]).sum()) for place in range(seats - 1)
            )
        chance = 1 / (1 + np.exp(-strength))
        return total + 0.5 * (np.log(chance) + np.log(1 - chance)).sum()

    shift = max(np.linspace(-1, 1, 201), key=lambda by: likelihood(best - best.mean() + by))
    top = best - best.mean() + shift
    for member in range(4):
        for step in (-0.02, 0.02):
            moved = top.copy()
            moved[member] += step
            assert likelihood(moved) < likelihood(top)


@pytest.mark.parametrize(("seats", "members", "matches"), [(2, 6, 30), (4, 8, 20)])
def test_simulated_players_are_found_within_their_intervals(seats, members, matches):
    """Of 95% intervals about 95% hold the truth; 300 of them, so 3 standard errors are 3.8%."""
    rng = np.random.default_rng(11)
    held = []
    for repetition in range(300 // members):
        strength = rng.normal(size=members)
        truth = 1500 + POINTS * (strength - strength.mean())
        found = rated(
            simulated(strength, seats, matches, 40, rng), members, draws=200, seed=repetition
        )
        held += [one.low <= true <= one.high for one, true in zip(found, truth, strict=True)]
    assert 0.912 <= np.mean(held) <= 0.988


def test_intervals_heed_that_games_of_a_deal_are_alike():
    """Every deal twice: as many games, but no more is known than from half of them."""
    rng = np.random.default_rng(5)
    once = (rng.random((400, 1)) < 0.6) * np.array([[1.0, -1.0]])
    same = np.repeat(once, 2, axis=0)
    apart = (rng.random((800, 1)) < 0.6) * np.array([[1.0, -1.0]])
    wide = rated([Played((0, 1), same)], 2)[0].plus_minus
    narrow = rated([Played((0, 1), apart)], 2)[0].plus_minus
    assert wide > 1.25 * narrow


def test_who_always_wins_is_strong_but_nobody_knows_how_strong():
    points = np.tile([1.0, 0.0], (1000, 1))
    winner, loser = rated([Played((0, 1), points)], 2)
    assert winner.low > loser.high
    assert 100 < winner.plus_minus < 1000


def test_millions_of_games_settle_too():
    """Rounding must not keep the fit from ending where some have never won against others."""
    rng = np.random.default_rng(1)
    even = (rng.random((400_000, 1)) < 0.5) * np.array([[2.0, -2.0]]) + np.array([[-1.0, 1.0]])
    lost = np.tile([-1.0, 1.0], (2_000_000, 1))
    played = [
        Played((0, 1), even),
        Played((2, 3), even),
        Played((0, 2), lost),
        Played((1, 3), lost),
    ]
    weak, _, strong, _ = rated(played, 4, draws=20)
    assert strong.low > weak.high


def test_who_is_far_from_all_others_does_not_blur_them():
    rng = np.random.default_rng(3)
    field = simulated([0.5, 0.2, 0.0, -0.2, -0.5], 2, 30, 40, rng)
    beaten = [Played((5, other), np.tile([1.0, 0.0], (200, 1))) for other in range(5)]
    alone, with_champion = rated(field, 5), rated([*field, *beaten], 6)
    assert with_champion[5].low > max(one.high for one in with_champion[:5])
    for before, after in zip(alone, with_champion, strict=False):
        assert after.plus_minus < 1.5 * before.plus_minus


def test_the_anchor_says_where_the_scale_lies():
    rng = np.random.default_rng(2)
    played = simulated([1.0, 0.0, -1.0], 2, 9, 60, rng)
    anchored = rated(played, 3, anchor=(1, 2000.0))
    free = rated(played, 3)
    assert anchored[1].mean == 2000.0
    for with_anchor, without in zip(anchored, free, strict=True):
        assert with_anchor.mean - 2000 == pytest.approx(without.mean - free[1].mean)
        assert with_anchor.plus_minus == pytest.approx(without.plus_minus)


def test_equals_are_before_each_other_equally_often():
    for ranks in ([0, 0], [0, 1, 1], [0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]):
        orders = strict_orders(tuple(ranks))
        for one in range(len(ranks)):
            for two in range(one):
                before = np.mean([list(o).index(one) < list(o).index(two) for o in orders])
                expected = 0.5 if ranks[one] == ranks[two] else float(ranks[one] < ranks[two])
                assert before == expected


def test_points_are_packed_and_unpacked():
    for points in (np.array([[1.0, -1.0], [0.0, 0.0]]), np.array([[0.5, 1e6], [2.0, -3.25]])):
        assert unpack(pack(points), 2).tolist() == points.tolist()
    order, ranks = ranked(np.array([[3.0, 9.0, 3.0, 1.0]]))
    assert (order.tolist(), ranks.tolist()) == ([[1, 0, 2, 3]], [[1, 0, 1, 2]])


# --- who beats whom ----------------------------------------------------------------------------


def test_a_circle_is_found_and_its_lottery_is_exact():
    """A beats B by 0.8, B beats C by 0.4, C beats A by 0.6: chances are as B-C, C-A and A-B."""
    shares = np.array([[0.5, 0.9, 0.2], [0.1, 0.5, 0.7], [0.8, 0.3, 0.5]])
    assert lottery(shares) == pytest.approx(np.array([0.4, 0.6, 0.8]) / 1.8, abs=2e-3)
    played = []
    for one, two in ((0, 1), (1, 2), (2, 0)):
        won = np.arange(2000) % 10 < 10 * shares[one, two]
        played.append(Played((one, two), np.stack([won, ~won], axis=1).astype(float)))
    found = cells(played)
    assert circles(found, range(3)) == [[0, 1, 2]]
    assert matrix(found, 3)[0, 1] == pytest.approx(0.9)
    assert circles(found, [0, 1]) == []


def test_who_beats_everybody_is_always_sent():
    shares = np.array([[0.5, 0.6, 0.7], [0.4, 0.5, 0.9], [0.3, 0.1, 0.5]])
    assert lottery(shares).tolist() == [1.0, 0.0, 0.0]


def test_what_may_be_chance_is_no_circle():
    won = np.arange(20) % 20 < 11
    played = [
        Played(pair, np.stack([won, ~won], axis=1).astype(float))
        for pair in ((0, 1), (1, 2), (2, 0))
    ]
    assert circles(cells(played), range(3)) == []


def test_copies_at_one_table_are_compared_pair_by_pair():
    found = cells([Played((0, 1, 0, 1), np.array([[4.0, 3.0, 2.0, 1.0]] * 4))])
    assert found[0, 1].share.mean == 0.75
    assert found[1, 0].points.mean == 2.0


@pytest.mark.parametrize("lineup", [(4, 7), (7, 4, 9), (4, 7, 4), (4, 7, 4, 7), (5, 5)])
def test_a_match_is_added_up_as_all_its_games_say(lineup):
    """Observations are the means of deals, here worked out one by one."""
    rng, seats = np.random.default_rng(len(lineup)), len(lineup)
    parts = [rng.integers(0, 4, size=(games * seats, seats)).astype(float) for games in (40, 25, 1)]
    digests = [digest(lineup, points) for points in parts]
    points = np.concatenate(parts)
    won = points == points.max(axis=1, keepdims=True)
    won = won / won.sum(axis=1, keepdims=True)
    seat = (np.arange(seats) + np.arange(len(points))[:, None]) % seats
    for row, one in enumerate(digests[0].who):
        mine = np.array(lineup) == one
        for values, own, at in ((points, "points", "points_at"), (won, "share", "share_at")):
            deals = values[:, mine].reshape(-1, seats * mine.sum()).mean(axis=1)
            assert_adds_up([getattr(part, own)[row] for part in digests], deals)
            for place in range(seats):
                there = values[(seat == place) & mine].reshape(-1, mine.sum()).mean(axis=1)
                assert_adds_up([getattr(part, at)[row, place] for part in digests], there)
                all_there = values[seat == place].reshape(-1, seats).mean(axis=1)
                assert_adds_up([getattr(part, at)[-1, place] for part in digests], all_there)
        for column, two in enumerate(digests[0].who):
            theirs = points[:, None, np.array(lineup) == two]
            over = (points[:, mine, None] > theirs) + 0.5 * (points[:, mine, None] == theirs)
            deals = over.mean(axis=(1, 2)).reshape(-1, seats).mean(axis=1)
            assert_adds_up([part.ahead[row, column] for part in digests], deals)


def assert_adds_up(parts: list[np.ndarray], values: np.ndarray) -> None:
    number, mean, variance = together(parts)
    assert number == len(values)
    assert mean == pytest.approx(values.mean())
    assert variance == pytest.approx(values.var(ddof=1), abs=1e-12)


def test_what_never_varies_has_no_variance():
    """Thirds are not exact: the least variance would pass for millions of games."""
    parts = [digest((0, 1, 2), np.zeros((3 * deals, 3))).share[0] for deals in (7, 1000, 1)]
    assert together(parts) == (1008, 1 / 3, 0.0)


# --- pairings ----------------------------------------------------------------------------------


def standings(members: int, seats: int, **more) -> Standings:
    return Standings(members=list(range(members)), seats=seats, **more)


def test_robin_lets_everybody_meet_everybody():
    assert len(pair("robin", standings(5, 2), Chance(1))) == 10
    assert pair("robin", standings(2, 4), Chance(1)) == [(0, 1, 0, 1)]
    assert pair("robin", standings(2, 3), Chance(1)) == [(0, 1, 0), (1, 0, 1)]
    together = pair("robin", standings(2, 2, cooperative=True), Chance(1))
    assert together == [(0, 0), (1, 1), (0, 1)]


@pytest.mark.parametrize("members", [2, 3, 4, 5, 9, 13])
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
@pytest.mark.parametrize("name", sorted(PAIRINGS))
def test_every_pairing_fills_tables(name, seats, members):
    lineups = pair(name, standings(members, seats), Chance(7))
    assert lineups
    for lineup in lineups:
        assert len(lineup) == seats
        assert len(set(lineup)) > 1
    seated = {member for lineup in lineups for member in lineup}
    resting = members % 2 if (name, seats) == ("swiss", 2) else 0
    assert len(seated) == members - resting
    assert lineups == pair(name, standings(members, seats), Chance(7))
    if name == "tables" and members >= seats:
        assert all(len(set(lineup)) == seats for lineup in lineups)


def test_swiss_pairs_neighbours_who_have_not_met():
    ranking = {0: 1900.0, 1: 1800.0, 2: 1700.0, 3: 1600.0}
    assert pair("swiss", standings(4, 2, rating=ranking), Chance(1)) == [(0, 1), (2, 3)]
    met = {(0, 1): 10, (2, 3): 10}
    again = pair("swiss", standings(4, 2, rating=ranking, met=met), Chance(1))
    assert again == [(0, 2), (1, 3)]


def test_who_lacks_games_does_not_rest():
    games = {0: 30, 1: 20, 2: 10}
    lineups = pair("swiss", standings(3, 2, games=games, newcomers=[0]), Chance(1))
    assert any(0 in lineup for lineup in lineups)


def test_newcomers_meet_everybody_once_and_then_their_neighbours():
    games = dict.fromkeys(range(9), 100)
    games[9] = 0
    met = {(one, two): 10 for two in range(9) for one in range(two)}
    ranking = {member: 1000.0 + 100 * member for member in range(9)}
    about = {"games": games, "rating": {**ranking, 9: 1450.0}, "newcomers": [9]}
    first = pair("ladder", standings(10, 2, met=met, **about), Chance(1))
    assert first == [(9, other) for other in range(9)]
    met |= {(other, 9): 10 for other in range(9)}
    later = pair("ladder", standings(10, 2, met=met, **about), Chance(1))
    assert sorted(other for _, other in later) == [3, 4, 5, 6]
