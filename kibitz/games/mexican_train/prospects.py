"""What comes of an option, for learners: the hand and the lines that it leaves.

A row for each option. First the number of its tile, which is that of the tile's token, or -1; then
PLAIN columns of what can be seen at once, and behind them, if the table says so, LINED columns of
the lines that are left: the line of most pips, the longest one, and what can be brought out in the
turns that are likely to come, if these are few, some or many. Everything is about as large as 1.
"""

from __future__ import annotations

import math

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.game import HIDDEN, SEATS, VIEWER
from kibitz.games.mexican_train.cells import (
    END,
    HOLDER,
    MAY,
    PASS,
    PENNY,
    SHARED,
    SHOWS_LINES,
    TILES,
    is_open,
    is_shared_open,
    tiles_in_set,
)
from kibitz.games.mexican_train.dive import (
    DESK,
    IN,
    ROWS,
    TOTAL,
    TURNS,
    dive,
    lay_out,
    toggle,
    write_path,
)
from kibitz.games.mexican_train.longest import longest_line
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_TILES, NUMBERS

NODES = 500  # tiles to try in a search
EVEN = np.ones((2, TURNS))  # a pip is worth the same in every turn
# How many turns are likely left, for each tile of the other seat with fewest; and how unsure that
# is. In the middle, what the planner reckons with.
PACES = np.array([0.4, 0.65, 0.9, 1.25])
SPARE_TURNS, SPREAD = 0.2, 1.2
MANY_TILES, MANY_PIPS, FEW = 10.0, 50.0, 4.0  # units

ALONE = 12  # columns before those with one for each number
PLAIN = 1 + ALONE + 4 * NUMBERS + 8
LINED = 8 + 2 * len(PACES)
COLUMNS = PLAIN + LINED


@compiled()
def weigh_turns(view, pace, chances):
    """Write the chance that the hand goes on till each turn. chances [TURNS]"""
    fewest = MOST_TILES
    for seat in range(view[SEATS]):
        if seat != view[VIEWER]:
            fewest = min(fewest, int(view[TILES + seat]))
    centre = pace * fewest + SPARE_TURNS
    scale = 1.0 + math.exp(-centre / SPREAD)
    for turn in range(TURNS):
        chances[turn] = scale / (1.0 + math.exp(min(50.0, (turn - centre) / SPREAD)))


@compiled()
def describe_lines(view, end, is_again, desk, chances, row, at):
    """Write what lines the hand on a desk has, from an open end. chances [paces, 2, 2, TURNS]"""
    line = np.empty(TURNS, np.int64)
    worth, length = dive(desk, end, TURNS, EVEN, NODES, -np.inf)
    tiles = write_path(desk, length, line)
    singles = 0
    for i in range(tiles):
        singles += LOW[line[i]] != HIGH[line[i]]
    total = float(desk[TOTAL])
    out = 0.5 * (worth + total)  # the worth is what goes out less what is left
    row[at] = tiles / MANY_TILES
    row[at + 1] = singles / MANY_TILES
    row[at + 2] = out / MANY_PIPS
    row[at + 3] = (total - out) / MANY_PIPS
    row[at + 4] = total == out
    longest, doubles = longest_line(desk, end, NODES)
    row[at + 5] = longest / MANY_TILES
    row[at + 6] = (longest - doubles) / MANY_TILES
    row[at + 7] = (LOW[line[0]] + HIGH[line[0]]) / MANY_PIPS if tiles > 0 else 0.0
    at += 8
    for pace in range(len(PACES)):
        worth, length = dive(desk, end, TURNS, chances[pace, int(is_again)], NODES, -np.inf)
        row[at] = worth / MANY_PIPS
        row[at + 1] = write_path(desk, length, line) / MANY_TILES
        at += 2


