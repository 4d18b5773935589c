"""What learners see of Carcassonne: a vector, then the board as the option `encoding` says.

Seats are counted from the viewer on, who is the first. W is WINDOW; the window is centred on the
middle of the tiles that lie, north at the top; what lies outside is not seen there.

vector, always first
  meeples left           1          the viewer's, over 7
  tile                   1          1 + the kind to be laid, or that was just laid and waits for
                                    a meeple, over 24; 0 at the end
  rotation               1          of the cursor, or the tile just laid, over 3
  x, z                   2          of the same from the start tile, over 72
  direction              1          where the meeple points, over 13; 0 if nowhere
  tiles laid             1          over all tiles of the set
  phase                  3          one is 1: laying, deciding, pointing
  direction              14         one is 1: nowhere, north, east, south, west, centre, 8 halves
  to move                1          the viewer is
  tile                   24         the same kind is 1
  left                   24         tiles to come of each kind, over how many the whole set has
  seats                  5 * 4      there is one; points so far and pending points, both over 50;
                                    meeples left, over 7
  features with meeples  7 a seat   of each, in the order in which they began (at most 7 a seat,
                         times 10   the rest 0): road, city, cloister, field (one is 1); what it
                                    is worth now and when finished, over 10; open sides, over 4;
                                    chance to be finished; the viewer's meeples, and those of
                                    the strongest other, over 3
board
  vector                 -          nothing more
  tiles                  72 * 7     of each tile in the order in which they were laid: 1; x and y
                                    from the middle, over 72; kind, over 24; rotation, over 3;
                                    its meeple: 1 the viewer's, -1 another's; where, 1 + segment
                                    over 8
  packed                 W * W * 2  of each cell: (1 + 4 * kind + rotation) / 97, and the meeple as
                                    1 or -1
  geography              W * W * 3  of each cell: what its sides show, north first, as digits to
                                    base 4 (see tiles.py), over 256; the middle: 1 a cloister,
                                    0.5 a shield; the meeple as 1 or -1
  features               72 * 24    of each tile in the order in which they were laid: 1; x and y
                                    from the middle, over 72; 1 a cloister, 1 a shield; the
                                    meeple as 1 or -1; for each side 4: road, city, 1 where it is
                                    open, 1 or -1 for who leads there; then 2: open sides of the
                                    feature with the meeple, over 4, and its worth, over 10
  planes                 22 * W * W planes one after another: a tile; roads at the four sides;
                                    cities at the four sides; a cloister; a shield; the viewer's
                                    meeple; another's; who leads at the four sides, as 1 or -1;
                                    the drawn tile fits, for each rotation; the cursor
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.compiled import OBSERVE, compiled
from kibitz.core.game import SEAT, SEATS, VIEWER
from kibitz.games.carcassonne.board import (
    cell_at,
    feature_at,
    meeples_of,
    pending,
    worth_of,
)
from kibitz.games.carcassonne.cells import (
    BANK,
    CURSOR_AIM,
    CURSOR_TURN,
    CURSOR_X,
    CURSOR_Y,
    DRAWN,
    EASTMOST,
    EDGE,
    ENCODING,
    ENCODINGS,
    FEATURE_KIND,
    FEATURES_USED,
    GRID,
    IN_SET,
    KIND,
    LAID,
    LEFT,
    MEEPLE,
    MEEPLE_COUNTS,
    MEEPLES,
    MOST_FEATURES,
    MOST_SEATS,
    NORTHMOST,
    OFFSET,
    OPEN,
    PHASE,
    PLACES,
    POINTING,
    ROOT,
    SOUTHMOST,
    SUPPLY,
    TILE,
    TURN,
    WESTMOST,
    X,
    Y,
)
from kibitz.games.carcassonne.outlook import chances, finished_worth, lead_of
from kibitz.games.carcassonne.tiles import (
    ALL_TILES,
    AT_SIDE,
    CITY,
    CLOISTER,
    FEATURE,
    FIELD,
    FITS,
    KINDS,
    PUBLISHED,
    ROAD,
    ROTATIONS,
    SEGMENTS,
    SHIELD,
    SHOWS,
    SIDES,
)

WINDOW = 25
POINTS, WORTH, SIDES_UNIT, MEEPLES_UNIT = 50.0, 10.0, 4.0, 3.0  # so that most lies within 1

_HEAD = 7 + (POINTING + 1) + (1 + PLACES) + 1 + 2 * KINDS + 4 * MOST_SEATS
OF_FEATURE = 10
BOARD_SIZES = {
    "vector": 0,
    "tiles": ALL_TILES * 7,
    "packed": WINDOW * WINDOW * 2,
    "geography": WINDOW * WINDOW * 3,
    "features": ALL_TILES * 24,
    "planes": WINDOW * WINDOW * 22,
}
TILES_AS, PACKED_AS, GEOGRAPHY_AS, FEATURES_AS, PLANES_AS = range(1, len(ENCODINGS))


def features(settings: Mapping[str, Any]) -> int:
    """Count the features that a learner sees."""
    return _HEAD + MEEPLES * settings["players"] * OF_FEATURE + BOARD_SIZES[settings["encoding"]]


# What the few that may lie beyond 1 are divided by, for learners that want all within it.
_MOST_POINTS, _MOST_WORTH, _MOST_OPEN = 200.0 / POINTS, 50.0 / WORTH, 16.0 / SIDES_UNIT


def feature_scale(settings: Mapping[str, Any]) -> np.ndarray:
    """Give what each feature is divided by, so that hardly anything lies beyond 1."""
    scale = np.ones(features(settings))
    seats = scale[_HEAD - 4 * MOST_SEATS : _HEAD].reshape(MOST_SEATS, 4)
    seats[:, 1:3] = _MOST_POINTS
    end = _HEAD + MEEPLES * settings["players"] * OF_FEATURE
    occupied = scale[_HEAD:end].reshape(-1, OF_FEATURE)
    occupied[:, 4:6], occupied[:, 6], occupied[:, 8:] = (
        _MOST_WORTH, _MOST_OPEN, MEEPLES / MEEPLES_UNIT,
    )  # fmt: skip
    if settings["encoding"] == "features":
        scale[end:].reshape(ALL_TILES, -1)[:, 22:] = _MOST_OPEN, _MOST_WORTH
    return scale


@compiled()
def sign_of(view, counts):
    """Say who leads on a feature: 1 the viewer, -1 another, 0 nobody or several."""
    lead = lead_of(counts, int(view[SEATS]), int(view[VIEWER]))
    return 1.0 if lead > 0 else -1.0 if lead < 0 else 0.0


@compiled()
def meeple_on(view, tile):
    """Say whose meeple stands on a tile: 1 the viewer's, -1 another's, 0 none."""
    standing = view[MEEPLE + tile]
    if standing == 0:
        return 0.0
    return 1.0 if (standing - 1) // SEGMENTS == view[VIEWER] else -1.0


@compiled()
def has_shield(kind):
    """Tell whether a kind of tile has a shield."""
    for segment in range(SEGMENTS):
        if SHIELD[kind, segment]:
            return True
    return False


@compiled()
def tile_in_question(view):
    """Give the kind to be laid, or that was just laid and waits for a meeple; -1 at the end."""
    if view[SEAT] < 0:
        return -1
    return int(view[TILE]) - 1 if view[TILE] > 0 else int(view[KIND + view[LAID] - 1])


@compiled()
def middle_of(view):
    """Give the middle of the tiles that lie, x and y plus OFFSET."""
    return (view[WESTMOST] + view[EASTMOST]) // 2, (view[NORTHMOST] + view[SOUTHMOST]) // 2


@compiled()
def write_vector(view, features):
    """Write the vector; give where it ends."""
    seats, viewer = int(view[SEATS]), int(view[VIEWER])
    features[0] = view[SUPPLY + viewer] / MEEPLES
    kind = tile_in_question(view)
    features[1] = (1 + kind) / KINDS
    features[2] = view[CURSOR_TURN] / 3.0
    features[3] = (view[CURSOR_X] - OFFSET) / ALL_TILES
    features[4] = (view[CURSOR_Y] - OFFSET) / ALL_TILES
    features[5] = view[CURSOR_AIM] / PLACES
    features[6] = view[LAID] / view[IN_SET]
    at = 7
    features[at + view[PHASE]] = 1.0
    at += POINTING + 1
    features[at + view[CURSOR_AIM]] = 1.0
    at += 1 + PLACES
    features[at] = view[SEAT] == viewer
    at += 1
    if kind >= 0:
        features[at + kind] = 1.0
    at += KINDS
    for kind in range(KINDS):
        features[at + kind] = view[LEFT + kind] / PUBLISHED[kind]
    at += KINDS
    points = np.zeros(MOST_SEATS)
    if view[SEAT] >= 0:
        pending(view, points)
    for place in range(seats):
        seat = (viewer + place) % seats
        features[at + 4 * place] = 1.0
        features[at + 4 * place + 1] = view[BANK + seat] / POINTS
        features[at + 4 * place + 2] = points[seat] / POINTS
        features[at + 4 * place + 3] = view[SUPPLY + seat] / MEEPLES
    at += 4 * MOST_SEATS
    return write_features(view, features, at)


@compiled()
def write_features(view, features, at):
    """Write the features with meeples; give where they end."""
    seats, viewer = int(view[SEATS]), int(view[VIEWER])
    end = at + MEEPLES * seats * OF_FEATURE
    chance = np.zeros(MOST_FEATURES)
    draws = int(view[IN_SET]) - 1 - int(view[DRAWN])
    chances(view, draws, -1, chance)
    for feature in range(view[FEATURES_USED]):
        counts = int(view[MEEPLE_COUNTS + feature])
        if counts == 0 or view[ROOT + feature] != feature:
            continue
        kind = view[FEATURE_KIND + feature]
        features[at + kind - ROAD] = 1.0
        if kind != FIELD:
            features[at + 4] = worth_of(view, feature) / WORTH
            features[at + 5] = finished_worth(view, feature) / WORTH
            features[at + 6] = view[OPEN + feature] / SIDES_UNIT
            features[at + 7] = chance[feature]
        mine = meeples_of(counts, viewer)
        features[at + 8] = mine / MEEPLES_UNIT
        features[at + 9] = (mine - lead_of(counts, seats, viewer)) / MEEPLES_UNIT
        at += OF_FEATURE
    return end


@compiled()
def write_tiles(view, features, at):
    """Write the encoding `tiles`."""
    middle_x, middle_y = middle_of(view)
    for tile in range(view[LAID]):
        features[at] = 1.0
        features[at + 1] = (view[X + tile] - middle_x) / ALL_TILES
        features[at + 2] = (view[Y + tile] - middle_y) / ALL_TILES
        features[at + 3] = view[KIND + tile] / KINDS
        features[at + 4] = view[TURN + tile] / 3.0
        features[at + 5] = meeple_on(view, tile)
        if view[MEEPLE + tile] > 0:
            features[at + 6] = (1 + (view[MEEPLE + tile] - 1) % SEGMENTS) / SEGMENTS
        at += 7


@compiled()
def write_features_of_tiles(view, features, at):
    """Write the encoding `features`."""
    middle_x, middle_y = middle_of(view)
    for tile in range(view[LAID]):
        kind, turn = view[KIND + tile], view[TURN + tile]
        features[at] = 1.0
        features[at + 1] = (view[X + tile] - middle_x) / ALL_TILES
        features[at + 2] = (view[Y + tile] - middle_y) / ALL_TILES
        features[at + 3] = FEATURE[kind, 0] == CLOISTER
        features[at + 4] = has_shield(kind)
        features[at + 5] = meeple_on(view, tile)
        for side in range(SIDES):
            place = at + 6 + 4 * side
            segment = AT_SIDE[kind, turn, side]
            if segment < 0:
                continue
            feature = feature_at(view, tile, segment)
            features[place] = FEATURE[kind, segment] == ROAD
            features[place + 1] = FEATURE[kind, segment] == CITY
            features[place + 2] = view[OPEN + feature] > 0
            features[place + 3] = sign_of(view, int(view[MEEPLE_COUNTS + feature]))
        if view[MEEPLE + tile] > 0:
            feature = feature_at(view, tile, (view[MEEPLE + tile] - 1) % SEGMENTS)
            if view[FEATURE_KIND + feature] != FIELD:
                features[at + 22] = view[OPEN + feature] / SIDES_UNIT
                features[at + 23] = worth_of(view, feature) / WORTH
        at += 24


@compiled()
def window_place(view, x, y):
    """Give the place in the window of a place on the board (x and y plus OFFSET), or -1."""
    middle_x, middle_y = middle_of(view)
    column, row = x - middle_x + WINDOW // 2, y - middle_y + WINDOW // 2
    if 0 <= column < WINDOW and 0 <= row < WINDOW:
        return row * WINDOW + column
    return -1


@compiled()
def write_packed(view, features, at):
    """Write the encoding `packed`."""
    for tile in range(view[LAID]):
        place = window_place(view, view[X + tile], view[Y + tile])
        if place >= 0:
            code = 1 + ROTATIONS * view[KIND + tile] + view[TURN + tile]
            features[at + 2 * place] = code / (1 + ROTATIONS * KINDS)
            features[at + 2 * place + 1] = meeple_on(view, tile)


@compiled()
def write_geography(view, features, at):
    """Write the encoding `geography`."""
    for tile in range(view[LAID]):
        place = window_place(view, view[X + tile], view[Y + tile])
        if place >= 0:
            kind, turn = view[KIND + tile], view[TURN + tile]
            code = 0
            for side in range(SIDES):
                code = 4 * code + SHOWS[kind, turn, side]
            features[at + 3 * place] = code / 256.0
            if FEATURE[kind, 0] == CLOISTER:
                features[at + 3 * place + 1] = 1.0
            elif has_shield(kind):
                features[at + 3 * place + 1] = 0.5
            features[at + 3 * place + 2] = meeple_on(view, tile)


@compiled()
def write_planes(view, features, at):
    """Write the encoding `planes`."""
    plane = WINDOW * WINDOW
    for tile in range(view[LAID]):
        place = window_place(view, view[X + tile], view[Y + tile])
        if place < 0:
            continue
        kind, turn = view[KIND + tile], view[TURN + tile]
        features[at + place] = 1.0
        for side in range(SIDES):
            segment = AT_SIDE[kind, turn, side]
            if segment >= 0:
                is_city = FEATURE[kind, segment] == CITY
                features[at + (1 + side + SIDES * is_city) * plane + place] = 1.0
                counts = int(view[MEEPLE_COUNTS + feature_at(view, tile, segment)])
                features[at + (13 + side) * plane + place] = sign_of(view, counts)
        features[at + 9 * plane + place] = FEATURE[kind, 0] == CLOISTER
        features[at + 10 * plane + place] = has_shield(kind)
        meeple = meeple_on(view, tile)
        features[at + 11 * plane + place] = meeple > 0.0
        features[at + 12 * plane + place] = meeple < 0.0
    if view[TILE] > 0:
        middle_x, middle_y = middle_of(view)
        for row in range(WINDOW):
            for column in range(WINDOW):
                x = column - WINDOW // 2 + middle_x - OFFSET
                y = row - WINDOW // 2 + middle_y - OFFSET
                demand = view[GRID + cell_at(x, y)]
                if demand >= EDGE and is_beside(view, x, y):
                    turns = FITS[view[TILE] - 1, demand - EDGE]
                    for turn in range(ROTATIONS):
                        if turns >> turn & 1:
                            features[at + (17 + turn) * plane + row * WINDOW + column] = 1.0
    place = window_place(view, view[CURSOR_X], view[CURSOR_Y])
    if place >= 0:
        features[at + 21 * plane + place] = 1.0


@compiled()
def is_beside(view, x, y):
    """Tell whether a place lies within one step of the outermost tiles: its cell is its own."""
    return (
        view[WESTMOST] - 1 <= x + OFFSET <= view[EASTMOST] + 1
        and view[NORTHMOST] - 1 <= y + OFFSET <= view[SOUTHMOST] + 1
    )


@compiled(OBSERVE)
def observe(view, features):
    """Write the vector, then the board as the option says; see above."""
    for place in range(len(features)):
        features[place] = 0.0
    at = write_vector(view, features)
    encoding = view[ENCODING]
    if encoding == TILES_AS:
        write_tiles(view, features, at)
    elif encoding == PACKED_AS:
        write_packed(view, features, at)
    elif encoding == GEOGRAPHY_AS:
        write_geography(view, features, at)
    elif encoding == FEATURES_AS:
        write_features_of_tiles(view, features, at)
    elif encoding == PLANES_AS:
        write_planes(view, features, at)
