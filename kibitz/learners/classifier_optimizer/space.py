"""What a search may vary about a classifier system, and how it becomes settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kibitz.core.errors import Misuse, unknown
from kibitz.core.game import Game

# From, to, and whether by orders of magnitude; or the choices.
SPACE: dict[str, tuple[Any, ...]] = {
    "population": (40, 600, True),
    "lane_games": (10, 200, True),
    "generation": (1, 40, True),
    "explore": (0.005, 0.4, True),
    "momentum": (0.0, 0.99, False),
    "rate": (0.0001, 0.05, True),
    "caution": (0.0, 4.0, False),
    "young": (2.0, 200.0, True),
    "protected": (2.0, 200.0, True),
    "crowd": (0.05, 1.0, True),
    "thanks": (0.0, 1.5, False),
    "final": (0.0, 2.0, False),
    "tournament": (1, 20, True),
    "renewed": (0.0, 0.08, False),
    "specialised": (0.0, 0.08, False),
    "generalised": (0.0, 0.08, False),
    "merged": (0.0, 0.08, False),
    "crept": (0.0, 0.08, False),
    "first_step": (0.02, 1.0, True),
    "step_rate": (0.05, 5.0, True),
    "most_conditions": (1, 15, True),
    "most_tests": (1, 6, False),
    "most_aims": (1, 6, False),
    "more_conditions": (0.05, 0.95, False),
    "more_tests": (0.05, 0.95, False),
    "tolerance": (0.01, 3.0, True),
    "covering": (False, True),
    "shared": (False, True),
    "in_place": (False, True),
    "fitness": ("strength", "accuracy"),
    "niches": (False, True),
    "numerosity": (False, True),
    "subsumption": (False, True),
}
WAGES, LIKELY, BANDS, VOCABULARY = "wages", "likely", "bands", "vocabulary"
LIKELIER = (0.1, 10.0, True)
BAND = (-10.0, 20.0, False)


def space_of(game: Game, text: str) -> dict[str, tuple[Any, ...]]:
    """Return what to vary, named as in `explore+wages.storm+likely.own+bands.20+vocabulary`.

    `wages` alone stands for all events, `likely` for all groups and deeds.
    """
    found: dict[str, tuple[Any, ...]] = {}
    for name in filter(None, (part.strip().replace("-", "_") for part in text.split("+"))):
        found.update(_varied(game, name))
    if not found:
        raise Misuse("Nothing is to vary: name some settings with --vary.")
    return found


def _varied(game: Game, name: str) -> dict[str, tuple[Any, ...]]:
    language = game.language
    if name in SPACE:
        return {name: SPACE[name]}
    if name == VOCABULARY:
        return {name: tuple(language.vocabularies)}
    setting, _, part = name.partition(".")
    if setting == WAGES:
        events = {event.name.replace("-", "_"): event for event in language.events}
        if part and part not in events:
            raise unknown("event", part, [event.name for event in language.events])
        wanted = [events[part]] if part else language.events
        return {f"{WAGES}.{event.name}": _around(event.reward) for event in wanted}
    if setting == LIKELY:
        usual = [group.name for group in language.groups] + [deed.name for deed in language.deeds]
        names = {known.replace("-", "_"): known for known in language.names()}
        if part and part not in names:
            raise unknown("topic, group, word or deed", part, names.values())
        return {f"{LIKELY}.{of}": LIKELIER for of in ([names[part]] if part else usual)}
    if setting == BANDS:
        try:
            score = float(part)
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise Misuse(f"'{name}': write the score from which a band pays, as in bands.20.")
        return {f"{BANDS}.{score:g}": BAND}
    known = [
        *SPACE,
        VOCABULARY,
        WAGES,
        f"{WAGES}.EVENT",
        LIKELY,
        f"{LIKELY}.WORD",
        f"{BANDS}.SCORE",
    ]
    raise unknown("setting to vary", name, known)


def _around(reward: float) -> tuple[float, float, bool]:
    """Return the range of a wage: on both sides of what is usual."""
    width = max(1.0, 2.0 * abs(reward))
    return reward - width, reward + width, False


def as_settings(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was drawn as settings: `wages.storm` and `wages.fits` make one `wages`."""
    settings: dict[str, Any] = {}
    for name, value in params.items():
        setting, dot, part = name.partition(".")
        if dot:
            before = f"{settings[setting]}+" if setting in settings else ""
            settings[setting] = f"{before}{part}={value:.6g}"
        else:
            settings[name] = value
    return settings
