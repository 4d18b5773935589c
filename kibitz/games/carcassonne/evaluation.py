"""What a seat thinks of the table after a tile is laid: points, hopes, rivals and meeples.

Each feature with meeples counts for those who lead there: what it is worth now, and, as likely as
it is to be finished, what more it would then be worth. Rivals' features count against. Meeples
that are free, or will come back, are worth something as long as tiles are left. WEIGHTS names the
parts, as set by hand; `settler` plays with those that evolution has found from there.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.game import SEATS, copy_cells
from kibitz.games.carcassonne.board import (
    FARMED_CITY,
    feature_at,
    meeples_of,
    most_meeples,
    served_by,
    worth_of,
)
from kibitz.games.carcassonne.cells import (
    BITS,
    DRAWN,
    FARMERS,
    FEATURE_KIND,
    FEATURES_USED,
    IN_SET,
    LAID,
    MEEPLE_COUNTS,
    MEEPLES,
    MOST_FEATURES,
    MOST_SEATS,
    OPEN,
    PLACES,
    ROOT,
    SUPPLY,
)
from kibitz.games.carcassonne.meeples import free_places, segment_at
from kibitz.games.carcassonne.outlook import chances, finished_worth
from kibitz.games.carcassonne.tiles import CITY, CLOISTER, FIELD, ROAD

WEIGHTS = {
    "road now": 1.0,  # points that an unfinished road would score at the end
    "road hope": 0.8,  # points more when it is finished, times the chance of that
    "city now": 1.0,
    "city hope": 0.8,
    "cloister now": 1.0,
    "cloister hope": 0.8,
    "field now": 1.0,
    "rivals": 0.7,  # what all of this counts where rivals lead
    "free meeples": 1.5,  # the first one; the second counts half as much, the third a third
    "meeples back": 1.0,  # for each that stands, times the chance that it returns
    "rivals' meeples": 0.3,  # both of the last, for rivals
}
(
    ROAD_NOW, ROAD_HOPE, CITY_NOW, CITY_HOPE, CLOISTER_NOW, CLOISTER_HOPE, FIELD_NOW, RIVALS,
    FREE, BACK, RIVALS_MEEPLES,
) = range(len(WEIGHTS))  # fmt: skip
NOW_OF = np.zeros(FIELD + 1, np.int64)
for _kind, _place in ((ROAD, ROAD_NOW), (CITY, CITY_NOW), (CLOISTER, CLOISTER_NOW)):
    NOW_OF[_kind] = _place
NOW_OF[FIELD] = FIELD_NOW
GREEDY = np.zeros(len(WEIGHTS), np.float32)
GREEDY[[ROAD_NOW, CITY_NOW, CLOISTER_NOW, FIELD_NOW]] = 1.0
LATE = 20.0  # tiles to come below which a meeple is worth less and less
HARMONIC = np.array([sum(1.0 / k for k in range(1, n + 1)) for n in range(2 * MEEPLES + 1)])
NO_MEEPLE_AT = PLACES  # the place of no meeple among the values
IMPOSSIBLE = -1e9


@compiled()
def claim(state, feature, counts, seat, weights, chance, cities, late):
    """Give what a feature with such meeples on it counts for a seat."""
    seats = int(state[SEATS])
    kind = state[FEATURE_KIND + feature]
    worth = 0.0
    if kind == FIELD:
        worth = weights[FIELD_NOW] * FARMED_CITY * cities
    elif state[OPEN + feature] == 0:
        worth = float(worth_of(state, feature))
    else:
        now = worth_of(state, feature)
        worth = weights[NOW_OF[kind]] * now
        hope = weights[NOW_OF[kind] + 1]
        if hope != 0.0:
            worth += hope * chance * (finished_worth(state, feature) - now)
    most = most_meeples(counts, seats)
    total = 0.0
    for other in range(seats):
        mine = meeples_of(counts, other)
        share = 1.0 if other == seat else -weights[RIVALS] / (seats - 1)
        if mine == most:
            total += share * worth
        if mine > 0 and kind != FIELD:
            back = weights[BACK] * chance * late * mine
            total += back if other == seat else -weights[RIVALS_MEEPLES] / (seats - 1) * back
    return total


@compiled()
def appraise(state, seat, weights, chance, served, values):
    """Write what each place for a meeple on the tile just laid is worth, and none, to a seat.

    Nothing has been paid for yet. chance [MOST_FEATURES] and served [MOST_FEATURES, MOST_FEATURES]
    are scratch. values [PLACES + 1]; IMPOSSIBLE where no meeple may be set.
    """
    seats = int(state[SEATS])
    tile = int(state[LAID]) - 1
    left = int(state[IN_SET]) - 1 - int(state[DRAWN])
    late = min(1.0, left / LATE)
    hopes = False
    for part in (ROAD_HOPE, CITY_HOPE, CLOISTER_HOPE, BACK):
        hopes |= weights[part] != 0.0
    if hopes:
        chances(state, (left + seats - 1) // seats, tile, chance)
    if state[FARMERS]:
        served_by(state, tile, served)
    base = 0.0
    back = np.zeros(MOST_SEATS, np.int64)  # meeples that return now
    for feature in range(state[FEATURES_USED]):
        counts = int(state[MEEPLE_COUNTS + feature])
        if counts == 0 or state[ROOT + feature] != feature:
            continue
        finished = state[OPEN + feature] == 0 and state[FEATURE_KIND + feature] != FIELD
        if finished:
            for other in range(seats):
                back[other] += meeples_of(counts, other)
        cities = count_served(state, served, feature)
        likely = 0.0 if finished else chance[feature]
        base += claim(state, feature, counts, seat, weights, likely, cities, late)
    for other in range(seats):
        if other != seat:
            free = HARMONIC[state[SUPPLY + other] + back[other]]
            base -= weights[RIVALS_MEEPLES] / (seats - 1) * weights[FREE] * late * free
    supply = int(state[SUPPLY + seat]) + back[seat]
    for place in range(PLACES + 1):
        values[place] = IMPOSSIBLE
    values[NO_MEEPLE_AT] = base + weights[FREE] * late * HARMONIC[supply]
    if state[SUPPLY + seat] == 0:
        return
    places = np.empty(PLACES, np.int64)
    for place in places[: free_places(state, places)]:
        feature = feature_at(state, tile, segment_at(state, tile, place))
        finished = state[OPEN + feature] == 0 and state[FEATURE_KIND + feature] != FIELD
        cities = count_served(state, served, feature)
        likely = 0.0 if finished else chance[feature]
        values[place] = base + claim(
            state, feature, 1 << (BITS * seat), seat, weights, likely, cities, late
        )
        values[place] += weights[FREE] * late * HARMONIC[supply if finished else supply - 1]


@compiled()
def count_served(state, served, feature):
    """Count the finished cities that a field touches."""
    if state[FEATURE_KIND + feature] != FIELD:
        return 0
    cities = 0
    for city in range(state[FEATURES_USED]):
        cities += served[feature, city]
    return cities


@compiled()
def scratch():
    """Make the scratch of `appraise`."""
    return (
        np.zeros(MOST_FEATURES),
        np.zeros((MOST_FEATURES, MOST_FEATURES), np.bool_),
        np.empty(PLACES + 1),
    )


@compiled()
def copy_of(view):
    """Copy a view to try something on."""
    tried = np.empty_like(view)
    copy_cells(view, tried)
    return tried
