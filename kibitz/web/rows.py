"""The rows of a curve: beyond a bound every second one is left out, again and again.

The first ones stay: learners learn most at the beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MOST = 1200
EARLY = 20  # of so many that are kept, one is of the very first, where most happens

Row = dict[str, Any]


class Rows:
    """Rows by their number: the first, some evenly spread, and always the last one."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._kept: dict[int, Row] = {}
        self._every = 1
        self._last: tuple[int, Row] | None = None

    def add(self, number: int, row: Row) -> bool:
        """Add a row; tell whether it is one of those that are kept. Number 0 begins anew."""
        if number == 0:
            self._kept, self._every = {}, 1
        self._last = number, row
        if not self._stays(number):
            return False
        self._kept[number] = row
        if len(self._kept) > self.most:
            self._every *= 2
            self._kept = {n: row for n, row in self._kept.items() if self._stays(n)}
        return True

    def _stays(self, number: int) -> bool:
        return number < self.most // EARLY or number % self._every == 0

    def __iter__(self) -> Iterator[Row]:
        yield from self._kept.values()
        if self._last is not None and self._last[0] not in self._kept:
            yield self._last[1]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def last(self) -> Row:
        """The last row, or an empty one."""
        return self._last[1] if self._last else {}

    @property
    def count(self) -> int:
        """How many there were in all."""
        return self._last[0] + 1 if self._last else 0

    @property
    def are_all(self) -> bool:
        """Whether none was left out."""
        return len(self) == self.count

    def numbered(self) -> list[tuple[int, Row]]:
        """Give the rows with their numbers, for a file."""
        found = list(self._kept.items())
        if self._last is not None and self._last[0] not in self._kept:
            found.append(self._last)
        return found
