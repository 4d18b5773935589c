"""What learners see of each option with direct control, and what would come of it.

A row for each legal action. The mover is "I"; rivals are counted as their mean, so that the sum
of all of them is that times their number. Points are over 10, open sides over 4, meeples over 3
unless said otherwise; nothing but the cell lies beyond 4. For those of a cursor see buttons.py.

what it is, always
  cell                 1      of the planes' window, row * 25 + column: where the tile goes, or the
                              tile just laid; -1 outside
  laying               1      a tile is to be laid, else a meeple to be set
  rotation             4      one is 1: of the tile
  x, y                 2      of the tile from the middle of those that lie, over 12
  neighbours           2      that lie: of four, over 4; of eight, over 8
  place                14     one is 1: four sides, centre, eight halves of sides, no meeple; all 0
                              for laying, as the next
  feature              4      one is 1: road, city, cloister, field that the meeple would claim

changes, with the option `prospects`: after the tile is laid, without a meeple, less before; or
after the meeple is set, less the same without one. Features count for all who lead there. What is
finished is paid, and no longer counted among what may come.
  points               2      paid in this turn: to me, to rivals
  roads                4      mine: worth now; chance to be finished times what more it is worth
                              then ("hope"); rivals': the same two
  cities, cloisters    2 * 4  the same
  fields               2      worth now: mine, rivals'
  meeples back         2      in this turn: mine, rivals'
  to come back         2      standing, each times the chance that its feature is finished, less
                              when fewer than 20 tiles are left ("late"): mine, rivals'
  use of free ones     2      1 for the first, 1/2 for the second and so on, less when late
  stuck                2      on what can no longer be finished: mine, rivals'
  open sides           2      of my features, of rivals' (of a cloister: empty neighbours)
  majorities           3      features, over 2: where I lead over rivals; share; am outnumbered
then, as it is after the option
  free meeples         2      mine, rivals', over 7
  tiles to come        1      over all but the start tile
  fits                 2      tiles to come that fit in the cell itself (for laying), and in the
                              empty cell beside it where the fewest do; over 10, at most 1
  claims               13     what a meeple on the tile could have, or has if this sets it. Of the
                              best road, then city, then cloister: worth now, hope, chance to be
                              finished, it is finished already; of the best field: worth now
  best meeple          6      the one that brings most points by EXPECTED, if any is better than
                              none, or the one that this sets: how much better than none; points at
                              once; worth now; hope; chance to come back, less when late; how much
                              less use the free ones are

The settler's choice of a place for a meeple is a linear function of the changes: see the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.game import SEAT, SEATS, Planes, copy_cells
from kibitz.games.carcassonne.board import (
    AROUND,
    FARMED_CITY,
    STEP,
    cell_at,
    feature_at,
    lay_tile,
    meeples_of,
    most_meeples,
    moved,
    place_of,
    root_of,
    tile_at,
    worth_of,
)
from kibitz.games.carcassonne.cells import (
    BITS,
    DRAWN,
    EDGE,
    EDGE_LIST,
    EDGES,
    FARMERS,
    FEATURE_KIND,
    FEATURES_USED,
    GRID,
    IN_SET,
    KIND,
    LAID,
    LAYING,
    MEEPLE_AT,
    MEEPLE_COUNTS,
    MEEPLES,
    MOST_FEATURES,
    MOST_SEATS,
    NO_MEEPLE,
    OFFSET,
    OPEN,
    PHASE,
    PLACES,
    PROSPECTS,
    ROOT,
    SUPPLY,
    TILE,
    TURN,
    X,
    Y,
)
from kibitz.games.carcassonne.encodings import (
    BOARD_SIZES,
    MEEPLES_UNIT,
    SIDES_UNIT,
    WINDOW,
    WORTH,
    features,
    middle_of,
    window_place,
)
from kibitz.games.carcassonne.evaluation import BACK as BACK_WEIGHT
from kibitz.games.carcassonne.evaluation import (
    FIELD_NOW,
    FREE,
    HARMONIC,
    LATE,
    NOW_OF,
    RIVALS,
    RIVALS_MEEPLES,
)
from kibitz.games.carcassonne.meeples import segment_at
from kibitz.games.carcassonne.outlook import (
    chance_of_one,
    finished_worth,
    lead_of,
    tiles_that_close,
    tiles_that_fit,
)
from kibitz.games.carcassonne.tiles import (
    ALL_TILES,
    AT_SIDE,
    CITY,
    CLOISTER,
    DEMANDS,
    FEATURE,
    FIELD,
    FIELDS,
    FIRST_FIELD,
    KINDS,
    LANDS,
    PARTS,
    PUBLISHED,
    ROAD,
    ROTATIONS,
    SEGMENTS,
    SIDES,
    TOUCHES,
)

# Which meeple is best: the one that can be expected to bring most points, where what a free one is
# of use for counts as points too. No player's judgement: learners find out what things are worth.
# In the order of evaluation.WEIGHTS.
EXPECTED = np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0], np.float32)

# Where the columns of a row begin: what the option is, ..
AT_CELL, AT_LAYING, AT_ROTATION, AT_X, AT_Y, AT_SIDES, AT_AROUND = 0, 1, 2, 6, 7, 8, 9
AT_PLACE = 10
AT_FEATURE = AT_PLACE + PLACES + 1
PLAIN = AT_FEATURE + 4
# .. the changes, counted from there: mine, then rivals', ..
PAID, ROADS, FIELDS_NOW, RETURNED, COMING, FREE_USE, STUCK, OPENINGS, OVER_RIVALS, SHARED = (
    0, 2, 14, 16, 18, 20, 22, 24, 26, 27,
)  # fmt: skip
OUTNUMBERED = 28
CHANGES = 29
# .. and how it is after.
AT_FREE = PLAIN + CHANGES
AT_LEFT = AT_FREE + 2
AT_FITS = AT_LEFT + 1
AT_CLAIMS = AT_FITS + 2
AT_BEST = AT_CLAIMS + 13
ALL = AT_BEST + 6
# What the changes are multiplied by.
UNITS = np.full(CHANGES, 1.0 / WORTH)
UNITS[RETURNED:OPENINGS] = 1.0 / MEEPLES_UNIT
UNITS[OPENINGS : OPENINGS + 2] = 1.0 / SIDES_UNIT
UNITS[OVER_RIVALS:] = 0.5
# What they are worth by EXPECTED.
VALUED = np.zeros(CHANGES)
VALUED[PAID] = 1.0
for _kind in (ROAD, CITY, CLOISTER):
    _at = ROADS + 4 * (_kind - ROAD)
    VALUED[_at : _at + 2] = EXPECTED[NOW_OF[_kind] : NOW_OF[_kind] + 2]
    VALUED[_at + 2 : _at + 4] = -EXPECTED[RIVALS] * VALUED[_at : _at + 2]
VALUED[FIELDS_NOW] = EXPECTED[FIELD_NOW]
VALUED[[PAID + 1, FIELDS_NOW + 1]] = -EXPECTED[RIVALS] * VALUED[[PAID, FIELDS_NOW]]
VALUED[[COMING, FREE_USE]] = EXPECTED[[BACK_WEIGHT, FREE]]
VALUED[[COMING + 1, FREE_USE + 1]] = -EXPECTED[RIVALS_MEEPLES] * VALUED[[COMING, FREE_USE]]
BOUND = 4.0
FAR, FITTING = 12.0, 10.0

# Meeples of each seat that return, kept after the changes.
BACK_OF = CHANGES
KEPT = CHANGES + MOST_SEATS
# What a meeple could claim: the points to be expected of it, and what they are made of.
GAIN, AT_ONCE, NOW, HOPE, COMES_BACK, COST, CHANCE, FINISHED = range(8)
MOST_OPENINGS = SIDES * ALL_TILES + len(AROUND) * int(PUBLISHED[FEATURE[:, 0] == CLOISTER].sum())
MOST_BORDERS = sum(
    int(PUBLISHED[kind]) * int(touched).bit_count()
    for kind in range(KINDS)
    for touched in TOUCHES[kind]
)
FITTING_IN, COUNT_IN = SIDES, SIDES + 1  # in `known`, after the four sides


def planes(settings: Mapping[str, Any]) -> Planes | None:
    """Say where the planes are among what learners see."""
    if settings["encoding"] != "planes":
        return None
    size = BOARD_SIZES["planes"]
    return Planes(features(settings) - size, size // WINDOW**2, WINDOW, WINDOW)


# --- once for all options ------------------------------------------------------------------------


@compiled()
def list_occupied(view, occupied):
    """Write the features with meeples; give how many."""
    n = 0
    for feature in range(view[FEATURES_USED]):
        if view[MEEPLE_COUNTS + feature] > 0 and view[ROOT + feature] == feature:
            occupied[n] = feature
            n += 1
    return n


@compiled()
def list_openings(view, openings):
    """Write each open side: feature, cell and side of the cell; give how many.

    Of cloisters, each empty neighbour, with FITTING_IN for the side. openings [MOST_OPENINGS, 3]
    """
    n = 0
    for at in range(EDGE_LIST, EDGE_LIST + view[EDGES]):
        cell = int(view[at])
        for side in range(SIDES):
            tile = tile_at(view, moved(cell, STEP[side]))
            if tile < 0:
                continue
            segment = AT_SIDE[view[KIND + tile], view[TURN + tile], (side + 2) % SIDES]
            if segment >= 0:
                openings[n, 0] = feature_at(view, tile, segment)
                openings[n, 1] = cell
                openings[n, 2] = side
                n += 1
    for tile in range(view[LAID]):
        if FEATURE[view[KIND + tile], 0] != CLOISTER:
            continue
        feature = feature_at(view, tile, 0)
        if view[OPEN + feature] == 0:
            continue
        cell = cell_of(view, tile)
        for place in range(len(AROUND)):
            beside = moved(cell, AROUND[place])
            if tile_at(view, beside) < 0:
                openings[n, 0] = feature
                openings[n, 1] = beside
                openings[n, 2] = FITTING_IN
                n += 1
    return n


@compiled()
def list_borders(view, served, borders):
    """Write each field with each city that it touches, once; give how many.

    borders [MOST_BORDERS, 2]; served [MOST_FEATURES, MOST_FEATURES] is all False.
    """
    n = 0
    for tile in range(view[LAID]):
        kind = view[KIND + tile]
        for segment in range(FIRST_FIELD, FIRST_FIELD + FIELDS[kind]):
            touched = TOUCHES[kind, segment]
            if touched == 0:
                continue
            field = feature_at(view, tile, segment)
            for other in range(FIRST_FIELD):
                if touched >> other & 1:
                    city = feature_at(view, tile, other)
                    if not served[field, city]:
                        served[field, city] = True
                        borders[n, 0], borders[n, 1] = field, city
                        n += 1
    return n


@compiled()
def cell_of(view, tile):
    """Give the cell of a tile."""
    return cell_at(int(view[X + tile]) - OFFSET, int(view[Y + tile]) - OFFSET)


# --- for every option ----------------------------------------------------------------------------


@compiled()
def look_up(state, cell, side, draws, known):
    """Give the chance that a side of a cell is closed; or, for FITTING_IN, that it is filled.

    known [DEMANDS, SIDES + 2] keeps what was worked out, as long as the same tiles are to come:
    the chances for what a cell demands, and in COUNT_IN how many tiles fit; below 0, not yet.
    """
    demand = state[GRID + cell]
    if demand == 0:  # nothing lies beside it yet: as `chances` has it
        return 0.5 if draws > 8 else 0.0
    if demand < EDGE:
        return 1.0
    demand -= EDGE
    if known[demand, side] < 0.0:
        left = int(state[IN_SET]) - 1 - int(state[DRAWN])
        if side < SIDES:
            wanted = tiles_that_close(state, cell, side)
            known[demand, side] = chance_of_one(wanted, left, draws)
        else:
            wanted = tiles_that_fit(state, cell)
            known[demand, COUNT_IN] = wanted
            known[demand, FITTING_IN] = chance_of_one(wanted, left, draws)
    return known[demand, side]


@compiled()
def foresee(state, tile, is_new, draws, openings, n, stamp, mark, known, chance):
    """Write how likely the marked features are to be finished, as `outlook.chances` does.

    The openings are those of before, n of them; those of a new tile are added.
    """
    for at in range(n):
        feature = root_of(state, openings[at, 0])
        if mark[feature] == stamp and chance[feature] > 0.0:
            chance[feature] *= look_up(state, openings[at, 1], openings[at, 2], draws, known)
    if not is_new:
        return
    kind, turn = state[KIND + tile], state[TURN + tile]
    cell = cell_of(state, tile)
    for segment in range(LANDS[kind]):
        feature = feature_at(state, tile, segment)
        if FEATURE[kind, segment] == CLOISTER:
            for place in range(len(AROUND)):
                beside = moved(cell, AROUND[place])
                if tile_at(state, beside) < 0:
                    chance[feature] *= look_up(state, beside, FITTING_IN, draws, known)
            continue
        for side in range(SIDES):
            if PARTS[kind, turn, segment] >> side & 1:
                beside = moved(cell, STEP[side])
                if state[GRID + beside] >= EDGE:
                    chance[feature] *= look_up(state, beside, (side + 2) % SIDES, draws, known)


@compiled()
def serve(state, tile, is_new, borders, n, stamp, mark, served, cities):
    """Count the finished cities that each marked field touches. cities [MOST_FEATURES]"""
    for at in range(n):
        field = root_of(state, borders[at, 0])
        if mark[field] == stamp:
            count_city(state, field, root_of(state, borders[at, 1]), served, cities)
    if not is_new:
        return
    kind = state[KIND + tile]
    for segment in range(FIRST_FIELD, FIRST_FIELD + FIELDS[kind]):
        for other in range(FIRST_FIELD):
            if TOUCHES[kind, segment] >> other & 1:
                field = feature_at(state, tile, segment)
                count_city(state, field, feature_at(state, tile, other), served, cities)


@compiled()
def count_city(state, field, city, served, cities):
    """Count a city for a field, if it is finished and was not counted."""
    if state[OPEN + city] == 0 and not served[field, city]:
        served[field, city] = True
        cities[field] += 1


@compiled()
def mark_feature(state, feature, stamp, mark, chance, served, cities):
    """Mark a feature, and make its chance and its cities ready."""
    mark[feature] = stamp
    chance[feature] = 1.0
    cities[feature] = 0
    if state[FEATURE_KIND + feature] == FIELD:
        for city in range(state[FEATURES_USED]):
            served[feature, city] = False


@compiled()
def add_feature(state, feature, counts, seat, chance, cities, late, sums):
    """Add what a feature with such meeples on it counts. sums [KEPT], see the changes"""
    seats = int(state[SEATS])
    kind = int(state[FEATURE_KIND + feature])
    finished = kind != FIELD and state[OPEN + feature] == 0
    now = float(FARMED_CITY * cities if kind == FIELD else worth_of(state, feature))
    most = most_meeples(counts, seats)
    for other in range(seats):
        meeples = meeples_of(counts, other)
        if meeples == 0:
            continue
        rival = 0 if other == seat else 1
        share = 1.0 / (seats - 1) if rival else 1.0
        if meeples == most:
            if finished:
                sums[PAID + rival] += share * now
            elif kind == FIELD:
                sums[FIELDS_NOW + rival] += share * now
            else:
                at = ROADS + 4 * (kind - ROAD) + 2 * rival
                sums[at] += share * now
                sums[at + 1] += share * chance * (finished_worth(state, feature) - now)
                sums[OPENINGS + rival] += share * state[OPEN + feature]
        if finished:
            sums[RETURNED + rival] += share * meeples
            sums[BACK_OF + other] += meeples
        elif kind != FIELD:
            sums[COMING + rival] += share * chance * late * meeples
            if chance == 0.0:
                sums[STUCK + rival] += share * meeples
    mine = meeples_of(counts, seat)
    lead = lead_of(counts, seats, seat)
    if mine > lead and mine > 0:  # with others
        sums[OVER_RIVALS if lead > 0 else SHARED if lead == 0 else OUTNUMBERED] += 1.0


@compiled()
def add_free(state, seat, spent, late, sums):
    """Add what the free meeples are good for, when so many more of mine are set."""
    seats = int(state[SEATS])
    for other in range(seats):
        free = int(state[SUPPLY + other]) + int(sums[BACK_OF + other])
        if other == seat:
            sums[FREE_USE] += late * HARMONIC[free - spent]
        else:
            sums[FREE_USE + 1] += late * HARMONIC[free] / (seats - 1)


@compiled()
def weigh_claim(state, feature, supply, chance, cities, late, claim):
    """Write what a meeple on a feature that nobody occupies would have. claim [8], from GAIN on

    supply: free meeples after this turn, if it is not set.
    """
    kind = state[FEATURE_KIND + feature]
    for part in range(len(claim)):
        claim[part] = 0.0
    if kind == FIELD:
        claim[NOW] = FARMED_CITY * cities
        claim[GAIN] = EXPECTED[FIELD_NOW] * claim[NOW]
    elif state[OPEN + feature] == 0:
        claim[AT_ONCE] = claim[GAIN] = worth_of(state, feature)
        claim[CHANCE] = claim[FINISHED] = 1.0
        return  # it comes back at once
    else:
        claim[NOW] = worth_of(state, feature)
        claim[HOPE] = chance * (finished_worth(state, feature) - claim[NOW])
        claim[CHANCE] = chance
        claim[COMES_BACK] = late * chance
        claim[GAIN] = (
            EXPECTED[NOW_OF[kind]] * claim[NOW]
            + EXPECTED[NOW_OF[kind] + 1] * claim[HOPE]
            + EXPECTED[BACK_WEIGHT] * claim[COMES_BACK]
        )
    claim[COST] = late * (HARMONIC[supply] - HARMONIC[supply - 1])
    claim[GAIN] -= EXPECTED[FREE] * claim[COST]


@compiled()
def bounded(value):
    """Keep a number within bounds."""
    return min(BOUND, max(-BOUND, value))


@compiled()
def write_claim(kind, claim, row):
    """Write what a feature of a kind would give, if none that was written is better."""
    at = AT_CLAIMS + 4 * (kind - ROAD)
    now, hope = (claim[AT_ONCE] + claim[NOW]) / WORTH, claim[HOPE] / WORTH
    if kind == FIELD:
        row[at] = bounded(max(row[at], now))
    elif now + hope > row[at] + row[at + 1]:
        row[at], row[at + 1] = bounded(now), bounded(hope)
        row[at + 2], row[at + 3] = claim[CHANCE], claim[FINISHED]


@compiled()
def write_best(claim, row):
    """Write what the best meeple would have."""
    for part in range(COMES_BACK):
        row[AT_BEST + part] = bounded(claim[part] / WORTH)
    row[AT_BEST + COMES_BACK], row[AT_BEST + COST] = claim[COMES_BACK], claim[COST]


@compiled()
def write_changes(state, seat, spent, before, after, row):
    """Write the changes, and what is left."""
    for change in range(CHANGES):
        row[PLAIN + change] = bounded((after[change] - before[change]) * UNITS[change])
    seats = int(state[SEATS])
    for other in range(seats):
        free = state[SUPPLY + other] + after[BACK_OF + other]
        if other == seat:
            row[AT_FREE] = (free - spent) / MEEPLES
        else:
            row[AT_FREE + 1] += free / (MEEPLES * (seats - 1))
    whole = int(state[IN_SET]) - 1
    row[AT_LEFT] = (whole - int(state[DRAWN])) / whole


@compiled()
def write_fits(state, cell, draws, known, row):
    """Write how many tiles fit in the empty cell beside one where the fewest do."""
    fewest = FITTING
    for side in range(SIDES):
        beside = moved(cell, STEP[side])
        if state[GRID + beside] >= EDGE:
            look_up(state, beside, FITTING_IN, draws, known)
            fewest = min(fewest, known[state[GRID + beside] - EDGE, COUNT_IN])
    row[AT_FITS + 1] = fewest / FITTING


@compiled()
def write_plain(view, x, y, turn, row):
    """Write what an option is, as far as the tile tells."""
    for column in range(len(row)):
        row[column] = 0.0
    row[AT_CELL] = window_place(view, x + OFFSET, y + OFFSET)
    row[AT_LAYING] = view[PHASE] == LAYING
    row[AT_ROTATION + turn] = 1.0
    middle_x, middle_y = middle_of(view)
    row[AT_X] = bounded((x + OFFSET - middle_x) / FAR)
    row[AT_Y] = bounded((y + OFFSET - middle_y) / FAR)
    cell = cell_at(x, y)
    beside = around = 0
    for side in range(SIDES):
        beside += tile_at(view, moved(cell, STEP[side])) >= 0
    for place in range(len(AROUND)):
        around += tile_at(view, moved(cell, AROUND[place])) >= 0
    row[AT_SIDES], row[AT_AROUND] = beside / SIDES, around / len(AROUND)


@compiled()
def describe_plainly(view, actions, n, rows):
    """Write what each option is."""
    tile = int(view[LAID]) - 1
    for option in range(n):
        row = rows[option]
        if view[PHASE] == LAYING:
            cell, turn = divmod(int(actions[option]), ROTATIONS)
            x, y = place_of(view, cell)
            write_plain(view, x, y, turn, row)
            continue
        x, y = int(view[X + tile]) - OFFSET, int(view[Y + tile]) - OFFSET
        write_plain(view, x, y, int(view[TURN + tile]), row)
        place = int(actions[option]) - MEEPLE_AT
        row[AT_PLACE + place] = 1.0
        if actions[option] != NO_MEEPLE:
            kind = FEATURE[view[KIND + tile], segment_at(view, tile, place)]
            row[AT_FEATURE + kind - ROAD] = 1.0


@compiled()
def describe_prospects(view, actions, n, rows, values):
    """Write what would come of each option, and what it is worth by EXPECTED.

    values [n]: of ways to lay the tile as `weigh_placements` has it, but for a number that is the
    same for all; of meeples, how much better than none.
    """
    seat, seats = int(view[SEAT]), int(view[SEATS])
    laying = view[PHASE] == LAYING
    left = int(view[IN_SET]) - 1 - int(view[DRAWN])
    draws = (left + seats - 1) // seats
    late = min(1.0, left / LATE)
    farmers = view[FARMERS] == 1
    # Scratch, and what is the same for all options.
    occupied = np.empty(MOST_SEATS * MEEPLES, np.int64)
    n_occupied = list_occupied(view, occupied)
    openings = np.empty((MOST_OPENINGS, 3), np.int64)
    n_openings = list_openings(view, openings)
    borders = np.empty((MOST_BORDERS if farmers else 1, 2), np.int64)
    rank = MOST_FEATURES if farmers else 1
    served = np.zeros((rank, rank), np.bool_)
    n_borders = list_borders(view, served, borders) if farmers else 0
    roots = np.empty(MOST_SEATS * MEEPLES, np.int64)
    mark = np.zeros(MOST_FEATURES, np.int64)
    chance = np.empty(MOST_FEATURES)
    cities = np.empty(MOST_FEATURES, np.int64)
    known = np.full((DEMANDS, SIDES + 2), -1.0)
    before, after = np.zeros(KEPT), np.zeros(KEPT)
    claim, best = np.zeros(8), np.zeros(8)
    tried = np.empty_like(view)
    if not laying:
        copy_cells(view, tried)
    # When a tile is laid: first as it stands, then each option. Otherwise once will do: meeples
    # change no chances.
    for option in range(-1 if laying else 0, n if laying else 1):
        stamp = option + 2
        is_new = option >= 0 and laying
        cell = 0
        if laying:
            copy_cells(view, tried)
        if is_new:
            cell, turn = divmod(int(actions[option]), ROTATIONS)
            x, y = place_of(view, cell)
            lay_tile(tried, x, y, int(view[TILE]) - 1, turn)
        tile = int(tried[LAID]) - 1
        n_roots = 0
        for at in range(n_occupied):
            feature = root_of(tried, occupied[at])
            if mark[feature] != stamp:
                mark_feature(tried, feature, stamp, mark, chance, served, cities)
                roots[n_roots] = feature
                n_roots += 1
        if option >= 0:
            for segment in range(SEGMENTS if farmers else FIRST_FIELD):
                if FEATURE[tried[KIND + tile], segment] > 0:
                    feature = feature_at(tried, tile, segment)
                    if mark[feature] != stamp:
                        mark_feature(tried, feature, stamp, mark, chance, served, cities)
        foresee(tried, tile, is_new, draws, openings, n_openings, stamp, mark, known, chance)
        if farmers:
            serve(tried, tile, is_new, borders, n_borders, stamp, mark, served, cities)
        for part in range(KEPT):
            after[part] = 0.0
        for at in range(n_roots):
            feature = roots[at]
            counts = int(tried[MEEPLE_COUNTS + feature])
            add_feature(tried, feature, counts, seat, chance[feature], cities[feature], late, after)
        if option < 0:
            add_free(tried, seat, 0, late, after)
            for part in range(KEPT):
                before[part] = after[part]
        if not is_new:
            continue
        row = rows[option]
        supply = int(view[SUPPLY + seat]) + int(after[BACK_OF + seat])
        add_free(tried, seat, 0, late, after)
        write_changes(tried, seat, 0, before, after, row)
        values[option] = 0.0
        for change in range(CHANGES):
            values[option] += VALUED[change] * after[change]
        look_up(view, cell, FITTING_IN, draws, known)
        row[AT_FITS] = min(1.0, known[view[GRID + cell] - EDGE, COUNT_IN] / FITTING)
        write_fits(tried, cell, draws, known, row)
        if view[SUPPLY + seat] == 0:
            continue
        best[GAIN] = 0.0
        for segment in range(SEGMENTS if farmers else FIRST_FIELD):
            kind = FEATURE[tried[KIND + tile], segment]
            if kind == 0:
                continue
            feature = feature_at(tried, tile, segment)
            if tried[MEEPLE_COUNTS + feature] > 0:
                continue
            weigh_claim(tried, feature, supply, chance[feature], cities[feature], late, claim)
            write_claim(kind, claim, row)
            if claim[GAIN] > best[GAIN]:
                for part in range(len(claim)):
                    best[part] = claim[part]
        if best[GAIN] > 0.0:
            write_best(best, row)
            values[option] += best[GAIN]
    if laying:
        return
    # What is finished is paid whatever is chosen: before that, it was not.
    tile = int(view[LAID]) - 1
    cell = cell_of(view, tile)
    supply = int(view[SUPPLY + seat]) + int(after[BACK_OF + seat])
    with_meeple = np.empty(KEPT)
    for part in range(CHANGES):
        paid = PAID <= part < PAID + 2 or RETURNED <= part < RETURNED + 2
        before[part] = 0.0 if paid else after[part]
    add_free(view, seat, 0, late, before)
    for option in range(n):
        row = rows[option]
        for part in range(KEPT):
            with_meeple[part] = after[part]
        spent = 0
        values[option] = 0.0
        if actions[option] != NO_MEEPLE:
            spent = 1
            feature = feature_at(view, tile, segment_at(view, tile, actions[option] - MEEPLE_AT))
            add_feature(
                view, feature, 1 << (BITS * seat), seat, chance[feature], cities[feature], late,
                with_meeple,
            )  # fmt: skip
            weigh_claim(view, feature, supply, chance[feature], cities[feature], late, claim)
            write_claim(int(view[FEATURE_KIND + feature]), claim, row)
            write_best(claim, row)
            values[option] = claim[GAIN]
        add_free(view, seat, spent, late, with_meeple)
        write_changes(view, seat, spent, before, with_meeple, row)
        write_fits(view, cell, draws, known, row)


@compiled()
def describe_options(view, actions, n, rows):
    """Write a row for each option: what it is and, if it is so set, what would come of it."""
    describe_plainly(view, actions, n, rows)
    if view[PROSPECTS]:
        describe_prospects(view, actions, n, rows, np.empty(n))
