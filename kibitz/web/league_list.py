"""All leagues of the store, and a form to begin another."""

from __future__ import annotations

import html
import math
from typing import Any

from nicegui import ui

from kibitz.core.errors import KibitzError
from kibitz.core.game import Game
from kibitz.core.registry import find_listed_game, game_names
from kibitz.play.result import interval_text
from kibitz.web.agent_settings import AgentSettings, add_choice
from kibitz.web.fields import option_field
from kibitz.web.frame import button, frame, raw, words
from kibitz.web.hall import Hall
from kibitz.web.leagues import LONGEST_NAME, MOST_GAMES, Entry, Leagues

FIRST = 400  # games of everybody that are offered to begin with


class LeagueList:
    """The page of all leagues."""

    def __init__(self, hall: Hall, leagues: Leagues) -> None:
        self.hall = hall
        self.leagues = leagues
        self.client = ui.context.client
        self.fields: dict[str, Any] = {}

    def build(self) -> None:
        """Make the page; the list comes when it has been read."""
        with frame("League", "/league"):
            with ui.element("div").classes("kb-stack kb-tight"):
                words("Who is better, and how sure is that?", tag="h1")
                words(
                    "In a league everybody meets everybody, over and over. Every result is kept, "
                    "and rated with an interval.", "kb-quiet",
                )  # fmt: skip
            self.list = ui.element("div").classes("kb-games")
            with self.list:
                raw('<span class="kb-spin"></span> Reading the store.').classes("kb-quiet")
            with ui.element("section").classes("kb-card"):
                words("Begin a league", tag="h2")
                self.form()
        self.client.on_connect(self.load)

    async def load(self) -> None:
        """Read the list, and show it."""
        try:
            found, trouble = await self.leagues.entries(), ""
        except KibitzError as error:
            found, trouble = [], str(error)
        self.list.clear()
        with self.list:
            if trouble:
                words(trouble, "kb-bad").props('role="alert"')
            elif not found:
                words(
                    "No league has been played yet. Choose a game below and begin one: its agents "
                    "play at once, and you see the ladder grow.", "kb-quiet kb-wide-cell",
                )  # fmt: skip
            for entry in sorted(found, key=lambda entry: -entry.made_at):
                self.card(entry)

    def card(self, entry: Entry) -> None:
        """Show a league: how much was played, and who leads."""
        try:
            game: Game | None = entry.find()
        except KibitzError:
            game = None
        title = game.title if game else entry.game
        about = f"{title}, {entry.members} agents, {entry.games:,} games"
        rows = "".join(
            f"<tr><td>{place + 1}</td><td>{html.escape(one['name'])}</td>"
            f"<td>{strength_text(one, bool(game and game.cooperative))}</td></tr>"
            for place, one in enumerate(entry.leaders)
        )
        led = (
            f'<table class="kb-leaders">{rows}</table>'
            if rows
            else "<p class=kb-quiet>No round is over yet.</p>"
        )
        runs = self.leagues.is_running(entry.key)
        playing = '<span class="kb-spin"></span> playing' if runs else ""
        raw(
            f'<a class="kb-card kb-entry" href="/league/{entry.key}"><h2>{html.escape(entry.name)}'
            f'</h2><span class="kb-quiet kb-small">{html.escape(about)} {playing}</span>{led}</a>',
        ).style("display: contents")

    # --- beginning one -------------------------------------------------------------------------

    def form(self) -> None:
        """Make the form."""
        names = {name: find_listed_game(name).title for name in game_names()}
        with ui.element("div").classes("kb-form kb-begin"):
            words("game", tag="label")
            self.game = ui.select(names, value=next(iter(names)), on_change=self.show_game)
            self.game.props('outlined dense aria-label="game"')
            words("agents", tag="label")
            with ui.element("div"):
                self.agents = ui.select({}, multiple=True, value=[], with_input=True)
                self.agents.props('outlined dense use-chips options-dense aria-label="agents"')
                button("Settings", self.set_agent, "plain")
                words("nobody chosen means all that come with the game, except searches", "kb-help")
            words("games of each agent", tag="label")
            with ui.element("div"):
                self.games = ui.input(value=str(FIRST)).props("outlined dense")
                self.games.props('inputmode="numeric" aria-label="games of each agent"')
                words(f"1 to {MOST_GAMES:,}; more can follow", "kb-help")
        with ui.element("details").classes("kb-more"):
            words("Name, and options of the game", tag="summary")
            with ui.element("div").classes("kb-form kb-begin").style("margin: 12px 0"):
                words("name", tag="label")
                self.name = ui.input(placeholder="as the game is called")
                self.name.props(f'outlined dense maxlength="{LONGEST_NAME}" aria-label="name"')
            self.options = ui.element("div").classes("kb-form kb-begin")
        with ui.element("div").classes("kb-row"):
            self.go = button("Begin", self.begin, "main")
            self.waiting = raw("").props('role="status"').classes("kb-quiet")
        self.show_game()

    def show_game(self) -> None:
        """Show the agents and options of the game that is chosen."""
        game = find_listed_game(str(self.game.value))
        self.agents.set_options(
            {one.who: f"{one.who}: {one.about}" for one in self.hall.offers(game)}, value=[]
        )
        self.options.clear()
        self.fields = {}
        with self.options:
            for option in game.all_options:
                self.fields[option.name] = option_field(option)

    def chosen_game(self) -> Game:
        """Return the game as it is set; a value that does not fit raises and says so."""
        settings = {name: str(box.value) for name, box in self.fields.items()}
        return find_listed_game(str(self.game.value)).having(**settings)

    def set_agent(self) -> None:
        """Let an agent take part with settings of its own."""
        AgentSettings(self.hall, self.chosen_game(), "", lambda who: add_choice(self.agents, who))

    async def begin(self) -> None:
        """Begin the league, and go there."""
        game = self.chosen_game()
        self.go.props("disabled")
        self.waiting.set_content(
            '<span class="kb-spin"></span> Getting the agents ready. The first time they are '
            "compiled, which takes a while."
        )
        try:
            key = await self.leagues.begin(
                game, str(self.name.value or ""), list(self.agents.value or []), self.games.value
            )
        finally:
            self.go.props(remove="disabled")
            self.waiting.set_content("")
        ui.navigate.to(f"/league/{key}")


def strength_text(leader: dict[str, Any], cooperative: bool) -> str:
    """Write a rating, or points, with its interval; after one deal nothing is known of that."""
    low, high = (math.nan if leader[end] is None else leader[end] for end in ("low", "high"))
    return interval_text(leader["strength"], low, high, 2 if cooperative else 0)
