"""Where the features of a view lie, and which of them belong to one token of a transformer.

Tokens: every tile of the hand, which is known by its two numbers; every line, with its open end and
what is known of its owner, the viewer's first and the shared one last; and the table, with the
tiles that are played, the boneyard and the rest. Tiles have no order in a hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.game import Tokens
from kibitz.games.mexican_train.cells import LINES, MOST_SEATS
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_NUMBER, MOST_TILES, NUMBERS

FEATURES_OF_TILE = 2  # own, played
FEATURES_OF_LINE = NUMBERS + 5  # the open number, its length, open, holder's tiles, penny, pips
LINE_FEATURES = FEATURES_OF_TILE * MOST_TILES
LACKED = LINE_FEATURES + LINES * FEATURES_OF_LINE  # of each seat, the numbers that it cannot have
REST = LACKED + MOST_SEATS * NUMBERS  # hands to go, the boneyard, an open double, another turn
FEATURES = REST + 4
PIPS_UNIT = 100.0  # so that features are about as large as 1


def feature_scale(settings: Mapping[str, Any]) -> np.ndarray:
    """Return what each feature is divided by, so that hardly anything lies beyond 1.

    Only pips do: they add up over hands, rarely by more than ten of the highest numbers in each.
    """
    hands = min(settings["hands"] or NUMBERS, settings["highest"] + 1)
    scale = np.ones(FEATURES)
    lines = scale[LINE_FEATURES:LACKED].reshape(LINES, FEATURES_OF_LINE)
    lines[:, -1] = 10 * settings["highest"] * hands / PIPS_UNIT
    return scale


def count_tiles(settings: Mapping[str, Any]) -> int:
    """Count the tiles of the set."""
    return (settings["highest"] + 1) * (settings["highest"] + 2) // 2


def most_in_hand(settings: Mapping[str, Any]) -> int:
    """Bound the tiles of a hand; with a boneyard, one seat may come to hold them all."""
    tiles = count_tiles(settings)
    return tiles if settings["boneyard"] else -(-tiles // settings["players"])


def tokens(settings: Mapping[str, Any]) -> tuple[Tokens, ...]:
    """Return the tokens of a table: tiles first, so that a tile's number is its token's."""
    tiles, seats = count_tiles(settings), settings["players"]
    places = [*range(seats), MOST_SEATS]
    return (
        Tokens(
            "tile",
            tuple((tile,) for tile in range(tiles)),
            tuple(_facts_of_tile(int(LOW[tile]), int(HIGH[tile])) for tile in range(tiles)),
            most_in_hand(settings),
        ),
        Tokens(
            "line",
            tuple(_columns_of_line(place) for place in places),
            tuple(tuple(float(place == other) for other in places) for place in places),
            len(places),
        ),
        Tokens(
            "table",
            ((*range(MOST_TILES, MOST_TILES + tiles), *range(REST, FEATURES)),),
            ((),),
            1,
        ),
    )


def _facts_of_tile(low: int, high: int) -> tuple[float, ...]:
    ends = [float(number in (low, high)) for number in range(NUMBERS)]
    return (*ends, float(low == high), (low + high) / (2 * MOST_NUMBER))


def _columns_of_line(place: int) -> tuple[int, ...]:
    first, lacked = LINE_FEATURES + place * FEATURES_OF_LINE, LACKED + place * NUMBERS
    shared = place == MOST_SEATS  # nobody owns it
    return (
        *range(first, first + FEATURES_OF_LINE),
        *([-1] * NUMBERS if shared else range(lacked, lacked + NUMBERS)),
    )
