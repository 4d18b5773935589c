"""Judging played games."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kibitz.cli.shared import Json, Plain, Waiting, console, grid, print_json, seat_name
from kibitz.core.record import Record
from kibitz.search.analysis import CHANCE_UNIT, EXACT, Analysis
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
    exact = found.how == EXACT  # then a faster win or a slower loss is better, too
    rows = [
        (
            str(move.ply + 1), f"seat {move.seat}", move.words, move.note,
            cost_in_words(found, move.cost, move.unsure),
            move.best_words if move.best != move.action and (move.cost or exact) else "",
        )
        for move in found.moves
    ]  # fmt: skip
    heads = ("ply", "seat", "move", "outlook", "cost", "better")
    out.print(grid("", heads, rows, left=(1, 2, 3, 5)))
    out.print()
    for seat, name in enumerate(names):
        total = cost_in_words(found, found.cost_of(seat), 0.0) or "nothing"
        worst = found.worst_of(seat)
        out.print(
            f"{seat_name(seat, name, plain)} lost {total} in {len(found.of(seat))} moves"
            f"{f', most at ply {worst.ply + 1}' if worst else ''}; "
            f"{found.agreement_of(seat):.0%} of them cost nothing."
        )
    how = "exact play." if exact else f"{found.how}. What may be chance counts as nothing."
    out.print(f"Judged by {how}", style="dim")


def cost_in_words(found: Analysis, cost: float, unsure: float) -> str:
    """Write a cost with its interval, or nothing."""
    if not cost:
        return ""
    if found.unit == CHANCE_UNIT and not unsure:
        return {0.5: "half a win", 1.0: "a win"}.get(cost, f"{cost:.1f} wins")
    if found.unit == CHANCE_UNIT:
        return f"{cost:.0%} ± {unsure:.0%} of a win"
    return f"{cost:.1f}" + (f" ± {unsure:.1f}" if unsure else "") + f" {found.unit}"
