"""Players of Mexican train: their lines against brute force, their choices, and who is better."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import kibitz
from kibitz.core.agent import Agent
from kibitz.core.chance import Chance
from kibitz.core.errors import BadOption
from kibitz.core.game import SEAT, VIEWER
from kibitz.core.table import View
from kibitz.games.mexican_train import dive as d
from kibitz.games.mexican_train import line_agents as la
from kibitz.games.mexican_train.agents import AGENTS
from kibitz.games.mexican_train.cells import (
    BONEYARD,
    END,
    HOLDER,
    LENGTH,
    PASS,
    PENNY,
    SHARED,
    TILES,
    tiles_in_set,
)
from kibitz.games.mexican_train.lines import line_value, list_lines
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_TILES, TILE

GAME = kibitz.game("mexican_train")
WHOLE = 99  # longer than any line


def tiles(text: str) -> list[int]:
    """Read tiles: '0-1 9-9'."""
    pairs = (pair.split("-") for pair in text.split())
    return [int(TILE[int(a), int(b)]) for a, b in pairs]


def view_of(hand: list[int], end: int, others: int = 10, game=GAME, open_ends=None) -> View:
    """Make seat 0's view of a hand: its tiles, its open end, and how many each other holds.

    open_ends: other lines that are open to it, by seat or SHARED, with their ends.
    """
    cells = game.deal(1).cells.copy()
    count = tiles_in_set(cells)
    cells[VIEWER] = cells[SEAT] = 0
    cells[HOLDER : HOLDER + count] = -1
    cells[HOLDER + np.array(hand)] = 0
    cells[TILES : TILES + game.players] = others
    cells[TILES] = len(hand)
    cells[END] = end
    for line, number in (open_ends or {}).items():
        cells[END + line] = number
        if line == SHARED:
            cells[LENGTH : LENGTH + game.players] = 1
        else:
            cells[PENNY + line] = 1
    return View(game, cells)


def made(name: str, game=GAME, seed: int = 0, **settings):
    """Make an agent with settings, and seat it."""
    agent = AGENTS[name](game, **settings)
    agent.begin(0, Chance(seed))
    return agent


def random_hand(rng, highest: int, n: int) -> tuple[list[int], int]:
    count = (highest + 1) * (highest + 2) // 2
    return rng.permutation(count)[:n].tolist(), int(rng.integers(highest + 1))


def hand_worth(line, hand, inside, outside) -> float:
    """Value a line by any weights for the turns, told in plain Python."""
    worth, turn = 0.0, 0
    for tile in line:
        worth += (LOW[tile] + HIGH[tile]) * inside[turn]
        turn += LOW[tile] != HIGH[tile]
    if line and LOW[line[-1]] == HIGH[line[-1]]:
        turn += 1
    left = sum(int(LOW[tile] + HIGH[tile]) for tile in hand if tile not in line)
    return worth - left * outside[turn]


# --- dives ---------------------------------------------------------------------------------------


def best_by_dive(hand, end, longest, weights, budget=10**9, best=-math.inf, highest=9):
    game = GAME.having(highest=highest)
    desk = np.zeros(d.DESK, np.int64)
    d.lay_out(view_of(hand, end, game=game).cells, desk)
    before = desk[: d.HELD].copy()
    worth, length = d.dive(desk, end, longest, weights, budget, best)
    assert (desk[: d.HELD] == before).all(), "a dive must leave the hand as it was"
    line = np.zeros(d.TURNS, np.int64)
    count = d.write_path(desk, length, line)
    return worth, line[:count].tolist(), length, int(desk[d.NODES])


@pytest.mark.parametrize("shape", ["geometric", "unequal", "any"])
def test_a_dive_finds_what_all_lines_hold(shape):
    rng = np.random.default_rng(4)
    for round_ in range(400):
        highest = int(rng.choice([6, 9, 12, 15]))
        n = int(rng.integers(1, 10))
        hand, end = random_hand(rng, highest, n)
        if round_ % 4 == 0:  # many doubles
            hand = sorted({*hand, *(int(TILE[i, i]) for i in range(0, highest, 2))})[:10]
        weights = np.ones((2, d.TURNS))
        if shape == "any":
            weights = -np.sort(-rng.random((2, d.TURNS)), axis=1)
        else:
            discounts = (0.9, 0.9) if shape == "geometric" else rng.random(2)
            weights[:] = np.power.outer(np.array(discounts), np.arange(d.TURNS))
        for longest in (WHOLE, int(rng.integers(1, n + 1))):
            worth, line, _, _ = best_by_dive(hand, end, longest, weights, highest=highest)
            lines = list_lines(hand, end, min(longest, len(hand)))
            values = [hand_worth(one, hand, *weights) for one in lines]
            assert worth == pytest.approx(max(values))
            assert hand_worth(line, hand, *weights) == pytest.approx(worth)
            assert len(line) <= longest
            played = end
            for tile in line:
                assert played in (LOW[tile], HIGH[tile])
                played = int(LOW[tile] + HIGH[tile]) - played
            assert len(set(line)) == len(line)
            assert set(line) <= set(hand)


def test_a_dive_finds_nothing_where_nothing_is_better():
    rng = np.random.default_rng(5)
    weights = np.power.outer(np.array([0.9, 0.9]), np.arange(d.TURNS))
    for _ in range(100):
        hand, end = random_hand(rng, 9, 10)
        worth, _, length, _ = best_by_dive(hand, end, WHOLE, weights)
        assert length > 0
        assert best_by_dive(hand, end, WHOLE, weights, best=worth)[2] == 0
        again = best_by_dive(hand, end, WHOLE, weights, best=worth - 0.01)
        assert again[0] == pytest.approx(worth)
        assert again[2] > 0


def test_a_dive_stops_at_its_budget_and_says_so():
    rng = np.random.default_rng(6)
    weights = np.power.outer(np.array([0.9, 0.9]), np.arange(d.TURNS))
    hand, end = random_hand(rng, 12, 40)
    few = best_by_dive(hand, end, WHOLE, weights, budget=100, highest=12)
    more = best_by_dive(hand, end, WHOLE, weights, budget=10_000, highest=12)
    assert few[3] > 100
    assert more[3] > 10_000
    assert few[0] <= more[0]
    hand, end = random_hand(rng, 9, 10)
    assert best_by_dive(hand, end, WHOLE, weights, budget=10_000)[3] <= 10_000


def test_of_huge_hands_the_tiles_with_fewest_pips_are_left_out():
    game = kibitz.game("mexican_train", highest=15, players=2)
    singles = [tile for tile in range(MOST_TILES) if LOW[tile] != HIGH[tile]]
    desk = np.full(d.DESK, -1, np.int64)
    d.lay_out(view_of(singles, 3, game=game).cells, desk)
    assert desk[d.SINGLES] == d.MOST_RANKED
    assert desk[d.TOTAL] == sum(int(LOW[tile] + HIGH[tile]) for tile in singles)
    least = min(desk[d.PIPS : d.PIPS + d.MOST_RANKED])
    assert sum(int(LOW[tile] + HIGH[tile]) > least for tile in singles) <= d.MOST_RANKED


@pytest.mark.parametrize("name", ["planner", "best-line", "persistent-line"])
def test_what_lay_in_memory_before_does_not_matter(name):
    game = kibitz.game("mexican_train", highest=15, players=2, hands=1)
    agent = made(name, game)
    for deal in range(20):
        view = game.deal(1, deal).view()
        chosen = set()
        for junk in (0, 1, -1, 1 << 40):
            # What is freed now is what the agent's next arrays are likely to lie in.
            spoilt = [np.full(size, junk) for size in (d.DESK, d.DESK, 2 * d.TURNS, 4 * d.TURNS)]
            del spoilt
            agent.begin(0, Chance(1))
            chosen.add(agent.choose(view))
        assert len(chosen) == 1


# --- the seed's players, told again in plain Python ----------------------------------------------


class Seed(Agent):
    """A best-line agent by the book: all lines, their values, the best one's first tile."""

    longest, inside, outside = 12, 0.9, 0.9

    def values(self, view, options):
        hand = own_hand(view)
        lines = list_lines(hand, int(view["end"][view.seat]), self.longest)
        array = np.array(hand, np.int64)
        values = [
            line_value(np.array(line, np.int64), len(line), array, len(hand), self.inside,
                       self.outside)
            for line in lines
        ]  # fmt: skip
        best = max(values)
        firsts = {
            view.seat * MOST_TILES + line[0]
            for line, value in zip(lines, values, strict=True)
            if line and value > best - 1e-9
        }
        return [worth_of(option, firsts, best) for option in options]


