"""Q-tables as CSV with a header and a label for each row, for spreadsheets and pandas.

The first line names the moves, the first column the positions. Rows and columns are found again by
these names, so that a table that was sorted in a spreadsheet is read correctly.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from kibitz.core.errors import BadModel, KibitzError
from kibitz.core.game import Game

CORNER = "position"


def column_labels(game: Game) -> list[str]:
    """Name every action in words, or by number where its words do not name it alone."""
    view = game.deal(0).view()
    said = []
    for action in range(game.bound("actions")):
        try:
            said.append(view.say(action))
        except (KibitzError, LookupError, ValueError):  # this action cannot occur at the start
            said.append("")
    return [
        words if words and said.count(words) == 1 else f"action {action}"
        for action, words in enumerate(said)
    ]


def labelled(
    table: np.ndarray, rows: Sequence[str], columns: Sequence[str], write: Callable[[float], str]
) -> str:
    """Write a table with its labels; `write` must keep every digit."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([CORNER, *columns])
    for label, row in zip(rows, table.tolist(), strict=True):
        writer.writerow([label, *map(write, row)])
    return text.getvalue()


def is_labelled(lines: Sequence[str]) -> bool:
    """Tell whether a file has labels, by its first cell."""
    return bool(lines) and lines[0].lstrip('"').startswith(CORNER)


def without_labels(
    lines: Sequence[str], rows: Sequence[str], columns: Sequence[str], path: Path
) -> list[list[str]]:
    """Return the cells in the order of the labels that are expected."""
    head, *body = list(csv.reader(lines)) or [[]]
    if sorted(head[1:]) != sorted(columns):
        wrong = next((name for name in head[1:] if name not in columns), "a move is missing")
        raise BadModel(f"The first line of '{path}' does not name the moves of the game: {wrong}.")
    order = [head.index(name) for name in columns]
    found = {cells[0]: cells for cells in body if cells}
    if sorted(found) != sorted(rows) or len(found) != len(body):
        missing = next((name for name in rows if name not in found), "one is there twice")
        raise BadModel(
            f"'{path}' has {len(body)} positions, and the game has {len(rows)}: {missing}."
        )
    short = next((name for name, cells in found.items() if len(cells) != len(head)), None)
    if short is not None:
        raise BadModel(f"The row '{short}' of '{path}' has {len(found[short]) - 1} numbers.")
    return [[found[name][at] for at in order] for name in rows]
