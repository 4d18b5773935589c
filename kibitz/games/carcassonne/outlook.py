"""What may become of features: who owns them, and how likely they are to be finished."""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.games.carcassonne.board import (
    AROUND,
    STEP,
    cell_at,
    feature_at,
    meeples_of,
    moved,
    tile_at,
)
from kibitz.games.carcassonne.cells import (
    DRAWN,
    EDGE,
    FEATURE_KIND,
    FEATURES_USED,
    GRID,
    IN_SET,
    KIND,
    LAID,
    LEFT,
    MEEPLE_COUNTS,
    OFFSET,
    OPEN,
    ROOT,
    SHIELDS,
    SIZE,
    TURN,
    X,
    Y,
)
from kibitz.games.carcassonne.tiles import (
    AT_SIDE,
    CITY,
    CLOISTER,
    DEMANDED,
    FEATURE,
    FITS,
    FITS_TURNED,
    KINDS,
    LANDS,
    PARTS,
    SIDES,
    UNKNOWN,
)

# [kind, demand of a cell, side]: a tile of the kind fits there so that what it adds to the feature
# on that side has no new open side.
_sides_of = np.take_along_axis(PARTS, AT_SIDE, axis=2)  # of the feature on a side, as bits
_demanded = ((DEMANDED != UNKNOWN) << np.arange(SIDES)).sum(axis=1)  # sides, as bits
_closed = (_sides_of[:, :, None] & ~_demanded[:, None]) == 0
CLOSES = (
    (FITS_TURNED[:, :, :, None] & (AT_SIDE >= 0)[:, :, None] & _closed).any(axis=1).astype(np.int64)
)


@compiled()
def chance_of_one(wanted, left, draws):
    """Give the chance that one of the wanted tiles is among so many drawn of those left.

    As if each were put back after it was drawn: a little too low, and much faster.
    """
    if wanted <= 0 or draws <= 0:
        return 0.0
    if wanted >= left:
        return 1.0
    return 1.0 - (1.0 - wanted / left) ** draws


@compiled()
def tiles_that_fit(state, cell):
    """Count the tiles to come that fit in a cell beside a tile."""
    demand = state[GRID + cell] - EDGE
    count = 0
    for kind in range(KINDS):
        if FITS[kind, demand]:
            count += state[LEFT + kind]
    return count


@compiled()
def tiles_that_close(state, cell, side):
    """Count the tiles to come that end, in a cell, the feature that lies on one of its sides."""
    demand = state[GRID + cell] - EDGE
    count = 0
    for kind in range(KINDS):
        count += state[LEFT + kind] * CLOSES[kind, demand, side]
    return count


@compiled()
def chances(state, draws, also, chance):
    """Write how likely each feature with meeples is to be finished, and those of one more tile.

    chance [features]; also: the tile, or -1.

    Every open side needs a tile that ends the feature there, and every empty neighbour of a
    cloister one that fits: the product of the chances that such a tile is among the next `draws`.
    Others may use it elsewhere, and a feature may also be finished by growing: an estimate.
    """
    left = int(state[IN_SET]) - 1 - int(state[DRAWN])
    for feature in range(state[FEATURES_USED]):
        occupied = state[MEEPLE_COUNTS + feature] > 0 and state[ROOT + feature] == feature
        chance[feature] = 1.0 if occupied else 0.0
    for segment in range(LANDS[state[KIND + also]] if also >= 0 else 0):
        chance[feature_at(state, also, segment)] = 1.0
    for tile in range(state[LAID]):
        kind, turn = state[KIND + tile], state[TURN + tile]
        cell = -1
        for segment in range(LANDS[kind]):
            feature = feature_at(state, tile, segment)
            if chance[feature] == 0.0:
                continue
            if cell < 0:
                cell = cell_at(int(state[X + tile]) - OFFSET, int(state[Y + tile]) - OFFSET)
            if FEATURE[kind, segment] == CLOISTER:
                for place in range(len(AROUND)):
                    beside = moved(cell, AROUND[place])
                    if tile_at(state, beside) >= 0:
                        continue
                    if state[GRID + beside] >= EDGE:
                        chance[feature] *= chance_of_one(tiles_that_fit(state, beside), left, draws)
                    else:  # nothing lies beside it yet: it will take a while
                        chance[feature] *= 0.5 if draws > 8 else 0.0
                continue
            for side in range(SIDES):
                if PARTS[kind, turn, segment] >> side & 1:
                    beside = moved(cell, STEP[side])
                    if state[GRID + beside] >= EDGE:
                        wanted = tiles_that_close(state, beside, (side + 2) % SIDES)
                        chance[feature] *= chance_of_one(wanted, left, draws)


@compiled()
def finished_worth(state, feature):
    """Give what a feature is worth when it is finished, if every open side takes a tile."""
    kind = state[FEATURE_KIND + feature]
    size = int(state[SIZE + feature]) + int(state[OPEN + feature])
    return 2 * (size + int(state[SHIELDS + feature])) if kind == CITY else size


@compiled()
def lead_of(counts, seats, seat):
    """Give how many more meeples a seat has on a feature than the best of the others."""
    others = 0
    for other in range(seats):
        if other != seat:
            others = max(others, meeples_of(counts, other))
    return meeples_of(counts, seat) - others
