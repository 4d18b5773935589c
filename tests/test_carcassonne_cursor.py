"""Carcassonne with a cursor: phases, the boundary, the limit, the same game as directly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kibitz.core.chance import Chance
from kibitz.core.table import Table
from kibitz.games.carcassonne.cells import (
    DECIDING,
    LAYING,
    OFFSET,
    POINTING,
)
from kibitz.games.carcassonne.rules import (
    CONFIRM,
    END,
    MEEPLE_AT,
    NO_MEEPLE,
    POINT_AT_HALF,
    ROTATE,
    TAKE,
)
from tests.carcassonne_boards import board_of, dealt, game_of, moves, supply
from tests.carcassonne_pictures import Place
from tests.conftest import positions

MOST_STEPS = 444

# --- the cursor ----------------------------------------------------------------------------------


def cursor_steps(table: Table, direct: Table) -> None:
    """Do with a cursor what was just laid in the direct game."""
    last = direct["laid"] - 1
    x, y = (int(direct[name][last]) - OFFSET for name in "xy")
    for by, plus, minus in ((x, 3, 2), (y, 1, 0)):
        for _ in range(abs(by)):
            table.play(plus if by > 0 else minus)
    for _ in range(int(direct["turn"][last])):
        table.play(ROTATE)
    table.play(CONFIRM)


SAME = (
    "kind", "turn", "x", "y", "meeple", "bank", "supply", "tile", "left", "aside", "grid", "seat",
)  # fmt: skip


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("farmers", [False, True])
def test_a_cursor_comes_to_the_same_game_as_direct_control(farmers, exact):
    """Turn by turn: walk from the start tile, rotate, confirm; then take, point, confirm or end."""
    pointing = {0: 0, 2: 1, 3: 2, 1: 3, 4: 4} | {
        5 + half: POINT_AT_HALF + half for half in range(8)
    }
    for deal in range(3):
        settings = {"farmers": farmers, "players": 2 + deal, "tiles": (72, 72, 45)[deal]}
        direct = game_of(**settings).deal(31, deal)
        table = game_of(**settings, control="cursor", exact=exact, steps=MOST_STEPS).deal(31, deal)
        assert table["deck"].tolist() == direct["deck"].tolist()
        rng = Chance(31, deal, 5)
        while not direct.over:
            laying = direct["phase"] == LAYING
            action = rng.choice(direct.legal)
            direct.play(action)
            if laying:
                cursor_steps(table, direct)
                if table["phase"] == DECIDING and direct["phase"] != DECIDING:
                    table.play(END)  # there was nowhere to set one
            elif action == NO_MEEPLE:
                table.play(END)
            else:
                for step in (TAKE, pointing[action - MEEPLE_AT], CONFIRM):
                    table.play(step)
            for name in SAME:
                assert np.array_equal(table[name], direct[name]), name
        assert table.over
        assert table.points == direct.points


def cursor(wanted: str, *walk: str, **settings: Any) -> Table:
    table = dealt(wanted, control="cursor", **settings)
    for move in walk:
        table.play(move)
    return table


def at(table: Table) -> Place:
    x, y = table["cursor"][:2].tolist()
    return x - OFFSET, y - OFFSET


def changed(before: Table, after: Table) -> set[str]:
    """Name the cells that differ."""
    return {
        name for name in (*before.game.layout.own, "seat", "plies")
        if not np.array_equal(before[name], after[name])
    }  # fmt: skip


def test_the_cursor_starts_on_the_start_tile_every_turn():
    table = cursor("BU", "south", "confirm")
    assert at(table) == (0, 1)
    table.play("end")
    assert at(table) == (0, 0)
    assert table["cursor"].tolist()[2:] == [0, 0]
    assert table["steps"] == 0


@pytest.mark.parametrize(
    ("way", "end"),
    [("north", (0, -1)), ("south", (0, 1)), ("west", (-1, 0)), ("east", (1, 0))],
)
def test_the_boundary_is_one_cell_beyond_the_outermost_tiles(way, end):
    table = cursor("BU", way)
    assert at(table) == end
    before = table.copy()
    table.play(way)
    assert at(table) == end
    assert changed(before, table) == {"plies", "steps"}


def test_the_boundary_is_that_of_all_tiles_not_of_the_row():
    """It is a rectangle, whose corners lie beside no tile."""
    table = cursor("UBE", "east", "turn", "confirm", "end")
    for _ in range(9):
        table.play("east")
    assert at(table) == (2, 0)
    for _ in range(9):
        table.play("south")
    assert at(table) == (2, 1)
    for _ in range(9):
        table.play("west")
    assert at(table) == (-1, 1)
    for _ in range(9):
        table.play("north")
    assert at(table) == (-1, -1)


def test_confirming_where_the_tile_does_not_fit_does_nothing_but_cost_a_step():
    for walk in ((), ("north",), ("east",), ("east", "south")):
        table = cursor("BU", *walk)
        before = table.copy()
        table.play("confirm")
        assert changed(before, table) == {"plies", "steps"}
        assert table["steps"] == before["steps"] + 1


def test_a_tile_is_laid_as_it_is_turned():
    table = cursor("EU", "north", "confirm")
    assert table["phase"] == LAYING  # its city points away from that of the start tile
    table.play("turn").play("turn").play("confirm")
    assert table["phase"] == DECIDING
    assert board_of(table)[0, -1] == ("E", 2)


def test_four_quarters_are_none_and_alike_ones_are_the_same():
    table = cursor("UU", "east", "turn", "turn", "turn", "confirm")
    assert board_of(table)[1, 0] == ("U", 1)
    table = cursor("EU", *["turn"] * 6, "north", "confirm")
    assert board_of(table)[0, -1] == ("E", 2)


def test_phases_follow_each_other():
    table = cursor("EUB", "north", "turn", "turn", "confirm")
    assert table["phase"] == DECIDING
    assert moves(table) == {"take a meeple", "end the turn"}
    table.play("take")
    assert table["phase"] == POINTING
    assert moves(table) == {"north", "south", "west", "east", "centre", "confirm"}
    table.play("south").play("confirm")
    assert (table["phase"], table.seat) == (LAYING, 1)
    assert table.points == [4, 0]
    assert moves(table) == {"north", "south", "west", "east", "turn", "confirm"}


def test_farmers_point_at_halves_too():
    table = cursor("EUB", "north", "turn", "turn", "confirm", "take", farmers=True)
    assert len(moves(table)) == 6 + 8
    table.play("ese").play("confirm")
    assert table["meeple"][1] == 1 + 4  # the first field
    assert table.seat == 1


@pytest.mark.parametrize("aim", [None, "north", "centre", "east"])
def test_a_meeple_that_cannot_stand_where_it_points_goes_back(aim):
    table = cursor("EUB", "north", "turn", "turn", "confirm", "take")
    if aim:
        table.play(aim)
    table.play("confirm")
    assert (table["phase"], table.seat) == (DECIDING, 0)
    assert table["cursor"][3] == 0
    assert supply(table) == [7, 7]
    table.play("take").play("south").play("confirm")
    assert table.points == [4, 0]


def test_a_meeple_cannot_be_pointed_at_an_occupied_feature():
    start = ("east", "turn", "confirm", "take", "east", "confirm")
    table = cursor("UUB", *start, "west", "turn", "confirm")
    assert (table["phase"], table.seat) == (DECIDING, 1)
    table.play("take").play("west").play("confirm")
    assert (table["phase"], table.seat) == (DECIDING, 1)
    assert supply(table) == [6, 7]
    table.play("end")
    assert table.seat == 0


def test_pointing_can_be_thought_over():
    table = cursor("EUB", "north", "turn", "turn", "confirm", "take", "north", "west", "south")
    assert table["cursor"][3] == 1 + 2
    assert table.play("confirm").points == [4, 0]


@pytest.mark.parametrize(
    ("walk", "place", "turn"),
    [
        (["north"] * 5, (0, -1), 2),  # there already, but two quarters away
        (["west", "south", "south", "west", "west"], (0, 1), 1),
        (["turn", "turn", "west", "south", "west"], (0, 1), 2),
    ],
)
def test_at_the_step_limit_the_tile_is_laid_at_the_nearest_cell(walk, place, turn):
    """By steps and turns from where the cursor is."""
    table = cursor("EUB", *walk[:-1], steps=5)
    assert (table["phase"], table.seat, table["laid"]) == (LAYING, 0, 1)
    table.play(walk[-1])
    assert table.seat == 1
    assert table["laid"] == 2
    assert (table["phase"], table["steps"]) == (LAYING, 0)
    assert supply(table) == [7, 7]
    (laid,) = set(board_of(table)) - {(0, 0)}
    assert (laid, board_of(table)[laid][1]) == (place, turn)


def test_at_the_step_limit_no_meeple_is_set():
    walk = ("north", "turn", "turn", "confirm")
    deciding = cursor("EUB", *walk, "take", "confirm", "take", steps=7)
    pointing = cursor("EUB", *walk, "take", "south", steps=6)
    for table in (deciding, pointing):
        assert (table["phase"], table.seat) == (LAYING, 1)
        assert supply(table) == [7, 7]
        assert table.points == [0, 0]
    last_moment = cursor("EUB", *walk, "take", "south", "confirm", steps=7)
    assert last_moment.points == [4, 0]
    assert last_moment.seat == 1


def test_a_game_of_nothing_but_wandering_ends():
    game = game_of(control="cursor", steps=5, tiles=20)
    table = game.deal(3)
    while not table.over:
        table.play("turn")
    assert table.plies <= game.bound("most_plies")
    assert table["laid"] + table["aside"] == 20
    assert table.points == [0, 0]


def test_exact_leaves_out_steps_over_the_boundary_and_what_does_not_fit():
    table = cursor("EU", exact=True)
    assert moves(table) == {"north", "south", "west", "east", "turn"}
    assert moves(table.play("north")) == {"south", "west", "east", "turn"}
    assert "confirm" in moves(table.play("turn").play("turn"))
    assert "turn" not in moves(cursor("BU", exact=True))


def test_exact_leaves_out_where_no_meeple_can_stand():
    table = cursor("EU", "north", "turn", "turn", "confirm", "take", exact=True)
    assert moves(table) == {"south"}
    assert moves(table.play("south")) == {"confirm"}


def test_exact_skips_the_choice_where_there_is_none():
    start = ("east", "turn", "confirm", "take", "east", "confirm")
    table = cursor("UUB", *start, "west", "turn", "confirm", exact=True)
    assert (table["phase"], table.seat) == (LAYING, 0)


@pytest.mark.parametrize("farmers", [False, True])
def test_exact_leaves_out_what_does_nothing_and_nothing_else(farmers):
    """What it offers changes something; what it leaves out changes nothing or never pays."""
    settings = {"control": "cursor", "farmers": farmers, "steps": 40, "tiles": 30, "players": 3}
    exact, plain = game_of(**settings, exact=True), game_of(**settings)
    rng = Chance(41)
    first = plain.layout.first_own
    left_out = 0
    for table in positions(exact, 41):
        if table.over or table["steps"] > 35 or rng.below(8):
            continue
        legal = table.legal
        assert legal
        for action in range(exact.bound("actions")):
            if action in legal:
                after = table.copy().play(action)
                assert changed(table, after) - {"plies", "steps"}
                continue
            state = plain.blank()
            state[0] = table.seat
            state[first:] = table.cells[first:]
            other = Table(plain, state)
            if action not in other.legal:
                continue  # no action of this phase at all
            left_out += 1
            after = changed(other, other.copy().play(action)) - {"plies", "steps"}
            if table["phase"] == LAYING:
                assert after <= ({"cursor"} if action == ROTATE else set())
            else:
                assert after <= {"cursor", "phase"}
    assert left_out > 100
