"""Where the pages of training are, and what can be downloaded: by a run's name, never by a path."""

from __future__ import annotations

from typing import Any

from fastapi.responses import FileResponse, PlainTextResponse, Response
from nicegui import app, ui

from kibitz.core.errors import KibitzError
from kibitz.core.registry import find_listed_game, game_names
from kibitz.web.frame import person, problem
from kibitz.web.hall import Hall
from kibitz.web.new_run import NewRun
from kibitz.web.run_page import RunPage
from kibitz.web.train_page import TrainPage


def build_training(hall: Hall) -> None:
    """Make all pages of training."""
    runs = hall.runs

    @ui.page("/train")
    def train() -> None:
        TrainPage(runs).build()

    @ui.page("/train/new")
    def new(game: str = "", learner: str = "", like: str = "") -> None:
        try:
            page = NewRun(hall, person(), find_listed_game(game or game_names()[0]), learner)
            if like:
                page.begin_like(runs.get(like).plan)
        except KibitzError as error:
            problem("No such run", str(error))
            return
        page.build()

    @ui.page("/train/{id}")
    def one(id: str) -> None:
        try:
            run = runs.get(id)
        except KibitzError as error:
            problem("No such run", str(error))
            return
        RunPage(hall, run, person()).build()

    @app.get("/train/{id}/model")
    def model(id: str) -> Response:
        return _given(lambda: FileResponse(
            runs.model_of(id), filename=f"{id}.safetensors", media_type="application/octet-stream",
        ))  # fmt: skip

    @app.get("/train/{id}/curve")
    def curve(id: str) -> Response:
        return _given(lambda: Response(
            runs.curve_of(id), media_type="text/csv",
            headers={"Content-Disposition": f'attachment; filename="{runs.get(id).id}.csv"'},
        ))  # fmt: skip


def _given(make: Any) -> Response:
    try:
        return make()
    except KibitzError as error:
        return PlainTextResponse(f"{error}\n", status_code=404)
