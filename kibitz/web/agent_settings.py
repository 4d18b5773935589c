"""An agent's settings in the browser: simulations, temperature, discounts, blunders and the like.

What comes of it is a name with settings, as a person would type it: `mcts:sims=50,explore=1`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from kibitz.core.blunders import settings_of
from kibitz.core.game import Game
from kibitz.core.models import own_models
from kibitz.core.options import Option, Text, split
from kibitz.core.registry import agent_kinds
from kibitz.web.catalogue import MODEL
from kibitz.web.fields import option_field
from kibitz.web.frame import button, words
from kibitz.web.hall import Hall


class AgentSettings:
    """A dialog in which an agent is chosen and set; `use` gets its name with the settings."""

    def __init__(self, hall: Hall, game: Game, who: str, use: Callable[[str], Any]) -> None:
        self.hall, self.game, self.use = hall, game, use
        self.kinds = agent_kinds(game)
        name, _, settings = who.partition(":")
        given = split(settings) if settings and name in self.kinds else {}
        name = name if name in self.kinds else next(iter(self.kinds))
        with ui.dialog() as self.dialog, ui.element("div").classes("kb-card kb-settings"):
            words("An agent with settings", tag="h2")
            with ui.element("div").classes("kb-form"):
                words("agent", tag="label")
                self.agent = ui.select(list(self.kinds), value=name, on_change=self.show_fields)
                self.agent.props('outlined dense options-dense aria-label="agent"')
            self.list = ui.element("div").classes("kb-form")
            with ui.element("div").classes("kb-row end"):
                button("Cancel", self.dialog.close)
                button("Use it", self.done, "main")
        self.show_fields(given=given)
        self.dialog.open()

    def show_fields(self, _: object = None, given: dict[str, str] | None = None) -> None:
        """Make a field for every setting of the agent that is chosen."""
        self.list.clear()
        self.fields: dict[str, tuple[Option, Any]] = {}
        with self.list:
            for option in settings_of(self.kinds[str(self.agent.value)]):
                value = (given or {}).get(option.name)
                known = None if value is None else option.parse(value)
                field = option_field(option, known, *self.suggested(option))
                self.fields[option.name] = option, field

    def suggested(self, option: Option) -> tuple[list[str], bool]:
        """List texts for a setting, and whether others make no sense."""
        if not isinstance(option, Text):
            return [], False
        if option.name == MODEL:
            return [path.stem for path in own_models(self.game, "")], True
        return [*self.kinds, "none"], False

    def done(self) -> None:
        """Hand on the agent as it was set, if that is sound."""
        parts = []
        for name, (option, box) in self.fields.items():
            value = option.parse(str(box.value if box.value is not None else ""))
            if value != option.default:
                parts.append(f"{name}={option.say(value)}")
        name = str(self.agent.value)
        who = self.hall.checked(self.game, f"{name}:{','.join(parts)}" if parts else name)
        self.dialog.close()
        self.use(who)


def add_choice(box: Any, who: str) -> None:
    """Offer an agent in a list, and choose it; where several may be chosen, beside the others."""
    chosen = [*box.value, who] if isinstance(box.value, list) else who
    box.set_options({**box.options, who: who}, value=chosen)
