"""What a player sees of Mexican train: writes the facts of a view, in the order of the words.

The words are in language.py, which hands over where each group starts. The *plan* is the line on
one's own train that gets most pips out, as far as NODES tiles tried can tell: of 14 tiles that is
the best in 999 hands of 1000, of 18 it misses a third of a pip. After a move it is searched for
again, but not where it is known: laying its first tile leaves the rest of it, a tile outside it
leaves it as it is.

Moves are listed from one's own train on: then the Mexican train, then the others' in turn. On a
line there fit at most `highest` tiles of a hand, for one of that number lies at its end. So no game
in which (players + 1) * highest <= MOST_MOVES has more moves than can be listed; in larger ones
what goes beyond, on the trains of the last players, is left out.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.game import HIDDEN, SEAT, SEATS, VIEWER
from kibitz.core.matching import NO_ACTION, START, STRIDE
from kibitz.games.mexican_train.cells import (
    AGAIN,
    DOUBLE,
    DRAW,
    DREW,
    END,
    HAND,
    HIGHEST,
    HOLDER,
    LEFT,
    LENGTH,
    LINE,
    LINES,
    MAY,
    OPEN_DOUBLE,
    PASS,
    PENNY,
    PLACE,
    PLAYED,
    SHARED,
    TILES,
    hands_to_play,
    is_open,
    is_shared_open,
    tiles_in_set,
)
from kibitz.games.mexican_train.cells import PIPS as PIPS_BEFORE
from kibitz.games.mexican_train.dive import (
    DESK,
    ROWS,
    TOTAL,
    TURNS,
    dive,
    lay_out,
    toggle,
    write_path,
)
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_TILES, NUMBERS, PIPS, TILE

GAME_, PLAN, RIVAL, MOVE = range(4)  # groups
MOST_MOVES = 63  # as many as a machine word has bits to tell apart, see matching.py
# The most that is told apart.
MANY_PIPS, MANY_TILES, MANY_LEFT = 200, 30, 60

NODES = 500  # tiles to try in a search, some 10 microseconds; a hand of 14 needs 144 in the mean
EVEN = np.ones((2, TURNS))  # a pip is worth the same in every turn

# What is counted of a hand: its tiles and pips; then of each number one's own tiles, and those
# that others may have.
OWN_TILES, OWN_PIPS, OWN = 0, 1, 2
UNSEEN = OWN + NUMBERS
COUNTS = UNSEEN + NUMBERS
# The plan: its tiles, its pips; then of each tile its place in it from 1 on, 0 for none.
PLAN_TILES, PLAN_PIPS, PLACE_OF = 0, 1, 2
PLANNED = PLACE_OF + MOST_TILES


@compiled(inline=True)
def put(facts, at, step, fact):
    """Write a fact of a thing; give the place of its next, as many on as its group has things."""
    facts[at] = fact
    return at + step


@compiled()
def count_hand(view, counts):
    """Count one's own tiles, and of each number the own and the unseen ones. counts [COUNTS]"""
    counts[:] = 0
    for tile in range(tiles_in_set(view)):
        holder, low, high = view[HOLDER + tile], LOW[tile], HIGH[tile]
        if holder == view[VIEWER]:
            counts[OWN_TILES] += 1
            counts[OWN_PIPS] += low + high
            counts[OWN + low] += 1
            counts[OWN + high] += low != high
        elif holder == HIDDEN:
            counts[UNSEEN + low] += 1
            counts[UNSEEN + high] += low != high


@compiled()
def list_moves(view, moves):
    """Write the placements that are legal, one's own train first; give how many.

    moves [LINES * NUMBERS]
    """
    seat, seats = int(view[VIEWER]), int(view[SEATS])
    if view[SEAT] != seat:
        return 0
    shared = is_shared_open(view)
    n = 0
    for i in range(-1, seats):
        line = SHARED if i == 0 else (seat + max(i, 0)) % seats
        if is_open(view, seat, line, shared):
            for number in range(view[HIGHEST] + 1):
                tile = TILE[view[END + line], number]
                if view[HOLDER + tile] == seat:
                    moves[n] = line * MOST_TILES + tile
                    n += 1
    return n


@compiled()
def search(desk, end, line):
    """Find a line of most pips from an open end: its tiles, and its pips. line [TURNS]"""
    worth, length = dive(desk, end, TURNS, EVEN, NODES, -np.inf)
    # The worth is what goes out less what is left.
    return write_path(desk, length, line), (int(worth) + desk[TOTAL]) // 2


