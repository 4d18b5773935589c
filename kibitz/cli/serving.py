"""The way to the browser workbench."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

import kibitz
from kibitz.core.errors import Misuse


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
    agent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="Offer an agent of your own: a model, rules, a CSV table, or FILE.py:CLASS. "
            "Repeat it for several.",
        ),
    ] = None,
    runs: Annotated[
        Path, typer.Option(help="A folder of training runs whose agents are offered too.")
    ] = Path("runs"),
    show: Annotated[bool, typer.Option("--show/--no-show", help="Open a browser.")] = True,
) -> None:
    """Open the workbench in a browser: play, watch, kibitz, review, leagues, training.

    It listens on this machine alone unless --host says otherwise.
    """
    kibitz.serve(
        host=host, port=port, folder=folder, store=store, show=show, agents=named(agent or ()),
        runs=runs,
    )  # fmt: skip


def named(texts: Iterable[str]) -> dict[str, str]:
    """Read agents that are given as NAME=FILE."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, who = text.partition("=")
        if not equals or not name.strip() or not who.strip():
            raise Misuse(f"Cannot read --agent '{text}': write NAME=FILE, as in mine=my.rules.")
        if name.strip() in found:
            raise Misuse(f"Two agents are called '{name}'. Give one of them another name.")
        found[name.strip()] = who.strip()
    return found
