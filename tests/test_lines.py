"""Lines of Mexican train: everything against brute force in plain Python, which knows no graphs."""

from __future__ import annotations

import doctest
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kibitz.core.errors import BadOption, Misuse
from kibitz.games.mexican_train import lines
from kibitz.games.mexican_train.lines import (
    AIM_PIPS,
    AIM_VALUE,
    BOUND,
    EXACT,
    NODES,
    NONE,
    RESULTS,
    VALUE,
    find_line,
    list_lines,
)
from kibitz.games.mexican_train.tiles import (
    HIGH,
    IS_DOUBLE,
    LOW,
    MOST_TILES,
    PIPS,
    TILE,
    fits,
    other_end,
    tile_of,
)

ENDS = [(a, b) for b in range(16) for a in range(b + 1)]
DISCOUNTS = [(0.9, 1.0), (0.9, 0.9), (0.9, 0.7), (0.5, 0.5), (1.0, 1.0), (1.0, 0.5), (0.3, 0.9)]
DISCOUNTS += [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.7), (0.7, 0.0)]
LARGE = 10_000_000  # nodes


# --- what the lines are measured against ---------------------------------------------------------


def turns(line):
    """Play a line turn by turn; give the turn of each tile, and how many turns there were."""
    now, again, when = -1, False, []
    for tile in line:
        if not again:
            now += 1
        when.append(now)
        again = ENDS[tile][0] == ENDS[tile][1]
    return when, now + 1


def pips(tiles):
    return sum(sum(ENDS[tile]) for tile in tiles)


def value_of(line, hand, in_discount, off_discount):
    when, last = turns(line)
    inside = sum(sum(ENDS[t]) * in_discount**turn for t, turn in zip(line, when, strict=True))
    return inside - pips(set(hand) - set(line)) * off_discount**last


def order_of(line):
    """Most pips, then the double blank, then fewest turns."""
    return pips(line), 0 in line, -turns(line)[1]


def grow(hand, end, line=()):
    """Give every line of a hand, whether it can go on or not."""
    yield line
    for tile in hand:
        if tile not in line and end in ENDS[tile]:
            yield from grow(hand, sum(ENDS[tile]) - end, (*line, tile))


def recursive(hand, end, most, line=()):
    """The seed's construction, word for word: stop where nothing fits, or at the longest line."""
    fitting = [tile for tile in hand if tile not in line and end in ENDS[tile]]
    if len(line) == most or not fitting:
        return [line]
    return [
        found
        for tile in fitting
        for found in recursive(hand, sum(ENDS[tile]) - end, most, (*line, tile))
    ]


def tabled(hand, end, in_discount):
    """Dynamic programming over (tiles played, end, last tile a double), without any bound.

    Gives the greatest discounted pips of a line for each of them; doubles are tiles like others.
    """
    layer = {(0, end, False): 0.0}
    known = dict(layer)
    while layer:
        following = {}
        for (played, at, _), so_far in layer.items():
            turn = sum(
                1 for i, t in enumerate(hand) if played >> i & 1 and ENDS[t][0] != ENDS[t][1]
            )
            for i, tile in enumerate(hand):
                a, b = ENDS[tile]
                if not played >> i & 1 and at in (a, b):
                    state = (played | 1 << i, a + b - at, a == b)
                    value = so_far + (a + b) * in_discount**turn
                    following[state] = max(value, following.get(state, -1.0))
        known.update(following)
        layer = following
    return known


def best_in_table(hand, known, off_discount):
    best = -np.inf
    for (played, _, ended_double), inside in known.items():
        there = [tile for i, tile in enumerate(hand) if played >> i & 1]
        last = sum(ENDS[t][0] != ENDS[t][1] for t in there) + ended_double
        best = max(best, inside - (pips(hand) - pips(there)) * off_discount**last)
    return best


def most_in_table(hand, known):
    best = (-1, False, 0)
    for played, _, ended_double in known:
        there = [tile for i, tile in enumerate(hand) if played >> i & 1]
        last = sum(ENDS[t][0] != ENDS[t][1] for t in there) + ended_double
        best = max(best, (pips(there), 0 in there, -last))
    return best


