"""Exports: a recorded game as a file for other programs. Every game gives its moves; rooms may add
others in `exports.py`, a mapping `EXPORTS` from names to `Export`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kibitz.core.errors import Misuse, unknown
from kibitz.core.game import Game
from kibitz.core.record import Record


@dataclass(frozen=True, slots=True)
class Export:
    """A way to write a record: what it gives, how its files are called, and who writes it."""

    about: str
    suffix: str
    write: Callable[..., str]  # of a record; and of a seat, where it shows what one may know
    by_seat: bool = False


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write rows as CSV with a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def moves(record: Record) -> str:
    """Write every move: ply, seat, who, the action's number and words, and all points after it."""
    seats = range(record.game.players)
    rows = []
    for table, action in record.steps():
        seat, words = table.seat, table.say(action)
        after = table.copy().play(action)
        who = record.name_of(seat)
        rows.append([table.plies + 1, seat, who, action, words, *map(_short, after.points)])
    columns = ["ply", "seat", "agent", "action", "words", *(f"points {seat}" for seat in seats)]
    return as_csv(columns, rows)


def _short(points: float) -> int | float:
    return int(points) if points == int(points) else points


def exports_of(game: Game) -> Mapping[str, Export]:
    """Give the ways to export a record of a game, by name."""
    return {
        "moves": Export("every move, in words, with the points", "csv", moves),
        "html": Export("a page that plays the game in a browser", "html", Record.to_html, True),
        **game.exports,
    }


def export(record: Record, what: str, seat: int | None = None) -> str:
    """Write a record in one of the ways its game has: `export(record, "moves")`.

    A `seat` is for ways that show what one seat may know, such as `html`.
    """
    ways = exports_of(record.game)
    if what not in ways:
        raise unknown(f"export of {record.game.name}", what, ways)
    if seat is None:
        return ways[what].write(record)
    if not ways[what].by_seat:
        raise Misuse(f"'{what}' shows the same to every seat. Leave the seat out.")
    return ways[what].write(record, seat)
