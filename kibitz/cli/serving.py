"""The way to the browser workbench."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import kibitz


def serve(
    host: Annotated[str, typer.Option(help="Where to listen; other machines see 0.0.0.0.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port.")] = 8080,
    folder: Annotated[
        Path | None, typer.Option(help="Where tables and runs are kept, if not with your data.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(help="The store of the leagues that are shown: a file or a URL.")
    ] = None,
    show: Annotated[bool, typer.Option("--show/--no-show", help="Open a browser.")] = True,
) -> None:
    """Open the workbench in a browser: play, watch, kibitz, review, leagues, training.

    It listens on this machine alone unless --host says otherwise.
    """
    kibitz.serve(host=host, port=port, folder=folder, store=store, show=show)
