"""Tables that lose nothing: what is too wide is wrapped, then split into tables one below another.

Names and numbers are never cut or broken. Text is wrapped. Where that is not enough, the columns
are split into several tables, each of which begins with the same names. In a pipe no table is
split, so that every row can be found in one place, however long its line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

GAP = 2  # spaces between columns
NARROW = 12  # text is not wrapped to less than this, nor to less than its longest word
LONG_WORD = 24  # a longer word may be broken
INDENT = 4  # of what has no room beside its name


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its cells, and how they are set."""

    head: str
    cells: tuple[str, ...]
    is_left: bool
    is_text: bool

    def widest(self) -> int:
        """Return the width that needs no wrapping."""
        return max(map(cell_len, (self.head, *self.cells)))

    def narrowest(self) -> int:
        """Return the least width that the column can do with."""
        if not self.is_text:
            return self.widest()
        words = [word for cell in (self.head, *self.cells) for word in cell.split()]
        longest = min(max(map(cell_len, words), default=0), LONG_WORD)
        return min(self.widest(), max(NARROW, longest))

    def set_to(self, width: int, lines: Sequence[str]) -> list[str]:
        """Return lines at their place within a width."""
        if self.is_left:
            return [set_cell_size(line, width) for line in lines]
        return [" " * (width - cell_len(line)) + line for line in lines]


class Grid:
    """A table for `console.print`: names left, numbers right, text wrapped."""

    def __init__(
        self,
        title: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[str]],
        left: Sequence[int],
        text: Sequence[int],
        keys: int,
    ) -> None:
        self.title = title
        kept = list(rows)
        self.columns = [
            Column(head, tuple(row[at] for row in kept), at in left or at in text, at in text)
            for at, head in enumerate(columns)
        ]
        self.count = len(kept)
        self.keys = keys

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines of the table, as many tables as its width takes."""
        if self.title:
            yield Text(self.title, style="bold")
        width = options.max_width
        # A console for a pipe prints lines of any length.
        blocks = [self.columns] if console.soft_wrap else self._blocks(width)
        for block in blocks:
            if block is not blocks[0]:
                yield Text("")
            for at, line in enumerate(self._lines(console, block, width)):
                yield Text(line.rstrip(), style="bold" if at == 0 else "", overflow="fold")

    def _blocks(self, width: int) -> list[list[Column]]:
        """Split the columns into tables that fit; each has the first columns."""
        names, rest = self.columns[: self.keys], self.columns[self.keys :]
        blocks: list[list[Column]] = [list(names)]
        for column in rest:
            wider = [*blocks[-1], column]
            if len(blocks[-1]) == self.keys or least(wider) <= width:
                blocks[-1] = wider
            else:
                blocks.append([*names, column])
        return blocks

    def _lines(self, console: Console, block: Sequence[Column], width: int) -> Iterator[str]:
        widths = shared_out(block, width)
        names = range(self.keys)
        below = least(block) > width and not console.soft_wrap
        for row in range(-1, self.count):  # the heads come first
            cells = [
                wrapped(console, column, column.head if row < 0 else column.cells[row], size)
                for column, size in zip(block, widths, strict=True)
            ]
            if not below:
                yield from beside(block, widths, cells)
                continue
            yield from beside(block[: self.keys], widths[: self.keys], cells[: self.keys])
            for at in range(len(block)):
                if at not in names:
                    yield from (" " * INDENT + line for line in cells[at])


def least(columns: Sequence[Column]) -> int:
    """Return the least width of several columns beside one another."""
    return sum(column.narrowest() for column in columns) + GAP * (len(columns) - 1)


def shared_out(columns: Sequence[Column], width: int) -> list[int]:
    """Return the width of every column: text gets evenly what the others leave."""
    widths = [column.narrowest() for column in columns]
    if least(columns) > width:  # text has no room beside the names, and gets a line below them
        return [
            max(NARROW, width - INDENT) if column.is_text else size
            for column, size in zip(columns, widths, strict=True)
        ]
    spare = width - least(columns)
    while spare:
        growing = [at for at, column in enumerate(columns) if widths[at] < column.widest()]
        if not growing:
            break
        at = min(growing, key=lambda at: widths[at])
        widths[at] += 1
        spare -= 1
    return widths


def wrapped(console: Console, column: Column, cell: str, width: int) -> list[str]:
    """Break a cell into lines; only text is broken."""
    if not column.is_text or cell_len(cell) <= width:
        return [cell]
    return [line.plain.rstrip() for line in Text(cell).wrap(console, width, overflow="fold")]


def beside(columns: Sequence[Column], widths: Sequence[int], cells: list[list[str]]) -> list[str]:
    """Put cells of one or more lines beside one another."""
    height = max(map(len, cells))
    set_out = [
        column.set_to(size, [*lines, *[""] * (height - len(lines))])
        for column, size, lines in zip(columns, widths, cells, strict=True)
    ]
    return [(" " * GAP).join(line) for line in zip(*set_out, strict=True)]


def text_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the columns that hold sentences, not names or numbers."""
    return [
        at
        for at in range(1, max(map(len, rows), default=0))
        if any(len(row[at]) > LONG_WORD and " " in row[at] for row in rows)
    ]


def reflowed(text: str, width: int) -> str:
    """Break the lines of paragraphs anew if they are too long; a line that is set in stays."""
    parts = []
    for paragraph in text.split("\n\n"):
        lines = paragraph.splitlines()
        if any(line.startswith(" ") for line in lines) or max(map(len, lines), default=0) <= width:
            parts.append(paragraph)
        else:
            filled = textwrap.fill(paragraph, width, break_on_hyphens=False)
            parts.append(filled + "\n" * paragraph.endswith("\n"))
    return "\n\n".join(parts)
