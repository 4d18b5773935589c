"""Games of Carcassonne for other programs: a log of turns, and the final board as a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np

from kibitz.core.exports import Export, as_csv
from kibitz.core.record import Record
from kibitz.core.table import Table
from kibitz.games.carcassonne.board import (
    STEP,
    cell_at,
    feature_at,
    meeples_of,
    moved,
    pending,
    worth_of,
)
from kibitz.games.carcassonne.cells import EDGE, MOST_SEATS, OFFSET, POINTING
from kibitz.games.carcassonne.rules import CONFIRM, MEEPLE_AT, NO_MEEPLE, is_free
from kibitz.games.carcassonne.tiles import (
    CITY,
    EAST,
    FEATURE,
    FEATURE_NAMES,
    FIELD,
    GRASS,
    LETTERS,
    ROAD,
    SEGMENTS,
    SHOWS,
    SOUTH,
)
from kibitz.games.carcassonne.words import meeple_name, place_name

SHOWN = {GRASS: "field", ROAD: "road", CITY: "city"}


def turns(record: Record) -> str:
    """Write a line for each turn: the tile, where and how it was laid, the meeple, the standing.

    Points are banked and pending at the end of the turn; in the last line, as the game ended.
    """
    seats = range(record.game.players)
    rows: list[list[Any]] = []
    table = record.table(0)
    meeple = ""
    for action in record.actions:
        seat = table.seat
        meeple = meeple_of(table, action) or meeple
        table.play(action)
        if table.seat != seat:
            rows.append([len(rows) + 1, *_turn(record, table, seat, meeple)])
            meeple = ""
    columns = ["turn", "seat", "agent", "tile", "rotation", "x", "y", "cell", "meeple"]
    columns += [f"{what} {seat}" for what in ("meeples", "banked", "pending") for seat in seats]
    return as_csv(columns, rows)


def meeple_of(table: Table, action: int) -> str:
    """Say where an action sets a meeple: 'road west'; nothing if it sets none."""
    view = table.view()
    if table.game.settings["control"] == "direct":
        is_set = MEEPLE_AT <= action < NO_MEEPLE
        return view.say(action) if is_set else ""
    aim = int(table["cursor"][3]) - 1
    is_set = table["phase"] == POINTING and action == CONFIRM and aim >= 0
    return meeple_name(view, aim) if is_set and is_free(table.cells, aim) else ""


def _turn(record: Record, table: Table, seat: int, meeple: str) -> list[Any]:
    """Give what is to be said of the turn that has just ended."""
    tile = table["laid"] - 1
    x, y = int(table["x"][tile]) - OFFSET, int(table["y"][tile]) - OFFSET
    more = np.zeros(MOST_SEATS)
    if not table.over:
        pending(table.cells, more)
    seats = record.game.players
    return [
        seat, record.name_of(seat), LETTERS[table["kind"][tile]], int(table["turn"][tile]), x, y,
        place_name(x, y), meeple, *table["supply"][:seats].tolist(),
        *table["bank"][:seats].tolist(), *map(int, more[:seats]),
    ]  # fmt: skip


# --- the graph -----------------------------------------------------------------------------------

KEYS = {
    "what": "string", "kind": "string", "rotation": "int", "x": "int", "y": "int", "cell": "string",
    "meeple": "string", "size": "int", "shields": "int", "open": "int", "finished": "boolean",
    "worth": "int", "meeples": "string", "shows": "string",
}  # fmt: skip


def graph(record: Record) -> str:
    """Write the last board as GraphML.

    Nodes are tiles and features. Edges join tiles that lie side by side (`shows` says what is on
    the common side), and each tile to the features on it.
    """
    table = record.table()
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for name, kind in KEYS.items():
        about = {"id": name, "for": "all", "attr.name": name, "attr.type": kind}
        ElementTree.SubElement(root, "key", about)
    board = ElementTree.SubElement(root, "graph", id="board", edgedefault="undirected")
    for tile in range(table["laid"]):
        _write(board, "node", {"id": f"t{tile}"}, _tile_facts(table, tile))
    for feature in sorted({feature for _, feature in _memberships(table)}):
        _write(board, "node", {"id": f"f{feature}"}, _feature_facts(table, feature))
    for one, other, shows in _neighbours(table):
        _write(board, "edge", {"source": f"t{one}", "target": f"t{other}"}, {"shows": shows})
    for tile, feature in _memberships(table):
        _write(board, "edge", {"source": f"t{tile}", "target": f"f{feature}"}, {"what": "part"})
    ElementTree.indent(root)
    head = "<?xml version='1.0' encoding='utf-8'?>\n"
    return head + ElementTree.tostring(root, encoding="unicode") + "\n"


def _write(
    board: ElementTree.Element, tag: str, about: dict[str, str], facts: dict[str, Any]
) -> None:
    """Add a node or an edge with its facts."""
    element = ElementTree.SubElement(board, tag, about)
    for name, value in facts.items():
        ElementTree.SubElement(element, "data", key=name).text = str(value)


def _tile_facts(table: Table, tile: int) -> dict[str, Any]:
    kind, turn = int(table["kind"][tile]), int(table["turn"][tile])
    x, y = int(table["x"][tile]) - OFFSET, int(table["y"][tile]) - OFFSET
    facts = {
        "what": "tile", "kind": LETTERS[kind], "rotation": turn, "x": x, "y": y,
        "cell": place_name(x, y),
    }  # fmt: skip
    standing = int(table["meeple"][tile])
    if standing:
        seat, segment = divmod(standing - 1, SEGMENTS)
        facts["meeple"] = f"seat {seat} on {FEATURE_NAMES[int(FEATURE[kind, segment])]}"
    return facts


def _feature_facts(table: Table, feature: int) -> dict[str, Any]:
    kind = int(table["feature"][feature])
    seats = range(table.game.players)
    counts = int(table["meeples"][feature])
    facts: dict[str, Any] = {"what": FEATURE_NAMES[kind]}
    if kind != FIELD:
        left = int(table["open"][feature])
        facts |= {
            "size": int(table["size"][feature]), "shields": int(table["shields"][feature]),
            "open": left, "finished": str(left == 0).lower(),
            "worth": int(worth_of(table.cells, feature)),
        }  # fmt: skip
    facts["meeples"] = " ".join(str(meeples_of(counts, seat)) for seat in seats)
    return facts


def _memberships(table: Table) -> list[tuple[int, int]]:
    """List the tiles with the features on them."""
    parts = table["part"].reshape(-1, SEGMENTS)[: table["laid"]]
    found = {
        (int(tile), int(feature_at(table.cells, int(tile), int(segment))))
        for tile, segment in np.argwhere(parts > 0)
    }
    return sorted(found)


def _neighbours(table: Table) -> Iterator[tuple[int, int, str]]:
    """List the tiles that lie side by side, and what they show each other."""
    grid = table["grid"]
    for tile in range(table["laid"]):
        cell = cell_at(int(table["x"][tile]) - OFFSET, int(table["y"][tile]) - OFFSET)
        for side in (EAST, SOUTH):
            beside = int(grid[moved(cell, int(STEP[side]))])
            if 0 < beside < EDGE:
                shows = SHOWS[table["kind"][tile], table["turn"][tile], side]
                yield tile, beside - 1, SHOWN[int(shows)]


EXPORTS = {
    "turns": Export("a line for each turn: tile, cell, meeple, points", "csv", turns),
    "graph": Export("the last board: tiles and features", "graphml", graph),
}