def worth_of(option: int, firsts: set[int], best: float) -> float:
    if option >= PASS:
        return 0.0
    tile = option % MOST_TILES
    if LOW[tile] == HIGH[tile]:
        return math.inf
    return best if option in firsts else float(LOW[tile] + HIGH[tile])


def own_hand(view: View) -> list[int]:
    count = tiles_in_set(view.cells)
    return np.flatnonzero(view.cells[HOLDER : HOLDER + count] == view.seat).tolist()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"smart_update": False},
        {"in_line_discount": 0.7, "off_line_discount": 1.0},
        {"in_line_discount": 1.0, "off_line_discount": 0.5, "max_line_length": 4},
        {"max_line_length": 3, "smart_update": False},
    ],
    ids=str,
)
def test_best_line_does_what_the_seed_describes(settings):
    game = kibitz.game("mexican_train", highest=7, hands=4)
    book = Seed(game)
    agents = [made("best-line", game, seed=seat, **settings) for seat in range(4)]
    book.longest = agents[0].settings["max_line_length"]
    book.inside = float(np.float32(agents[0].settings["in_line_discount"]))
    book.outside = float(np.float32(agents[0].settings["off_line_discount"]))
    choices = 0
    for deal in range(12):
        table = game.deal(8, deal)
        for seat, agent in enumerate(agents):
            agent.begin(seat, Chance(deal, seat, 7))
        while not table.over:
            view = table.view()
            action = agents[table.seat].choose(view)
            options = view.legal
            if len(options) > 1:
                values = book.values(view, options)
                assert values[options.index(action)] >= max(values) - 1e-4, str(view)
                choices += 1
            table.play(action)
    assert choices > 800