def assert_legal(line, hand, end):
    assert len(set(line)) == len(line)
    assert set(line) <= set(hand)
    for tile in line:
        assert end in ENDS[tile]
        end = sum(ENDS[tile]) - end


# --- hands ---------------------------------------------------------------------------------------


def deal(rng, highest, n):
    size = (highest + 1) * (highest + 2) // 2
    return [int(tile) for tile in rng.choice(size, min(n, size), replace=False)]


def small_hands(seed, count, most=9):
    """Hands small enough to enumerate: dense and sparse ones, half of them rich in doubles."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        highest = int(rng.choice([2, 3, 4, 6, 9, 12, 15]))
        hand = deal(rng, highest, int(rng.integers(0, most + 1)))
        if i % 2:
            doubles = [tile_of(x, x) for x in range(highest + 1)]
            keep = len(hand) // 2
            some = rng.choice(doubles, min(keep, len(doubles)), replace=False)
            hand = list(dict.fromkeys([*(int(tile) for tile in some), *hand[keep:]]))
        yield hand, int(rng.integers(0, highest + 1))


ODD_HANDS = [
    ([], 3),
    ([tile_of(1, 2), tile_of(2, 2)], 0),  # nothing fits
    ([tile_of(4, 4)], 4),  # the start has only a double
    ([tile_of(4, 4), tile_of(1, 2), tile_of(1, 1)], 4),
    ([tile_of(0, 0)], 0),
    ([tile_of(0, 0), tile_of(0, 5)], 5),  # the double blank can only come last
    ([tile_of(x, x) for x in range(7)], 6),
    ([tile_of(2, x) for x in range(9)], 2),  # a star: only two of its tiles can be played
]


def run(hand, end, aim, discounts=(0.9, 1.0), max_nodes=LARGE):
    result = np.empty(RESULTS)
    line = np.empty(len(hand), np.int64)
    tiles = np.array(hand, np.int64)
    length = lines.best_line(tiles, len(hand), end, aim, *discounts, max_nodes, line, result)
    found = tuple(int(tile) for tile in line[:length])
    assert_legal(found, hand, end)
    if aim == AIM_VALUE:
        assert result[VALUE] == pytest.approx(value_of(found, hand, *discounts), abs=1e-9)
    else:
        assert result[VALUE] == pips(found)
    assert result[VALUE] <= result[BOUND] <= pips(hand)
    assert result[EXACT] in (0, 1)
    return found, result


def written(hand, end, longest, most=200_000):
    tiles = np.array(hand, np.int64)
    found = np.empty((most, longest), np.int64)
    lengths = np.empty(most, np.int64)
    count, complete = lines.all_lines(tiles, len(hand), end, found, lengths)
    return found, lengths, count, complete


def read(found, lengths, count):
    return [tuple(found[i, : lengths[i]].tolist()) for i in range(count)]


# --- tiles ---------------------------------------------------------------------------------------


def test_tiles_are_numbered_as_agreed():
    assert len(ENDS) == MOST_TILES == 136
    for tile, (a, b) in enumerate(ENDS):
        assert (LOW[tile], HIGH[tile]) == (a, b)
        assert tile_of(a, b) == tile_of(b, a) == TILE[b, a] == tile == b * (b + 1) // 2 + a
        assert PIPS[tile] == a + b
        assert IS_DOUBLE[tile] == (a == b)
        assert fits(tile, a)
        assert other_end(tile, a) == b
    assert {HIGH[tile] for tile in range(91)} == set(range(13))  # the double-12 set


# --- all lines -----------------------------------------------------------------------------------


@pytest.mark.parametrize("longest", [1, 2, 4, 10])
def test_all_lines_are_those_of_the_seeds_recursion(longest):
    for hand, end in [*ODD_HANDS, *small_hands(longest, 100)]:
        found, lengths, count, complete = written(hand, end, longest)
        assert complete
        assert read(found, lengths, count) == recursive(hand, end, longest)


def test_a_full_array_keeps_the_first_lines_and_says_so():
    hand = [tile_of(a, b) for b in range(4) for a in range(b + 1)]
    everything = recursive(hand, 0, 6)
    for room in (1, 7, len(everything) - 1, len(everything)):
        found, lengths, count, complete = written(hand, 0, 6, room)
        assert complete == (room == len(everything))
        assert read(found, lengths, count) == everything[:room]


@pytest.mark.parametrize("longest", [1, 3, 10])
def test_lines_brought_up_to_date_are_those_constructed_anew(longest):
    checked = 0
    for hand, end in [*ODD_HANDS, *small_hands(100 + longest, 100, most=8)]:
        for tile in hand:
            left = [other for other in hand if other != tile]
            for on_own in (True, False):
                if on_own and end not in ENDS[tile]:
                    continue
                found, lengths, count, _ = written(hand, end, longest)
                count = lines.update_lines(found, lengths, count, tile, on_own)
                at = sum(ENDS[tile]) - end if on_own else end
                # Lines that were cut do not grow again.
                anew = recursive(left, at, longest - on_own)
                assert read(found, lengths, count) == anew
                checked += 1
    assert checked > 400


def test_updates_can_follow_one_another():
    rng = np.random.default_rng(5)
    for hand, end in small_hands(6, 60):
        left, at, longest = list(hand), end, 8
        found, lengths, count, _ = written(hand, end, longest)
        while left and longest > 1:
            tile = left.pop(int(rng.integers(len(left))))
            on_own = bool(at in ENDS[tile] and rng.integers(2))
            count = lines.update_lines(found, lengths, count, tile, on_own)
            longest -= on_own
            at = sum(ENDS[tile]) - at if on_own else at
            assert read(found, lengths, count) == recursive(left, at, longest)


def test_an_incomplete_list_can_run_dry():
    hand = [tile_of(0, 1), tile_of(0, 2), tile_of(2, 3)]
    found, lengths, count, complete = written(hand, 0, 3, 1)
    assert not complete
    assert lines.update_lines(found, lengths, count, tile_of(0, 2), True) == 0


def test_list_lines_is_the_same_for_people():
    for hand, end in [*ODD_HANDS, *small_hands(9, 30)]:
        assert list_lines(hand, end, 5) == recursive(hand, end, 5)
    with pytest.raises(Misuse, match="more than 3 lines"):
        list_lines(range(10), 0, 5, most=3)
    with pytest.raises(BadOption, match="at least 1"):
        list_lines(range(10), 0, 0)


# --- what a line is worth ------------------------------------------------------------------------


def test_the_seeds_example():
    """(0|1)-(1|2)-(2|0)-(0|9)-(9|9), or straight to (0|9)-(9|9)."""
    hand = np.array([tile_of(0, 1), tile_of(1, 2), tile_of(2, 0), tile_of(0, 9), tile_of(9, 9)])
    whole = 1 + 3 * 0.9 + 2 * 0.81 + 9 * 0.729 + 18 * 0.6561
    assert lines.line_value(hand, 5, hand, 5, 0.9, 0.7) == pytest.approx(whole)
    short = 9 + 18 * 0.9 - (1 + 3 + 2) * 0.7**2
    assert lines.line_value(hand[3:], 2, hand, 5, 0.9, 0.7) == pytest.approx(short)
    assert lines.turns_of(hand, 5) == 5
    assert lines.turns_of(hand, 4) == 4


def test_a_tile_after_a_double_costs_no_turn():
    line = np.array([tile_of(3, 3), tile_of(3, 5), tile_of(5, 5), tile_of(5, 6)])
    hand = np.append(line, tile_of(10, 12))
    value = 6 + 8 + 0.5 * (10 + 11) - 22 * 0.8**2
    assert lines.line_value(line, 4, hand, 5, 0.5, 0.8) == pytest.approx(value)
    assert lines.line_value(line, 0, hand, 5, 0.5, 0.8) == -pips(hand)


@pytest.mark.parametrize("discounts", DISCOUNTS)
def test_the_value_of_every_line(discounts):
    for hand, end in [*ODD_HANDS, *small_hands(11, 30, most=7)]:
        found, lengths, count, _ = written(hand, end, 10)
        values = np.empty(count)
        tiles = np.array(hand, np.int64)
        lines.line_values(found, lengths, count, tiles, len(hand), *discounts, values)
        wanted = [value_of(line, hand, *discounts) for line in read(found, lengths, count)]
        assert values == pytest.approx(wanted, abs=1e-9)


# --- the best line -------------------------------------------------------------------------------


def test_most_pips_against_every_line():
    for hand, end in [*ODD_HANDS, *small_hands(21, 400)]:
        found, result = run(hand, end, AIM_PIPS)
        assert order_of(found) == max(order_of(line) for line in grow(hand, end))
        assert result[EXACT]
        assert result[BOUND] == result[VALUE]


@pytest.mark.parametrize("discounts", DISCOUNTS)
def test_greatest_value_against_every_line(discounts):
    for hand, end in [*ODD_HANDS, *small_hands(60 + DISCOUNTS.index(discounts), 80, most=8)]:
        _, result = run(hand, end, AIM_VALUE, discounts)
        best = max(value_of(line, hand, *discounts) for line in grow(hand, end))
        assert result[VALUE] == pytest.approx(best, abs=1e-8)
        assert result[EXACT]
        assert result[BOUND] == result[VALUE]


def test_a_double_may_be_worth_more_at_the_end():
    hand = [tile_of(5, 5), tile_of(1, 5), tile_of(1, 2), tile_of(2, 5), tile_of(9, 9)]
    held, _ = run(hand, 5, AIM_VALUE, (1.0, 0.5))
    at_once, _ = run(hand, 5, AIM_VALUE, (0.5, 0.9))
    assert held[-1] == tile_of(5, 5)
    assert at_once[0] == tile_of(5, 5)


@pytest.mark.parametrize("n", [14, 16, 18, 20])
def test_larger_hands_against_a_table_of_all_subsets(n):
    rng = np.random.default_rng(n)
    for highest in (9, 12, 12, 15):
        hand, end = deal(rng, highest, n), int(rng.integers(0, highest + 1))
        for in_discount in (0.9, 1.0, 0.5):
            known = tabled(hand, end, in_discount)
            for off_discount in (1.0, 0.9, 0.5):
                _, result = run(hand, end, AIM_VALUE, (in_discount, off_discount))
                assert result[EXACT]
                best = best_in_table(hand, known, off_discount)
                assert result[VALUE] == pytest.approx(best, abs=1e-8)
        found, result = run(hand, end, AIM_PIPS)
        assert result[EXACT]
        assert order_of(found) == most_in_table(hand, known)


def test_without_discounts_both_aims_agree():
    """The two searches share nothing but the hand: then the value is pips out less pips left."""
    rng = np.random.default_rng(3)
    for n in (20, 30, 45, 68, 100):
        for highest in (12, 15):
            hand, end = deal(rng, highest, n), int(rng.integers(0, highest + 1))
            _, out = run(hand, end, AIM_PIPS)
            _, best = run(hand, end, AIM_VALUE, (1.0, 1.0))
            assert out[EXACT]
            assert best[EXACT]
            assert best[VALUE] == pytest.approx(2 * out[VALUE] - pips(hand))


@pytest.mark.parametrize("discounts", [(0.9, 1.0), (0.9, 0.9), (1.0, 0.8)])
def test_bounds_hold_whatever_the_budget(discounts):
    rng = np.random.default_rng(17)
    cut_short = 0
    for _ in range(40):
        hand, end = deal(rng, 12, int(rng.integers(12, 26))), int(rng.integers(0, 13))
        _, best = run(hand, end, AIM_VALUE, discounts)
        assert best[EXACT]
        for budget in (1, 10, 100, 300, 1000):
            _, result = run(hand, end, AIM_VALUE, discounts, budget)
            assert result[VALUE] <= best[VALUE] + 1e-8
            assert result[BOUND] >= best[VALUE] - 1e-8
            assert result[NODES] < budget + 2 * 16
            if result[EXACT]:
                assert result[VALUE] == pytest.approx(best[VALUE], abs=1e-8)
            cut_short += not result[EXACT]
    assert cut_short > 40


def test_bounds_on_pips_hold_whatever_the_budget():
    rng = np.random.default_rng(23)
    cut_short = 0
    for _ in range(300):
        hand, end = deal(rng, 12, int(rng.integers(12, 26))), int(rng.integers(0, 13))
        best, exact = run(hand, end, AIM_PIPS)
        for budget in (1, 2, 3):
            line, result = run(hand, end, AIM_PIPS, max_nodes=budget)
            assert result[NODES] <= budget
            assert result[VALUE] <= exact[VALUE] <= result[BOUND]
            if result[EXACT]:
                assert order_of(line) == order_of(best)
            cut_short += not result[EXACT]
    assert cut_short > 20


def test_hands_too_large_to_prove_have_a_bound_and_the_same_answer_every_time():
    rng = np.random.default_rng(31)
    for n in (60, 120):
        hand, end = deal(rng, 15, n), int(rng.integers(0, 16))
        first, few = run(hand, end, AIM_VALUE, (0.9, 0.9), 5_000)
        second, again = run(hand, end, AIM_VALUE, (0.9, 0.9), 5_000)
        assert first == second
        assert np.array_equal(few, again)
        _, more = run(hand, end, AIM_VALUE, (0.9, 0.9), 40_000)
        assert few[VALUE] <= more[VALUE] + 1e-9
        assert more[VALUE] <= few[BOUND]
        assert more[BOUND] <= few[BOUND]


def test_the_order_of_the_hand_does_not_matter():
    rng = np.random.default_rng(41)
    for _ in range(30):
        hand, end = deal(rng, 12, 20), int(rng.integers(0, 13))
        shuffled = [int(tile) for tile in rng.permutation(hand)]
        for aim in (AIM_PIPS, AIM_VALUE):
            assert run(hand, end, aim)[0] == run(shuffled, end, aim)[0]


def test_agents_may_keep_spare_room():
    hand, end = [tile_of(3, 5), tile_of(5, 5), tile_of(0, 5)], 3
    tiles = np.array([*hand, NONE, NONE], np.int64)
    line = np.full(10, NONE, np.int64)
    result = np.empty(RESULTS)
    length = lines.best_line(tiles, 3, end, AIM_VALUE, 0.9, 1.0, 1000, line, result)
    assert line.tolist() == [*hand, *[NONE] * 7]
    assert length == 3


def some_answers():
    """Give best lines as lists, for small hands and for large ones that are cut short."""
    rng = np.random.default_rng(61)
    asked = [*ODD_HANDS, *small_hands(62, 10)]
    asked += [(deal(rng, 15, n), int(rng.integers(0, 16))) for n in (15, 25, 40, 80)]
    return [
        [list(found), *result.tolist()]
        for hand, end in asked
        for aim in (AIM_PIPS, AIM_VALUE)
        for found, result in [run(hand, end, aim, (0.9, 0.8), 500)]
    ]


def test_the_compiler_changes_nothing():
    """Also, uncompiled, reading past the end of an array and overflow raise."""
    code = "import json, tests.test_lines as t; print(json.dumps(t.some_answers()))"
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    for plain, compiled in zip(json.loads(done.stdout), some_answers(), strict=True):
        assert plain[0] == compiled[0]
        assert plain[1:] == pytest.approx(compiled[1:])  # powers are rounded otherwise


# --- for people ----------------------------------------------------------------------------------


def test_find_line_is_best_line_for_people():
    rng = np.random.default_rng(51)
    hand = deal(rng, 12, 20)
    for name, aim in (("pips", AIM_PIPS), ("value", AIM_VALUE)):
        found, result = run(hand, 4, aim, (0.8, 0.9))
        line = find_line(hand, 4, name, in_discount=0.8, off_discount=0.9)
        assert line == lines.Line(
            tiles=found, value=result[VALUE], bound=result[BOUND], exact=bool(result[EXACT])
        )


def test_the_examples_in_the_docstrings():
    assert doctest.testmod(lines).failed == 0
    assert find_line([tile_of(3, 5), tile_of(5, 5), tile_of(0, 5)], 3, "pips").tiles == (18, 20, 15)


def test_find_line_says_what_is_wrong():
    with pytest.raises(BadOption, match="choose one of pips, value"):
        find_line([1, 2], 0, "points")
    with pytest.raises(BadOption, match="from 0 to 1"):
        find_line([1, 2], 0, in_discount=1.1)
    with pytest.raises(BadOption, match="at least 1"):
        find_line([1, 2], 0, max_nodes=0)
    with pytest.raises(Misuse, match="different tiles"):
        find_line([1, 1], 0)
    with pytest.raises(Misuse, match="0 to 135"):
        find_line([1, 136], 0)
    with pytest.raises(Misuse, match="open end is 16"):
        find_line([1, 2], 16)
