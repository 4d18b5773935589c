"""A match in the making: its games are given out in parts, in order, to whoever is free.

Which game is played where changes nothing, so at the end of a round all cores play the last match
together. That goes for compiled games; agents in Python may remember earlier games of a match, and
theirs are played by one process, one after another.
"""

from __future__ import annotations

import numpy as np

from kibitz.league.claims import Claim

SHORTEST, LONGEST = 0.04, 0.25  # seconds that a part of a match should take


class Ongoing:
    """A claimed match. Whoever calls its methods holds the lock of all that are played."""

    def __init__(self, claim: Claim, seats: int, cores: int, pace: float = 0.0) -> None:
        """Begin a match; `pace` is that of earlier ones of the lineup, if they were compiled."""
        self.claim = claim
        self.points = np.zeros((claim.games, seats))
        self.plies = np.zeros(claim.games, np.int32)
        self.pace = pace  # games a second, once they are known to be compiled
        self.seconds = 0.0  # that were played
        self._cores = cores
        self._next = 0
        self._out = 0
        self._failed: tuple[int, BaseException] | None = None

    @property
    def is_over(self) -> bool:
        """Whether nobody plays a part of it any more, and nobody will."""
        return not self._out and (self._failed is not None or self._next >= self.claim.games)

    def take(self, helping: bool = False) -> slice | None:
        """Give the next games to somebody, if there are any for them."""
        left = self.claim.games - self._next
        if self._failed is not None or not left or (helping and not self.pace):
            return None
        if self.pace:  # parts get smaller towards the end, for which everybody waits
            shortest, longest = int(self.pace * SHORTEST), int(self.pace * LONGEST)
            size = min(max(left // (2 * self._cores), shortest, 1), max(longest, 1))
        else:  # one deal shows whether games are compiled
            size = left if self._next else self.points.shape[1]
        part = slice(self._next, min(self._next + size, self.claim.games))
        self._next = part.stop
        self._out += 1
        return part

    def bring(self, part: slice, seconds: float, compiled: bool) -> None:
        """Say that a part was played."""
        self._out -= 1
        self.seconds += seconds
        if compiled:
            self.pace = (part.stop - part.start) / max(seconds, 1e-6)

    def fail(self, part: slice, error: BaseException) -> None:
        """Say that a part could not be played. Only the earliest failure counts.

        All games before it have been given out by then, so it is the same one on any number of
        cores.
        """
        self._out -= 1
        if self._failed is None or part.start < self._failed[0]:
            self._failed = part.start, error

    def check(self) -> None:
        """Raise what went wrong, if anything did."""
        if self._failed is not None:
            raise self._failed[1]
