"""Measuring: matches, exact solutions, speed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from kibitz.cli.shared import (
    GameName,
    Json,
    Seed,
    Setting,
    Waiting,
    chosen_game,
    console,
    grid,
    play_command,
    print_json,
)
from kibitz.cli.tables import Grid
from kibitz.core.errors import Misuse
from kibitz.core.files import check_can_save
from kibitz.core.game import Game
from kibitz.core.registry import game_names
from kibitz.play.graph import MOST_BYTES, MOST_POSITIONS
from kibitz.play.match import match as play_match
from kibitz.play.result import MatchResult
from kibitz.search.agreement import ASKED
from kibitz.search.agreement import grade as grade_agent
from kibitz.search.solve import Solution, in_words
from kibitz.search.solve import solve as solve_game

Agents = Annotated[
    list[str], typer.Argument(metavar="AGENT...", help="Who plays; see kibitz agents GAME.")
]


def match(
    game: GameName,
    agents: Agents,
    games: Annotated[int, typer.Option("--games", "-n", help="How many games.")] = 1000,
    seed: Seed = None,
    duplicate: Annotated[
        bool, typer.Option(help="Play every deal once in each rotation of the seats.")
    ] = True,
    cores: Annotated[int | None, typer.Option(help="How many cores; all by default.")] = None,
    settings: Setting = None,
    json: Json = False,
) -> None:
    """Play many games between agents: who is better, by how much, how sure."""
    chosen = chosen_game(game, settings)

    def played(scored: Game, seed: int | None) -> MatchResult:
        with Waiting("playing") as waiting:
            return play_match(
                scored, agents, games, seed=seed, duplicate=duplicate, cores=cores,
                progress=waiting.progress,
            )  # fmt: skip

    result = played(chosen, seed)
    also = {how: played(it, result.seed) for how, it in chosen.scored_otherwise().items()}
    if json:
        others = {how: other.to_dict() for how, other in also.items()}
        print_json({**result.to_dict(), **({"scored_otherwise": others} if others else {})})
        return
    out = console()
    if result.cooperative:
        out.print(team_table(chosen, {**also, "": result}))
    else:
        out.print(match_table(result))
        out.print()
        out.print(seat_table(result))
    out.print(
        f"\n{result.games:,} games{' of duplicate deals' if result.duplicate else ''}"
        f"{f' ({games:,} rounded up to whole rounds)' if result.games != games else ''}, seed "
        f"{result.seed}, {result.moves / result.games:.1f} moves a game; "
        f"{result.games_per_second:,.0f} games and {result.moves_per_second:,.0f} moves a second. "
        "Intervals are 95%.",
        style="dim",
    )


def match_table(result: MatchResult) -> Grid:
    """Make the table of a match: a row for each agent."""
    rows = [
        (
            agent.name, agent.share.text(), f"{agent.wins:,}", f"{agent.draws:,}",
            f"{agent.losses:,}", agent.points.text(), agent.margin.text(),
        )
        for agent in result.agents
    ]  # fmt: skip
    return grid("", ("agent", "share", "won", "drawn", "lost", "points", "margin"), rows)


def team_table(game: Game, results: Mapping[str, MatchResult]) -> Grid:
    """Make the table of a match in which all play together: a row for each way to count points."""
    set_now = " ".join(f"{name}={game.settings[name]}" for name in game.scorings)
    rows = []
    for how, result in sorted(results.items()):
        team = result.agents[0]  # all have the same points
        perfect = [] if team.perfect is None else [team.perfect.text()]
        who = team.name if game.players == 1 else "together"
        rows.append((how or set_now or who, team.points.text(), *perfect))
    whose = "points" if game.players == 1 else "points of the team"
    columns = (whose, "mean", *(["perfect games"] if len(rows[0]) > 2 else []))
    return grid("", columns, rows)


def seat_table(result: MatchResult) -> Grid:
    """Make the table of seat effects: a row for each agent at each seat, and for everybody."""
    columns = ["share at"] + [f"seat {seat.seat}" for seat in result.seats]
    groups = [(agent.name, agent.seats) for agent in result.agents] + [("anybody", result.seats)]
    rows = [(name, *(seat.share.text() for seat in seats)) for name, seats in groups]
    return grid("", columns, rows)


def solve(
    game: GameName,
    settings: Setting = None,
    most: Annotated[int, typer.Option(help="Give up beyond so many positions.")] = MOST_POSITIONS,
    gigabytes: Annotated[float, typer.Option(min=0.001, help="Give up beyond so much memory.")] = (
        MOST_BYTES / 2**30
    ),
    save: Annotated[
        Path | None, typer.Option(help="Keep the table in a .safetensors file.")
    ] = None,
    json: Json = False,
) -> None:
    """Solve a game exactly: who wins, in how many plies, from how many positions."""
    chosen = chosen_game(game, settings)
    if save is not None:
        if save.suffix != ".safetensors":
            raise Misuse(f"A table is kept in a .safetensors file, not in '{save}'.")
        check_can_save(save)
    bounds: dict[str, Any] = {"most": most, "most_bytes": int(gigabytes * 2**30)}
    with Waiting("solving") as waiting:
        progress = waiting.progress
        folded = solve_game(chosen, progress=progress, **bounds)
        unfolded = solve_game(chosen, folded=False, progress=progress, **bounds)
        if save is not None:
            folded.save(save)
    start = folded.start()
    options = {start.say(action): v for action, v in folded.options(start).items()}
    if json:
        print_json(
            {
                "game": chosen.name, "settings": dict(chosen.settings),
                "verdict": folded.verdict, "in_words": folded.who_wins(),
                "folded": {**asdict(folded.tally()), "positions": folded.tally().positions},
                "unfolded": {**asdict(unfolded.tally()), "positions": unfolded.tally().positions},
                "first_moves": options,
            }
        )  # fmt: skip
        return
    out = console()
    out.print(f"[bold]{chosen.described()}[/]: {folded.who_wins()}")
    out.print()
    out.print(tally_table([("mirror images folded", folded), ("unfolded", unfolded)]))
    best = max(options, key=lambda words: _worth(options[words]))
    out.print(f"\nBest first move: {best} ({in_words(options[best])}).")
    out.print(
        "Won, drawn and lost are for the seat to move; finished games are counted apart.",
        style="dim",
    )
    if save is not None:
        play = play_command(chosen, str(save))
        out.print(f"Saved. Play against it: {escape(play)}", soft_wrap=True)


def grade(
    game: GameName,
    agents: Agents,
    times: Annotated[
        int, typer.Option(min=1, max=10_000, help="Ask so often in each position, for lots.")
    ] = ASKED,
    settings: Setting = None,
    json: Json = False,
) -> None:
    """Grade agents by exact play: in how many positions do they keep what can be had?"""
    chosen = chosen_game(game, settings)
    with Waiting("grading"):
        grades = [grade_agent(chosen, agent, times) for agent in agents]
    if json:
        print_json([grade.to_dict() for grade in grades])
        return
    out = console()
    rows = [(grade.agent, *grade.shares(), str(grade.first), str(grade.second)) for grade in grades]
    columns = ("moves right in", "all", "won", "drawn", "moving first", "moving second")
    out.print(grid("", columns, rows))
    out.print(
        f"\n{grades[0].positions:,} positions can be reached, mirror images folded. In those that "
        "are lost every move is right. The last two columns: the worst that can happen, whatever "
        f"the other does. Asked {times} times in each position.",
        style="dim",
    )


def tally_table(solutions: list[tuple[str, Solution]]) -> Grid:
    """Make the table of how many positions are won, drawn and lost."""
    rows = []
    for name, solution in solutions:
        tally = solution.tally()
        counts = (tally.positions, tally.won, tally.drawn, tally.lost, tally.finished)
        rows.append((name, *(f"{count:,}" for count in counts)))
    return grid("", ("reachable positions", "all", "won", "drawn", "lost", "finished"), rows)


def _worth(verdict: int) -> float:
    return 1 / verdict if verdict else 0.0


def bench(
    game: Annotated[str | None, typer.Argument(help="One game; all by default.")] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long to measure each.")] = 2.0,
    json: Json = False,
) -> None:
    """Measure the speed of random play on one core, beside OpenSpiel where it has the game."""
    from kibitz.play.speed import measure

    names = game_names() if game is None else [game]
    measured = []
    with Waiting("measuring") as waiting:
        for place, name in enumerate(names):
            measured += measure(chosen_game(name, None), seconds)
            waiting.progress(place + 1, len(names))
    if json:
        print_json([asdict(speed) for speed in measured])
        return
    out = console()
    ours = {speed.game: speed.per_second for speed in measured if speed.who == "kibitz"}
    rows = [
        (
            f"{speed.game}: {speed.who}", f"{speed.per_second:,.0f}",
            f"{ours[speed.game] / speed.per_second:,.1f} x",
        )
        for speed in measured
    ]  # fmt: skip
    out.print(grid("", ("random play, one core", "moves a second", "kibitz is"), rows))
    if not any(speed.who != "kibitz" for speed in measured):
        out.print("For a comparison with OpenSpiel: pip install 'kibitz[bench]'", style="dim")