def test_persistent_line_keeps_its_line_until_it_is_disrupted():
    plain = {"in_line_discount": 1.0, "off_line_discount": 0.0}  # a line is worth its pips
    agent = made("persistent-line", **plain)
    hand, line = tiles("3-4 4-5 5-6 6-7 3-1"), tiles("3-4 4-5 5-6 6-7")
    other = tiles("3-1")[0]
    for step, tile in enumerate(line[:2]):
        # After the first, 4-1 is there instead of 3-1: there is a choice, but not another line.
        view = view_of(hand, int(LOW[tile]))
        view.cells[LENGTH] = step
        assert agent.choose(view) == tile
        kept = agent.memory[la.LINE : la.LINE + agent.memory[la.COUNT]].tolist()
        assert kept == line[step + 1 :]
        hand.remove(tile)
        hand[hand.index(other)] = other = tiles("4-1")[0]
    # A better line has come by magic: best-line takes it, persistent-line keeps its own.
    hand = tiles("5-6 6-7 5-1 1-9 9-9")
    view = view_of(hand, 5)
    view.cells[LENGTH] = 2
    agent.memory[la.WITH_TILES] = len(hand)
    assert agent.choose(view) == tiles("5-6")[0]
    assert made("best-line", **plain).choose(view) == tiles("5-1")[0]
    # Somebody else played on its line: it looks again, from the new end.
    view = view_of(tiles("6-7 2-8 8-9 1-2"), 2)
    view.cells[LENGTH] = 4
    assert agent.choose(view) == tiles("2-8")[0]


