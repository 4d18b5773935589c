"""The exact best line of random hands of Mexican train: how fast, and how often is it proven?

Each hand is timed three times, called from Python, and the least counts, for the machine is noisy.
`python -m bench lines` takes about half a minute, and as long again to compile.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.report import Row
from kibitz.games.mexican_train.lines import (
    AIM_PIPS,
    AIM_VALUE,
    BOUND,
    EXACT,
    MAX_NODES,
    RESULTS,
    VALUE,
    all_lines,
    best_line,
    line_values,
)

SEED = 1
ROUNDS = 3
NUMBERS, TILES = 13, 91  # of the double-12 set
FEW_NODES = 200_000
MOST_LINES = 200_000
ENUMERATED = 500  # hands, each of which has fewer lines
DISCOUNTS = ((0.9, 0.9), (0.9, 1.0), (0.5, 0.5), (0.99, 0.99))
AIMS = {
    "most pips": (AIM_PIPS, 1.0, 1.0),
    **{f"greatest value, discounts {a:g} and {b:g}": (AIM_VALUE, a, b) for a, b in DISCOUNTS},
}
# Tiles in a hand, how many hands, the most nodes for the value; for pips that is always MAX_NODES.
SIZES = (
    (15, 2000, MAX_NODES),
    (20, 400, MAX_NODES),
    (25, 400, MAX_NODES),
    (45, 20, FEW_NODES),  # two seats share the set
)

Hand = tuple[np.ndarray, int]  # tiles, and the open end


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """What came of some hands, arrays over the hands; seconds are the least of all rounds."""

    seconds: np.ndarray
    values: np.ndarray
    gaps: np.ndarray
    exact: np.ndarray


def run() -> list[Row]:
    rows = []
    for tiles, count, most in SIZES:
        hands = deal(tiles, count)
        for name, aim in AIMS.items():
            limit = MAX_NODES if name == "most pips" else most
            found = measure(hands, *aim, limit)
            if tiles == 15:
                assert np.median(found.seconds) < 50e-6
                assert found.seconds.max() < 1e-3
            if tiles == 25:
                assert np.median(found.seconds) < 5e-3
            assert tiles == 45 or found.exact.all()
            assert name != "most pips" or found.exact.all()
            what = f"mexican_train, double-12, {tiles} tiles, {name}, {count:,} hands"
            if limit < MAX_NODES:
                what += f", at most {limit:,} nodes"
            rows.append(row(what, found.seconds, proven(found)))
    return [*rows, *map(every_line, (12, 16, 20))]


def deal(tiles: int, count: int) -> list[Hand]:
    """Draw some random hands of the double-12 set, and an open end for each."""
    rng = np.random.default_rng((SEED, tiles))
    return [
        (rng.choice(TILES, tiles, replace=False).astype(np.int64), int(rng.integers(NUMBERS)))
        for _ in range(count)
    ]


def measure(
    hands: list[Hand], aim: int, in_discount: float, off_discount: float, max_nodes: int
) -> Timed:
    """Find the best line of every hand."""
    most = max(len(tiles) for tiles, _ in hands)
    line, results = np.empty(most, np.int64), np.empty((len(hands), RESULTS))

    def find(place: int) -> None:
        tiles, end = hands[place]
        best_line(
            tiles, len(tiles), end, aim, in_discount, off_discount, max_nodes, line, results[place]
        )

    return Timed(
        seconds=least_seconds(find, len(hands)),
        values=results[:, VALUE],
        gaps=results[:, BOUND] - results[:, VALUE],
        exact=results[:, EXACT] == 1,
    )


def least_seconds(find: Callable[[int], None], count: int) -> np.ndarray:
    """Time each of some calls, all of them in turn, and keep the least of the rounds."""
    find(0)  # compiles
    seconds = np.full(count, np.inf)
    for _ in range(ROUNDS):
        for place in range(count):
            began = time.perf_counter()
            find(place)
            seconds[place] = min(seconds[place], time.perf_counter() - began)
    return seconds


def row(what: str, seconds: np.ndarray, compared: str) -> Row:
    median, most, worst = np.quantile(seconds, (0.5, 0.99, 1.0))
    return Row(
        what=what,
        figure=f"{duration(median)} a hand",
        spread=f"99% within {duration(most)}, worst {duration(worst)}",
        compared=compared,
    )


def duration(seconds: float) -> str:
    """Write a span of time with two or three digits that count."""
    for size, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def proven(found: Timed) -> str:
    if found.exact.all():
        return "all proven best"
    return f"{found.exact.mean():.0%} proven best; the largest gap to the bound is " + (
        f"{found.gaps.max():.2f} pips, at a value of {found.values[found.gaps.argmax()]:.1f}"
    )


def every_line(tiles: int) -> Row:
    """Compare with writing out every line, and the value of each, as the seed does."""
    hands = deal(tiles, ENUMERATED)
    lines = np.empty((MOST_LINES, tiles), np.int64)
    lengths = np.empty(MOST_LINES, np.int64)
    values = np.empty(MOST_LINES)
    greatest, counts = np.empty(len(hands)), np.empty(len(hands), np.int64)

    def find(place: int) -> None:
        hand, end = hands[place]
        count, complete = all_lines(hand, tiles, end, lines, lengths)
        assert complete
        line_values(lines, lengths, count, hand, tiles, 0.9, 0.9, values)
        greatest[place], counts[place] = values[:count].max(), count

    seconds = least_seconds(find, len(hands))
    found = measure(hands, AIM_VALUE, 0.9, 0.9, MAX_NODES)
    assert np.allclose(found.values, greatest)
    times = seconds.sum() / found.seconds.sum()
    if tiles == 20:
        assert times > 3, f"only {times:.1f} times every line"
    return row(
        f"mexican_train, double-12, {tiles} tiles, by every line: {np.median(counts):,.0f} of a "
        f"hand, at most {counts.max():,}, {len(hands):,} hands",
        seconds,
        f"the best line at once is {times:.1f} x as fast over all, the same values",
    )
