"""Agreement with exact play: the figures equal a recount by other means."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.compiled import CHOOSE, compiled
from kibitz.core.errors import AgentFailed, KibitzError, NotSolvable
from kibitz.learners.q_learning.table import Q_TABLE
from kibitz.play.graph import DREW, LOST, WON, chart
from kibitz.search.agreement import Judge, Worst, grade, keeping, moves_of
from tests import toys

NIM = kibitz.game("nim", rows="1,3,4")
TAPNSWAP = kibitz.game("tapnswap")


def mirror_of(table):
    """Name a position and its mirror images alike."""
    if table.game.name == "nim":
        return tuple(sorted(table["rows"].tolist()))
    if table.game.name == "ring":
        return table["place"], table.seat
    hands = table["hands"].tolist()
    return tuple(sorted(hands[:2])), tuple(sorted(hands[2:]))


def recount(game, chosen_in):
    """Count positions that are kept, by verdict; `chosen_in(table)` gives the moves it may make."""
    solution = kibitz.solve(game, folded=False)
    kept, verdicts = defaultdict(lambda: True), {}
    for index in np.flatnonzero(~solution.finished):
        table = kibitz.Table(game, solution.states[index])
        worth = np.sign(solution.ask(table))
        options = solution.options(table)
        name = mirror_of(table)
        kept[name] &= all(np.sign(options[action]) == worth for action in chosen_in(table))
        verdicts[name] = worth

    def share(*worths):
        of_these = [kept[name] for name, worth in verdicts.items() if worth in worths]
        return sum(of_these) / len(of_these) if of_these else np.nan

    return pytest.approx((len(kept), share(-1, 0, 1), share(1), share(0)), rel=1e-12, nan_ok=True)


def figures(grades):
    return grades.positions, grades.agreement, grades.won, grades.drawn


def worst_by_all_lines(table, seat, chosen_in, path=()):
    """Follow every line from a table: the worst for a seat, and the longest line.

    What comes round again never ends, which is a draw.
    """
    here = tuple(table.cells[[0, *range(4, len(table.cells))]].tolist())
    if table.over:
        return int(np.sign(table.points[seat] - table.points[1 - seat])), 0
    if here in path:
        return 0, 0
    actions = chosen_in(table) if table.seat == seat else table.legal
    ends = [
        worst_by_all_lines(table.copy().play(action), seat, chosen_in, (*path, here))
        for action in actions
    ]
    return min(worst for worst, _ in ends), 1 + max(plies for _, plies in ends)


def check_worst(game, grades, chosen_in):
    for seat, worst in enumerate((grades.first, grades.second)):
        result, plies = worst_by_all_lines(game.deal(0), seat, chosen_in)
        assert worst.result == result
        if result == 1:
            assert worst.plies == plies
    return grades.first.result, grades.second.result


def asked(agent, table, times=60):
    """Ask an agent directly, with chance of its own each time."""
    found = set()
    for time in range(times):
        agent.begin(table.seat, Chance(time, 7))
        found.add(agent.choose(table.view()))
    return found


class Last(kibitz.Agent):
    """Take the last of the legal moves."""

    def values(self, view, options):
        return range(len(options))


class Lottery(kibitz.Agent):
    """Take a move that the position names by lot, the same every time."""

    lot = 0

    def values(self, view, options):
        place = sum(n * int(cell) for n, cell in enumerate(view.cells[4:], 3)) * 7 + self.lot
        return [float((place + n) * 2654435761 % 997) for n, _ in enumerate(options)]


@pytest.mark.parametrize("game", [NIM, kibitz.game("nim"), TAPNSWAP], ids=str)
def test_perfect_play_keeps_everything(game):
    grades = grade(game, "perfect")
    assert (grades.agreement, grades.won) == (1.0, 1.0)
    assert np.isnan(grades.drawn) if game.name == "nim" else grades.drawn == 1.0
    solution = kibitz.solve(game)
    assert grades.positions == solution.tally().positions
    winner, loser = (grades.first, grades.second) if solution.verdict > 0 else (
        grades.second, grades.first
    )  # fmt: skip
    assert winner == Worst(1, abs(solution.verdict))
    assert str(winner) == f"wins within {abs(solution.verdict)}"
    assert str(loser) == "loses"


@pytest.mark.parametrize("game", [NIM, TAPNSWAP], ids=str)
def test_random_may_do_anything(game):
    grades = grade(game, "random", times=400)
    assert figures(grades) == recount(game, lambda table: table.legal)
    assert 0 < grades.agreement < 1
    assert (str(grades.first), str(grades.second)) == ("loses", "loses")
    assert grades.to_dict() == {
        "game": game.name, "agent": "random", "positions": grades.positions,
        "agreement": grades.agreement, "won": grades.won, "drawn": grades.drawn,
        "worst_first": "loses", "worst_second": "loses",
    }  # fmt: skip


@pytest.mark.parametrize("game", [NIM, kibitz.game("nim", rows="1,3,2", misere=False)], ids=str)
@pytest.mark.parametrize("who", ["gabriele", "nim-sum", "nim-sum-misere", "perfect", Last])
def test_grades_and_the_worst_equal_a_recount_over_all_lines(game, who):
    grades = grade(game, who)
    agent = kibitz.agent(who, game)

    def chosen_in(table):
        return asked(agent, table)

    assert figures(grades) == recount(game, chosen_in)
    check_worst(game, grades, chosen_in)


def taps(table):
    """Say what tapper may do: kill the greatest hand it can, with the first that can; else tap."""
    own, other = table["hands"].reshape(2, 2)[:: 1 if table.seat == 0 else -1].tolist()
    possible = [(own[tap // 2], other[tap % 2], tap) for tap in table.legal if tap < 4]
    kills = [(-target, tap) for hand, target, tap in possible if hand + target > 4]
    return [min(kills)[1]] if kills else [tap for *_, tap in possible]


def best_of(table):
    """Say what the table that comes with the game takes for best."""
    known = Q_TABLE(TAPNSWAP).values(table.view(), table.legal)
    return [action for action, value in zip(table.legal, known, strict=True) if value == max(known)]


@pytest.mark.parametrize(
    ("who", "chosen_in"),
    [("tapper", taps), ("q-table", best_of), (Last, lambda table: table.legal[-1:])],
)
def test_grades_of_a_game_that_goes_round_in_circles_equal_a_recount(who, chosen_in):
    assert figures(grade(TAPNSWAP, who, times=200)) == recount(TAPNSWAP, chosen_in)


def test_a_line_that_comes_round_again_is_a_draw():
    """Fixed ways of playing the ring, most of them silly; nobody can win it by force."""
    graph = chart(toys.RING, folded=False)
    judge = Judge(graph)
    seen = set()
    for lot in range(20):
        agent = Lottery(toys.RING)
        agent.lot = lot
        chosen = moves_of(agent, graph, 1)
        grades = grade(toys.RING, agent, times=1)
        assert (grades.first, grades.second) == judge.worst(chosen)

        def chosen_in(table, agent=agent):
            return asked(agent, table, 1)

        assert figures(grades) == recount(toys.RING, chosen_in)  # a seat may move twice
        seen |= {*check_worst(toys.RING, grades, chosen_in)}
    assert seen == {-1, 0}
    assert str(Worst(0, 7)) == "draws"


def test_what_the_next_position_is_worth_turns_round_only_if_the_seat_changes():
    """One position has a move for each way to go on or to end; the other is won, drawn or lost."""
    first, children = np.array([0, 5, 5]), np.array([1, 1, WON, DREW, LOST], np.int32)
    flips = np.array([False, True, True, True, True])
    gains = {1: [1, -1, 1, 0, -1], 0: [0, 0, 1, 0, -1], -1: [-1, 1, 1, 0, -1]}
    for now, then in itertools.product((3, 0, -2), repeat=2):
        keeps = np.zeros(5, np.bool_)
        verdicts = np.array([now, then], np.int32)
        keeping(np.zeros(2, np.bool_), first, children, flips, verdicts, keeps)
        assert keeps.tolist() == [gain == np.sign(now) for gain in gains[np.sign(then)]]


def test_a_guard_that_ends_the_game_is_a_draw():
    game = kibitz.game("tapnswap", max_plies=4)
    perfect = kibitz.agent("perfect", game)
    grades = grade(game, perfect)
    assert check_worst(game, grades, lambda table: asked(perfect, table, 20)) == (0, 0)
    assert (str(grades.first), grades.drawn) == ("draws", 1.0)
    check_worst(game, grade(game, Last), lambda table: table.legal[-1:])


def test_mirror_images_are_one_position_and_all_must_be_kept():
    """An agent that errs with 0-2 and not with 2-0 errs in one position of all."""
    game = kibitz.game("nim", rows="2,2")
    perfect = kibitz.agent("perfect", game)
    wrong = 64 + 1  # take both, the last ones

    class Lopsided(kibitz.Agent):
        def choose(self, view):
            return wrong if view["rows"][:2].tolist() == [0, 2] else perfect.choose(view)

    grades = grade(game, Lopsided)
    assert grades.positions == 5  # 2-2, 2-1, 1-1, 2-0 and 1-0
    assert (grades.agreement, grades.won) == (4 / 5, 2 / 3)
    assert figures(grades) == recount(game, lambda table: asked(Lopsided(game), table))


def test_a_compiled_agent_and_the_same_in_python_are_asked_alike():
    tapper = kibitz.agent("tapper", TAPNSWAP)

    class Python(kibitz.Agent):
        def begin(self, seat, rng):
            tapper.begin(seat, rng)

        def choose(self, view):
            return tapper.choose(view)

    graph = chart(TAPNSWAP, folded=False)
    chosen = [moves_of(agent, graph, 20) for agent in (tapper, Python(TAPNSWAP))]
    assert np.array_equal(*chosen)
    few, many = (moves_of(tapper, graph, times) for times in (1, 20))
    assert (many[few]).all()
    assert many.sum() > few.sum() == (~graph.finished).sum()


@compiled(CHOOSE)
def cheat(rules, view, actions, n, weights, memory, rng):
    """Choose what is not legal."""
    return actions[n - 1] + 1


@pytest.mark.parametrize("who", [kibitz.Kind(choose=cheat), lambda view: view.legal[-1] + 1])
def test_an_agent_that_breaks_the_rules_is_named(who):
    with pytest.raises(AgentFailed, match=r"not legal"):
        grade(kibitz.game("nim", rows="1,2"), who)


def test_games_that_cannot_be_solved_are_refused():
    with pytest.raises(NotSolvable, match="two seats"):
        grade(toys.RING.having(players=3), Last)
    with pytest.raises(NotSolvable, match="more than 10 positions"):
        grade(kibitz.game("nim"), "random", most=10)
    with pytest.raises(KibitzError, match="No agent for nim is called 'nobody'"):
        grade(kibitz.game("nim"), "nobody")
