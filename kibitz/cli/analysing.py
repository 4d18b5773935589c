"""Judging played games."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kibitz.cli.shared import Json, Plain, Waiting, console, grid, print_json, seat_name
from kibitz.core.record import Record
from kibitz.search.analysis import analyse as analyse_record


def analyse(
    file: Annotated[Path, typer.Argument(help="A record, as saved by play or watch.")],
    agent: Annotated[
        str,
        typer.Option(
            "--agent",
            metavar="SEARCH",
            help="Who judges, as in mcts:sims=5000; exact play where that is known, "
            "else what the game recommends.",
        ),
    ] = "",
    seed: Annotated[int, typer.Option(help="The chance of the search.")] = 0,
    json: Json = False,
    plain: Plain = False,
) -> None:
    """Say what every move of a played game cost, and what was better."""
    record = Record.load(file)
    with Waiting("analysing") as waiting:
        found = analyse_record(record, agent, seed=seed, progress=waiting.progress)
    if json:
        print_json(found.to_dict())
        return
    out = console(plain)
    names = [record.name_of(seat) for seat in range(record.game.players)]
    rows = [
        (
            str(move.ply + 1), f"seat {move.seat}", move.words, move.note,
            found.cost_in_words(move.cost, move.unsure), found.better(move),
        )
        for move in found.moves
    ]  # fmt: skip
    heads = ("ply", "seat", "move", "outlook", "cost", "better")
    out.print(grid("", heads, rows, left=(1, 2), text=(3, 5)))
    out.print()
    for seat, name in enumerate(names):
        total = found.cost_in_words(found.cost_of(seat)) or "nothing"
        worst = found.worst_of(seat)
        out.print(
            f"{seat_name(seat, name, plain)} lost {total} in {len(found.of(seat))} moves"
            f"{f', most at ply {worst.ply + 1}' if worst else ''}; "
            f"{found.agreement_of(seat):.0%} of them cost nothing."
        )
    out.print(f"Judged by {found.how_in_words()}", style="dim")
