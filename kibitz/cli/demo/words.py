"""Results in words, for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BEFORE = (
    "Before: untrained; random play for the classifier, the first generation for evolution, the "
    "mean of all settings tried for the optimizers."
)


SHIPPED = "* The network that comes with kibitz. To train networks here: make setup-neural."


def figure(value: float, percent: bool) -> str:
    """Write a figure as a share or as points."""
    return f"{value:.1%}" if percent else f"{value:.1f}"


def change(lesson: Mapping[str, Any]) -> str:
    """Write what training changed: `45.2% → 100.0%`."""
    percent = bool(lesson["curve"].get("percent"))
    return f"{figure(lesson['before'], percent)} → {figure(lesson['after'], percent)}"


def pace(row: Mapping[str, Any]) -> str:
    """Write how fast random play is, and how fast beside others."""
    words = f"{row['game']}: {row['moves'] / 1e6:.1f} million moves a second on one core"
    for who, moves in row["peers"].items():
        words += f"; {row['moves'] / moves:.1f} times {who}"
    return words
