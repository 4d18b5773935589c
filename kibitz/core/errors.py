"""Everything kibitz raises on purpose. Each message says what happened and how to go on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self


class KibitzError(Exception):
    """Something kibitz could not do. The message is written for the person who asked.

    `place` says which of the agents that were given it is about, where that is known.
    """

    place: int | None = None

    def of(self, place: int) -> Self:
        """Say which agent it is about, and give the error itself, to be raised."""
        self.place = place
        return self


class Misuse(KibitzError):
    """The request itself cannot be met: the caller should ask differently."""


class UnknownName(Misuse):
    """A game, option, agent or cell that does not exist."""


class BadOption(Misuse):
    """A known option with a value it cannot take."""


class UnreadableMove(Misuse):
    """Words that mean no move of this game."""


class AmbiguousMove(Misuse):
    """Words that fit several legal moves."""


class IllegalMove(Misuse):
    """A move of this game that the seat may not make now."""


class BadRecord(Misuse):
    """A file that is no record, or a record that does not replay."""


class BadModel(Misuse):
    """A file that is no model of ours, or one made for another game."""


class NotSolvable(Misuse):
    """A game the exact solver cannot take: hidden cells, more than two seats, or too large."""


class NothingLearned(KibitzError):
    """A training that has made no agent; `score` is what random moves score."""

    def __init__(self, message: str, score: float = 0.0) -> None:
        super().__init__(message)
        self.score = score


class SaveFailed(KibitzError):
    """A file could not be written. Whatever stood there before is unharmed."""


class AgentFailed(KibitzError):
    """An agent raised an error or answered with something that is not a legal action."""


class BrokenRules(KibitzError):
    """A game's own rules broke the contract, for example by running past its declared bound."""


def unknown(kind: str, name: str, valid: Iterable[str]) -> UnknownName:
    """Build the error for a name that does not exist, with the nearest one and the whole list."""
    import difflib  # slow to import, and seldom needed

    names = sorted(valid)
    near = difflib.get_close_matches(name.lower(), names, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    known = f" There are: {', '.join(names)}." if names else " There are none."
    return UnknownName(f"No {kind} is called '{name}'.{hint}{known}")