def test_a_line_in_memory_is_dropped_when_a_tile_of_it_was_played_elsewhere():
    plain = {"in_line_discount": 1.0, "off_line_discount": 0.0}
    agent = made("persistent-line", **plain)
    view = view_of(tiles("3-4 4-5 5-5 5-6 3-1 0-0"), 3)
    la.search(view.cells, agent.weights, agent.memory, agent.rng.words)
    assert la.has_line(view.cells, agent.memory)
    view = view_of(tiles("3-4 4-5 5-5 5-6 3-1 0-0"), 3, open_ends={2: 5})
    assert agent.choose(view) == 2 * MOST_TILES + tiles("5-5")[0]  # on another's line
    view = view_of(tiles("3-4 4-5 5-6 3-1 0-0"), 3)
    assert not la.has_line(view.cells, agent.memory)
    assert agent.choose(view) == tiles("3-4")[0]


@pytest.mark.parametrize("longest", [2, 5, 8])
def test_short_lines_of_large_hands_are_the_best_of_that_length(longest):
    rng = np.random.default_rng(8)
    game = kibitz.game("mexican_train", highest=9, players=2)
    agent = made("best-line", game, max_line_length=longest)
    for _ in range(10):
        hand, end = random_hand(rng, 9, 24)
        view = view_of(hand, end, game=game)
        la.search(view.cells, agent.weights, agent.memory, agent.rng.words)
        assert agent.memory[la.COUNT] <= longest
        found = la.worth_of_line(view.cells, agent.weights, agent.memory)
        weights = np.power.outer(np.array([0.9, 0.9]), np.arange(d.TURNS))
        best = best_by_dive(hand, end, longest, weights, budget=10**8)[0]
        assert found >= best - (1e-4 if longest < 8 else 4.0)


def test_a_low_temperature_is_the_best_line_in_large_hands_too():
    rng = np.random.default_rng(9)
    game = kibitz.game("mexican_train", highest=9, players=2)
    cold, best = made("best-line", game, line_temperature=1e-3), made("best-line", game)
    for _ in range(10):
        hand, end = random_hand(rng, 9, 26)
        view = view_of(hand, end, game=game)
        worth = []
        for agent in (cold, best):
            la.search(view.cells, agent.weights, agent.memory, agent.rng.words)
            worth.append(la.worth_of_line(view.cells, agent.weights, agent.memory))
        assert worth[0] == pytest.approx(worth[1], abs=0.1)


def test_a_temperature_draws_lines_by_their_value():
    game = GAME
    hand = tiles("3-4 3-6 3-9 0-1")
    temperature = 4.0
    lines = [tiles("3-4"), tiles("3-6"), tiles("3-9")]
    array = np.array(hand, np.int64)
    values = np.array(
        [line_value(np.array(line, np.int64), 1, array, 4, 0.9, 0.9) for line in lines]
    )
    expected = np.exp((values - values.max()) / temperature)
    expected /= expected.sum()
    counts = np.zeros(3)
    agent = made("best-line", game, line_temperature=temperature, seed=3)
    view = view_of(hand, 3)
    draws = 6_000
    for _ in range(draws):
        agent.memory[:] = 0
        la.search(view.cells, agent.weights, agent.memory, agent.rng.words)
        counts[lines.index([int(agent.memory[la.LINE])])] += 1
    chi_square = ((counts - draws * expected) ** 2 / (draws * expected)).sum()
    assert chi_square < 13.8, (counts, draws * expected)  # 0.1% at 2 degrees


def test_players_with_huge_hands_play_whole_hands():
    game = kibitz.game("mexican_train", highest=15, players=2, hands=1)
    for name in ("best-line", "persistent-line", "planner"):
        result = kibitz.match(game, [name, "double"], games=4, seed=1)
        assert result.agents[0].points.mean > result.agents[1].points.mean


# --- choices of the others -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "chosen"),
    [("greedy", "3-9"), ("stupid", "0-3"), ("double", "3-3")],
)
def test_the_simple_ones_by_their_pips(name, chosen):
    view = view_of(tiles("0-3 3-3 3-9 4-5"), 3)
    agent = made(name)
    assert agent.choose(view) == tiles(chosen)[0]
    assert agent.explain(view).action == tiles(chosen)[0]


