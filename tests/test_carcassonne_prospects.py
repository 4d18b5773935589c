"""What learners of Carcassonne see of each option, and what would come of it."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.game import Game
from kibitz.core.table import Table, View
from kibitz.games.carcassonne import evaluation, prospects
from kibitz.games.carcassonne.agents import weigh_placements
from kibitz.games.carcassonne.board import lay_tile, place_of
from kibitz.games.carcassonne.cells import (
    BITS,
    DECIDING,
    LAYING,
    MEEPLE_AT,
    MEEPLES,
    NO_MEEPLE,
    OFFSET,
)
from kibitz.games.carcassonne.encodings import WINDOW
from kibitz.games.carcassonne.prospects import ALL, CHANGES, EXPECTED, PLAIN, UNITS
from tests import carcassonne_pictures as pictures
from tests.carcassonne_boards import board_of, game_of, played, random_game
from tests.carcassonne_pictures import Place
from tests.conftest import positions
from tests.lengths import first_always
from tests.test_carcassonne_sight import expected_chance, fitting

MARK = 7.5  # what nobody writes
KINDS_OF_GAME = [
    {"players": players, "farmers": farmers} for players in (2, 3, 5) for farmers in (False, True)
]
CHARS = "rcm."  # of pictures, in the order of the columns


def rows_of(view: View, columns: int | None = None) -> np.ndarray:
    """Describe all legal actions; what lies beside the rows stays as it was."""
    game, legal = view.game, np.array(view.legal, np.int32)
    columns = game.bound("prospects") if columns is None else columns
    rows = np.full((len(legal) + 2, columns), MARK, np.float32)
    before = view.cells.copy()
    game.rules.describe(view.cells, legal, len(legal), rows)
    assert np.array_equal(view.cells, before)
    assert (rows[len(legal) :] == MARK).all()
    return rows[: len(legal)]


def by_settler(game: Game, seed: int) -> Any:
    """Go through the positions of a game among settlers."""
    table, agent = game.deal(seed), kibitz.agent("settler", game)
    while not table.over:
        yield table
        table.play(agent.choose(table.view()))


def where(table: Table, action: int) -> tuple[Place, int]:
    """Give the place and the rotation of the tile that an action is about."""
    if table["phase"] == LAYING:
        return place_of(table.cells, action // 4), action % 4
    last = table["laid"] - 1
    x, y = (int(table[name][last]) - OFFSET for name in "xy")
    return (x, y), int(table["turn"][last])


# --- what an option is ---------------------------------------------------------------------------


@pytest.mark.parametrize("settings", KINDS_OF_GAME[:4])
def test_the_plain_columns_say_what_an_option_is(settings):
    game = game_of(**settings, prospects=False)
    for table in itertools.islice(positions(game, 3), 0, None, 3):
        if table.over:
            continue
        board = board_of(table)
        middles = [(min(p[i] for p in board) + max(p[i] for p in board)) // 2 for i in (0, 1)]
        for action, row in zip(table.legal, rows_of(table.view()), strict=True):
            place, turn = where(table, action)
            x, y = (place[i] - middles[i] for i in (0, 1))
            outside = max(abs(x), abs(y)) > WINDOW // 2
            expected = np.zeros(PLAIN)
            expected[0] = -1 if outside else (y + WINDOW // 2) * WINDOW + x + WINDOW // 2
            expected[1] = table["phase"] == LAYING
            expected[2 + turn] = 1
            expected[6:8] = x / 12, y / 12
            expected[8] = sum(beside in board for beside in pictures.around(place)) / 4
            expected[9] = sum(beside in board for beside in pictures.eight_around(place)) / 8
            if action >= MEEPLE_AT:
                expected[10 + action - MEEPLE_AT] = 1
            if MEEPLE_AT <= action < NO_MEEPLE:
                pixel = pictures.PIXELS[action - MEEPLE_AT]
                expected[24 + CHARS.index(pictures.picture(board[place])[pixel])] = 1
            assert row == pytest.approx(expected)


def test_the_cell_is_that_of_the_planes():
    game = game_of(encoding="planes", players=3)
    at = game.planes(game.settings)
    assert at is not None
    assert (at.count, at.height, at.width) == (22, WINDOW, WINDOW)
    assert at.first + at.count * at.height * at.width == game.bound("features")
    seen = set()
    for table in itertools.islice(positions(game, 5), 0, None, 5):
        if table.over:
            continue
        board = table.view().features()[at.first :].reshape(at.count, -1)
        for row in rows_of(table.view()):
            cell, laying = int(row[0]), bool(row[1])
            seen.add(laying)
            if laying:
                assert board[17 + row[2:6].argmax(), cell] == 1  # the drawn tile fits
                assert board[0, cell] == 0
            else:
                assert board[21, cell] == board[0, cell] == 1  # the cursor is on the last tile
    assert seen == {True, False}
    assert game.having(encoding="features").planes(game.having(encoding="tiles").settings) is None


def test_a_cell_outside_the_window_is_none():
    turns = [f"U: {side}{i} turned 1" for i in range(1, 4) for side in "we"]
    table = played(*turns, "U", whole=True)
    assert min(row[0] for row in rows_of(table.view())) >= 0
    table.cells[table.game.cell("box")][1] += 60  # as if tiles lay far to the east
    assert {row[0] for row in rows_of(table.view())} == {-1}


# --- what comes of it ----------------------------------------------------------------------------


@pytest.mark.parametrize("settings", KINDS_OF_GAME)
def test_points_and_meeples_are_those_of_playing_on(settings):
    game = game_of(**settings)
    seats, paid = game.players, 0
    for table in itertools.chain(by_settler(game, 7), positions(game, 7)):
        if table.over or table.plies % 3:
            continue
        seat, rng = table.seat, Chance(table.plies)
        rivals = [other for other in range(seats) if other != seat]
        for action, row in zip(table.legal, rows_of(table.view()), strict=True):
            after = table.view().redeal(rng)
            after.play(action)
            if action < MEEPLE_AT and after.seat == seat and after["phase"] == DECIDING:
                after.play(NO_MEEPLE)
            if after.over:  # all that was pending is paid too
                continue
            spent = np.arange(seats) * 0
            spent[seat] = MEEPLE_AT <= action < NO_MEEPLE
            gained = (after["bank"] - table["bank"])[:seats]
            back = (after["supply"] - table["supply"])[:seats] + spent
            paid += gained[seat] > 0
            found = row[PLAIN : PLAIN + CHANGES] / UNITS
            assert found[0] == pytest.approx(gained[seat], abs=1e-4)
            assert found[1] == pytest.approx(gained[rivals].mean(), abs=1e-4)
            assert found[16] == pytest.approx(back[seat], abs=1e-4)
            assert found[17] == pytest.approx(back[rivals].mean(), abs=1e-4)
            assert row[57] * MEEPLES == pytest.approx(after["supply"][seat], abs=1e-4)
            assert row[58] * MEEPLES == pytest.approx(after["supply"][rivals].mean(), abs=1e-4)
            assert row[59] == pytest.approx(table["left"].sum() / 71)
    assert paid > 10


def worth_of(table: Table, seen: Any, region: pictures.Region) -> tuple[float, float, float, int]:
    """Give from pictures what a region is worth now, its hope, its chance, and open sides."""
    board = board_of(table)
    regions, _ = seen
    now = pictures.worth(board, regions, region, ended=True)
    if region.char == ".":
        return now, 0, 0, 1
    missing = len(region.open)
    if region.char == "m":
        (place,) = region.tiles
        missing = sum(beside not in board for beside in pictures.eight_around(place))
    if missing == 0:
        return now, 0, 1, 0
    whole = len(region.tiles) + missing
    if region.char == "m":
        whole = 9
    elif region.char == "c":
        whole = 2 * (whole + sum(board[place][0] in pictures.SHIELDED for place in region.tiles))
    draws = -(-int(table["left"].sum()) // table.game.players)
    chance = expected_chance(table, region, draws) if draws else 0.0
    return now, chance * (whole - now), chance, missing


def harmonic(n: int) -> float:
    return sum(1 / k for k in range(1, n + 1))


def sums_of(table: Table, seat: int, meeples: list, spent: int = 0) -> np.ndarray:
    """Work out from pictures what the changes are differences of, nothing being paid yet."""
    seats = table.game.players
    late = min(1, table["left"].sum() / 20)
    board = board_of(table)
    seen = pictures.joined(board)
    on: dict[int, Counter[int]] = {}
    for owner, place, spot in meeples:
        on.setdefault(seen[1](place, pictures.PIXELS[spot]), Counter())[owner] += 1
    sums = np.zeros(CHANGES)
    free = [int(table["supply"][other]) - spent * (other == seat) for other in range(seats)]
    for number, counts in on.items():
        region = seen[0][number]
        now, hope, chance, missing = worth_of(table, seen, region)
        for other, count in counts.items():
            rival = int(other != seat)
            share = 1 / (seats - 1) if rival else 1
            leads = count == max(counts.values())
            if missing == 0:
                sums[0 + rival] += share * now * leads
                sums[16 + rival] += share * count
                free[other] += count
            elif region.char == ".":
                sums[14 + rival] += share * now * leads
            else:
                at = 2 + 4 * CHARS.index(region.char) + 2 * rival
                sums[at : at + 2] += share * leads * np.array([now, hope])
                sums[18 + rival] += share * late * chance * count
                sums[22 + rival] += share * count * (chance == 0)
                sums[24 + rival] += share * leads * missing
        best = max((count for other, count in counts.items() if other != seat), default=0)
        if best and counts[seat]:
            sums[26 + (best >= counts[seat]) + (best > counts[seat])] += 1
    for other in range(seats):
        rival = int(other != seat)
        sums[20 + rival] += late * harmonic(free[other]) / (seats - 1 if rival else 1)
    return sums


def laid(table: Table, action: int) -> Table:
    """Lay the tile, and let nothing else happen."""
    cells = table.cells.copy()
    place, turn = where(table, action)
    lay_tile(cells, *place, int(table["tile"]) - 1, turn)
    return Table(table.game, cells)


def fewest(table: Table, place: Place) -> float:
    """Count the tiles to come that fit in the empty cell beside a tile where the fewest do."""
    board = board_of(table)
    left = {letter: n for letter, n in zip(pictures.HOW_MANY, table["left"], strict=True) if n}
    empty = [beside for beside in pictures.around(place) if beside not in board]
    counts = [sum(n for k, n in left.items() if fitting(board, cell, k)) for cell in empty]
    return min([10, *counts]) / 10


def claims_of(table: Table, place: Place, spots: list[int]) -> np.ndarray:
    """Work out from pictures what a meeple at the best of some spots could have, by kind."""
    claims = np.zeros(16)
    seen = pictures.joined(board_of(table))
    for spot in spots:
        region = seen[0][seen[1](place, pictures.PIXELS[spot])]
        now, hope, chance, missing = worth_of(table, seen, region)
        at = 4 * CHARS.index(region.char)
        if now + hope > (claims[at] + claims[at + 1]) * 10:
            claims[at : at + 4] = now / 10, hope / 10, chance, missing == 0
    return claims[:13]


@pytest.mark.parametrize("settings", KINDS_OF_GAME[:4])
def test_changes_and_claims_are_what_pictures_show(settings):
    """Worth, hopes, chances and majorities before and after, from pixels and lists of meeples."""
    game = game_of(**settings)
    rng, changed = Chance(1), np.zeros(CHANGES, bool)
    for deal in range(5):
        for at, (state, all_set) in enumerate(random_game(game, 17, deal, tight=True)):
            table = Table(game, state.copy())
            if table.over:
                continue
            options = list(zip(table.legal, rows_of(table.view()), strict=True))
            majorities = [option for option in options if option[1][PLAIN + 26 : PLAIN + 29].any()]
            if at % 8 != 5 and not majorities:
                continue
            seat, view = table.seat, table.view()
            places = list(board_of(table))
            standing = [
                (owner, places[tile], spot)
                for owner, tile, spot in all_set
                if table["meeple"][tile] > 0
            ]
            before = sums_of(table, seat, standing)
            if table["phase"] == DECIDING:
                before[[0, 1, 16, 17]] = 0
                free = [harmonic(int(n)) for n in table["supply"][: game.players]]
                late = min(1, table["left"].sum() / 20)
                before[20] = late * free.pop(seat)
                before[21] = late * np.mean(free)
            rng.shuffle(options)
            for action, row in [*options[:: 1 + len(options) // 3], *majorities[:2]]:
                place, _ = where(table, action)
                if action < MEEPLE_AT:
                    after, meeples, spent, spots = laid(table, action), standing, 0, []
                    played_on = view.redeal(rng).play(action)
                    if played_on.seat == seat and played_on["phase"] == DECIDING:
                        spots = [a - MEEPLE_AT for a in played_on.legal if a != NO_MEEPLE]
                    assert row[60] == pytest.approx(fitting_at(table, place))
                else:
                    after, spent = table, int(action != NO_MEEPLE)
                    spots = [action - MEEPLE_AT] * spent
                    meeples = [*standing, *((seat, place, spot) for spot in spots)]
                found = row[PLAIN : PLAIN + CHANGES]
                expected = (sums_of(after, seat, meeples, spent) - before) * UNITS
                assert found == pytest.approx(expected, abs=1e-5)
                assert row[61] == pytest.approx(fewest(after, place))
                assert row[62:75] == pytest.approx(claims_of(after, place, spots), abs=1e-5)
                changed |= abs(expected) > 1e-9
    fields = np.isin(np.arange(CHANGES), [14, 15])
    assert changed[~fields].sum() >= CHANGES - 5  # of the rest, some are rare
    assert changed[26:29].any()
    assert changed[fields].all() == settings["farmers"]


def fitting_at(table: Table, place: Place) -> float:
    """Count the tiles to come that fit in an empty cell."""
    board = board_of(table)
    left = zip(pictures.HOW_MANY, table["left"], strict=True)
    return min(10, sum(int(n) for k, n in left if n and fitting(board, place, k))) / 10


def test_finishing_a_city_with_a_meeple_pays_and_brings_it_back():
    table = played("E", "V", whole=True)
    table.play("n1 turned 2")
    rows = {table.say(a): row for a, row in zip(table.legal, rows_of(table.view()), strict=True)}
    city, none = rows["city south"], rows["no meeple"]
    assert city[PLAIN] == pytest.approx(0.4)
    assert city[PLAIN + 16] == pytest.approx(1 / 3)
    assert city[57] == 1
    assert city[66:70].tolist() == pytest.approx([0.4, 0, 1, 1])
    assert city[75:77].tolist() == pytest.approx([0.4, 0.4])  # 4 points better than no meeple
    assert not none[PLAIN : PLAIN + CHANGES].any()
    assert not none[62:].any()


@pytest.mark.parametrize(
    ("mine", "theirs", "change"), [(2, 1, 26), (1, 1, 27), (1, 2, 28), (2, 0, None), (0, 2, None)]
)
def test_majorities_count_where_both_stand(mine, theirs, change):
    """Leading over rivals is rare among random players."""
    sums = np.zeros(prospects.KEPT)
    cells = game_of().deal(1).cells
    prospects.add_feature(cells, 0, mine + (theirs << BITS), 0, 0.5, 0, 1.0, sums)
    assert sums[26:29].tolist() == [float(at == change) for at in (26, 27, 28)]


# --- the settler ---------------------------------------------------------------------------------


def coefficients(weights: np.ndarray, best: bool) -> np.ndarray:
    """Give the linear function of a row that is the settler's value, up to a constant."""
    w = dict(zip(evaluation.WEIGHTS, weights.tolist(), strict=True))
    mine = np.zeros((CHANGES + 1) // 2 * 2)
    mine[0] = 1
    for at, kind in ((2, "road"), (6, "city"), (10, "cloister")):
        mine[at], mine[at + 1] = w[f"{kind} now"], w[f"{kind} hope"]
        mine[at + 2 : at + 4] = -w["rivals"] * mine[at : at + 2]
    mine[1] = -w["rivals"]
    mine[14], mine[15] = w["field now"], -w["rivals"] * w["field now"]
    for at, name in ((18, "meeples back"), (20, "free meeples")):
        mine[at], mine[at + 1] = w[name], -w["rivals' meeples"] * w[name]
    out = np.zeros(ALL)
    out[PLAIN : PLAIN + CHANGES] = mine[:CHANGES] / UNITS
    out[75] = 10 if best else 0
    return out


@pytest.mark.parametrize("settings", first_always(KINDS_OF_GAME))
def test_a_linear_function_of_the_rows_is_the_settler(settings):
    """Its own choice of a meeple; with the weights in EXPECTED, also of where the tile goes."""
    game = game_of(**settings)
    agent = kibitz.agent("settler", game)
    plain = game.evaluation.having(EXPECTED)(game)
    meeple = coefficients(agent.weights, best=False)
    laying = coefficients(EXPECTED, best=True)
    seen: Counter[bool] = Counter()
    for table in itertools.chain(by_settler(game, 2), positions(game, 2)):
        if table.over:
            continue
        view, legal = table.view(), np.array(table.legal, np.int32)
        is_laying = table["phase"] == LAYING
        rows = rows_of(view).astype(float)
        if is_laying:
            values = np.empty(len(legal))
            weigh_placements(view.cells, legal, len(legal), EXPECTED, values)
            found = rows @ laying
        else:
            values = np.array(agent.values(view, table.legal))
            found = rows @ meeple
            chosen = table.legal.index(agent.choose(view))
            assert found[chosen] == pytest.approx(found.max(), abs=1e-4)
            gains, expected = rows[:, 75] * 10, np.array(plain.values(view, table.legal))
            assert gains - gains[-1] == pytest.approx(expected - expected[-1], abs=1e-3)
        assert found - found[0] == pytest.approx(values - values[0], abs=1e-4)
        seen[is_laying] += len(legal) > 1
    assert min(seen.values()) > 20


# --- bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [*KINDS_OF_GAME, {"players": 4, "tiles": 9}])
def test_what_learners_see_of_options_is_finite_and_small(settings):
    game = game_of(**settings)
    assert game.bound("prospects") == ALL
    large = total = 0
    for table in itertools.chain(by_settler(game, 1), positions(game, 1), positions(game, 2)):
        if table.over:
            assert len(rows_of(table.view())) == 0
            continue
        rows = rows_of(table.view())
        assert np.isfinite(rows).all()
        assert -1 <= rows[:, 0].min() <= rows[:, 0].max() < WINDOW**2
        assert abs(rows[:, 1:]).max() <= 4
        large += (abs(rows[:, 1:]) > 1).sum()
        total += rows.size
    assert large < 0.01 * total


def test_rows_depend_on_the_view_alone():
    game = game_of(farmers=True, players=3)
    for table in itertools.islice(positions(game, 9), 0, None, 4):
        if table.over:
            continue
        view = table.view()
        found = rows_of(view)
        for seed in range(2):
            world = view.redeal(Chance(seed))
            assert np.array_equal(rows_of(world.view()), found)
        assert np.array_equal(rows_of(View(game, table.cells.copy())), found)


def test_without_prospects_the_rest_is_the_same():
    game = game_of(farmers=True)
    plain = game.having(prospects=False)
    assert plain.bound("prospects") == PLAIN
    for table, other in zip(positions(game, 4), positions(plain, 4), strict=True):
        assert np.array_equal(rows_of(table.view())[:, :PLAIN], rows_of(other.view()))


@pytest.mark.parametrize("farmers", [False, True])
def test_with_a_cursor_and_no_prospects_nothing_is_described(farmers):
    game = game_of(control="cursor", farmers=farmers, tiles=6, prospects=False)
    assert game.bound("prospects") == 0
    for table in itertools.islice(positions(game, 4), 0, 60, 3):
        rows_of(table.view())
        assert (rows_of(table.view(), columns=5) == MARK).all()


def test_the_columns_are_as_many_as_are_listed():
    """The counts in the docstring add up."""
    head, _, rest = (prospects.__doc__ or "").partition("changes, with the option")
    counted = []
    for part in (head, rest):
        cells = [line[23:29].strip() for line in part.splitlines() if line[:2] == "  " < line[2:]]
        counts = [cell.split("*") for cell in cells if cell[:1].isdigit()]
        counted.append(sum(math.prod(map(int, factors)) for factors in counts))
    assert counted == [PLAIN, ALL - PLAIN]
