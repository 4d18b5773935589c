"""Chance: a small random generator that gives the same stream compiled, uncompiled and for ever.

The generator is sfc32 (Chris Doty-Humphrey, PractRand): four 32-bit words, kept in an `int64[4]`
so that no step can overflow and the very same lines run compiled and as plain Python. A stream is
named by (seed, stream, lane); seeding costs 20 ns, so every game and every seat has its own, and a
match gives the same result on any number of cores.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.errors import BadOption

WORD = 0xFFFFFFFF
WORDS = 4

T = TypeVar("T")


@compiled(inline=True)
def stirred(a, b, c, d):
    """Draw 32 random bits and give them with the generator's next four words.

    Loops that count nanoseconds keep the words in variables; everybody else calls `toss`.
    """
    drawn = (a + b + d) & WORD
    turned = ((c << 21) & WORD) | (c >> 11)
    return drawn, b ^ (b >> 9), (c + (c << 3)) & WORD, (turned + drawn) & WORD, (d + 1) & WORD


@compiled()
def toss(rng):
    """Draw 32 random bits."""
    drawn, rng[0], rng[1], rng[2], rng[3] = stirred(rng[0], rng[1], rng[2], rng[3])
    return drawn


@compiled()
def sow(rng, seed, stream, lane):
    """Begin the stream that (seed, stream, lane) names. Seed below 2**63, stream below 2**32."""
    rng[0] = seed & WORD
    rng[1] = (seed >> 32) & WORD
    rng[2] = stream & WORD
    rng[3] = 1 + lane
    for _ in range(15):
        toss(rng)


@compiled()
def below(rng, n):
    """Draw a whole number from 0 to n-1, each equally likely (Lemire's method)."""
    product = toss(rng) * n
    if (product & WORD) < n:
        floor = (WORD + 1 - n) % n
        while (product & WORD) < floor:
            product = toss(rng) * n
    return product >> 32


@compiled()
def uniform(rng):
    """Draw a number from [0, 1) with 53 random bits."""
    return ((toss(rng) >> 5) * 67108864.0 + (toss(rng) >> 6)) / 9007199254740992.0


@compiled()
def shuffle(rng, array):
    """Put an array into random order."""
    for last in range(len(array) - 1, 0, -1):
        other = below(rng, last + 1)
        kept = array[last]
        array[last] = array[other]
        array[other] = kept


@compiled()
def draw_best(rng, values, n):
    """Draw the place of one of the greatest of n values, each equally likely."""
    best = 0
    ties = 1
    for i in range(1, n):
        if values[i] > values[best]:
            best = i
            ties = 1
        elif values[i] == values[best]:
            ties += 1
            if below(rng, ties) == 0:
                best = i
    return best


class Chance:
    """The same generator for agents in plain Python."""

    def __init__(self, seed: int | None = None, stream: int = 0, lane: int = 0) -> None:
        self.words = np.zeros(WORDS, np.int64)
        sow(self.words, checked_seed(seed), stream, lane)

    @classmethod
    def over(cls, words: np.ndarray) -> Chance:
        """Go on with a stream that has begun elsewhere; draws advance it there too."""
        self = cls.__new__(cls)
        self.words = words
        return self

    def below(self, n: int) -> int:
        """Draw a whole number from 0 to n-1."""
        return int(below(self.words, n))

    def uniform(self) -> float:
        """Draw a number from [0, 1)."""
        return float(uniform(self.words))

    def choice(self, items: Sequence[T]) -> T:
        """Draw one of the items."""
        return items[self.below(len(items))]

    def shuffle(self, items: list) -> None:
        """Put a list into random order."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


def checked_seed(seed: int | None) -> int:
    """Give the seed, or a fresh one for None."""
    if seed is None:
        return secrets.randbits(63)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 1 << 63:
        raise BadOption(f"A seed is a whole number from 0 to 2**63 - 1, not {seed!r}.")
    return int(seed)


def agents_seed(seed: int) -> int:
    """Give the seed of the agents' chance, from which the seed of the deal cannot be found.

    An agent holds its own generator, and a generator can be run backwards to its seed. If deals
    were drawn from the same seed, an agent could look at every card.
    """
    digest = hashlib.blake2b(seed.to_bytes(8, "little"), digest_size=8, person=b"kibitz agents")
    return int.from_bytes(digest.digest(), "little") >> 1
