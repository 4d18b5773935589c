"""The vote-and-play loop of Nim in plain Python, as one would write it without a compiler.

The same seventeen strategies in the same order, for misère Nim without a cap. A state is a list
of rows, a move a pair (row, sticks).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import reduce
from operator import xor

Rows = list[int]
Move = tuple[int, int]
Strategy = Callable[[Rows, list[Move], random.Random], Move]


def legal(rows: Rows) -> list[Move]:
    return [(row, taken) for row, sticks in enumerate(rows) for taken in range(1, sticks + 1)]


def after(rows: Rows, move: Move) -> Rows:
    left = rows.copy()
    left[move[0]] -= move[1]
    return left


def wish(moves: list[Move], wanted: Callable[[Move], bool], rng: random.Random) -> Move:
    good = [move for move in moves if wanted(move)]
    return rng.choice(good or moves)


def longest(rows: Rows) -> int:
    return rows.index(max(rows))


def good_for_misere(rows: Rows) -> bool:
    ones = sum(rows)
    return ones % 2 == 1 if max(rows) <= 1 else reduce(xor, rows) == 0


def gabriele(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
    row = moves[0][0]
    return row, rows[row]


def any_move(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
    return rng.choice(moves)


def take_one(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
    return wish(moves, lambda move: move[1] == 1, rng)


def take_all_but_one(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
    row = longest(rows)
    return (row, rows[row] - 1) if rows[row] > 1 else (row, 1)


def longest_row(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
    row = longest(rows)
    return row, rows[row]


def shortest_row(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
    sticks = min(filter(None, rows))
    return rows.index(sticks), sticks


def one_from_longest(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
    return longest(rows), 1


def thin_out(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
    row = longest(rows)
    return row, (rows[row] + 1) // 2


def level(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
    best = (0, longest(rows), 1)
    for row, taken in moves:
        stay = rows[row] - taken
        if stay > best[0] and stay in rows:
            best = (stay, row, taken)
    return best[1], best[2]


def by_sticks(odd: int) -> Strategy:
    def choose(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
        sticks = sum(rows)
        return wish(moves, lambda move: (sticks - move[1]) % 2 == odd, rng)

    return choose


def by_rows(odd: int) -> Strategy:
    def choose(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
        full = sum(map(bool, rows))
        return wish(moves, lambda move: (full - (rows[move[0]] == move[1])) % 2 == odd, rng)

    return choose


def finish(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
    sticks = sum(rows)
    return wish(moves, lambda move: sticks - move[1] == 1, rng)


def nim_sum(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
    total = reduce(xor, rows)
    return wish(moves, lambda m: total ^ rows[m[0]] ^ (rows[m[0]] - m[1]) == 0, rng)


def nim_sum_misere(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
    good = [move for move in moves if good_for_misere(after(rows, move))]
    return rng.choice(good) if good else (longest(rows), 1)


def spoil(rows: Rows, moves: list[Move], rng: random.Random) -> Move:
    total = reduce(xor, rows)
    return wish(moves, lambda m: total ^ rows[m[0]] ^ (rows[m[0]] - m[1]) != 0, rng)


STRATEGIES: tuple[Strategy, ...] = (
    gabriele, any_move, take_one, take_all_but_one, longest_row, shortest_row, one_from_longest,
    thin_out, level, by_sticks(0), by_sticks(1), by_rows(0), by_rows(1), finish, nim_sum,
    nim_sum_misere, spoil,
)  # fmt: skip


def vote(rows: Rows, weights: list[float], rng: random.Random) -> Move:
    moves = legal(rows)
    votes = dict.fromkeys(moves, 0.0)
    for strategy, weight in zip(STRATEGIES, weights, strict=True):
        if weight > 0:
            votes[strategy(rows, moves, rng)] += weight
    return max(votes, key=votes.__getitem__)


def fitness(weights: list[float], opponent: Strategy, games: int, seed: int) -> float:
    """Play so many games, every other one as second; give the share won."""
    rng = random.Random(seed)
    won = 0
    for game in range(games):
        rows = [1, 3, 5, 7]
        ours = game % 2 == 0
        while any(rows):
            move = vote(rows, weights, rng) if ours else opponent(rows, legal(rows), rng)
            rows[move[0]] -= move[1]
            ours = not ours
        won += ours  # whoever is left to move has not taken the last stick
    return won / games
