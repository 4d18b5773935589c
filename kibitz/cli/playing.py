"""Playing, watching, replaying."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from kibitz.cli.person import Series
from kibitz.cli.setup import Left, Player, ask_who_plays, at_level, told_apart
from kibitz.cli.shared import (
    GameName,
    Json,
    Plain,
    Seed,
    Setting,
    Waiting,
    chosen_game,
    console,
    opinion_lines,
    seat_name,
    seat_names,
)
from kibitz.core.chance import checked_seed
from kibitz.core.errors import Misuse
from kibitz.core.files import check_can_save
from kibitz.core.files import save as save_file
from kibitz.core.game import Game
from kibitz.core.record import Record
from kibitz.play.seats import HUMAN, announce, ask, at_seats, guarded, outcome, who_sits
from kibitz.search.opponents import playable_levels, strongest

Seats = Annotated[
    str | None,
    typer.Option(
        "--seats", metavar="WHO,WHO", help="Who sits where: human, or an agent with its settings."
    ),
]
Save = Annotated[Path | None, typer.Option(help="Keep the record in this file.")]


def play(
    game: GameName,
    seats: Seats = None,
    level: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="How hard it shall be, where a game offers levels."),
    ] = None,
    games: Annotated[
        int | None, typer.Option("--games", "-n", min=1, help="So many games in a row.")
    ] = None,
    seed: Seed = None,
    save: Save = None,
    settings: Setting = None,
    plain: Plain = False,
) -> None:
    """Play a game yourself, at any seat, against agents or people at this terminal.

    Where a game offers levels, it asks who plays unless --seats or --level says so.
    """
    if seats is not None and level is not None:
        raise Misuse("--seats and --level both say who plays. Leave one out.")
    chosen = chosen_game(game, settings)
    if save is not None:
        check_can_save(save)
    seed = checked_seed(seed)
    out = console(plain)
    asks = seats is None and level is None and chosen.players == 2 and not chosen.cooperative
    with Waiting("setting up"):
        adviser = strongest(chosen)
        levels = playable_levels(chosen, adviser) if asks else {}
    if levels:
        try:
            players = ask_who_plays(chosen, levels, seed, out)
        except Left:
            out.print("No game then. Until next time.")
            return
    elif level is not None:
        with Waiting("setting up"):
            players = at_level(chosen, level)
    else:
        games = games or 1
        alone = ",".join([HUMAN, *[adviser] * (chosen.players - 1)])
        players = at_given_seats(chosen, seats or alone, games)
    with Waiting("setting up"):
        series = Series(chosen, players, adviser, out, plain, save)
    series.play(seed, games)


def at_given_seats(game: Game, seats: str, games: int) -> list[Player]:
    """Seat who was named; those of the same name get letters if they will change seats."""
    names = who_sits(game, seats)
    if HUMAN not in names:
        raise Misuse("Nobody is human here. Use kibitz watch, or name a seat human.")
    players = [Player(who=name, called=name) for name in names]
    return players if games == 1 else told_apart(players)


def watch(
    game: GameName,
    seats: Seats = None,
    seed: Seed = None,
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter after every move.")] = False,
    delay: Annotated[float, typer.Option(min=0, max=3600, help="Seconds between moves.")] = 0.0,
    save: Save = None,
    settings: Setting = None,
    plain: Plain = False,
) -> None:
    """Watch agents play, with the reasons they give."""
    chosen = chosen_game(game, settings)
    if save is not None:
        check_can_save(save)
    with Waiting("setting up"):
        names = who_sits(chosen, seats or strongest(chosen))
        if HUMAN in names:
            raise Misuse("Somebody is human here. Use kibitz play.")
        table = chosen.deal(seed)
        agents = at_seats(chosen, names, table)
    out = console(plain)
    out.print(f"[bold]{chosen.described()}[/], seed {table.seed}")
    try:
        while not table.over:
            seat = table.seat
            view = table.view()
            agent = agents[seat]
            assert agent is not None
            out.print(f"\n{table}", markup=False)
            with Waiting(f"{names[seat]} thinks"):
                opinion = guarded(agent, agent.explain, view)
                action = ask(agent, table)
            out.print(f"\n{table.plies + 1}. {seat_name(seat, names[seat], plain)}: ", end="")
            lines = opinion_lines(opinion)
            if action != opinion.action:  # a tie, or chance, decided otherwise this time
                lines[0] = f"{view.say(action)}. {opinion.reason}"
            out.print("\n".join(lines), markup=False)
            announce(agents, table, action)
            table.play(action)
            if step and not table.over:
                step = next_move(out)
            elif delay:
                time.sleep(delay)
    finally:
        if save is not None:
            table.record(tuple(names)).save(save)
    out.print(f"\n{table}", markup=False)
    out.print("\n" + outcome(table, names, seat_names(names, plain)))


def replay(
    file: Annotated[Path, typer.Argument(help="A record, as saved by play or watch.")],
    at: Annotated[
        int | None, typer.Option(min=0, help="Show the board after so many plies.")
    ] = None,
    step: Annotated[bool, typer.Option("--step", help="Go through it board by board.")] = False,
    svg: Annotated[Path | None, typer.Option(help="Write the board as a picture.")] = None,
    json: Json = False,
    plain: Plain = False,
) -> None:
    """Go through a recorded game."""
    record = Record.load(file)
    if at is not None and at > len(record.actions):
        raise Misuse(f"This game has {len(record.actions)} plies, so not {at}.")
    if svg is not None:
        save_file(svg, record.table(at).svg())
    if json:
        print(record.to_json(), end="")
        return
    out = console(plain)
    if at is not None:
        table = record.table(at)
        out.print(f"after {at} of {len(record.actions)} plies", style="dim")
        out.print(str(table), markup=False)
    elif step:
        for table, action in record.steps():
            out.print(f"\n{table}", markup=False)
            label = seat_name(table.seat, record.name_of(table.seat), plain)
            out.print(f"\n{table.plies + 1}. {label}: {escape(table.say(action))}")
            step = step and next_move(out)
        table = record.table()
        out.print(f"\n{table}", markup=False)
        names = [record.name_of(seat) for seat in range(record.game.players)]
        out.print("\n" + outcome(table, names, seat_names(names, plain)))
    else:
        out.print(str(record), markup=False, end="")


def next_move(out: Console) -> bool:
    """Wait for Enter; the end of input means to run on without waiting."""
    try:
        out.input("[dim]Enter for the next move [/]")
    except EOFError:
        return False
    return True
