"""Tables of Carcassonne for tests: laid by hand, and played at random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.game import OVER, PLIES, SEAT, Game
from kibitz.core.table import Table
from kibitz.games.carcassonne.cells import (
    DECIDING,
    EDGE,
    LAYING,
    OFFSET,
)
from kibitz.games.carcassonne.rules import (
    MEEPLE_AT,
    NO_MEEPLE,
)
from kibitz.games.carcassonne.tiles import (
    ALL_TILES,
    LETTERS,
)
from tests.carcassonne_pictures import Meeple, Place, Tile


def game_of(**settings: Any) -> Game:
    return kibitz.game("carcassonne", **settings)


# --- boards laid by hand -------------------------------------------------------------------------

CLOISTER_KIND = LETTERS.index("B")
RING = (
    "U: w1 turned 1", "U: e1 turned 1", "E: w1 s1 turned 3", "E: e1 s1 turned 1",
    "E: w1 s2 turned 2", "E: s2 turned 2", "E: e1 s2 turned 2",
)  # fmt: skip


def dealt(wanted: str, whole: bool = False, **settings: Any) -> Table:
    """Deal so that the wanted kinds are drawn in this order.

    All other tiles count as set aside before, so that the game ends after the wanted ones; with
    `whole` they follow.
    """
    game = game_of(**settings)
    state = game.deal(0).cells
    tiles = game.settings["tiles"]
    kinds = [LETTERS.index(letter) for letter in wanted]
    rest = Counter(state[game.cell("deck")][: tiles - 1].tolist())
    rest.subtract(kinds)
    assert min(rest.values()) >= 0, "there are not so many tiles of a kind"
    others = sorted(rest.elements())
    deck = [*kinds, *others] if whole else [*others, *kinds]
    drawn = 1 if whole else len(others) + 1
    state[game.cell("deck")][: tiles - 1] = deck
    state[game.cell("left")] = np.bincount(deck[drawn:], minlength=len(LETTERS))
    state[game.cell("tile")] = 1 + kinds[0]
    state[game.cell("drawn")] = drawn
    state[game.cell("aside")] = drawn - 1
    state[PLIES] = 1  # a game under way: what was just dealt is checked against its deck
    table = Table(game, state)
    assert game.flaw(table) is None
    return table


def played(*turns: str, whole: bool = False, **settings: Any) -> Table:
    """Play turns like 'E: n1 turned 2, city south'; letters alone are tiles still to be drawn."""
    table = dealt("".join(turn.partition(":")[0] for turn in turns), whole, **settings)
    for turn in turns:
        letter, _, words = turn.partition(":")
        if not words:
            break
        assert LETTERS[table["tile"] - 1] == letter, f"{turn} is not what is drawn"
        where, _, meeple = words.partition(",")
        table.play(where)
        if meeple:
            table.play(meeple)
        elif table["phase"] == DECIDING:
            table.play("no meeple")
        assert table.game.flaw(table) is None
    return table


def moves(table: Table) -> set[str]:
    return set(map(table.say, table.legal))


def supply(table: Table) -> list[int]:
    return table["supply"].tolist()[: table.game.players]


def board_of(table: Table) -> dict[Place, Tile]:
    """Read the board: letters and rotations by place."""
    laid = table["laid"]
    xs, ys = (table[name][:laid] - OFFSET for name in "xy")
    kinds, turns = (table[name][:laid].tolist() for name in ("kind", "turn"))
    return {
        place: (LETTERS[kind], turn)
        for place, kind, turn in zip(
            zip(xs.tolist(), ys.tolist(), strict=True), kinds, turns, strict=True
        )
    }


def random_game(
    game: Game, seed: int, deal: int, tight: bool = False
) -> Iterator[tuple[np.ndarray, list[tuple[int, int, int]]]]:
    """Play a random game; give the state at every ply, with all meeples set so far.

    A meeple is its seat, its tile's number and its place. With `tight`, tiles are laid where many
    others lie, so that much is completed.
    """
    state = game.deal(seed, deal).cells
    rng = Chance(seed, deal, 5)
    actions = np.empty(game.bound("most_legal"), np.int32)
    grid = state[game.cell("grid")]
    phase, laid = game.cell("phase").start, game.cell("laid").start
    meeples: list[tuple[int, int, int]] = []
    yield state, meeples
    while state[SEAT] != OVER:
        legal = actions[: game.rules.legal(state, actions)]
        if tight and state[phase] == LAYING:
            demands = grid[legal // 4] - EDGE
            known = sum((demands >> 2 * side) % 4 > 0 for side in range(4))
            legal = legal[known == known.max()]
        action = int(legal[rng.below(len(legal))])
        if MEEPLE_AT <= action < NO_MEEPLE:
            meeples.append((int(state[SEAT]), int(state[laid]) - 1, action - MEEPLE_AT))
        game.rules.play(state, action)
        yield state, meeples


def placed(
    game: Game, state: np.ndarray, meeples: list[tuple[int, int, int]]
) -> tuple[dict[Place, Tile], list[Meeple]]:
    board = board_of(Table(game, state))
    places = list(board)
    return board, [(seat, places[tile], where) for seat, tile, where in meeples]


def line(x: int, y: int) -> list[Place]:
    return [(i * x, i * y) for i in range(ALL_TILES)]
