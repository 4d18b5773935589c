"""The pages of leagues and where they are, with the files that can be had of a league."""

from __future__ import annotations

import asyncio
import html
from pathlib import Path

from nicegui import app, ui
from starlette.responses import FileResponse, HTMLResponse, Response

from kibitz.core.errors import KibitzError
from kibitz.web.frame import frame, link, person, problem, raw
from kibitz.web.hall import Hall
from kibitz.web.league_list import LeagueList
from kibitz.web.league_page import LeaguePage
from kibitz.web.leagues import ENDINGS, Leagues, make

STYLE = "/kibitz/league.css"
WRONG = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>kibitz</title>
<p>%s</p><p><a href="/league">To the leagues</a></p></html>"""


def build_leagues(hall: Hall, home: Path, store: str | None) -> Leagues:
    """Make all pages of leagues."""
    leagues = make(home, store, hall)
    app.on_shutdown(leagues.stop)

    @app.get(STYLE)
    async def style() -> Response:
        found = await asyncio.to_thread(figures)
        return Response(found, media_type="text/css", headers={"Cache-Control": "max-age=3600"})

    @ui.page("/league")
    async def all_leagues() -> None:
        LeagueList(hall, leagues).build()

    @ui.page("/league/{key}")
    async def one_league(key: str) -> None:
        entry = leagues.listed(key)
        if entry is None:
            look_for(leagues, key)
            return
        try:
            game = entry.find()
        except KibitzError as error:
            problem(entry.name, str(error), "To the leagues", "/league")
            return
        ui.add_head_html(f'<link rel="stylesheet" href="{STYLE}">')
        LeaguePage(hall, leagues, entry, game, person()).build()

    @app.get("/league/{key}/{name}")
    async def file(key: str, name: str) -> Response:
        kinds = {"report": ".html", "games.csv": ".csv", "ladder.json": ".json"}
        try:
            path = await leagues.written(key, kinds.get(name, ""))
        except KibitzError as error:
            return HTMLResponse(WRONG % html.escape(str(error)), status_code=404)
        ending = kinds[name]
        return FileResponse(
            path, media_type=ENDINGS[ending], headers={"Cache-Control": "no-cache"},
            filename=None if ending == ".html" else f"{key}-{name}",
        )  # fmt: skip

    return leagues


def look_for(leagues: Leagues, key: str) -> None:
    """Show that the store is being read, and come back when the league is found."""
    with frame("League", "/league"):
        said = raw('<span class="kb-spin"></span> Reading the store.').props('role="status"')
        link("To the leagues", "/league")

    async def look() -> None:
        try:
            await leagues.entry(key)
        except KibitzError as error:
            said.set_content(html.escape(str(error)))
            return
        ui.navigate.reload()

    ui.context.client.on_connect(look)


def figures() -> str:
    """Write the style of a league's figures, as its report has it, for our light and dark."""
    from kibitz.league.report import figures_style  # with it comes the store

    return f".kb-league{{{figures_style('body.body--dark &')}}}"
