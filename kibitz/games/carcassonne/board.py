"""The board: laying tiles, features that grow together, and what they are worth."""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.game import SEATS
from kibitz.games.carcassonne.cells import (
    BANK,
    BITS,
    CELLS,
    EASTMOST,
    EDGE,
    EDGE_LIST,
    EDGES,
    FARMERS,
    FEATURE_KIND,
    FEATURES_USED,
    GRID,
    KIND,
    LAID,
    MEEPLE,
    MEEPLE_COUNTS,
    MOST_FEATURES,
    NORTHMOST,
    OFFSET,
    OPEN,
    PART,
    ROOT,
    SHIELDS,
    SIZE,
    SOUTHMOST,
    SUPPLY,
    TURN,
    WESTMOST,
    WINDING,
    X,
    Y,
)
from kibitz.games.carcassonne.tiles import (
    AT_HALF,
    AT_SIDE,
    CITY,
    CLOISTER,
    FEATURE,
    FIELD,
    FIELDS,
    FIRST_FIELD,
    HALVES,
    KINDS,
    LANDS,
    PARTS,
    SEGMENTS,
    SHIELD,
    SHOWS,
    SIDES,
    TOUCHES,
    demand_of,
)

# One step: north, east, south, west; and the eight cells around.
STEP_X = np.array([0, 1, 0, -1], np.int64)
STEP_Y = np.array([-1, 0, 1, 0], np.int64)
STEP = STEP_X + WINDING * STEP_Y
AROUND = np.array([x + WINDING * y for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y], np.int64)
# The half of a neighbour's side that meets a half of ours.
MEETS = np.array([(half // 2 + 2) % SIDES * 2 + 1 - half % 2 for half in range(HALVES)], np.int64)
# [kind, feature]: a tile has several segments of such a feature, which may grow together.
SEVERAL = np.array(
    [
        [(FEATURE[kind] == feature).sum() > 1 for feature in range(FIELD + 1)]
        for kind in range(KINDS)
    ]
)
ALL_OF_SEAT = (1 << BITS) - 1
ROAD_TILE, CITY_TILE, CITY_OPEN_TILE, FARMED_CITY = 1, 2, 1, 3  # points


@compiled()
def moved(cell, by):
    """Give the cell that lies so far from another."""
    cell += by
    if cell < 0:
        return cell + CELLS
    return cell - CELLS if cell >= CELLS else cell


@compiled()
def cell_at(x, y):
    """Give the cell of a place."""
    return (x + WINDING * y) % CELLS


@compiled()
def tile_at(state, cell):
    """Give the tile in a cell, or -1."""
    found = state[GRID + cell]
    return found - 1 if 0 < found < EDGE else -1


@compiled()
def place_of(state, cell):
    """Give the x and y of a cell beside a tile."""
    for side in range(SIDES):
        tile = tile_at(state, moved(cell, STEP[side]))
        if tile >= 0:
            return (
                int(state[X + tile]) - OFFSET - STEP_X[side],
                int(state[Y + tile]) - OFFSET - STEP_Y[side],
            )
    return 0, 0


@compiled()
def root_of(state, feature):
    """Give the feature that one has become part of."""
    while state[ROOT + feature] != feature:
        feature = state[ROOT + feature]
    return int(feature)


@compiled()
def feature_at(state, tile, segment):
    """Give the feature that a segment of a tile belongs to."""
    return root_of(state, state[PART + tile * SEGMENTS + segment] - 1)


@compiled()
def new_feature(state, kind):
    """Begin a feature."""
    feature = int(state[FEATURES_USED])
    state[FEATURES_USED] += 1
    state[FEATURE_KIND + feature] = kind
    state[ROOT + feature] = feature
    return feature


@compiled()
def tiles_in_both(state, one, other):
    """Count the tiles that have a segment in each of two features of the same kind."""
    kind = state[FEATURE_KIND + one]
    both = 0
    for tile in range(state[LAID]):
        if not SEVERAL[state[KIND + tile], kind]:
            continue
        in_one = in_other = False
        for segment in range(FIRST_FIELD):
            if state[PART + tile * SEGMENTS + segment] > 0:
                found = feature_at(state, tile, segment)
                in_one |= found == one
                in_other |= found == other
        both += in_one and in_other
    return both


@compiled()
def join(state, one, other):
    """Let two features become one; give it."""
    if state[SIZE + one] < state[SIZE + other]:
        one, other = other, one
    if state[FEATURE_KIND + one] != FIELD:  # the size of fields counts for nothing
        state[SIZE + one] -= tiles_in_both(state, one, other)
    state[ROOT + other] = one
    state[OPEN + one] += state[OPEN + other]
    state[SIZE + one] += state[SIZE + other]
    state[SHIELDS + one] += state[SHIELDS + other]
    state[MEEPLE_COUNTS + one] += state[MEEPLE_COUNTS + other]
    return one


@compiled()
def lay_segment(state, tile, cell, kind, turn, segment):
    """Join a segment of a new tile to the features beside it, or begin one."""
    is_field = segment >= FIRST_FIELD
    bits = PARTS[kind, turn, segment]
    found = -1
    openings = 0
    for part in range(HALVES if is_field else SIDES):
        if not bits >> part & 1:
            continue
        side = part // 2 if is_field else part
        other = tile_at(state, moved(cell, STEP[side]))
        if other < 0:
            openings += 1
            continue
        its_kind, its_turn = state[KIND + other], state[TURN + other]
        if is_field:
            its_segment = AT_HALF[its_kind, its_turn, MEETS[part]]
        else:
            its_segment = AT_SIDE[its_kind, its_turn, (side + 2) % SIDES]
        beside = feature_at(state, other, its_segment)
        state[OPEN + beside] -= 1
        if found < 0:
            found = beside
        elif found != beside:
            found = join(state, found, beside)
    feature = FEATURE[kind, segment]
    if found < 0:
        found = new_feature(state, feature)
    counted = False  # by another segment of this tile
    if SEVERAL[kind, feature]:
        for earlier in range(FIRST_FIELD if is_field else 0, segment):
            if FEATURE[kind, earlier] == feature:
                counted |= feature_at(state, tile, earlier) == found
    if not counted:
        state[SIZE + found] += 1
    state[OPEN + found] += openings
    state[SHIELDS + found] += SHIELD[kind, segment]
    state[PART + tile * SEGMENTS + segment] = found + 1


@compiled()
def set_edge(state, cell, more):
    """Note what a cell beside a new tile demands; an empty one joins the edge, in order."""
    if state[GRID + cell] == 0:
        state[GRID + cell] = EDGE
        at = EDGE_LIST + int(state[EDGES])
        while at > EDGE_LIST and state[at - 1] > cell:
            state[at] = state[at - 1]
            at -= 1
        state[at] = cell
        state[EDGES] += 1
    if state[GRID + cell] >= EDGE:
        state[GRID + cell] += more


@compiled()
def leave_edge(state, cell):
    """Take a cell off the edge."""
    end = EDGE_LIST + int(state[EDGES])
    at = EDGE_LIST
    while state[at] != cell:
        at += 1
    while at < end - 1:
        state[at] = state[at + 1]
        at += 1
    state[end - 1] = 0
    state[EDGES] -= 1


@compiled()
def lay_tile(state, x, y, kind, turn):
    """Lay a tile, and let the features on it grow together with those beside it."""
    cell = cell_at(x, y)
    tile = int(state[LAID])
    if state[GRID + cell] >= EDGE:
        leave_edge(state, cell)
    state[GRID + cell] = tile + 1
    state[LAID] += 1
    state[KIND + tile], state[TURN + tile] = kind, turn
    state[X + tile], state[Y + tile] = x + OFFSET, y + OFFSET
    state[WESTMOST] = min(state[WESTMOST], state[X + tile])
    state[EASTMOST] = max(state[EASTMOST], state[X + tile])
    state[NORTHMOST] = min(state[NORTHMOST], state[Y + tile])
    state[SOUTHMOST] = max(state[SOUTHMOST], state[Y + tile])
    for side in range(SIDES):
        set_edge(
            state, moved(cell, STEP[side]), demand_of((side + 2) % SIDES, SHOWS[kind, turn, side])
        )
    neighbours = 0
    for place in range(len(AROUND)):
        other = tile_at(state, moved(cell, AROUND[place]))
        if other >= 0:
            neighbours += 1
            if FEATURE[state[KIND + other], 0] == CLOISTER:  # it comes first on its tile
                cloister = feature_at(state, other, 0)
                state[OPEN + cloister] -= 1
                state[SIZE + cloister] += 1
    for segment in range(LANDS[kind]):
        if FEATURE[kind, segment] == CLOISTER:
            cloister = new_feature(state, CLOISTER)
            state[OPEN + cloister] = len(AROUND) - neighbours
            state[SIZE + cloister] = 1 + neighbours
            state[PART + tile * SEGMENTS + segment] = cloister + 1
        else:
            lay_segment(state, tile, cell, kind, turn, segment)
    if state[FARMERS]:
        for field in range(FIELDS[kind]):
            lay_segment(state, tile, cell, kind, turn, FIRST_FIELD + field)


# --- points --------------------------------------------------------------------------------------


@compiled()
def worth_of(state, feature):
    """Give what a road, city or cloister is worth as it stands."""
    kind = state[FEATURE_KIND + feature]
    size = int(state[SIZE + feature])
    if kind == CITY:
        each = CITY_TILE if state[OPEN + feature] == 0 else CITY_OPEN_TILE
        return each * (size + int(state[SHIELDS + feature]))
    return size * ROAD_TILE


@compiled()
def meeples_of(counts, seat):
    """Read how many meeples a seat has, from the counts of a feature."""
    return (counts >> (BITS * seat)) & ALL_OF_SEAT


@compiled()
def most_meeples(counts, seats):
    """Give the greatest number of meeples that any seat has."""
    most = 0
    for seat in range(seats):
        most = max(most, meeples_of(counts, seat))
    return most


@compiled()
def pay(state, feature):
    """Pay those with most meeples on a finished feature, and give all their meeples back."""
    counts = int(state[MEEPLE_COUNTS + feature])
    seats = int(state[SEATS])
    most = most_meeples(counts, seats)
    worth = worth_of(state, feature)
    for seat in range(seats):
        mine = meeples_of(counts, seat)
        state[SUPPLY + seat] += mine
        if mine == most:
            state[BANK + seat] += worth
    state[MEEPLE_COUNTS + feature] = 0
    for tile in range(state[LAID]):
        standing = state[MEEPLE + tile]
        if standing > 0 and feature_at(state, tile, (standing - 1) % SEGMENTS) == feature:
            state[MEEPLE + tile] = 0


@compiled()
def pay_finished(state, tile):
    """Pay for all features that a tile has finished."""
    for segment in range(LANDS[state[KIND + tile]]):
        feature = feature_at(state, tile, segment)
        if state[OPEN + feature] == 0 and state[MEEPLE_COUNTS + feature] > 0:
            pay(state, feature)
    cell = cell_at(int(state[X + tile]) - OFFSET, int(state[Y + tile]) - OFFSET)
    for place in range(len(AROUND)):
        other = tile_at(state, moved(cell, AROUND[place]))
        if other >= 0 and FEATURE[state[KIND + other], 0] == CLOISTER:
            feature = feature_at(state, other, 0)
            if state[OPEN + feature] == 0 and state[MEEPLE_COUNTS + feature] > 0:
                pay(state, feature)


@compiled()
def served_by(state, also, served):
    """Mark the finished cities that each field with a farmer touches, and those of one more tile.

    served [features, features]; also: the tile, or -1. Only the rows of those fields are written.
    """
    used = int(state[FEATURES_USED])
    wanted = np.zeros(MOST_FEATURES, np.bool_)
    for segment in range(FIRST_FIELD, SEGMENTS if also >= 0 else 0):
        if state[PART + also * SEGMENTS + segment] > 0:
            wanted[feature_at(state, also, segment)] = True
    for field in range(used):
        if state[FEATURE_KIND + field] == FIELD and state[ROOT + field] == field:
            wanted[field] |= state[MEEPLE_COUNTS + field] > 0
            if wanted[field]:
                for city in range(used):
                    served[field, city] = False
    for tile in range(state[LAID]):
        kind = state[KIND + tile]
        for segment in range(FIRST_FIELD, FIRST_FIELD + FIELDS[kind]):
            touched = TOUCHES[kind, segment]
            if touched == 0:
                continue
            field = feature_at(state, tile, segment)
            if not wanted[field]:
                continue
            for city in range(FIRST_FIELD):
                if touched >> city & 1:
                    found = feature_at(state, tile, city)
                    if state[OPEN + found] == 0:
                        served[field, found] = True


@compiled()
def pending(state, points):
    """Add what would be scored if the game ended now, for each seat. points [seats]"""
    seats = int(state[SEATS])
    farmed = False
    for feature in range(state[FEATURES_USED]):
        counts = int(state[MEEPLE_COUNTS + feature])
        if counts == 0 or state[ROOT + feature] != feature:
            continue
        if state[FEATURE_KIND + feature] == FIELD:
            farmed = True
            continue
        most = most_meeples(counts, seats)
        for seat in range(seats):
            if meeples_of(counts, seat) == most:
                points[seat] += worth_of(state, feature)
    if not farmed:
        return
    served = np.empty((MOST_FEATURES, MOST_FEATURES), np.bool_)
    served_by(state, -1, served)
    for field in range(state[FEATURES_USED]):
        counts = int(state[MEEPLE_COUNTS + field])
        if counts == 0 or state[ROOT + field] != field or state[FEATURE_KIND + field] != FIELD:
            continue
        cities = 0
        for city in range(state[FEATURES_USED]):
            cities += served[field, city]
        most = most_meeples(counts, seats)
        for seat in range(seats):
            if meeples_of(counts, seat) == most:
                points[seat] += FARMED_CITY * cities
