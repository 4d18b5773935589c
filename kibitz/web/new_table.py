"""A new table: the options of the game, who sits where, how hard it shall be."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui

from kibitz.core.chance import checked_seed
from kibitz.core.errors import KibitzError, Misuse
from kibitz.core.game import Game
from kibitz.core.options import Option
from kibitz.play.seats import HUMAN
from kibitz.web.agent_settings import AgentSettings, add_choice
from kibitz.web.catalogue import described, levels_of
from kibitz.web.fields import option_field
from kibitz.web.frame import button, frame, raw, words
from kibitz.web.hall import Hall
from kibitz.web.rules_text import rules_markup
from kibitz.web.sitting import LONGEST_NAME

ME, FRIEND = "you", "a friend (send a link)"
LEVEL = "level:"


def usual_level(game: Game, watch: bool = False) -> str:
    """Name the level that is suggested: the middle one, and the hardest to those who watch."""
    names = list(levels_of(game))
    return names[-1 if watch else (len(names) - 1) // 2] if names else ""


class NewTable:
    """The page on which a table is set up."""

    def __init__(self, hall: Hall, person: str, game: Game, watch: bool = False) -> None:
        self.hall = hall
        self.person = person
        self.game = game
        self.watch = watch
        self.boxes: list[Any] = []  # one for each seat
        self.made: list[str] = []  # agents with settings of their own
        self.touched = False  # somebody has chosen who sits where

    def build(self) -> None:
        """Make the form."""
        game = self.game
        self.fields: dict[str, Any] = {}
        with frame(game.title):
            with ui.element("div").classes("kb-stack kb-tight"):
                words(game.title, tag="h1")
                words(game.summary, "kb-quiet")
            with ui.element("section").classes("kb-card"):
                words("Players", tag="h2")
                self.seats = ui.element("div").classes("kb-form")
                with ui.element("div").classes("kb-row"):
                    self.name = ui.input("Your name (optional)").props("outlined dense")
                    self.name.props(f'maxlength="{LONGEST_NAME}"')
                    self.helps = ui.checkbox("hints and kibitzing allowed", value=True)
                with ui.element("div").classes("kb-row"):
                    button("Start", self.start, "main")
            with ui.element("details").classes("kb-card"):
                words("Options of the game", tag="summary").style(
                    "cursor: pointer; font-weight: 650"
                )
                with ui.element("div").classes("kb-form"):
                    for option in game.all_options:
                        self.field(option)
                    words("seed", tag="label")
                    self.seed = ui.input(placeholder="by lot")
                    self.seed.props('outlined dense aria-label="seed"')
                    words("", tag="span")
                    words(
                        "repeats a deal; where cards are hidden and several play it is by lot",
                        "kb-help",
                    )
            with ui.element("details").classes("kb-card"):
                words("How to play", tag="summary").style("cursor: pointer; font-weight: 650")
                raw(rules_markup(game)).classes("kb-rules")
        self.show_seats()

    def field(self, option: Option) -> None:
        """Make the field of an option."""
        box = option_field(option)
        if option.name == "players":
            box.on_value_change(self.show_seats)
        self.fields[option.name] = box

    def chosen_game(self) -> Game:
        """Give the game as it is set; a value that does not fit raises and says so."""
        return self.game.having(**{name: str(box.value) for name, box in self.fields.items()})

    def choices(self, game: Game) -> dict[str, str]:
        """List who may sit at a seat."""
        levels = {
            f"{LEVEL}{name}": f"{name} ({described(who)})" for name, who in levels_of(game).items()
        }
        agents = {offer.who: f"{offer.who}: {offer.about}" for offer in self.hall.offers(game)}
        made = {who: who for who in self.made}
        return {ME: ME, FRIEND: FRIEND, **levels, **made, **agents}

    def show_seats(self) -> None:
        """Make a field for every seat."""
        try:
            game = self.chosen_game()
        except KibitzError:
            return
        before = [box.value for box in self.boxes] if self.touched else []
        self.seats.clear()
        self.boxes = []
        options = self.choices(game)
        level = usual_level(game, self.watch)
        other = f"{LEVEL}{level}" if level else list(options)[2]
        with self.seats:
            for seat in range(game.players):
                words(f"Player {seat + 1}", tag="label")
                usual = other if seat or self.watch else ME
                kept = before[seat] if seat < len(before) else usual
                value = kept if kept in options else usual
                with ui.element("div").classes("kb-seat-field"):
                    box = ui.select(options, value=value, with_input=True, on_change=self.touch)
                    box.props(f'outlined dense options-dense aria-label="Player {seat + 1}"')
                    button("Settings", partial(self.set_agent, seat), "plain")
                self.boxes.append(box)

    def set_agent(self, seat: int) -> None:
        """Set the agent of a seat: how long it searches, how often it blunders."""
        game = self.chosen_game()
        value = str(self.boxes[seat].value)
        who = levels_of(game).get(value.removeprefix(LEVEL), value)

        def use(who: str) -> None:
            self.made.append(who)
            add_choice(self.boxes[seat], who)

        AgentSettings(self.hall, game, who, use)

    def touch(self) -> None:
        """Remember that somebody has chosen; people who meet here play without help, usually."""
        self.touched = True
        self.helps.value = all(box.value != FRIEND for box in self.boxes)

    def start(self) -> None:
        """Open the table and go there."""
        game = self.chosen_game()
        who, called, mine = [], [], []
        for seat, box in enumerate(self.boxes):
            value = str(box.value)
            level = value.removeprefix(LEVEL) if value.startswith(LEVEL) else ""
            if value in (ME, FRIEND):
                mine += [seat] if value == ME else []
                who.append(HUMAN)
            else:
                who.append(self.hall.checked(game, levels_of(game).get(level, value)))
            called.append(level)
        if len(who) != game.players:
            raise Misuse("Say who sits at every seat.")
        text = str(self.seed.value or "").strip()
        if text and not text.isdecimal():
            raise Misuse("A seed is a whole number.")
        # Whoever chose the seed would know all cards of those who come by a link.
        unfair = game.hides and len(mine) < who.count(HUMAN)
        seed = None if not text or unfair else checked_seed(int(text[:20]))
        sitting = self.hall.open(
            game, who, self.person, seed=seed, called=called, sit_at=mine,
            name=str(self.name.value or ""), helps=bool(self.helps.value),
        )  # fmt: skip
        ui.navigate.to(f"/table/{sitting.id}")
