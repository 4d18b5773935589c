"""Rewards: what a learner may be paid for besides points. Rooms may offer events in `rewards.py`,
as `REWARDS`; a learner weighs how often each happened.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz.core.compiled import pointer
from kibitz.core.errors import BadOption, unknown


def read_amounts(
    usual: Mapping[str, float], given: str | Mapping[str, float], what: str = "event"
) -> dict[str, float]:
    """Read what events are paid, as in `storm=-3+fits=1` or `{"storm": -3}`; the rest as usual."""
    amounts = dict(usual)
    text = given if isinstance(given, str) else "+".join(f"{k}={v}" for k, v in given.items())
    for part in filter(None, (part.strip() for part in text.split("+"))):
        name, _, number = part.partition("=")
        name = name.strip()
        if name not in amounts:
            raise unknown(what, name, amounts)
        try:
            amounts[name] = float(number)
        except ValueError:
            amounts[name] = math.nan
        if not math.isfinite(amounts[name]):
            raise BadOption(f"'{part}': write a number, as in {name}=0.5.")
    return amounts


@dataclass(frozen=True, slots=True)
class Event:
    """Something that can come of an action, and what it is worth at once unless set otherwise."""

    name: str
    help: str
    reward: float


@dataclass(frozen=True, kw_only=True)
class Rewards:
    """The events of a game, and the compiled rule that counts them.

    count is compiled with HAPPEN: `count(before, action, after, seat, counts)` writes, for one
    seat, how often each event happened when the action was played, or by how much.
    """

    events: tuple[Event, ...]
    count: Any

    def amounts(self, given: str | Mapping[str, float] = "") -> np.ndarray:
        """Return what each event is paid: `amounts("score=1+step=-0.01")`, or by a dictionary."""
        usual = {event.name: event.reward for event in self.events}
        return np.array(list(read_amounts(usual, given).values()))

    def counts(self, before: np.ndarray, action: int, after: np.ndarray, seat: int) -> np.ndarray:
        """Count what happened to a seat when an action was played, in the order of `events`."""
        counts = np.zeros(len(self.events))
        pointer(self.count)(before, action, after, seat, counts)
        return counts

    def happened(
        self, before: np.ndarray, action: int, after: np.ndarray, seat: int
    ) -> dict[str, float]:
        """Say what happened to a seat, by name; what did not is left out."""
        counts = self.counts(before, action, after, seat)
        return {
            event.name: float(count)
            for event, count in zip(self.events, counts, strict=True)
            if count
        }


def names_for(game: Any, setting: str) -> dict[str, str]:
    """Return the names that a learner's setting may use about a game, with what each means.

    `wages` and `rewards` name events, `vocabulary` names a choice of words; others name nothing.
    """
    language = game.language
    if setting == "vocabulary" and language is not None:
        return {
            name: f"all but {', '.join(out)}" if out else "all words"
            for name, out in language.vocabularies.items()
        }
    events: tuple[Event, ...] = ()
    if setting == "wages" and language is not None:
        events = language.events
    elif setting == "rewards" and game.rewards is not None:
        events = game.rewards.events
    return {event.name: f"{event.help}; usually {event.reward:g}" for event in events}
