"""What learners of Carcassonne see of each button of a cursor."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from kibitz.core.chance import Chance
from kibitz.core.game import Game
from kibitz.core.table import Table, View
from kibitz.games.carcassonne import buttons
from kibitz.games.carcassonne.agents import weigh_meeples, weigh_placements
from kibitz.games.carcassonne.board import place_of
from kibitz.games.carcassonne.cells import (
    DECIDING,
    LAYING,
    MEEPLE_AT,
    NO_MEEPLE,
    OFFSET,
    PLACES,
    POINTING,
)
from kibitz.games.carcassonne.encodings import WINDOW
from kibitz.games.carcassonne.meeples import segment_at
from kibitz.games.carcassonne.prospects import ALL, EXPECTED
from kibitz.games.carcassonne.rules import CONFIRM, END, POINT_AT_HALF, ROTATE, TAKE
from kibitz.games.carcassonne.stack import list_placements
from kibitz.games.carcassonne.tiles import TURNS
from tests.carcassonne_boards import board_of, dealt, game_of
from tests.conftest import positions
from tests.lengths import first_always
from tests.test_carcassonne_prospects import rows_of

IDLE, FITS, OTHERWISE, NEAREST, NEARER, STEPS, CHOICE = 23, 24, 25, 26, 27, 28, 29
PRESSES, BEST = 109, 110
COLUMNS = 111
STEP_TO = ((0, -1), (0, 1), (-1, 0), (1, 0))  # north, south, west, east
AIMS = (0, 2, 3, 1, 4, None, *range(5, 13))  # of the buttons that point: places of a meeple
KINDS_OF_GAME = [
    {"players": 2}, {"players": 2, "exact": True, "farmers": True},
    {"players": 3, "exact": True}, {"players": 3, "farmers": True},
]  # fmt: skip


def cursor_game(**settings: Any) -> Game:
    return game_of(control="cursor", **{"tiles": 30, **settings})


def some_positions(game: Game, seed: int, every: int) -> Any:
    """Go through some positions of a random game, and all where a meeple points."""
    for at, table in enumerate(positions(game, seed)):
        if not table.over and (at % every == 0 or table["phase"] == POINTING):
            yield table


def placements_of(table: Table) -> list[tuple[int, int, int, int]]:
    """Give every way to lay the tile: the action of direct control, x, y and rotation."""
    found = np.empty(1000, np.int32)
    n = list_placements(table.cells, found)
    return [(int(a), *place_of(table.cells, int(a) // 4), int(a) % 4) for a in found[:n]]


def first_best(values: np.ndarray) -> int:
    """Give the first of the best; sums that differ in their last bits are the same."""
    return int(np.flatnonzero(values >= values.max() - 1e-9)[0])


def best_placement(table: Table) -> int:
    """Give which of the placements is best, as the settler's evaluation has it."""
    actions = np.array([action for action, *_ in placements_of(table)], np.int32)
    values = np.empty(len(actions))
    weigh_placements(table.view().cells, actions, len(actions), EXPECTED, values)
    return first_best(values)


def directly(table: Table) -> View:
    """See the same table as if control were direct."""
    game = table.game.having(control="direct", exact=False)
    cells = table.view().cells.copy()
    option = game.layout.option("control")
    cells[option] = 0
    return View(game, cells)


def rows_directly(table: Table, actions: list[int]) -> np.ndarray:
    """Give the rows of direct control, without the cell."""
    view = directly(table)
    rows = np.empty((len(actions), ALL), np.float32)
    view.game.rules.describe(view.cells, np.array(actions, np.int32), len(actions), rows)
    return rows[:, 1:]


def cursor_of(table: Table) -> tuple[int, int, int]:
    x, y, turn, _ = (int(cell) for cell in table["cursor"])
    return x - OFFSET, y - OFFSET, turn


def after_button(table: Table, action: int) -> Table:
    """Play a button on a copy with other tiles to come, as if there were no limit of steps."""
    world = table.view().redeal(Chance(action, table.plies))
    world.cells[world.game.cell("steps")] = 0
    return world.play(action)


