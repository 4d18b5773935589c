"""Fields of a form that several pages have."""

from __future__ import annotations

import html
from typing import Any

from nicegui import ui

from kibitz.core.options import Choice, Flag, Option, Whole

MANY = 12  # whole numbers up to so many are a list to choose from


def option_field(option: Option) -> Any:
    """Make the field of an option of a game; its value is text that the option can read."""
    value = option.say(option.default)
    if isinstance(option, Flag):
        box: Any = ui.select(["yes", "no"], value=value)
    elif isinstance(option, Choice):
        box = ui.select(list(option.names), value=value)
    elif isinstance(option, Whole) and option.none is None and option.high - option.low < MANY:
        box = ui.select([str(n) for n in range(option.low, option.high + 1)], value=value)
    else:
        box = ui.input(value=value)
    return box.props(f'outlined dense aria-label="{html.escape(option.name)}"')