@compiled()
def describe_option(view, action, counts, desk, chances, row):
    """Write the row of one option.

    counts [3, NUMBERS]: own tiles with each number, doubles among them, tiles that others may have.
    """
    row[:] = 0.0
    row[0] = -1.0
    seat, seats = int(view[VIEWER]), int(view[SEATS])
    line, low, high, opens = -1, 0, 0, 0
    own_end = int(view[END + seat])
    tiles = int(view[TILES + seat])
    pips = 0
    for number in range(NUMBERS):
        pips += number * (counts[0, number] + counts[1, number])
    penny = float(view[PENNY + seat])
    if action < PASS:
        line, tile = divmod(action, MOST_TILES)
        low, high = int(LOW[tile]), int(HIGH[tile])
        opens = low + high - int(view[END + line])
        row[0] = tile
        tiles -= 1
        pips -= low + high
        if line == seat:
            own_end = opens
            if low != high:
                penny = 0.0
    else:
        penny = 1.0
    is_double = action < PASS and low == high
    fewest = MOST_TILES
    for other in range(seats):
        if other != seat:
            fewest = min(fewest, int(view[TILES + other]))
    row[1] = action >= PASS
    row[2] = (low + high) / MANY_PIPS
    row[3] = is_double
    row[4] = line == seat
    row[5] = line == SHARED
    row[6] = 0 <= line < SHARED and line != seat
    row[7] = tiles == 0
    row[8] = tiles / MANY_TILES
    row[9] = pips / MANY_PIPS
    row[10] = penny
    row[11] = fewest / MANY_TILES
    row[12] = (tiles - fewest) / MANY_TILES
    at = 1 + ALONE
    for number in range(NUMBERS):
        own, double = counts[0, number], counts[1, number]
        if action < PASS:
            own -= (low == number) or (high == number)
            double -= low == number and high == number
        row[at + number] = own / FEW
        row[at + NUMBERS + number] = double
        row[at + 2 * NUMBERS + number] = own_end == number
        row[at + 3 * NUMBERS + number] = action < PASS and opens == number
        if number == own_end:
            row[at + 4 * NUMBERS] = own / FEW
        if action < PASS and number == opens:
            row[at + 4 * NUMBERS + 1] = own / FEW
    at += 4 * NUMBERS + 2
    row[at] = counts[2, own_end] / MANY_TILES
    if action < PASS:
        row[at + 1] = counts[2, opens] / MANY_TILES
        row[at + 2] = view[MAY + (seat + 1) % seats * NUMBERS + opens] == 0
        row[at + 3] = 0 <= line < seats and view[MAY + line * NUMBERS + opens] == 0
    # On how many lines others may play, and how many numbers are open to the own hand.
    shared = is_shared_open(view)
    fits = 0
    for i in range(seats + 1):
        other = i if i < seats else SHARED
        if other != seat and is_open(view, seat, other, shared):
            end = opens if other == line else int(view[END + other])
            left = counts[0, end]
            if action < PASS:
                left -= (low == end) or (high == end)
            fits += left
    row[at + 4] = fits / MANY_TILES
    row[at + 5] = shared
    if view[SHOWS_LINES]:
        there = action < PASS and (low == high or desk[ROWS + low] >> high & 1)
        if there:
            toggle(desk, low, high, -1)
        describe_lines(view, own_end, is_double, desk, chances, row, PLAIN)
        if there:
            toggle(desk, low, high, 1)


@compiled()
def describe_options(view, actions, n, prospects):
    """Write a row for each option."""
    counts = np.zeros((3, NUMBERS), np.int64)
    for tile in range(tiles_in_set(view)):
        holder, low, high = view[HOLDER + tile], int(LOW[tile]), int(HIGH[tile])
        if holder == view[VIEWER]:
            counts[0, low] += 1
            if low != high:
                counts[0, high] += 1
            else:
                counts[1, low] += 1
        elif holder == HIDDEN:
            counts[2, low] += 1
            counts[2, high] += low != high
    desk = np.empty(DESK, np.int64)
    chances = np.zeros((len(PACES), 2, 2, TURNS))
    if view[SHOWS_LINES]:
        lay_out(view, desk)
        for pace in range(len(PACES)):
            now = chances[pace, 1, IN]  # after a double, the line goes on in this turn
            weigh_turns(view, PACES[pace], now)
            for turn in range(TURNS - 1):
                chances[pace, 0, IN, turn] = now[turn + 1]
    for i in range(n):
        describe_option(view, actions[i], counts, desk, chances, prospects[i])
