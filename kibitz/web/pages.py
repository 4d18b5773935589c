"""All pages and where they are."""

from __future__ import annotations

from pathlib import Path

from fastapi import Request, Response
from fastapi.exception_handlers import http_exception_handler
from nicegui import Client, app, ui
from starlette.exceptions import HTTPException

from kibitz.core.errors import KibitzError
from kibitz.core.registry import find_listed_game
from kibitz.web.frame import person, problem
from kibitz.web.hall import Hall
from kibitz.web.home import home_page
from kibitz.web.league_pages import build_leagues
from kibitz.web.new_table import NewTable
from kibitz.web.own import OwnAgents
from kibitz.web.table import TablePage
from kibitz.web.training_pages import build_training

HERE = Path(__file__).parent


def build(
    home: Path, store: str | None = None, private: bool = True, own: OwnAgents | None = None
) -> Hall:
    """Make the hall and all pages; `private` where all who come sit at this machine."""
    hall = Hall(home, private=private, own=own)
    app.on_startup(hall.start)
    app.on_shutdown(hall.stop)
    style = HERE / "style.css"
    app.add_static_file(local_file=style, url_path="/kibitz/style.css")
    ui.add_head_html(
        f'<link rel="stylesheet" href="/kibitz/style.css?{style.stat().st_mtime_ns}">', shared=True
    )

    build_leagues(hall, home, store)

    @ui.page("/")
    async def games() -> None:
        await home_page(hall, person())

    @ui.page("/new/{name}")
    async def new(name: str, watch: bool = False) -> None:
        try:
            game = find_listed_game(name)
        except KibitzError as error:
            problem("No such game", str(error))
            return
        NewTable(hall, person(), game, watch).build()
        await hall.expect()

    @ui.page("/table/{id}")
    async def table(id: str, ply: int | None = None) -> None:
        try:
            sitting = await hall.fetch(id)
        except KibitzError as error:
            problem("No such table", str(error))
            return
        TablePage(hall, sitting, person(), ply).build()
        hall.make_ready(sitting)

    build_training(hall)
    app.add_exception_handler(404, missing)
    return hall


async def missing(request: Request, error: Exception) -> Response:
    """Answer for an address at which there is nothing: a page with a way home."""
    if request.scope.get("endpoint") is not None and isinstance(error, HTTPException):
        return await http_exception_handler(request, error)  # a file, for a program
    with Client(ui.page(""), request=request) as client:
        problem("No such page", "There is nothing at this address. It may have been mistyped.")
    return client.build_response(request, 404)
