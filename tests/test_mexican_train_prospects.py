"""What learners see of an option in Mexican train: against plain Python and the exact lines."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.compiled import JIT
from kibitz.games.mexican_train.cells import END, HOLDER, PASS, PENNY, TILES
from kibitz.games.mexican_train.dive import DESK, lay_out
from kibitz.games.mexican_train.lines import find_line
from kibitz.games.mexican_train.longest import longest_line
from kibitz.games.mexican_train.prospects import COLUMNS, LINED, MANY_PIPS, MANY_TILES, PLAIN
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_TILES

# Uncompiled, the search overflows.
pytestmark = pytest.mark.skipif(not JIT, reason="searches for lines are compiled")

GAMES = {
    "usual": kibitz.game("mexican_train", hands=2),
    "two": kibitz.game("mexican_train", players=2, highest=6, boneyard=7, hands=3),
    "cover": kibitz.game("mexican_train", players=3, cover=True, hands=2),
}


def views_of(game, deals=3):
    for deal in range(deals):
        table, rng = game.deal(5, deal), Chance(5, deal, 1)
        while not table.over:
            yield table
            table.play(rng.choice(table.legal))


def rows_of(game, view):
    legal = np.array(view.legal, np.int32)
    rows = np.full((game.bound("most_legal"), game.bound("prospects")), 7.0, np.float32)
    game.rules.describe(view.cells, legal, len(legal), rows)
    assert (rows[len(legal) :] == 7.0).all()
    return rows[: len(legal)]


def pips_of(tile):
    return int(LOW[tile] + HIGH[tile])


def hand_of(view):
    return [tile for tile in range(MOST_TILES) if view.cells[HOLDER + tile] == view.seat]


@pytest.mark.parametrize("name", GAMES)
def test_rows_tell_what_playing_on_would(name):
    game = GAMES[name]
    for table in itertools.islice(views_of(game), 150):
        view, seat = table.view(), table.seat
        for action, row in zip(view.legal, rows_of(game, view), strict=True):
            after = table.copy()
            hands = after.cells[game.layout.start("hand")]
            after.play(action)
            assert row[0] == (action % MOST_TILES if action < PASS else -1)
            assert row[1] == (action >= PASS)
            left = [tile for tile in hand_of(view) if action >= PASS or tile != action % MOST_TILES]
            assert row[8] * MANY_TILES == pytest.approx(len(left))
            assert row[9] * MANY_PIPS == pytest.approx(sum(map(pips_of, left)), abs=1e-4)
            assert row[7] == (not left)
            if after.over or after.cells[game.layout.start("hand")] != hands:
                continue
            if action == PASS or action < PASS:
                assert row[10] == after.cells[PENNY + seat]
            end = int(np.argmax(row[13 + 32 : 13 + 48]))
            assert end == after.cells[END + seat]
            others = [after.cells[TILES + other] for other in range(game.players) if other != seat]
            assert row[11] * MANY_TILES == pytest.approx(min(others))


def test_lines_are_the_exact_ones():
    game = GAMES["usual"]
    seen = 0
    for table in itertools.islice(views_of(game), 0, 200, 7):
        view = table.view()
        for action, row in zip(view.legal, rows_of(game, view), strict=True):
            if action >= PASS:
                continue
            line, tile = divmod(action, MOST_TILES)
            end = int(view.cells[END + view.seat])
            if line == view.seat:
                end = pips_of(tile) - end
            left = [t for t in hand_of(view) if t != tile]
            pips = sum(pips_of(t) for t in find_line(left, end, "pips").tiles)
            assert row[PLAIN + 2] * MANY_PIPS == pytest.approx(pips, abs=1e-3)
            total = sum(pips_of(t) for t in left)
            assert row[PLAIN + 3] * MANY_PIPS == pytest.approx(total - pips, abs=1e-3)
            seen += pips > 0
    assert seen > 20


def longest_by_trying(tiles, end):
    """Give the length of the longest line, by trying all."""
    best = 0
    for place, (low, high) in enumerate(tiles):
        if end in (low, high):
            rest = tiles[:place] + tiles[place + 1 :]
            best = max(best, 1 + longest_by_trying(rest, low + high - end))
    return best


def test_the_longest_line_is_the_longest():
    game = kibitz.game("mexican_train", players=6)
    desk = np.empty(DESK, np.int64)
    for deal in range(60):
        view = game.deal(3, deal).view(deal % 6)
        tiles = [(int(LOW[t]), int(HIGH[t])) for t in hand_of(view)]
        lay_out(view.cells, desk)
        for end in range(10):
            length, doubles = longest_line(desk, end, 10_000)
            assert length == longest_by_trying(tiles, end)
            assert doubles <= sum(low == high for low, high in tiles)


def test_without_lines_they_are_left_out():
    game = GAMES["usual"].having(lines=False)
    assert game.bound("prospects") == PLAIN == COLUMNS - LINED
    for table in itertools.islice(views_of(game), 30):
        legal = table.view().legal
        wanted = [action % MOST_TILES if action < PASS else -1 for action in legal]
        assert rows_of(game, table.view())[:, 0].tolist() == wanted
    same = GAMES["usual"].deal(5, 0).view(), game.deal(5, 0).view()
    full, plain = (rows_of(of.game, of) for of in same)
    assert (full[:, :PLAIN] == plain).all()
    assert full[:, PLAIN:].any()
