"""Options of a game as OpenSpiel's parameters, and back.

OpenSpiel knows whole numbers, fractions, truth values and words, and separates a list by
semicolons: `kibitz_nim(rows=1;3;5,misere=false)`. A list of one number needs its semicolon,
`rows=5;`, or OpenSpiel reads it as a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kibitz.core.game import Game
from kibitz.core.options import Wholes

DEALS = "deals"  # how many deals there are; 0 for as many as a number of 32 bits can tell apart
MERGED = "merged"  # equal positions, as the game's own strip has it, have equal strings
AT_END = "at_end"  # all points are given at the end at once, as many algorithms demand


def defaults_of(game: Game) -> dict[str, Any]:
    """Give all parameters with their default values, as OpenSpiel wants to be told."""
    options = {
        option.name: _spoken(option, game.settings[option.name]) for option in game.all_options
    }
    # Seats that play against each other seldom are paid before the end.
    return {**options, DEALS: 0, MERGED: False, AT_END: game.zero_sum}


def settings_from(game: Game, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Give the settings of the game that OpenSpiel's parameters mean."""
    found = {}
    for option in game.all_options:
        if option.name in parameters:
            value = parameters[option.name]
            if isinstance(option, Wholes):
                value = str(value).strip(";").replace(";", ",")
            found[option.name] = value
    return found


def parameters_of(game: Game, plain: Game, ways: Mapping[str, Any]) -> dict[str, Any]:
    """Give the parameters in which a game differs from the plain one of its name."""
    usual = defaults_of(plain)
    own = {**defaults_of(game), **ways}
    return {name: value for name, value in own.items() if value != usual[name]}


def _spoken(option: Any, value: Any) -> Any:
    if isinstance(option, Wholes):
        return ";".join(map(str, value)) + (";" if len(value) == 1 else "")
    return value
