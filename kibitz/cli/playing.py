"""Playing, watching, replaying."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kibitz.cli.person import Sitting
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
)
from kibitz.core.agent import Agent
from kibitz.core.chance import Chance
from kibitz.core.errors import AgentFailed, KibitzError, Misuse
from kibitz.core.files import save as save_file
from kibitz.core.game import Game
from kibitz.core.record import Record
from kibitz.core.registry import agent_kinds, find_agent
from kibitz.core.table import Table

HUMAN = "human"

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
    seed: Seed = None,
    save: Save = None,
    settings: Setting = None,
    plain: Plain = False,
) -> None:
    """Play a game yourself, at any seat, against agents or people at this terminal."""
    chosen = chosen_game(game, settings)
    names = who_sits(chosen, seats or f"{HUMAN},{strongest(chosen)}")
    if HUMAN not in names:
        raise Misuse("Nobody is human here. Use kibitz watch, or name a seat human.")
    with Waiting("setting up"):
        agents = at_seats(chosen, names, table := chosen.deal(seed))
    Sitting(table, names, agents, strongest(chosen), console(plain), plain, save).play()


def watch(
    game: GameName,
    seats: Seats = None,
    seed: Seed = None,
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter after every move.")] = False,
    delay: Annotated[float, typer.Option(min=0, help="Seconds between moves.")] = 0.0,
    save: Save = None,
    settings: Setting = None,
    plain: Plain = False,
) -> None:
    """Watch agents play, with the reasons they give."""
    chosen = chosen_game(game, settings)
    names = who_sits(chosen, seats or strongest(chosen))
    if HUMAN in names:
        raise Misuse("Somebody is human here. Use kibitz play.")
    table = chosen.deal(seed)
    with Waiting("setting up"):
        agents = at_seats(chosen, names, table)
    out = console(plain)
    out.print(f"[bold]{chosen.described()}[/], seed {table.seed}")
    try:
        while not table.over:
            seat = table.seat
            view = table.view()
            agent = agents[seat]
            assert agent is not None
            with Waiting(f"{names[seat]} thinks"):
                opinion = agent.explain(view)
                action = ask(agent, table)
            out.print(f"\n{table}", markup=False)
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
    out.print("\n" + outcome(table, names, plain))


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
            name = record.agents[table.seat] if record.agents else ""
            label = f"\n{table.plies + 1}. {seat_name(table.seat, name, plain)}"
            out.print(f"{label}: {table.say(action)}")
            step = step and next_move(out)
        table = record.table()
        out.print(f"\n{table}", markup=False)
        out.print("\n" + outcome(table, record.agents, plain))
    else:
        out.print(str(record), markup=False, end="")


def next_move(out: Console) -> bool:
    """Wait for Enter; the end of input means to run on without waiting."""
    try:
        out.input("[dim]Enter for the next move [/]")
    except EOFError:
        return False
    return True


# --- who sits where ----------------------------------------------------------------------------


def who_sits(game: Game, text: str) -> list[str]:
    """Read `human,perfect`; a part with an equals sign continues the settings before it."""
    names: list[str] = []
    for part in text.split(","):
        if names and "=" in part and ":" not in part:
            names[-1] += f",{part.strip()}"
        else:
            names.append(part.strip())
    if len(names) > game.players:
        raise Misuse(f"{game.described()} has {game.players} seats; {len(names)} are too many.")
    return [names[seat % len(names)] for seat in range(game.players)]


def strongest(game: Game) -> str:
    """Name the strongest agent that can play a game: perfect, then the room's own, then random."""
    kinds = agent_kinds(game)
    return "perfect" if "perfect" in kinds else next(iter(game.agents), "random")


def at_seats(game: Game, names: Sequence[str], table: Table) -> list[Agent | None]:
    """Make the agents, each with its own chance; None where a person sits."""
    agents = [None if name == HUMAN else find_agent(name, game) for name in names]
    for seat, agent in enumerate(agents):
        if agent is not None:
            agent.begin(seat, Chance(table.seed, 0, 1 + seat))
    return agents


def ask(agent: Agent, table: Table) -> int:
    """Let an agent choose, and check its answer."""
    try:
        return table.read(agent.choose(table.view()))
    except KibitzError as error:
        raise AgentFailed(f"{agent.name} could not move: {error}") from error
    except Exception as error:
        raise AgentFailed(f"{agent.name} raised {error!r}.") from error


def announce(agents: Sequence[Agent | None], table: Table, action: int) -> None:
    """Let every agent see an action that is about to be played."""
    for seat, agent in enumerate(agents):
        if agent is not None:
            agent.notice(table.view(seat), table.seat, action)


def outcome(table: Table, names: Sequence[str], plain: bool) -> str:
    """Say how the game ended."""
    points = table.points
    if table.game.cooperative:
        return f"Together you have {points[0]:g} points."
    best = [seat for seat, value in enumerate(points) if value == max(points)]
    listed = ", ".join(f"{value:g}" for value in points)
    if len(best) == len(points):
        return f"A draw. Points: {listed}."
    winners = " and ".join(seat_name(seat, names[seat] if names else "", plain) for seat in best)
    return f"{winners} {'wins' if len(best) == 1 else 'share the win'}. Points: {listed}."