@compiled()
def make_plan(view, desk, plan):
    """Find the plan. plan [PLANNED]"""
    line = np.empty(TURNS, np.int64)
    plan[:] = 0
    plan[PLAN_TILES], plan[PLAN_PIPS] = search(desk, int(view[END + view[VIEWER]]), line)
    for i in range(plan[PLAN_TILES]):
        plan[PLACE_OF + line[i]] = i + 1


@compiled()
def plan_after(view, move, desk, plan):
    """Give the tiles and the pips of the plan that is left after a move."""
    seat = int(view[VIEWER])
    line, tile = divmod(move, MOST_TILES)
    low, high = int(LOW[tile]), int(HIGH[tile])
    place = plan[PLACE_OF + tile]
    if line == seat and place == 1:
        return plan[PLAN_TILES] - 1, plan[PLAN_PIPS] - low - high
    if line != seat and place == 0:
        return plan[PLAN_TILES], plan[PLAN_PIPS]
    end = int(view[END + seat])
    if line == seat:
        end = low + high - end
    path = np.empty(TURNS, np.int64)
    there = low == high or desk[ROWS + low] >> high & 1  # of huge hands, not all tiles are
    if there:
        toggle(desk, low, high, -1)
    tiles, pips = search(desk, end, path)
    if there:
        toggle(desk, low, high, 1)
    return tiles, pips


# --- one sort of things after the other ----------------------------------------------------------


@compiled()
def put_game(view, facts, groups, counts, moves):
    """Write the facts of the game as a whole; `moves` is how many there are."""
    seat, seats = int(view[VIEWER]), int(view[SEATS])
    fewest = MANY_TILES
    for i in range(1, seats):
        fewest = min(fewest, int(view[TILES + (seat + i) % seats]))
    stuck = view[SEAT] == seat and moves == 0
    draws = stuck and view[LEFT] > 0 and view[AGAIN] != DREW
    facts[groups[GAME_, START]] = 1
    at, step = groups[GAME_, START] + 1, groups[GAME_, STRIDE]
    at = put(facts, at, step, min(MANY_LEFT, view[LEFT]))
    at = put(facts, at, step, min(MANY_TILES, counts[OWN_TILES]))
    at = put(facts, at, step, min(MANY_PIPS, counts[OWN_PIPS]))
    at = put(facts, at, step, view[OPEN_DOUBLE] > 0)
    at = put(facts, at, step, view[PENNY + seat])
    at = put(facts, at, step, fewest)
    at = put(facts, at, step, seats)
    at = put(facts, at, step, hands_to_play(view) - 1 - view[HAND])
    at = put(facts, at, step, is_shared_open(view))
    at = put(facts, at, step, view[AGAIN] == DOUBLE)
    at = put(facts, at, step, DRAW if draws else NO_ACTION)
    put(facts, at, step, PASS if stuck and not draws else NO_ACTION)


@compiled()
def put_plan(facts, groups, counts, plan):
    """Write the facts of the plan."""
    facts[groups[PLAN, START]] = 1
    at, step = groups[PLAN, START] + 1, groups[PLAN, STRIDE]
    at = put(facts, at, step, min(MANY_TILES, plan[PLAN_TILES]))
    at = put(facts, at, step, min(MANY_PIPS, plan[PLAN_PIPS]))
    put(facts, at, step, min(MANY_PIPS, counts[OWN_PIPS] - plan[PLAN_PIPS]))


@compiled()
def put_rivals(view, facts, groups, counts):
    """Write the facts of the other players, in turn."""
    seat, seats = int(view[VIEWER]), int(view[SEATS])
    facts[groups[RIVAL, START]] = seats - 1
    step = groups[RIVAL, STRIDE]
    for onward in range(1, seats):
        other = (seat + onward) % seats
        may = MAY + other * NUMBERS
        lacks = 0
        for number in range(view[HIGHEST] + 1):
            lacks += view[may + number] == 0
        at = groups[RIVAL, START] + onward
        at = put(facts, at, step, onward)
        at = put(facts, at, step, min(MANY_TILES, view[TILES + other]))
        at = put(facts, at, step, view[PENNY + other])
        at = put(facts, at, step, view[LENGTH + other] > 0)
        at = put(facts, at, step, counts[OWN + view[END + other]])
        at = put(facts, at, step, lacks)
        at = put(facts, at, step, view[may + view[END + other]] == 0)
        put(facts, at, step, view[PIPS_BEFORE + other] < view[PIPS_BEFORE + seat])