def test_double_takes_most_pips_where_there_is_no_double():
    assert made("double").choose(view_of(tiles("0-3 3-9 4-4"), 3)) == tiles("3-9")[0]


def test_default_is_uniform():
    view = view_of(tiles("0-3 3-3 3-9 3-5"), 3)
    agent = made("default", seed=2)
    counts = np.bincount([agent.choose(view) for _ in range(4_000)], minlength=MOST_TILES)
    counts = counts[counts > 0]
    assert len(counts) == 4
    assert ((counts - 1_000) ** 2 / 1_000).sum() < 16.3  # 0.1% at 3 degrees


def test_the_planner_hurries_when_somebody_is_nearly_out():
    # The seed's own example: with time, all five go out in order; without, 0-9 and 9-9 first.
    hand = tiles("0-1 1-2 0-2 0-9 9-9")
    planner = made("planner")
    patient, hurried = view_of(hand, 0, others=10), view_of(hand, 0, others=1)
    assert planner.choose(patient) in tiles("0-1 0-2")
    assert planner.choose(hurried) == tiles("0-9")[0]
    for name in ("best-line", "persistent-line"):
        assert made(name).choose(hurried) in tiles("0-1 0-2")


def test_the_planner_lays_elsewhere_what_its_own_line_cannot_use():
    hand = tiles("3-4 4-5 5-6 7-8")
    view = view_of(hand, 3, others=10, open_ends={SHARED: 7})
    action = made("planner").choose(view)
    assert action == SHARED * MOST_TILES + tiles("7-8")[0]


def test_the_planner_values_options_by_pips_it_expects_to_get_out():
    rng = np.random.default_rng(3)
    planner = made("planner")
    for _ in range(60):
        hand, end = random_hand(rng, 9, int(rng.integers(2, 9)))
        others = int(rng.integers(1, 12))
        view = view_of(hand, end, others, open_ends={SHARED: int(rng.integers(10))})
        chance = chances(others)
        for option, value in zip(view.legal, planner.values(view, view.legal), strict=True):
            if option >= PASS:
                continue
            line, tile = divmod(option, MOST_TILES)
            left = [other for other in hand if other != tile]
            pips = int(LOW[tile] + HIGH[tile])
            now = pips - end if line == 0 else end
            double = LOW[tile] == HIGH[tile]
            inside = chance if double else chance[1:]
            lines = list_lines(left, now, WHOLE) if left else [()]
            best = max(hand_worth(one, left, inside, np.zeros(40)) for one in lines)
            assert value % la.DOUBLE_WORTH == pytest.approx(pips + best, abs=1e-3)


def test_the_planner_fears_for_its_line_while_its_penny_is_up():
    hand = tiles("3-4 4-5 5-6 7-8")
    view = view_of(hand, 3, others=10, open_ends={SHARED: 7})
    elsewhere = SHARED * MOST_TILES + tiles("7-8")[0]
    worth = {}
    for penny, risk in itertools.product((0, 1), (0.0, 0.2)):
        view.cells[PENNY] = penny
        values = made("planner", open_risk=risk).values(view, view.legal)
        worth[penny, risk] = values[view.legal.index(elsewhere)]
    assert worth[0, 0.0] == worth[0, 0.2] == worth[1, 0.0]
    line = worth[1, 0.0] - 15
    assert worth[1, 0.2] == pytest.approx(15 + 0.8 * line, rel=1e-5)


def chances(others: int) -> np.ndarray:
    centre = 0.9 * others + 0.2
    raw = 1 / (1 + np.exp((np.arange(40) - centre) / 1.2))
    return raw / raw[0]


# --- what they say -------------------------------------------------------------------------------


