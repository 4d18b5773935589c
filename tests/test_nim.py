"""Nim against what is known of it: the nim-sum theory (Bouton, 1901) and brute force."""

from __future__ import annotations

import functools
import itertools
import operator

import pytest

import kibitz
from kibitz.core.errors import BadOption, IllegalMove, UnknownName, UnreadableMove
from kibitz.core.game import SEAT, Game
from kibitz.core.table import Table
from kibitz.games.nim.rules import MOST

ROW_SETS = ["1", "2,2", "1,2,3", "3,4,5", "1,3,5,7", "2,2,2,2", "1,1,1,1,1,1", "1,3,5,7,9"]


def at(game: Game, rows: tuple[int, ...], seat: int = 0) -> Table:
    """Set up a position."""
    table = game.deal(0)
    state = table.cells.copy()
    state[game.cell("rows")] = [*rows, *[0] * (16 - len(rows))]
    state[SEAT] = seat
    return Table(game, state)


def theory_wins(rows: tuple[int, ...], misere: bool) -> bool:
    """Tell by theory whether the seat to move wins."""
    nim_sum = functools.reduce(operator.xor, rows, 0)
    if misere and all(row <= 1 for row in rows):
        return nim_sum == 0
    return nim_sum != 0


@functools.cache
def brute_wins(rows: tuple[int, ...], misere: bool, k: int) -> bool:
    """Tell by trying everything whether the seat to move wins."""
    if not any(rows):
        return misere  # the last stick was just taken by the other
    return any(
        not brute_wins(tuple(sorted((*rows[:i], left, *rows[i + 1 :]))), misere, k)
        for i, row in enumerate(rows)
        for left in range(max(0, row - k) if k else 0, row)
    )


def all_positions(game: Game):
    """Go through every position that can come up and is not over."""
    for rows in itertools.product(*(range(row + 1) for row in game.settings["rows"])):
        if any(rows):
            yield rows


@pytest.mark.parametrize("misere", [True, False])
@pytest.mark.parametrize("rows", ROW_SETS)
def test_the_perfect_agent_agrees_with_the_nim_sum_theory(rows, misere):
    game = kibitz.game("nim", rows=rows, misere=misere)
    solution = kibitz.solve(game)
    perfect = kibitz.agent("perfect", game)
    start = game.settings["rows"]
    checked = 0
    for position in all_positions(game):
        if position != start and sum(start) - sum(position) == 0:
            continue
        table = at(game, position)
        wins = theory_wins(position, misere)
        assert (solution.ask(table) > 0) == wins
        table.play(perfect.choose(table.view()))
        if not table.over:
            after = tuple(table["rows"][: len(start)].tolist())
            assert theory_wins(after, misere) != wins
        else:
            assert (table.points[0] > 0) == wins
        checked += 1
    assert checked == functools.reduce(operator.mul, (row + 1 for row in start)) - 1


@pytest.mark.parametrize("misere", [True, False])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("rows", ["5", "3,4,5", "1,3,5,7", "7,8"])
def test_with_a_cap_the_solution_agrees_with_brute_force(rows, k, misere):
    game = kibitz.game("nim", rows=rows, misere=misere, k=k)
    solutions = [kibitz.solve(game, folded=folded) for folded in (True, False)]
    perfect = kibitz.agent("perfect", game)
    for position in all_positions(game):
        table = at(game, position)
        wins = brute_wins(tuple(sorted(position)), misere, k)
        for solution in solutions:
            assert (solution.ask(table) > 0) == wins
        options = solutions[0].options(table)
        assert (options[perfect.choose(table.view())] > 0) == wins


def test_the_distance_is_that_of_the_fastest_win_and_the_slowest_loss():
    game = kibitz.game("nim", rows="3,4,5", k=3)
    solution = kibitz.solve(game)

    @functools.cache
    def verdict(rows: tuple[int, ...]) -> int:
        found = []
        for i, row in enumerate(rows):
            for left in range(max(0, row - 3), row):
                child = tuple(sorted((*rows[:i], left, *rows[i + 1 :])))
                if not any(child):
                    found.append(-1)  # misère: taking the last stick loses at once
                else:
                    below = verdict(child)
                    found.append(1 - below if below < 0 else -1 - below)
        wins = [v for v in found if v > 0]
        return min(wins) if wins else min(found)

    for position in all_positions(game):
        assert solution.ask(at(game, position)) == verdict(tuple(sorted(position)))


def test_every_position_is_reachable_and_counted():
    solution = kibitz.solve(kibitz.game("nim"), folded=False)
    # 2 * 4 * 6 * 8 sets of rows; the empty one is the end of the game.
    assert solution.tally().positions == 383
    assert solution.tally().finished == 1
    folded = kibitz.solve(kibitz.game("nim")).tally()
    kinds = {tuple(sorted(rows)) for rows in all_positions(kibitz.game("nim"))}
    assert folded.positions == len(kinds)


def test_misere_and_normal_differ_in_who_takes_the_last_stick():
    for misere, points in ((True, [-1, 1]), (False, [1, -1])):
        table = kibitz.game("nim", rows=[2], misere=misere).deal(1)
        assert table.play("take 2 from row 1").points == points
        assert table.over


def test_options_are_checked():
    assert kibitz.game("nim", rows=[63] * 16).players == 2
    assert kibitz.game("nim", rows="5").bound("most_plies") == 5
    for bad in ("", "0,1", "64", "1,x", [1] * 17, None, [1.5], [True]):
        with pytest.raises(BadOption, match="rows"):
            kibitz.game("nim", rows=bad)
    for bad in (-1, 64, "many", 2.5):
        with pytest.raises(BadOption, match="k"):
            kibitz.game("nim", k=bad)
    assert kibitz.game("nim", k="none") == kibitz.game("nim", k=None) == kibitz.game("nim")
    with pytest.raises(BadOption, match="players"):
        kibitz.game("nim", players=3)
    with pytest.raises(UnknownName, match="Did you mean 'rows'"):
        kibitz.game("nim", row="3")


def test_words_are_read_in_short_and_at_length():
    table = kibitz.game("nim").deal(1)
    for words in ("take 3 from row 4", "3 from 4", "3 4", "3,4", "take 3 sticks from row 4"):
        assert table.read(words) == 3 * MOST + 2
    for words in ("", "take", "3", "three from four", "3 from 9", "0 from 1", "-1 from 1"):
        with pytest.raises(UnreadableMove):
            table.read(words)
    with pytest.raises(IllegalMove, match="may not 'take 7 from row 1' with rows 1 3 5 7"):
        table.read("7 from 1")


def test_hand_made_agents_do_as_they_say():
    game = kibitz.game("nim", k=2)
    table = at(game, (0, 3, 5, 7))
    assert table.say(kibitz.agent("gabriele", game).choose(table.view())) == "take 2 from row 2"
    drawn = {kibitz.agent("take-one", game, seed=s).choose(table.view()) for s in range(40)}
    assert {table.say(action) for action in drawn} == {
        "take 1 from row 2", "take 1 from row 3", "take 1 from row 4",
    }  # fmt: skip


def test_features_show_rows_as_fractions_and_bits():
    game = kibitz.game("nim", rows="5,63", k=32, misere=False)
    features = game.deal(1).view(0).features().tolist()
    assert features[:2] == [0, 0.5]
    assert features[2:9] == [5 / 64, 1, 0, 1, 0, 0, 0]
    assert features[9:] == [63 / 64, 1, 1, 1, 1, 1, 1]