@compiled()
def lies_on_double(view, line):
    """Tell whether the last tile of a line is a double."""
    end = view[END + line]
    tile = TILE[end, end]
    return (
        view[HOLDER + tile] == PLAYED
        and view[LINE + tile] == line
        and view[PLACE + tile] == view[LENGTH + line] - 1
    )


@compiled()
def put_move(view, facts, groups, at, move, places, counts, desk, plan):
    """Write the facts of one move; `places` is on how many trains its tile can be laid."""
    step = groups[MOVE, STRIDE]
    seat, seats = int(view[VIEWER]), int(view[SEATS])
    line, tile = divmod(move, MOST_TILES)
    pips, is_double = int(PIPS[tile]), LOW[tile] == HIGH[tile]
    end = int(view[END + line])
    opens = pips - end
    rivals = line != seat and line != SHARED
    followers = counts[OWN + opens] - 1  # not itself
    unseen = counts[UNSEEN + opens]
    after_tiles, after_pips = plan_after(view, move, desk, plan)
    left = counts[OWN_PIPS] - pips
    at = put(facts, at, step, pips)
    at = put(facts, at, step, is_double)
    at = put(facts, at, step, opens)
    at = put(facts, at, step, line == seat)
    at = put(facts, at, step, line == SHARED)
    at = put(facts, at, step, rivals)
    at = put(facts, at, step, (line - seat) % seats if rivals else 0)
    at = put(facts, at, step, min(MANY_TILES, view[TILES + line]) if rivals else 0)
    at = put(facts, at, step, lies_on_double(view, line))
    at = put(facts, at, step, line == seat and not is_double and view[PENNY + seat] == 1)
    at = put(facts, at, step, followers > 0)
    at = put(facts, at, step, followers)
    at = put(facts, at, step, counts[OWN + end])
    at = put(facts, at, step, places)
    at = put(facts, at, step, min(MANY_PIPS, left))
    at = put(facts, at, step, counts[OWN_TILES] == 1)
    at = put(facts, at, step, plan[PLACE_OF + tile] > 0)
    at = put(facts, at, step, min(MANY_TILES, plan[PLACE_OF + tile]))
    at = put(facts, at, step, min(MANY_TILES, after_tiles))
    at = put(facts, at, step, min(MANY_PIPS, left - after_pips))
    at = put(facts, at, step, unseen)
    at = put(facts, at, step, unseen + followers == 0)
    at = put(facts, at, step, view[MAY + (seat + 1) % seats * NUMBERS + opens] == 0)
    at = put(facts, at, step, rivals and view[MAY + line * NUMBERS + opens] == 0)
    put(facts, at, step, move)


@compiled()
def put_moves(view, facts, groups, counts, moves, n, desk, plan):
    """Write the facts of the moves."""
    places = np.zeros(MOST_TILES, np.int64)
    for i in range(n):
        places[moves[i] % MOST_TILES] += 1
    n = min(n, MOST_MOVES)
    start = groups[MOVE, START]
    facts[start] = n
    for i in range(n):
        trains = places[moves[i] % MOST_TILES]
        put_move(view, facts, groups, start + 1 + i, moves[i], trains, counts, desk, plan)


@compiled()
def write_facts(view, facts, wanted, groups):
    """Write what the viewer sees of the groups that are wanted, given as bits."""
    counts = np.empty(COUNTS, np.int64)
    moves = np.empty(LINES * NUMBERS, np.int64)
    count_hand(view, counts)
    n = list_moves(view, moves)
    if wanted >> GAME_ & 1:
        put_game(view, facts, groups, counts, n)
    if wanted >> RIVAL & 1:
        put_rivals(view, facts, groups, counts)
    if wanted >> MOVE & 1:
        facts[groups[MOVE, START]] = 0
    if wanted >> PLAN & 1 or (wanted >> MOVE & 1 and n > 0):
        desk = np.empty(DESK, np.int64)
        plan = np.empty(PLANNED, np.int64)
        lay_out(view, desk)
        make_plan(view, desk, plan)
        if wanted >> PLAN & 1:
            put_plan(facts, groups, counts, plan)
        if wanted >> MOVE & 1:
            put_moves(view, facts, groups, counts, moves, n, desk, plan)
