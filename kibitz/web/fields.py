"""Fields for options of a game or a learner. What comes back is text, checked where it is used."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from nicegui import ui

from kibitz.core.options import Choice, Flag, Option, Text, Whole
from kibitz.web.frame import words

MANY = 12  # whole numbers up to so many are a list to choose from


def option_field(
    option: Option, value: Any = None, suggested: Sequence[str] = (), only: bool = False
) -> Any:
    """Make the label, the field and the help of an option; give the field.

    `suggested` are texts to choose from; with `only`, no others.
    """
    name = option.name.replace("_", " ")
    words(name, tag="label")
    text = option.say(option.default if value is None else value)
    box: Any
    if isinstance(option, Flag):
        box = ui.select(["yes", "no"], value=text)
    elif isinstance(option, Choice):
        box = ui.select(list(option.names), value=text)
    elif isinstance(option, Whole) and option.none is None and option.high - option.low < MANY:
        box = ui.select([str(n) for n in range(option.low, option.high + 1)], value=text)
    elif only:
        box = ui.select({"": "none", **{one: one for one in suggested}}, value=text)
    else:
        box = ui.input(value=text, autocomplete=list(suggested) or None)
    box.props(f'outlined dense aria-label="{html.escape(option.name)}"')
    words("", tag="span")
    takes = "" if isinstance(option, Text) else f" ({option.takes()})"
    words(f"{option.help}{takes}", "kb-help")
    return box