# --- buttons -------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", KINDS_OF_GAME)
def test_idle_is_what_playing_the_button_shows(settings):
    """Nothing changed; or the meeple went back, or would if it were confirmed."""
    game = cursor_game(**settings)
    seen: Counter[tuple[int, bool]] = Counter()
    for table in some_positions(game, 3, every=5):
        turns = int(TURNS[table["tile"] - 1]) if table["tile"] > 0 else 1
        for action, row in zip(table.legal, rows_of(table.view()), strict=True):
            after, phase = after_button(table, action), table["phase"]
            if phase == LAYING:
                (*was, turn), (*now, turned) = cursor_of(table), cursor_of(after)
                same = was == now and turn % turns == turned % turns
                idle = same and after["laid"] == table["laid"]
            elif phase == DECIDING:
                idle = False
            else:
                idle = list(after["cursor"]) == list(table["cursor"])
                if action != CONFIRM:
                    after = after_button(after, CONFIRM)
                idle |= after["phase"] == DECIDING and after["laid"] == table["laid"]
            assert row[IDLE] == idle
            seen[phase, idle] += 1
    assert {phase for phase, idle in seen if not idle} == {LAYING, DECIDING, POINTING}
    assert any(idle for _, idle in seen) != settings.get("exact", False)


@pytest.mark.parametrize("settings", KINDS_OF_GAME)
def test_the_first_columns_say_what_a_button_is(settings):
    game = cursor_game(**settings)
    for table in some_positions(game, 4, every=7):
        board = board_of(table)
        middles = [(min(p[i] for p in board) + max(p[i] for p in board)) // 2 for i in (0, 1)]
        first = {LAYING: 1, DECIDING: 7, POINTING: 9}[table["phase"]]
        for action, row in zip(table.legal, rows_of(table.view()), strict=True):
            expected = np.zeros(22)
            expected[first + action - 1] = 1
            assert row[1:23].tolist() == expected.tolist()
            assert row[STEPS] == pytest.approx(table["steps"] / 100)
            x, y, _ = cursor_of(table)
            if table["phase"] == LAYING and action < ROTATE:
                x, y, _ = cursor_of(after_button(table, action))
            x, y = x - middles[0], y - middles[1]
            outside = max(abs(x), abs(y)) > WINDOW // 2
            cell = -1 if outside else (y + WINDOW // 2) * WINDOW + x + WINDOW // 2
            assert row[0] == cell


# --- laying --------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", first_always(KINDS_OF_GAME))
@pytest.mark.long
def test_a_button_serves_the_best_placement_that_it_brings_nearer(settings):
    game = cursor_game(**settings)
    served_at_all = 0
    for table in some_positions(game, 5, every=9):
        if table["phase"] != LAYING:
            continue
        placements = placements_of(table)
        actions = np.array([action for action, *_ in placements], np.int32)
        values = np.empty(len(actions))
        weigh_placements(table.view().cells, actions, len(actions), EXPECTED, values)
        described = rows_directly(table, actions.tolist())
        turns = int(TURNS[table["tile"] - 1])

        def presses(x: int, y: int, turn: int, all_=placements, turns=turns) -> np.ndarray:
            """Turn until it looks as wanted, and walk."""
            return np.array(
                [
                    abs(to_x - x) + abs(to_y - y)
                    + next(more for more in range(4) if (turn + more) % turns == to_turn)
                    for _, to_x, to_y, to_turn in all_
                ]
            )  # fmt: skip

        x, y, turn = cursor_of(table)
        before = presses(x, y, turn)
        for action, row in zip(table.legal, rows_of(table.view()), strict=True):
            to_x, to_y, to_turn = x, y, turn
            if action == ROTATE:
                to_turn += 1
            elif action < ROTATE and not row[IDLE]:
                to_x, to_y = x + STEP_TO[action][0], y + STEP_TO[action][1]
            after = presses(to_x, to_y, to_turn)
            at = {rotation for _, a, b, rotation in placements if (a, b) == (to_x, to_y)}
            assert row[FITS] == (to_turn % turns in at)
            assert row[OTHERWISE] == bool(at - {to_turn % turns})
            assert row[NEAREST] == pytest.approx(after.min() / 20)
            assert row[NEARER] == (after.min() < before.min())
            near = before == 0 if action == CONFIRM else after == before - 1
            if not near.any():
                assert not row[CHOICE:].any()
                continue
            served = first_best(np.where(near, values, -np.inf))
            assert np.array_equal(row[CHOICE:PRESSES], described[served])
            assert row[PRESSES] == pytest.approx(after[served] / 20)
            assert row[BEST] == (served == first_best(values))
            served_at_all += 1
    assert served_at_all > 40


@pytest.mark.parametrize("settings", KINDS_OF_GAME)
def test_following_the_best_leads_to_the_best_placement_and_meeple(settings):
    """No press is lost; then the meeple that can be expected to bring most, or none, is chosen."""
    game = cursor_game(**settings)
    walked = meeples = 0
    for deal in range(3):
        table, rng = game.deal(6, deal), Chance(6, deal)
        while not table.over:
            for _ in range(rng.below(4)):  # begin anywhere
                table.play(rng.choice([action for action in table.legal if action != CONFIRM]))
            _, x, y, turn = placements_of(table)[best_placement(table)]
            at_x, at_y, turned = cursor_of(table)
            turns = int(TURNS[table["tile"] - 1])
            bound = abs(x - at_x) + abs(y - at_y) + (turn - turned) % turns
            laid, pressed = table["laid"], 0
            while table["laid"] == laid:
                flagged = [
                    action
                    for action, row in zip(table.legal, rows_of(table.view()), strict=True)
                    if row[BEST]
                ]
                assert flagged, "some button always leads on"
                assert (CONFIRM in flagged) == (pressed == bound)
                pressed += 1
                table.play(rng.choice(flagged))
            assert pressed == bound + 1
            assert (int(table["x"][laid]), int(table["y"][laid])) == (x + OFFSET, y + OFFSET)
            assert table["turn"][laid] == turn
            walked += pressed
            if table.over or table["phase"] == LAYING:
                continue
            values, before = np.empty(PLACES + 1), table.cells.copy()
            weigh_meeples(table.view().cells, EXPECTED, values)
            seat, chosen = table.seat, PLACES
            for _ in range(3):
                if table.seat != seat or table["phase"] == LAYING:
                    break
                rows = dict(zip(table.legal, rows_of(table.view()), strict=True))
                action = rng.choice([action for action, row in rows.items() if row[BEST]])
                if table["phase"] == POINTING and action == CONFIRM:
                    chosen = int(table["cursor"][3]) - 1
                table.play(action)
            assert table.over or table["phase"] == LAYING
            meeples += chosen < PLACES
            if chosen < PLACES:  # only the first place of each segment has been weighed
                segments = [segment_at(before, laid, place) for place in range(PLACES)]
                chosen = segments.index(segments[chosen])
            assert values[chosen] >= values.max() - 1e-9
    assert walked > 200
    assert meeples > 20


# --- meeples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", KINDS_OF_GAME)
def test_buttons_for_meeples_have_the_rows_of_direct_control(settings):
    game = cursor_game(**settings)
    seen: Counter[tuple[int, float]] = Counter()
    for table in some_positions(game, 8, every=3):
        if table["phase"] == LAYING:
            continue
        values = np.empty(PLACES + 1)
        weigh_meeples(table.view().cells, EXPECTED, values)
        laid = table["laid"] - 1
        segments = [segment_at(table.cells, laid, place) for place in range(PLACES)]
        worth = [values[segments.index(segment)] if segment >= 0 else -1e9 for segment in segments]
        best = first_best(values[:PLACES])
        aim = int(table["cursor"][3]) - 1
        arrived = aim >= 0 and worth[aim] >= worth[best] - 1e-9
        for action, row in zip(table.legal, rows_of(table.view()), strict=True):
            assert not row[FITS:STEPS].any()
            if table["phase"] == DECIDING and action == END:
                wanted, presses = rows_directly(table, [NO_MEEPLE])[0], 0
                is_best = values[best] <= values[PLACES] + 1e-9
            elif table["phase"] == DECIDING:
                assert action == TAKE
                wanted, presses = rows_at(table, best), 2
                is_best = values[best] > values[PLACES] + 1e-9
            else:
                place = aim if action == CONFIRM else AIMS[action]
                wanted, presses = rows_at(table, place), int(action != CONFIRM)
                is_best = arrived if action == CONFIRM else worth[place] >= worth[best] - 1e-9
                is_best = is_best and arrived == (action == CONFIRM)
            if wanted is None:
                assert not row[CHOICE:].any()
                continue
            assert np.array_equal(row[CHOICE:PRESSES], wanted)
            assert row[PRESSES] == pytest.approx(presses / 20)
            assert row[BEST] == is_best
            seen[table["phase"], row[BEST]] += 1
    assert len(seen) == 4, "the best and others, deciding and pointing"


def rows_at(table: Table, place: int) -> np.ndarray | None:
    """Give the row of a meeple at a place, if playing shows that one can stand there."""
    if place < 0:
        return None
    world = table.view().redeal(Chance(place))
    world.cells[world.game.cell("steps")] = 0
    world.cells[world.game.cell("phase")] = POINTING
    world.cells[world.game.cell("cursor")][3] = 1 + place
    world.game.rules.play(world.cells, CONFIRM)
    if world["phase"] == DECIDING and world["laid"] == table["laid"]:
        return None
    return rows_directly(table, [MEEPLE_AT + place])[0]


# --- bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [*KINDS_OF_GAME, {"players": 5, "tiles": 72, "steps": 5}])
def test_rows_are_finite_and_small(settings):
    game = cursor_game(**settings)
    assert game.bound("prospects") == buttons.BUTTON_COLUMNS == COLUMNS
    for table in some_positions(game, 1, every=6):
        rows = rows_of(table.view())  # and nothing beside them is written
        assert np.isfinite(rows).all()
        assert -1 <= rows[:, 0].min() <= rows[:, 0].max() < WINDOW**2
        assert abs(rows[:, 1:]).max() <= 4


@pytest.mark.parametrize("settings", KINDS_OF_GAME[1:3])
def test_rows_depend_on_the_view_alone(settings):
    game = cursor_game(**settings)
    for table in some_positions(game, 9, every=25):
        view = table.view()
        found = rows_of(view)
        for seed in range(2):
            assert np.array_equal(rows_of(view.redeal(Chance(seed)).view()), found)
        assert np.array_equal(rows_of(View(game, table.cells.copy())), found)


def test_some_legal_buttons_have_the_rows_that_they_have_among_all():
    game = cursor_game(farmers=True)
    for table in some_positions(game, 2, every=40):
        legal, rows = np.array(table.legal[::-2], np.int32), rows_of(table.view())
        some = np.zeros((len(legal), COLUMNS), np.float32)
        game.rules.describe(table.view().cells, legal, len(legal), some)
        assert np.array_equal(some, rows[::-2])


def test_when_the_game_is_over_there_are_no_rows():
    *_, table = positions(cursor_game(tiles=4), 1)
    assert table.over
    assert len(rows_of(table.view())) == 0


def test_a_boundary_a_misfit_and_a_turn_at_the_start():
    """The start tile has a city to the north and a road across; a cloister is drawn."""
    table = dealt("B", whole=True, control="cursor")
    north, south, west, _, turn, confirm = rows_of(table.view())
    assert [row[IDLE] for row in (north, south, turn, confirm)] == [0, 0, 1, 1]
    assert (south[FITS], south[NEAREST], south[NEARER], south[BEST]) == (1, 0, 1, 1)
    assert (north[FITS], north[NEARER], north[BEST]) == (0, 0, 0)
    assert not west[CHOICE:].any()
    table.play("south")
    rows = rows_of(table.view())
    assert (rows[1][IDLE], rows[5][IDLE], rows[5][BEST]) == (1, 0, 1)


@pytest.mark.parametrize("farmers", [False, True])
def test_the_last_buttons_are_for_farmers(farmers):
    game = cursor_game(farmers=farmers)
    used = np.zeros(22, bool)
    for table in some_positions(game, 5, every=3):
        used |= rows_of(table.view())[:, 1:23].any(axis=0)
    assert used.tolist() == [True] * (8 + POINT_AT_HALF) + [farmers] * 8


def test_the_columns_are_as_many_as_are_listed():
    """The counts in the docstring add up."""
    lines = (buttons.__doc__ or "").splitlines()
    cells = [line[23:29].strip() for line in lines if line[:2] == "  " < line[2:]]
    assert sum(int(cell) for cell in cells if cell and cell[0].isdigit()) == COLUMNS
