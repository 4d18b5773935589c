"""All pages and where they are."""

from __future__ import annotations

from pathlib import Path

from nicegui import app, ui

from kibitz.core.errors import KibitzError
from kibitz.core.game import Game
from kibitz.core.registry import find_listed_game
from kibitz.web.frame import frame, person, problem, raw, words
from kibitz.web.hall import Hall
from kibitz.web.home import home_page
from kibitz.web.league_pages import build_leagues
from kibitz.web.new_table import NewTable
from kibitz.web.table import TablePage
from kibitz.web.training_pages import build_training

HERE = Path(__file__).parent


def build(home: Path, store: str | None = None, private: bool = True) -> Hall:
    """Make the hall and all pages; `private` where all who come sit at this machine."""
    hall = Hall(home, private=private)
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
        if hall.is_ready(game):
            NewTable(hall, person(), game, watch).build()
        else:
            wait_for(hall, game)

    @ui.page("/table/{id}")
    async def table(id: str, ply: int | None = None) -> None:
        try:
            game = hall.game_of(id)
            if not hall.is_ready(game):
                wait_for(hall, game)
                return
            sitting = hall.get(id)
        except KibitzError as error:
            problem("No such table", str(error))
            return
        TablePage(hall, sitting, person(), ply).build()

    build_training(hall)
    return hall


def wait_for(hall: Hall, game: Game) -> None:
    """Show that a game is being made ready, and come back when it is."""
    with frame(game.title), ui.element("div").classes("kb-stack"):
        words(game.title, tag="h1")
        raw('<span class="kb-spin"></span> Getting ready. The first time the rules are compiled.')

    async def reload() -> None:
        await hall.picture(game)
        ui.navigate.reload()

    ui.context.client.on_connect(reload)
