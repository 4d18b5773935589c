"""What seats are called by a reader: names instead of numbers, and `you` for the reader's own seat.

Rooms write `seat 1` in their words. For a reader who knows the players by name, that is replaced
here; a room whose words would read badly so has a `with_names(words, names)` in its `words.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kibitz.core.game import Game

YOU = "you"
SEAT = re.compile(r"\bseat (\d+)\b", re.IGNORECASE)
LONGEST = 16  # signs of a name on a board


def with_names(words: str, names: Sequence[str]) -> str:
    """Return words with every `seat 1` replaced by the name of that seat, where it has one."""

    def name(found: re.Match[str]) -> str:
        seat = int(found[1])
        return names[seat] if seat < len(names) else found[0]

    return SEAT.sub(name, words)


def named(game: Game, words: str, names: Sequence[str]) -> str:
    """Return a game's words as somebody reads them to whom the seats have these names."""
    if not names:
        return words
    return getattr(game.words, "with_names", with_names)(words, names)


def owner(name: str) -> str:
    """Return whose something is: `your`, `Ada's`."""
    return "your" if name == YOU else f"{name}'s"


def told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of which no two are the same: those that were get numbers, from 1."""
    often = Counter(names)
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} {seen[name]}" if often[name] > 1 else name)
    return tuple(found) if len(set(found)) == len(found) else told_apart(found)


def on_a_board(name: str) -> str:
    """Return a name as boards write it: with a capital for `you`, and not too long."""
    if name == YOU:
        return name.capitalize()
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1].rstrip()}…"