def test_a_line_agent_says_which_line_it_follows():
    agent = made("best-line")
    said = agent.explain(view_of(tiles("3-4 4-5 5-6 3-1"), 3))
    assert said.reason == "It begins its best line, worth 21.1: 3-4, 4-5, 5-6."
    said = agent.explain(view_of(tiles("3-4 4-4 4-5"), 3, open_ends={1: 4}))
    assert said.words == "4-4 on seat 1"
    assert "another turn" in said.reason
    said = agent.explain(view_of(tiles("3-4 5-6 5-8"), 2, open_ends={1: 5}))
    assert "Nothing fits on its own line" in said.reason
    said = agent.explain(view_of(tiles("0-3 5-8 5-9 8-8 9-9"), 3, open_ends={1: 5}))
    assert said.words == "5-9 on seat 1"
    assert said.reason.startswith("The pips are worth more than its best line")


def test_the_planner_says_what_it_plans():
    said = made("planner").explain(view_of(tiles("3-4 4-5 5-6 3-7"), 3, others=3))
    assert said.reason == (
        "With about 3 more turns to come, this should bring most pips out; "
        "then 4-5, 5-6 on its own line."
    )


@pytest.mark.parametrize("name", ["best-line", "persistent-line", "planner"])
def test_explaining_changes_nothing_and_says_what_is_chosen(name):
    settings = {"line_temperature": 3.0} if name != "planner" else {}
    game = kibitz.game("mexican_train", hands=2)
    agents = [made(name, game, seed=seat, **settings) for seat in range(4)]
    table = game.deal(5)
    while not table.over:
        view, agent = table.view(), agents[table.seat]
        before = agent.memory.copy(), agent.rng.words.copy()
        said = agent.explain(view)
        assert (agent.memory == before[0]).all()
        assert (agent.rng.words == before[1]).all()
        action = agent.choose(view)
        assert said.action == action
        table.play(action)


def test_nobody_reads_what_is_hidden():
    # The same view comes from every world that a seat cannot tell apart, so choices are the same;
    # here with the hidden cells filled by nonsense, as if somebody looked there.
    game = kibitz.game("mexican_train", boneyard=7, hands=2)
    for name in AGENTS:
        table = game.deal(3)
        one, two = (made(name, game, seed=1) for _ in range(2))
        while not table.over:
            view, other = table.view(), table.view()
            count = tiles_in_set(other.cells)
            hidden = other.cells[HOLDER : HOLDER + count]
            hidden[hidden == -1] = BONEYARD
            other.cells[game.cell("future")] = 12345
            action = one.choose(view)
            assert two.choose(other) == action, name
            table.play(action)


# --- who is better -------------------------------------------------------------------------------


def test_the_order_of_the_hand_crafted_players():
    order = ["stupid", "default", "greedy", "double", "persistent-line", "planner"]
    pips = dict.fromkeys(order, 0.0)
    for seats in itertools.combinations(order, 4):
        result = kibitz.match(GAME, list(seats), games=200, seed=1)
        for agent in result.agents:
            pips[agent.name] -= agent.points.mean
    assert sorted(order, key=lambda name: -pips[name]) == order


def test_the_planner_beats_three_persistent_line_agents():
    result = kibitz.match(GAME, ["planner", *["persistent-line"] * 3], games=400, seed=2)
    planner = result.agents[0]
    assert planner.share.low > 0.5
    assert planner.points.mean > max(agent.points.mean for agent in result.agents[1:]) + 20


@pytest.mark.parametrize("name", ["best-line", "persistent-line"])
def test_the_settings_of_the_seed_have_a_name(name):
    game = kibitz.game("mexican_train", players=2, hands=1)
    usual, seed, short = (
        kibitz.agent(f"{name}{more}", game)
        for more in ("", ":preset=seed", ":preset=seed,max_line_length=4")
    )
    by_hand = kibitz.agent(f"{name}:off_line_discount=0.7", game)
    assert usual.settings["off_line_discount"] == 0.9
    assert seed.weights.tobytes() == by_hand.weights.tobytes() != usual.weights.tobytes()
    assert short.settings["off_line_discount"] == 0.7
    assert short.settings["max_line_length"] == 4
    with pytest.raises(BadOption, match="usual, seed"):
        kibitz.agent(f"{name}:preset=sead", game)
