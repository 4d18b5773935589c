"""What players and learners of Carcassonne see: chances, and every field of the encodings."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kibitz.core.game import HIDDEN, OVER, SEAT
from kibitz.core.table import Table
from kibitz.games.carcassonne.board import feature_at, lay_tile
from kibitz.games.carcassonne.cells import (
    BOX,
    DECIDING,
    ENCODINGS,
    MOST_FEATURES,
    OFFSET,
)
from kibitz.games.carcassonne.encodings import BOARD_SIZES, WINDOW
from kibitz.games.carcassonne.outlook import chances
from kibitz.games.carcassonne.rules import (
    place_of,
)
from kibitz.games.carcassonne.tiles import (
    LETTERS,
    SEGMENTS,
)
from tests import carcassonne_pictures as pictures
from tests.carcassonne_boards import (
    CLOISTER_KIND,
    RING,
    board_of,
    dealt,
    game_of,
    line,
    placed,
    played,
    random_game,
)
from tests.carcassonne_pictures import Place, Tile
from tests.conftest import positions

FEATURES_HEAD = 7 + 3 + 14 + 1 + 24 + 24 + 20  # of the vector, before the features with meeples

# --- chances -------------------------------------------------------------------------------------


def closing(board: dict[Place, Tile], place: Place, side: int, letter: str) -> bool:
    """Tell by pictures whether a tile can end, in a cell, what comes to it from one side."""
    for turn in range(4):
        tile = (letter, turn)
        if not pictures.match(board, place, tile):
            continue
        piece = pictures.pieces(tile)[pictures.PIXELS[side]]
        sides = [s for s in range(4) if pictures.pieces(tile)[pictures.PIXELS[s]] == piece]
        if all(pictures.around(place)[s] in board for s in sides):
            return True
    return False


def fitting(board: dict[Place, Tile], place: Place, letter: str) -> bool:
    return any(pictures.match(board, place, (letter, turn)) for turn in range(4))


def one_of(wanted: int, left: int, draws: int) -> Fraction:
    """Give the chance that one of the wanted is drawn, each tile being put back."""
    return 1 - Fraction(left - wanted, left) ** draws if wanted < left or not draws else Fraction(1)


def expected_chance(table: Table, feature: pictures.Region, draws: int) -> float:
    board = board_of(table)
    left = {LETTERS[kind]: int(count) for kind, count in enumerate(table["left"]) if count}
    total = sum(left.values())
    chance = Fraction(1)
    if feature.char == "m":
        (place,) = feature.tiles
        for beside in set(pictures.eight_around(place)) - set(board):
            if any(next_to in board for next_to in pictures.around(beside)):
                wanted = sum(n for kind, n in left.items() if fitting(board, beside, kind))
                chance *= one_of(wanted, total, draws)
            else:
                chance *= Fraction(1, 2) if draws > 8 else 0
    else:
        for place, side in feature.open:
            cell, opposite = pictures.around(place)[side], (side + 2) % 4
            wanted = sum(n for kind, n in left.items() if closing(board, cell, opposite, kind))
            chance *= one_of(wanted, total, draws)
    return float(chance)


def found_chances(table: Table, draws: int, also: int = -1) -> np.ndarray:
    chance = np.zeros(MOST_FEATURES)
    chances(table.cells, draws, also, chance)
    return chance


@pytest.mark.parametrize("left", ["EIVRCB", "UVB", "E", "RRQ", "HHIUV", "EEEN"])
def test_the_chance_of_one_open_side_is_that_of_drawing_what_closes_it(left):
    """All draws are listed; one will do if laying one of its tiles completes the city."""
    table = played("M: n1 turned 2, city east", "U: e1 turned 1", "B", *left)
    assert table["left"].sum() == len(left)
    board = board_of(table)
    owned = feature_at(table.cells, 1, 0)
    completing = set()
    for letter, turn in itertools.product(set(left), range(4)):
        if pictures.match(board, (1, -1), (letter, turn)):
            regions, find = pictures.glued({**board, (1, -1): (letter, turn)})
            if not regions[find((0, -1), pictures.PIXELS[1])].open:
                completing.add(letter)
    for draws in range(6):
        found = found_chances(table, draws)[owned]
        put_back = list(itertools.product(left, repeat=draws))
        good = sum(not completing.isdisjoint(hand) for hand in put_back)
        assert found == pytest.approx(good / len(put_back))
        kept = list(itertools.combinations(left, min(draws, len(left))))
        good = sum(not completing.isdisjoint(hand) for hand in kept)
        assert found <= good / len(kept) + 1e-9  # a little too low, as documented


def test_chances_can_be_asked_for_one_more_tile():
    """They are the same with and without a meeple there."""
    free, owned = (
        played(f"M: n1 turned 2{meeple}", "U: e1 turned 1", "B", *"EIVRCB")
        for meeple in ("", ", city east")
    )
    city = feature_at(free.cells, 1, 0)
    assert found_chances(free, 4)[city] == 0
    assert found_chances(free, 4, 1)[city] == found_chances(owned, 4)[city] > 0
    assert np.array_equal(found_chances(owned, 4, 1), found_chances(owned, 4))


def test_what_is_complete_or_unoccupied_has_no_chance():
    table = played("E: n1 turned 2, city south", "U: e1 turned 1", "B", *"UVW")
    assert not found_chances(table, 3).any()


def test_a_cloister_needs_a_tile_for_every_empty_neighbour():
    """With one hole left, where only grass fits: to the north-east of it the road goes on."""
    table = played("B: s1, cloister", *RING[:-1], "U", *"UVBXRE")
    board = board_of(table)
    wanted = sum(fitting(board, (1, 2), letter) for letter in "UVBXRE")
    assert 0 < wanted < 6
    cloister = feature_at(table.cells, 1, 0)
    for draws in range(7):
        found = found_chances(table, draws)[cloister]
        assert found == pytest.approx(float(one_of(wanted, 6, draws)))


def test_chances_are_the_product_over_open_sides():
    checked: Counter[str] = Counter()
    for deal in range(12):
        game = game_of(players=2 + deal % 3, tiles=72 if deal % 2 else 30)
        for ply, (state, meeples) in enumerate(random_game(game, 51, deal, tight=deal % 2 == 1)):
            if ply % 12 or state[SEAT] == OVER:
                continue
            table = Table(game, state)
            draws = (3, 9, 60)[ply // 12 % 3]
            found = found_chances(table, draws)
            board, standing = placed(game, state, meeples)
            regions, find = pictures.joined(board)
            places = list(board)
            for tile in np.flatnonzero(table["meeple"]).tolist():
                segment = (int(table["meeple"][tile]) - 1) % SEGMENTS
                where = next(w for _, place, w in standing if place == places[tile])
                region = regions[find(places[tile], pictures.PIXELS[where])]
                feature = feature_at(state, tile, segment)
                wanted = expected_chance(table, region, draws)
                assert found[feature] == pytest.approx(wanted), (deal, ply)
                checked[region.char] += 1
            owned = {
                int(feature_at(state, t, (int(m) - 1) % SEGMENTS))
                for t, m in enumerate(table["meeple"])
                if m
            }
            assert set(np.flatnonzero(found).tolist()) <= owned
    assert min(checked[char] for char in "rcm") > 50


# --- what learners see ---------------------------------------------------------------------------

# Three seats: a city of two tiles with a shield, a road of two, a cloister with three neighbours,
# and a farmer in the field to the south. Seat 1 is to lay a curve.
SCENE = (
    "M: n1 turned 2, city east", "U: e1 turned 1, road east", "B: s1, cloister",
    "E: s2 turned 2, field", "V",
)  # fmt: skip
PLACES_OF_SCENE = [(0, 0), (0, -1), (1, 0), (0, 1), (0, 2)]
OWNERS = [None, 0, 1, 2, 0]


def scene(encoding: str, viewer: int, **settings: Any) -> tuple[Table, np.ndarray, np.ndarray]:
    """Give the table, the vector and the board that a viewer sees."""
    table = played(*SCENE, whole=True, farmers=True, players=3, encoding=encoding, **settings)
    found = table.view(viewer).features()
    head = FEATURES_HEAD + 7 * 3 * 10
    assert len(found) == table.game.bound("features") == head + BOARD_SIZES[encoding]
    return table, found[:head], found[head:]


def sign(viewer: int, owner: int | None) -> int:
    return 0 if owner is None else 1 if owner == viewer else -1


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("viewer", range(3))
def test_the_vector_is_as_documented(viewer, encoding):
    table, vector, _ = scene(encoding, viewer)
    supplies, pending_points = [5, 6, 6], [3, 2, 4]
    curve = LETTERS.index("V")
    parts = np.split(vector, np.cumsum([7, 3, 14, 1, 24, 24, 20])[:7])
    assert parts[0] == pytest.approx([supplies[viewer] / 7, (1 + curve) / 24, 0, 0, 0, 0, 5 / 72])
    assert parts[1].tolist() == [1, 0, 0]
    assert parts[2].tolist() == [1] + [0] * 13
    assert parts[3].tolist() == [viewer == 1]
    assert parts[4].tolist() == [kind == curve for kind in range(24)]
    left = dict(pictures.HOW_MANY)
    for letter in "DMUBEV":
        left[letter] -= 1
    shares = [left[letter] / pictures.HOW_MANY[letter] for letter in LETTERS]
    assert parts[5] == pytest.approx(shares)
    for place, row in enumerate(parts[6].reshape(5, 4)):
        seat = (viewer + place) % 3
        wanted = [1, 0, pending_points[seat] / 50, supplies[seat] / 7] if place < 3 else [0] * 4
        assert row == pytest.approx(wanted)
    rows = parts[7].reshape(21, 10)
    chance = found_chances(table, int(table["left"].sum()))
    owned = {
        f: chance[feature_at(table.cells, t, s)]
        for f, t, s in (("c", 1, 0), ("r", 2, 0), ("m", 3, 0))
    }
    assert 0 < min(owned.values()) <= max(owned.values()) <= 1

    def meeples(owner: int) -> list[float]:
        return [(viewer == owner) / 3, (viewer != owner) / 3]

    assert rows[0] == pytest.approx([0, 1, 0, 0, 0.3, 0.8, 0.25, owned["c"], *meeples(0)])
    assert rows[1] == pytest.approx([1, 0, 0, 0, 0.2, 0.4, 0.5, owned["r"], *meeples(1)])
    assert rows[2] == pytest.approx([0, 0, 0, 1, 0, 0, 0, 0, *meeples(0)])
    assert rows[3] == pytest.approx([0, 0, 1, 0, 0.4, 0.9, 1.25, owned["m"], *meeples(2)])
    assert not rows[4:].any()


def test_the_vector_shows_the_cursor_and_the_phase():
    head = ("M", "V", "B")
    table = played(*head, whole=True, control="cursor", encoding="vector")
    for move in ("north", "turn", "turn"):
        table.play(move)
    vector = table.view().features()
    assert vector[:7] == pytest.approx([1, 13 / 24, 2 / 3, 0, -1 / 72, 0, 1 / 72])
    assert vector[7:10].tolist() == [1, 0, 0]
    vector = table.play("confirm").view().features()
    assert vector[1] == pytest.approx(13 / 24)  # the tile that waits for a meeple
    assert vector[2:5] == pytest.approx([2 / 3, 0, -1 / 72])
    assert vector[7:10].tolist() == [0, 1, 0]
    assert np.flatnonzero(vector[25:49]).tolist() == [12]
    vector = table.play("take").play("east").view().features()
    assert vector[7:10].tolist() == [0, 0, 1]
    assert vector[5] == pytest.approx(2 / 13)
    assert np.flatnonzero(vector[10:24]).tolist() == [2]  # nowhere, north, east, ..
    assert vector[24] == 1
    assert table.view(1).features()[24] == 0


@pytest.mark.parametrize("viewer", range(3))
def test_the_encoding_tiles_is_as_documented(viewer):
    _, _, board = scene("tiles", viewer)
    rows = board.reshape(72, 7)
    tiles = [("D", 0), ("M", 2), ("U", 1), ("B", 0), ("E", 2)]
    segments = [None, 0, 0, 0, 4]
    for row, (letter, turn), (x, y), owner, segment in zip(
        rows, tiles, PLACES_OF_SCENE, OWNERS, segments, strict=False
    ):
        where = 0 if segment is None else (1 + segment) / 8
        wanted = [1, x / 72, y / 72, LETTERS.index(letter) / 24, turn / 3, sign(viewer, owner)]
        assert row == pytest.approx([*wanted, where])
    assert not rows[5:].any()


def in_window(place: Place) -> tuple[int, int]:
    """Give row and column; the middle of the scene is the start tile."""
    return WINDOW // 2 + place[1], WINDOW // 2 + place[0]


@pytest.mark.parametrize("viewer", range(3))
def test_the_encoding_packed_is_as_documented(viewer):
    _, _, board = scene("packed", viewer)
    cells = board.reshape(WINDOW, WINDOW, 2).copy()
    tiles = [("D", 0), ("M", 2), ("U", 1), ("B", 0), ("E", 2)]
    for (letter, turn), place, owner in zip(tiles, PLACES_OF_SCENE, OWNERS, strict=True):
        code = (1 + 4 * LETTERS.index(letter) + turn) / 97
        assert cells[in_window(place)] == pytest.approx([code, sign(viewer, owner)])
        cells[in_window(place)] = 0
    assert not cells.any()


# Sides of the tiles of the scene, from the north on: grass 1, road 2, city 3.
SIDES_OF_SCENE = ["3212", "1331", "1212", "1111", "1131"]


@pytest.mark.parametrize("viewer", range(3))
def test_the_encoding_geography_is_as_documented(viewer):
    _, _, board = scene("geography", viewer)
    cells = board.reshape(WINDOW, WINDOW, 3).copy()
    middles = [0, 0.5, 0, 1, 0]
    for sides, middle, place, owner in zip(
        SIDES_OF_SCENE, middles, PLACES_OF_SCENE, OWNERS, strict=True
    ):
        wanted = [int(sides, 4) / 256, middle, sign(viewer, owner)]
        assert cells[in_window(place)] == pytest.approx(wanted)
        cells[in_window(place)] = 0
    assert not cells.any()


@pytest.mark.parametrize("viewer", range(3))
def test_the_encoding_features_is_as_documented(viewer):
    _, _, board = scene("features", viewer)
    rows = board.reshape(72, 24)
    city, road, own = sign(viewer, 0), sign(viewer, 1), [0, 0, 0, 0]
    sides = [
        [[0, 1, 1, city], [1, 0, 1, road], own, [1, 0, 1, road]],
        [own, [0, 1, 1, city], [0, 1, 1, city], own],
        [own, [1, 0, 1, road], own, [1, 0, 1, road]],
        [own] * 4,
        [own, own, [0, 1, 1, 0], own],
    ]
    ends = [[0, 0], [1 / 4, 0.3], [2 / 4, 0.2], [5 / 4, 0.4], [0, 0]]
    for tile, (x, y) in enumerate(PLACES_OF_SCENE):
        marks = [1, x / 72, y / 72, int(tile == 3), int(tile == 1), sign(viewer, OWNERS[tile])]
        wanted = [*marks, *itertools.chain(*sides[tile]), *ends[tile]]
        assert rows[tile] == pytest.approx(wanted), tile
    assert not rows[5:].any()


@pytest.mark.parametrize("viewer", range(3))
def test_the_encoding_planes_is_as_documented(viewer):
    table, _, board = scene("planes", viewer)
    planes = board.reshape(22, WINDOW, WINDOW)
    wanted = np.zeros_like(planes)
    leaders = [
        [0, 1, None, 1],
        [None, 0, 0, None],
        [None, 1, None, 1],
        [None] * 4,
        [None] * 4,
    ]
    for tile, place in enumerate(PLACES_OF_SCENE):
        row, column = in_window(place)
        wanted[0, row, column] = 1
        for side, shows in enumerate(SIDES_OF_SCENE[tile]):
            if shows in "23":
                wanted[(1 if shows == "2" else 5) + side, row, column] = 1
            wanted[13 + side, row, column] = sign(viewer, leaders[tile][side])
        wanted[9, row, column] = tile == 3
        wanted[10, row, column] = tile == 1
        wanted[11, row, column] = sign(viewer, OWNERS[tile]) > 0
        wanted[12, row, column] = sign(viewer, OWNERS[tile]) < 0
    for action in table.legal:
        x, y = place_of(table.cells, action // 4)
        wanted[17 + action % 4, WINDOW // 2 + y, WINDOW // 2 + x] = 1
    assert wanted[17:21].sum() == len(table.legal)
    wanted[21, WINDOW // 2, WINDOW // 2] = 1
    for plane in range(22):
        assert np.array_equal(planes[plane], wanted[plane]), plane


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_viewer_sees_the_own_meeples_with_the_other_sign(encoding):
    game = game_of(encoding=encoding, farmers=True)
    head = FEATURES_HEAD + 7 * 2 * 10
    seen = 0
    for table in itertools.islice(positions(game, 61), 0, None, 9):
        one, other = (table.view(seat).features() for seat in (0, 1))
        rows, others = (found[FEATURES_HEAD:head].reshape(14, 10) for found in (one, other))
        assert np.array_equal(rows[:, :8], others[:, :8])
        assert np.array_equal(rows[:, 8:], others[:, :7:-1])
        seats = one[FEATURES_HEAD - 20 : FEATURES_HEAD].reshape(5, 4)
        assert np.array_equal(
            seats[[1, 0]], other[FEATURES_HEAD - 20 : FEATURES_HEAD].reshape(5, 4)[:2]
        )
        one, other = one[head:], other[head:]
        turned = {
            "tiles": lambda board: turn_signs(board, 7, [5]),
            "packed": lambda board: turn_signs(board, 2, [1]),
            "geography": lambda board: turn_signs(board, 3, [2]),
            "features": lambda board: turn_signs(board, 24, [5, 9, 13, 17, 21]),
            "planes": turn_planes,
            "vector": lambda board: board,
        }
        assert np.array_equal(turned[encoding](one), other)
        seen += not np.array_equal(one, other)
    assert seen > 5 or encoding == "vector"


def turn_signs(board: np.ndarray, each: int, which: list[int]) -> np.ndarray:
    out = board.reshape(-1, each).copy()
    out[:, which] *= -1
    return out.ravel()


def turn_planes(board: np.ndarray) -> np.ndarray:
    out = board.reshape(22, -1).copy()
    out[[11, 12]] = out[[12, 11]]
    out[13:17] *= -1
    return out.ravel()


@pytest.mark.parametrize("control", ["direct", "cursor"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_learners_see_is_finite_and_small(encoding, control):
    for players, farmers in ((2, True), (5, False)):
        game = game_of(
            encoding=encoding, control=control, players=players, farmers=farmers, steps=12
        )
        for table in itertools.islice(positions(game, 62, players), 0, None, 11):
            for seat in (0, players - 1):
                found = table.view(seat).features()
                assert np.isfinite(found).all()
                assert abs(found).max() <= 3
                assert abs(found[:FEATURES_HEAD]).max() <= 2
            assert (table.view(0)["deck"][table["drawn"] : 71] == HIDDEN).all()


def test_learners_do_not_see_the_order_of_what_is_to_come():
    game = game_of(encoding="planes", players=3)
    for table in itertools.islice(positions(game, 63), 0, None, 20):
        other = table.copy()
        drawn = table["drawn"]
        deck = other.cells[game.cell("deck")]
        deck[drawn:] = deck[drawn:][::-1].copy()
        assert np.array_equal(table.view(1).features(), other.view(1).features())
        assert table.view(1) == other.view(1)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_lies_outside_the_window_is_left_out(encoding):
    """A line of 72: the window shows the 25 in the middle, lists of tiles show all."""
    game = game_of(encoding=encoding)
    state = game.blank()
    state[BOX : BOX + 4] = OFFSET
    for place in line(1, 0):
        lay_tile(state, *place, CLOISTER_KIND, 0)
    state[game.cell("cursor")][:2] = OFFSET
    found = Table(game, state).view(0).features()
    assert np.isfinite(found).all()
    board = found[FEATURES_HEAD + 140 :]
    shown = {
        "vector": 0, "tiles": 72, "features": 72, "packed": WINDOW, "geography": WINDOW,
        "planes": WINDOW,
    }  # fmt: skip
    each = {"vector": 1, "tiles": 7, "features": 24, "packed": 2, "geography": 3, "planes": 1}
    first = board[: WINDOW * WINDOW] if encoding == "planes" else board.reshape(-1, each[encoding])
    assert np.count_nonzero(first if encoding == "planes" else first[:, 0]) == shown[encoding]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_it_is_seen_which_tile_waits_for_a_meeple(encoding):
    """The same board, the same seat to decide, another tile laid last: learners can tell."""
    one = dealt("EE", whole=True, encoding=encoding)
    one.play("n1 turned 2").play("no meeple").play("s1 turned 2")
    other = dealt("EE", whole=True, encoding=encoding)
    other.play("s1 turned 2").play("no meeple").play("n1 turned 2")
    assert board_of(one) == board_of(other)
    assert (one["phase"], other["phase"]) == (DECIDING, DECIDING)
    assert not np.array_equal(one.view().features(), other.view().features())
