"""Meeples: where one can be set on the tile that was just laid, and setting it."""

from __future__ import annotations

from kibitz.core.compiled import compiled
from kibitz.core.game import SEAT
from kibitz.games.carcassonne.board import feature_at
from kibitz.games.carcassonne.cells import (
    BITS,
    CENTRE,
    FARMERS,
    FIRST_HALF,
    KIND,
    LAID,
    MEEPLE,
    MEEPLE_COUNTS,
    PLACES,
    SUPPLY,
    TURN,
)
from kibitz.games.carcassonne.tiles import AT_HALF, AT_SIDE, CLOISTER, FEATURE, SEGMENTS


@compiled()
def segment_at(state, tile, place):
    """Give the segment of a tile at a place, or -1."""
    kind, turn = state[KIND + tile], state[TURN + tile]
    if place < CENTRE:
        return AT_SIDE[kind, turn, place]
    if place == CENTRE:
        return 0 if FEATURE[kind, 0] == CLOISTER else -1
    return AT_HALF[kind, turn, place - FIRST_HALF] if state[FARMERS] else -1


@compiled()
def is_free(state, place):
    """Tell whether a meeple can be set at a place of the tile that was just laid."""
    tile = int(state[LAID]) - 1
    segment = segment_at(state, tile, place)
    return segment >= 0 and state[MEEPLE_COUNTS + feature_at(state, tile, segment)] == 0


@compiled()
def free_places(state, places):
    """Write where a meeple can be set, one place for each segment; give how many."""
    tile = int(state[LAID]) - 1
    n = 0
    seen = 0  # segments, as bits
    for place in range(PLACES if state[FARMERS] else CENTRE + 1):
        segment = segment_at(state, tile, place)
        if segment >= 0 and not seen >> segment & 1:
            seen |= 1 << segment
            if state[MEEPLE_COUNTS + feature_at(state, tile, segment)] == 0:
                places[n] = place
                n += 1
    return n


@compiled()
def set_meeple(state, place):
    """Set a meeple of the seat to move on the tile that was just laid."""
    seat = int(state[SEAT])
    tile = int(state[LAID]) - 1
    segment = segment_at(state, tile, place)
    state[MEEPLE + tile] = 1 + SEGMENTS * seat + segment
    state[SUPPLY + seat] -= 1
    state[MEEPLE_COUNTS + feature_at(state, tile, segment)] += 1 << (BITS * seat)
