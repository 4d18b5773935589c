"""Exporting: recorded games for other programs and for browsers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kibitz.cli.shared import console, grid
from kibitz.core.errors import Misuse
from kibitz.core.exports import export as written
from kibitz.core.exports import exports_of
from kibitz.core.files import save as save_file
from kibitz.core.record import Record


def export(
    file: Annotated[Path, typer.Argument(help="A record, as saved by play or watch.")],
    what: Annotated[
        str | None, typer.Argument(help="What to write, as in moves; none lists what there is.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The file to write, not the terminal.")] = None,
    seat: Annotated[
        int | None, typer.Option(help="Whose view is shown, as in html; seat 0 by default.")
    ] = None,
) -> None:
    """Write a recorded game: its moves, a page that plays it, and what the game has to offer."""
    record = Record.load(file)
    if what is None and out is not None:
        raise Misuse(f"Say what to write: one of {', '.join(exports_of(record.game))}.")
    if what is None:
        ways = exports_of(record.game)
        rows = [(name, way.suffix, way.about) for name, way in ways.items()]
        console().print(grid("", ("export", "file", "what it gives"), rows, (0, 1), (2,)))
    elif out is None:
        print(written(record, what, seat), end="")
    else:
        save_file(out, written(record, what, seat))
        console().print(f"Saved: {out}", markup=False, highlight=False)
