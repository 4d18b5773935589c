"""The demo in the terminal: boards, tables that grow row by row, and a line that says what goes on.

Tables keep to fixed widths, since their rows come one at a time. Where the terminal is narrower
than that, a row takes several lines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table

MOST_LINES = 9  # of a board
BESIDE = 72  # columns that two small boards need side by side
SMALL = 32  # columns of a small board at most
GAP = 2


class Rows:
    """A table whose rows are printed as they come; widths below zero mean words, left-aligned."""

    def __init__(self, out: Console, title: str, columns: Iterable[tuple[str, int]]) -> None:
        self._out = out
        self._widths = [width for _, width in columns]
        names = [name for name, _ in columns]
        self._fits = sum(map(abs, self._widths)) + GAP * (len(names) - 1) <= out.width
        out.print(f"\n[bold]{escape(title)}[/]", soft_wrap=True)
        if self._fits:
            out.print(self._line(names), style="dim", markup=False)
        else:
            out.print(", ".join(name for name in names if name), style="dim")

    def add(self, cells: Sequence[str]) -> None:
        """Print a row."""
        if self._fits:
            self._out.print(self._line(cells), markup=False)
            return
        self._out.print(cells[0], cells[1], markup=False)
        rest = "  ".join(cell for cell in cells[2:] if cell)
        self._out.print(Padding(escape(rest), (0, 0, 0, 4)))

    def _line(self, cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(-width) if width < 0 else cell.rjust(width)
            for cell, width in zip(cells, self._widths, strict=True)
        ]
        return (" " * GAP).join(padded).rstrip()


class Screen:
    """What the demo prints."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._beside: list[Mapping[str, Any]] = []  # small boards that wait for a neighbour

    def say(self, words: str) -> None:
        """Print words with their markup."""
        self._out.print(words)

    def title(self, words: str) -> None:
        """Print the head of it all."""
        self._out.print(Rule(f"[bold]{escape(words)}[/]") if len(words) < self._out.width - 4
                        else f"[bold]{escape(words)}[/]")  # fmt: skip

    def problem(self, what: str, why: str) -> None:
        """Say that a part has no result."""
        self._out.print(f"[bold]{escape(what)}[/]: {escape(why)}")

    def rows(self, title: str, columns: Iterable[tuple[str, int]]) -> Rows:
        """Begin a table."""
        return Rows(self._out, title, tuple(columns))

    # --- boards --------------------------------------------------------------------------------

    def board(self, board: Mapping[str, Any]) -> None:
        """Print a board; two small ones stand side by side, one that is too wide becomes a line."""
        if max(map(len, _lines(board))) <= SMALL and self._out.width >= BESIDE:
            self._beside.append(board)
            if len(self._beside) < 2:
                return
        else:
            self.rest_of_boards()
            self._beside = [board]
        self.rest_of_boards()

    def rest_of_boards(self) -> None:
        """Print small boards that are left."""
        if not self._beside:
            return
        self._out.print()
        if len(self._beside) == 1:
            self._out.print(self._drawn(self._beside[0]), soft_wrap=True)
        else:
            table = Table.grid(padding=(0, 4, 0, 0))
            table.add_row(*(self._drawn(board) for board in self._beside))
            self._out.print(table)
        self._beside = []

    def _drawn(self, board: Mapping[str, Any]) -> str:
        head = f"[bold]{escape(board['title'])}[/]"
        if len(board["title"]) + len(board["about"]) + 2 <= self._out.width // len(self._beside):
            head += f"  [dim]{escape(board['about'])}[/]"
        lines = _lines(board)
        if max(map(len, lines)) > self._out.width:
            lines = [f"  {board['brief']}"]
        return "\n".join([head, *(escape(line) for line in lines)])

    # --- waiting -------------------------------------------------------------------------------

    @contextmanager
    def waiting(self) -> Iterator[Callable[[list[str]], None]]:
        """Show what goes on: below the results in a terminal, line by line elsewhere."""
        if not self._out.is_terminal:
            yield _tell_plainly()
            return
        with self._out.status("starting") as status:
            yield lambda doing: status.update(escape(_shortened(doing, self._out.width - 4)))


def _shortened(doing: Sequence[str], width: int) -> str:
    """Name as many things as fit."""
    words = ""
    for at, one in enumerate(doing):
        longer = f"{words} · {one}" if words else one
        rest = " …" if at < len(doing) - 1 else ""
        if len(longer) + len(rest) > width:
            return f"{words} …"
        words = longer
    return words


def _tell_plainly() -> Callable[[list[str]], None]:
    """Return a function that writes each new thing to standard error once."""
    said: set[str] = set()

    def tell(doing: list[str]) -> None:
        for one in doing:
            if one not in said:
                said.add(one)
                print(f"… {one}", file=sys.stderr, flush=True)

    return tell


def _lines(board: Mapping[str, Any]) -> list[str]:
    return [line for line in board["text"].splitlines() if line.strip()][:MOST_LINES]
