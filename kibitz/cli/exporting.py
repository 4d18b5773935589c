"""Exporting: recorded games for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kibitz.cli.shared import console, grid
from kibitz.core.exports import export, exports_of
from kibitz.core.files import save as save_file
from kibitz.core.record import Record


def export_record(
    file: Annotated[Path, typer.Argument(help="A record, as saved by play or watch.")],
    what: Annotated[
        str | None, typer.Argument(help="What to write, as in moves; none lists what there is.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The file to write, not the terminal.")] = None,
) -> None:
    """Write a recorded game for other programs: its moves, and what the game has to offer."""
    record = Record.load(file)
    if what is None:
        ways = exports_of(record.game)
        rows = [(name, way.suffix, way.about) for name, way in ways.items()]
        console().print(grid("", ("export", "file", "what it gives"), rows))
    elif out is None:
        print(export(record, what), end="")
    else:
        save_file(out, export(record, what))
