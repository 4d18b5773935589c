"""One screen that shows what kibitz is."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.markup import escape
from rich.rule import Rule

from kibitz.cli.arena import tally_table
from kibitz.cli.shared import Waiting, console, grid
from kibitz.core.chance import Chance
from kibitz.core.record import Record
from kibitz.core.registry import agent_kinds, find_agent, find_game, game_names
from kibitz.play.match import match
from kibitz.play.speed import measure
from kibitz.search.solve import in_words, solve, unsolvable

GAMES = 100_000


def demo() -> None:
    """Show what kibitz can do, on one screen, in under two minutes."""
    out = console()
    began = time.perf_counter()
    games = [find_game(name) for name in game_names()]

    out.print(Rule("[bold]kibitz[/]: agents learn tabletop games, rate one another, and play you"))
    solved = [game for game in games if unsolvable(game) is None]
    with Waiting("solving"):
        solutions = [(game, solve(game)) for game in solved]
    out.print("[bold]Solved exactly[/] (verdicts for the seat to move, mirror images folded)")
    out.print(
        tally_table(
            [
                (f"{game.title}: seat {0 if answer.verdict > 0 else 1} "
                 f"{in_words(abs(answer.verdict))} plies", answer)
                for game, answer in solutions
            ]
        )
    )  # fmt: skip

    out.print(f"\n[bold]Matched[/] ({GAMES:,} games each, seats rotated, 95% intervals)")
    rows = []
    with Waiting("playing") as waiting:
        for game in games:
            rivals = [name for name in agent_kinds(game) if name not in ("random", "perfect")]
            best = "perfect" if unsolvable(game) is None else rivals[0]
            for pair in ([best, "random"], [best, rivals[0]], [rivals[0], "random"]):
                result = match(game, pair, GAMES, seed=1, progress=waiting.progress)
                first = result.agents[0]
                rows.append(
                    (
                        f"{game.title}: {pair[0]} against {pair[1]}", first.share.text(),
                        f"{result.games_per_second:,.0f}",
                    )
                )  # fmt: skip
    out.print(grid("", ("", "share of wins", "games a second"), rows))

    with Waiting("measuring"):
        speeds = [speed for game in games for speed in measure(game, 1.5)]
    ours = {speed.game: speed.per_second for speed in speeds if speed.who == "kibitz"}
    out.print("\n[bold]Fast[/] (random play on one core)")
    out.print(
        grid(
            "",
            ("", "moves a second", "kibitz is"),
            [
                (f"{speed.game}: {speed.who}", f"{speed.per_second:,.0f}",
                 "" if speed.who == "kibitz" else f"{ours[speed.game] / speed.per_second:.1f} x")
                for speed in speeds
            ],
        )
    )  # fmt: skip

    out.print("\n[bold]Recorded[/] (random against perfect, saved, loaded, replayed)")
    lines = str(_recorded(games[-1].name)).splitlines()
    out.print(escape("\n".join([*lines[:7], "   …", *lines[-4:]])))
    out.print(
        f"\n[dim]{time.perf_counter() - began:.0f} seconds. Next:[/] kibitz play {games[-1].name}"
        "[dim],[/] kibitz watch nim --step[dim],[/] kibitz games"
    )


def _recorded(name: str) -> Record:
    game = find_game(name)
    table = game.deal(seed=3)
    agents = [find_agent("random", game), find_agent("perfect", game)]
    for seat, agent in enumerate(agents):
        agent.begin(seat, Chance(3, 0, 1 + seat))
    while not table.over:
        table.play(agents[table.seat].choose(table.view()))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "game.json"
        table.record(("random", "perfect")).save(path)
        return Record.load(path)
