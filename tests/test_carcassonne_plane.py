"""The plane of Carcassonne: every shape that tiles can make has room."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kibitz.core.chance import Chance
from kibitz.core.table import Table
from kibitz.games.carcassonne.board import cell_at, feature_at, lay_tile, tile_at
from kibitz.games.carcassonne.cells import (
    BOX,
    CELLS,
    EDGE,
    OFFSET,
)
from kibitz.games.carcassonne.rules import (
    place_of,
)
from kibitz.games.carcassonne.tiles import (
    ALL_TILES,
    GRASS,
)
from tests import carcassonne_pictures as pictures
from tests.carcassonne_boards import CLOISTER_KIND, board_of, game_of, line, played
from tests.carcassonne_pictures import Place

# --- the plane -----------------------------------------------------------------------------------


def staircase(x: int, y: int) -> list[Place]:
    return [((i + 1) // 2 * x, i // 2 * y) for i in range(ALL_TILES)]


def corner(x: int, y: int, long: int) -> list[Place]:
    return [(min(i, long) * x, max(0, i - long) * y) for i in range(ALL_TILES)]


def comb() -> list[Place]:
    """Teeth side by side, with nothing between."""
    places = [(0, 0)]
    for tooth in range(11):
        places += [(2 * tooth, y) for y in range(1, 6)] + [(2 * tooth + 1, 0), (2 * tooth + 2, 0)]
    return places[:ALL_TILES]


def spiral() -> list[Place]:
    """Arms around arms with a free lane between."""
    places = [(0, 0)]
    for arm, (x, y) in enumerate(itertools.cycle(((1, 0), (0, 1), (-1, 0), (0, -1)))):
        for _ in range(2 * (arm // 2 + 1)):
            places.append((places[-1][0] + x, places[-1][1] + y))
        if len(places) >= ALL_TILES:
            return places[:ALL_TILES]
    raise AssertionError


def grown(seed: int, far: bool) -> list[Place]:
    """Random shapes; `far` ones grow at what was laid last."""
    rng = Chance(seed)
    places = [(0, 0)]
    while len(places) < ALL_TILES:
        start = places[-1 - rng.below(3) % len(places)] if far else rng.choice(places)
        beside = rng.choice(pictures.around(start))
        if beside not in places:
            places.append(beside)
    return places


SHAPES: dict[str, list[Place]] = {
    **{f"line {x} {y}": line(x, y) for x, y in pictures.STEPS},
    **{f"stairs {x} {y}": staircase(x, y) for x in (-1, 1) for y in (-1, 1)},
    **{f"corner {x} {y} {n}": corner(x, y, n) for x in (-1, 1) for y in (-1, 1) for n in (20, 36)},
    "both ways": [((i + 1) // 2 * (-1) ** i, 0) for i in range(ALL_TILES)],
    "comb": comb(),
    "spiral": spiral(),
    **{f"grown {seed}": grown(seed, seed % 2 == 1) for seed in range(6)},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_room_on_the_plane(shape):
    """Tile by tile against a dictionary of places."""
    places = SHAPES[shape]
    assert len(set(places)) == ALL_TILES
    game = game_of()
    table = Table(game, game.blank())
    state = table.cells
    state[BOX : BOX + 4] = OFFSET
    board: dict[Place, int] = {}
    for tile, place in enumerate(places):
        assert not board or any(beside in board for beside in pictures.around(place))
        lay_tile(state, *place, CLOISTER_KIND, 0)
        board[place] = tile
        if tile % 10 == 9 or tile == ALL_TILES - 1:
            check_plane(table, board)


def check_plane(table: Table, board: dict[Place, int]) -> None:
    state = table.cells
    edge = {beside for place in board for beside in pictures.around(place)} - set(board)
    west, north = (min(place[i] for place in board) for i in (0, 1))
    east, south = (max(place[i] for place in board) for i in (0, 1))
    assert (table["box"] - OFFSET).tolist() == [west, east, north, south]
    # Every place that matters has its own cell.
    near = set(itertools.product(range(west - 1, east + 2), range(north - 1, south + 2)))
    cells = {place: int(cell_at(*place)) for place in near}
    beside_or_on = edge | set(board)
    assert len({cells[place] for place in beside_or_on}) == len(beside_or_on)
    for place in near:
        grid = int(table["grid"][cells[place]])
        if place in board:
            assert grid == 1 + board[place]
            assert tile_at(state, cells[place]) == board[place]
        elif place in edge:
            demand = sum(
                GRASS << 2 * side
                for side, beside in enumerate(pictures.around(place))
                if beside in board
            )
            assert grid == EDGE + demand
            assert tuple(map(int, place_of(state, cells[place]))) == place
        else:
            assert grid == 0
    assert np.count_nonzero(table["grid"]) == len(board) + len(edge)
    assert table["edges"] == len(edge)
    assert table["edge"][: len(edge)].tolist() == sorted(cells[place] for place in edge)
    # Every tile is a cloister, so each counts its neighbours.
    for place, tile in board.items():
        around = sum(beside in board for beside in pictures.eight_around(place))
        feature = feature_at(state, tile, 0)
        assert table["size"][feature] == 1 + around
        assert table["open"][feature] == 8 - around
        assert (table["x"][tile] - OFFSET, table["y"][tile] - OFFSET) == place


def test_places_with_the_same_cell_are_far_apart():
    """Farther than any two places that matter at a time: 72 tiles in a row, and an edge around."""
    reach = 2 * ALL_TILES
    nearest = min(
        abs(x) + abs(y)
        for x, y in itertools.product(range(-reach, reach + 1), repeat=2)
        if (x, y) != (0, 0) and cell_at(x, y) == 0
    )
    assert nearest > ALL_TILES - 1 + 4
    assert len({int(cell_at(x, y)) for x in range(-CELLS, CELLS) for y in (0,)}) == CELLS


def test_lines_of_tiles_can_be_played_to_east_and_west():
    for way, sign_of_x in (("e", 1), ("w", -1)):
        table = played(*(f"U: {way}{i} turned 1" for i in range(1, 9)))
        assert set(board_of(table)) == {(sign_of_x * i, 0) for i in range(9)}
