"""Home: the games with their boards, one's own tables, and a place to bring a record."""

from __future__ import annotations

import contextlib
import html
import time
from collections.abc import Sequence
from functools import partial

from nicegui import ui
from nicegui.events import UploadEventArguments

from kibitz.core.errors import KibitzError
from kibitz.core.game import Game
from kibitz.core.registry import find_listed_game, game_names
from kibitz.play.seats import HUMAN
from kibitz.web.frame import button, frame, link, raw, tell, words
from kibitz.web.hall import LARGEST_RECORD, Hall
from kibitz.web.leagues import best_in_league
from kibitz.web.sitting import Sitting

FIRST = 12  # tables that are listed at once
WAITING = '<span class="kb-quiet kb-small"><span class="kb-spin"></span> getting ready</span>'


async def home_page(hall: Hall, person: str) -> None:
    """Build the page."""
    with frame("Play"):
        with ui.element("div").classes("kb-stack"):
            words("Play, watch, and ask why", tag="h1")
            words(
                "Sit down against agents or people, look over somebody's shoulder, and learn from "
                "what every move cost.", "kb-quiet",
            )  # fmt: skip
        with ui.element("div").classes("kb-games"):
            for name in game_names():
                await game_card(hall, find_listed_game(name))
        tables(hall, person)
        bring(hall, person)


async def game_card(hall: Hall, game: Game) -> None:
    """Show a game: its board, what it is, and who plays it."""
    low, high = game.seats
    seats = f"{low} players" if low == high else f"{low} to {high} players"
    with ui.element("article").classes("kb-card kb-game"):
        shown = raw(WAITING).classes("kb-picture")
        client = ui.context.client

        async def draw() -> None:
            drawn = await hall.picture(game)
            label = html.escape(f"Play {game.title}")
            shown.set_content(f'<a href="/new/{game.name}" aria-label="{label}">{drawn}</a>')

        if hall.drawn(game):
            await draw()
        else:
            client.on_connect(draw)
        with ui.element("div").classes("kb-about"):
            words(game.title, tag="h2")
            words(game.summary, tag="p")
            best = best_in_league(game) or next(reversed(list(game.levels.values())), "")
            strongest = f"; plays it best: {best}" if best else ""
            words(f"{seats}{strongest}", "kb-quiet kb-small")
            with ui.element("div").classes("kb-row"):
                link("Play", f"/new/{game.name}", "main")
                link("Watch", f"/new/{game.name}?watch=1")


def tables(hall: Hall, person: str) -> None:
    """List a person's tables; those that are only on disk appear as they are read."""
    mine = hall.of(person)
    if not mine:
        return
    with ui.element("section").classes("kb-stack"):
        words("Your tables", tag="h2")
        listed = ui.element("div").classes("kb-list")
        waiting = raw(WAITING)

    async def fill(some: Sequence[str]) -> None:
        for id in some:
            with contextlib.suppress(KibitzError):  # one of another version
                sitting = await hall.fetch(id)
                with listed, ui.element("div").classes("kb-line") as line:
                    table_line(sitting, person)
                    if sitting.host == person:
                        what = f"Remove this table of {sitting.game.title}"
                        cross = button("×", partial(remove, id, line), "plain small", what)
                        cross.props["aria-label"] = what
        waiting.set_visibility(False)

    def remove(id: str, line: ui.element) -> None:
        hall.remove(id, person)
        line.delete()

    async def show_rest() -> None:
        more.delete()
        waiting.set_visibility(True)
        await fill(mine[FIRST:])

    if len(mine) > FIRST:
        more = button(f"Show all {len(mine)}", show_rest, "small")

    ui.context.client.on_connect(lambda: fill(mine[:FIRST]))


def table_line(sitting: Sitting, person: str) -> None:
    """Show a table in one's list."""
    names = ", ".join(sitting.name_of(seat, person) for seat in range(min(sitting.game.players, 4)))
    plies = len(sitting.table.actions)
    if not sitting.is_played:
        state = "a record"
    elif sitting.over:
        state = sitting.outcome(person)
    elif sitting.table.seat in sitting.seats_of(person):
        state = "your turn"
    elif HUMAN in (seat.who for seat in sitting.seats):
        state = "being played"
    else:
        state = "to watch"
    raw(
        f'<a href="/table/{sitting.id}"><span><b>{html.escape(sitting.game.title)}</b> '
        f'<span class="kb-quiet">{html.escape(names)}</span></span>'
        f'<span class="kb-quiet kb-small">{plies} moves, {html.escape(state)}</span>'
        f'<span class="kb-quiet kb-small">{ago(sitting.changed_at)}</span></a>'
    )


def ago(moment: float) -> str:
    """Say how long ago something was."""
    seconds = max(0.0, time.time() - moment)
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"


def bring(hall: Hall, person: str) -> None:
    """Let somebody bring a record."""
    with ui.element("section").classes("kb-stack"):
        words("A record of your own", tag="h2")
        words(
            "Bring a game that was saved here or by kibitz play --save, and step through it.",
            "kb-quiet",
        )

        async def came(event: UploadEventArguments) -> None:
            try:
                sitting = await hall.read(await event.file.read(), person)
            except KibitzError as error:
                tell(str(error), bad=True)
                return
            ui.navigate.to(f"/table/{sitting.id}")

        ui.upload(
            on_upload=came, auto_upload=True, max_file_size=LARGEST_RECORD, label="A record",
            on_rejected=lambda: tell("Only one file of up to 2 MiB.", bad=True),
        ).props('accept=".json" flat bordered').style("max-width: 360px")  # fmt: skip
