"""Nim in words."""

from __future__ import annotations

import re

from kibitz.core.errors import UnreadableMove
from kibitz.core.reading import unreadable
from kibitz.core.table import View
from kibitz.games.nim.rules import MOST

IN_A_TERMINAL = ("Type a move",)  # beginnings of paragraphs that are not for pages
IN_A_BROWSER = "Click a stick: it and all to its right in the row are taken."
RULES = """\
Sticks lie in rows. You and the other player take turns.

On your turn, take one or more sticks from a single row. If a cap k is set, take at most k.

In misère play (the usual way, and the default) whoever takes the very last stick loses.
In normal play whoever takes the very last stick wins.

Type a move as 'take 3 from row 2', or in short '3 from 2' or '3 2'. Rows count from 1.
"""

SHORT = re.compile(
    r"(?:take\s+)?(\d{1,4})\s*(?:sticks?\s*)?(?:from|of|,|\s)\s*(?:row\s*)?(\d{1,4})"
)


def say(view: View, action: int) -> str:
    """Put an action into words."""
    row, spare = divmod(action, MOST)
    return f"take {spare + 1} from row {row + 1}"


def read(view: View, text: str) -> int:
    """Find the action that words mean: 'take 3 from row 2', '3 from 2', '3 2'."""
    found = SHORT.fullmatch(text.strip().lower())
    if found is None:
        raise unreadable(view, text)
    taken, row = int(found[1]), int(found[2])
    rows = len(view.game.settings["rows"])
    if not 1 <= row <= rows:
        raise UnreadableMove(f"nim: there is no row {row}; rows count from 1 to {rows}.")
    if not 1 <= taken < MOST:
        raise UnreadableMove(f"nim: a turn takes at least 1 stick and never {taken}.")
    return (row - 1) * MOST + taken - 1


def brief(view: View) -> str:
    """Say in one short line how the game stands."""
    rows = view["rows"][: len(view.game.settings["rows"])]
    return "rows " + " ".join(map(str, rows.tolist()))


def show(view: View) -> str:
    """Draw the rows with sticks as bars."""
    settings = view.game.settings
    rows = view["rows"][: len(settings["rows"])].tolist()
    widest = max(settings["rows"])
    lines = []
    for place, sticks in enumerate(rows, start=1):
        bars = " ".join("|" * sticks) if widest <= 31 else "|" * sticks
        lines.append(f"  row {place:>2}  {sticks:>2}  {bars}")
    return "\n".join(lines)
