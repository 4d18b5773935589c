"""A new run: which game, which learner, and its settings as a form."""

from __future__ import annotations

import html
from dataclasses import replace
from typing import Any

from nicegui import ui

from kibitz.core.errors import KibitzError
from kibitz.core.game import Game
from kibitz.core.options import AGENTS, MODEL, Option, Text
from kibitz.core.registry import find_listed_game, game_names
from kibitz.core.rewards import names_for
from kibitz.learners import find_learner
from kibitz.web.fields import option_field
from kibitz.web.frame import button, frame, link, raw, words
from kibitz.web.hall import Hall
from kibitz.web.plan import RUN, Plan, learner_options, learners_for, planned

FIRST = 6  # settings that are shown at once
USUAL = ""  # no preset


class NewRun:
    """The form. Every choice shows what can be chosen next."""

    def __init__(self, hall: Hall, person: str, game: Game, learner: str = "") -> None:
        self.hall, self.person, self.game = hall, person, game
        self.learner = learner
        self.preset = USUAL
        self.like: Plan | None = None
        self.game_fields: dict[str, Any] = {}
        self.fields: dict[str, Any] = {}

    def begin_like(self, plan: Plan) -> None:
        """Begin with the settings of another run."""
        self.like, self.game, self.learner = plan, plan.game, plan.learner
        self.preset = plan.preset

    def build(self) -> None:
        """Make the page."""
        with frame("New run", "/train"):
            words("New run", tag="h1")
            with ui.element("section").classes("kb-card"):
                words("What learns what", tag="h2")
                with ui.element("div").classes("kb-form"):
                    words("game", tag="label")
                    games = {name: find_listed_game(name).title for name in game_names()}
                    box = ui.select(games, value=self.game.name, on_change=self.choose_game)
                    box.props('outlined dense aria-label="game"')
                self.options = ui.element("details").classes("kb-inner")
                self.who = ui.element("div").classes("kb-form")
                self.others = ui.element("div")
            self.settings = ui.element("section").classes("kb-card")
            with ui.element("div").classes("kb-row"):
                button("Start", self.start, "main")
                link("Back to the runs", "/train")
        self.show_game()

    # --- showing -------------------------------------------------------------------------------

    def show_game(self) -> None:
        """Show the options of the game, and what can learn it."""
        self.options.clear()
        self.game_fields = {}
        with self.options:
            words("Options of the game", tag="summary")
            with ui.element("div").classes("kb-form"):
                for option in self.game.all_options:
                    box = option_field(option, self.game.settings[option.name])
                    box.on_value_change(self.show_learners)
                    self.game_fields[option.name] = box
        self.show_learners()

    def chosen_game(self) -> Game:
        """Give the game as it is set; a value that does not fit raises and says so."""
        return self.game.having(**{name: str(box.value) for name, box in self.game_fields.items()})

    def show_learners(self) -> None:
        """Show which learners fit the game, and why others do not."""
        try:
            game = self.chosen_game()
        except KibitzError:
            return  # told when somebody starts
        known = learners_for(game)
        fitting = [one for one in known if not one.unfit]
        names = [one.name for one in fitting]
        if self.learner not in names:
            self.learner = names[0] if names else ""
        self.who.clear()
        self.others.clear()
        with self.who:
            if not fitting:
                words("No learner fits this game with these options.", "kb-bad")
                self.settings.set_visibility(False)
            else:
                words("learner", tag="label")
                box = ui.select(names, value=self.learner, on_change=self.choose_learner)
                box.props('outlined dense aria-label="learner"')
                words("", tag="span")
                about = next(one.about for one in fitting if one.name == self.learner)
                words(about, "kb-help")
        with self.others:
            unfit = [one for one in known if one.unfit]
            if unfit:
                with ui.element("details").classes("kb-inner"):
                    words(f"{len(unfit)} others do not fit this game", tag="summary")
                    rows = "".join(
                        f"<li><b>{html.escape(one.name)}</b>: {html.escape(one.unfit)}</li>"
                        for one in unfit
                    )
                    raw(f'<ul class="kb-small kb-quiet">{rows}</ul>')
        if fitting:
            self.show_settings(game)

    def show_settings(self, game: Game) -> None:
        """Show the settings of the learner: some at once, the others where one asks for them."""
        self.settings.clear()
        self.settings.set_visibility(True)
        presets = find_learner(self.learner).PRESETS
        values = dict(presets.get(self.preset, {}))
        if self.like is not None and self.like.learner == self.learner:
            values = dict(self.like.settings)
        self.fields = {}
        plain, groups = _grouped(learner_options(self.learner))
        with self.settings:
            words("Settings", tag="h2")
            with ui.element("div").classes("kb-form"):
                if presets:
                    words("preset", tag="label")
                    choices = {USUAL: "usual: what works best", **{name: name for name in presets}}
                    box = ui.select(choices, value=self.preset, on_change=self.choose_preset)
                    box.props('outlined dense aria-label="preset"')
                words("seed", tag="label")
                self.seed = ui.input(placeholder="any").props('outlined dense aria-label="seed"')
                words("", tag="span")
                words("the same seed and settings give the same agent", "kb-help")
                for option in plain[:FIRST]:
                    self.field(game, option, values)
            rest = {"More settings": plain[FIRST:], **groups}
            for name, options in rest.items():
                if options:
                    with ui.element("details").classes("kb-inner"):
                        words(f"{name} ({len(options)})", tag="summary")
                        with ui.element("div").classes("kb-form"):
                            for option in options:
                                self.field(game, option, values)

    def field(self, game: Game, option: Option, values: dict[str, Any]) -> None:
        """Make the field of a setting; agents and runs that it may name are offered."""
        known = names_for(game, option.name)
        if known:
            option = replace(option, help=f"{option.help}. For {game.name}: {', '.join(known)}")
        names = option.names if isinstance(option, Text) else ""
        offers = self.hall.offers(game) if names else ()
        suggested = [one.who for one in offers if names != MODEL or one.who.startswith(RUN)]
        value = values.get(option.name)
        if names == MODEL and value and value not in suggested:
            suggested.append(value)
        self.fields[option.name] = option_field(
            option, value, ("self", *suggested) if names == AGENTS else suggested,
            only=names == MODEL,
        )  # fmt: skip

    # --- choosing ------------------------------------------------------------------------------

    def choose_game(self, event: Any) -> None:
        """Turn to another game."""
        self.game, self.like, self.preset = find_listed_game(str(event.value)), None, USUAL
        self.show_game()

    def choose_learner(self, event: Any) -> None:
        """Turn to another learner."""
        self.learner, self.preset = str(event.value), USUAL
        self.show_learners()

    def choose_preset(self, event: Any) -> None:
        """Fill in a preset."""
        self.preset, self.like = str(event.value or ""), None
        self.show_settings(self.chosen_game())

    def start(self) -> None:
        """Check everything, start the run and go there."""
        given = {name: str(box.value or "") for name, box in self.fields.items()}
        plan = planned(
            self.chosen_game(), self.learner, given, self.seed.value or "", self.preset,
            self.hall.checked,
        )  # fmt: skip
        run = self.hall.runs.open(plan, self.person)
        ui.navigate.to(f"/train/{run.id}")


def _grouped(options: tuple[Option, ...]) -> tuple[list[Option], dict[str, list[Option]]]:
    """Part settings into those for all and those whose help names what they are for."""
    plain: list[Option] = []
    groups: dict[str, list[Option]] = {}
    for option in options:
        head, colon, _ = option.help.partition(": ")
        if colon and head.isidentifier():
            groups.setdefault(f"For {head}", []).append(option)
        else:
            plain.append(option)
    return plain, groups
