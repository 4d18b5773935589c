"""One screen that shows what kibitz is. Every game and learner has its line here."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.markup import escape
from rich.rule import Rule

from kibitz.cli.arena import tally_table
from kibitz.cli.shared import Waiting, console, grid
from kibitz.core.record import Record
from kibitz.core.registry import find_game
from kibitz.learners import train
from kibitz.play.match import match
from kibitz.play.seats import ask, at_seats
from kibitz.play.speed import measure
from kibitz.search.solve import Solution, in_words, solve

GAMES = 100_000
FEWER = {"mexican_train": 2_000, "hanabi": 2_000}  # games of many moves, or much thought
SOLVED = ("nim", "tapnswap")
MATCHED = (
    ("nim", "perfect", "random"),
    ("nim", "gabriele", "random"),
    ("tapnswap", "perfect", "random"),
    ("tapnswap", "tapper", "random"),
    ("mexican_train", "planner", "persistent-line", "double", "greedy"),
    ("hanabi", "smart"),
)
FAST = ("nim", "tapnswap", "mexican_train", "hanabi")
EVOLVED = "nim"
TABLED = "tapnswap"
RECORDED = "tapnswap"


def demo() -> None:
    """Show what kibitz can do, on one screen, in under two minutes."""
    out = console()
    began = time.perf_counter()
    out.print(Rule("[bold]kibitz[/]: agents learn tabletop games, rate one another, and play you"))
    for part in (show_solved, show_matched, show_learned, show_fast, show_recorded):
        part(out)
    out.print(
        f"\n[dim]{time.perf_counter() - began:.0f} seconds. Next:[/] kibitz serve [dim](the "
        "workbench in your browser),[/] kibitz play tapnswap[dim],[/] kibitz watch nim --step"
    )


def show_solved(out: Console) -> None:
    """Solve the small games exactly."""
    with Waiting("solving"):
        solutions = [solve(find_game(name)) for name in SOLVED]
    out.print("[bold]Solved exactly[/] (verdicts for the seat to move, mirror images folded)")
    out.print(tally_table([(f"{s.game.title}: {_outcome(s)}", s) for s in solutions]))


def show_matched(out: Console) -> None:
    """Match agents, with intervals."""
    fewer = " and ".join(f"{games:,} of {find_game(name).title}" for name, games in FEWER.items())
    out.print(f"\n[bold]Matched[/] ({GAMES:,} games each, {fewer})")
    rows = []
    with Waiting("playing") as waiting:
        for name, *pair in MATCHED:
            games = FEWER.get(name, GAMES)
            result = match(find_game(name), pair, games, seed=1, progress=waiting.progress)
            if result.cooperative:
                who = f"{pair[0]} with itself"
                figure = f"{result.agents[0].points.text()} points"
            else:
                who = f"{pair[0]} against {', '.join(pair[1:])}"
                figure = result.agents[0].share.text()
            title = f"{find_game(name).title}: {who}"
            rows.append((title, figure, f"{result.games_per_second:,.0f}"))
    out.print(grid("", ("", "share of wins", "games a second"), rows))


def show_learned(out: Console) -> None:
    """Train an agent from nothing, and match it before and after."""
    game = find_game(EVOLVED)
    rows = []
    for budget in (16, 320):
        with Waiting("evolving") as waiting:
            began = time.perf_counter()
            evolved = train("evolution", game, seed=1, budget=budget, progress=waiting.progress)
            seconds = time.perf_counter() - began
            shares = [
                match(game, [evolved.agent, rival], GAMES // 5, seed=1).agents[0].share.text()
                for rival in ("random", "expert")
            ]
        title = f"{game.title}: evolution, {evolved.evaluations} evaluations"
        rows.append((title, *shares, f"{seconds:.1f} s"))
    out.print(
        "\n[bold]Learned[/] (the weights of 17 strategies that vote; nobody beats the expert)"
    )
    out.print(grid("", ("", "against random", "against expert", "trained in"), rows))
    show_tabled(out)


def show_tabled(out: Console) -> None:
    """Fill a Q-table for a moment and for longer, and grade it by exact play."""
    game = find_game(TABLED)
    rows = []
    for games in (200, 100_000):
        with Waiting("learning") as waiting:
            train("q-learning", game, seed=1, games=1)  # compiles
            began = time.perf_counter()
            learned = train("q-learning", game, seed=1, games=games, progress=waiting.progress)
            seconds = time.perf_counter() - began
        title = f"{game.title}: Q-learning, {games:,} games"
        agreement = f"{learned.figures['agreement']:.1%}"
        rows.append((title, agreement, learned.worst[1], f"{seconds:.2f} s"))
    out.print("\n[bold]Graded[/] (all positions; the worst that can happen to the second player)")
    out.print(grid("", ("", "moves right", "worst", "trained in"), rows))


def show_fast(out: Console) -> None:
    """Measure random play beside the peer."""
    with Waiting("measuring"):
        speeds = [speed for name in FAST for speed in measure(find_game(name), 1.5)]
    ours = {speed.game: speed.per_second for speed in speeds if speed.who == "kibitz"}
    rows = []
    for speed in speeds:
        ratio = f"{ours[speed.game] / speed.per_second:.1f} x" if speed.who != "kibitz" else ""
        rows.append((f"{speed.game}: {speed.who}", f"{speed.per_second:,.0f}", ratio))
    out.print("\n[bold]Fast[/] (random play on one core)")
    out.print(grid("", ("", "moves a second", "kibitz is"), rows))
    if len(speeds) == len(FAST):
        out.print("For a comparison with OpenSpiel: pip install 'kibitz[bench]'", style="dim")


def show_recorded(out: Console) -> None:
    """Play a game, save it, load it, replay it."""
    lines = str(_recorded(RECORDED)).splitlines()
    out.print("\n[bold]Recorded[/] (random against perfect, saved, loaded, replayed)")
    out.print(escape("\n".join([*lines[:7], "   …", *lines[-4:]])))


def _outcome(solution: Solution) -> str:
    if solution.verdict == 0:
        return "a draw"
    return f"seat {0 if solution.verdict > 0 else 1} {in_words(abs(solution.verdict))} plies"


def _recorded(name: str) -> Record:
    game = find_game(name)
    table = game.deal(seed=3)
    names = ("random", "perfect")
    agents = at_seats(game, names, table)
    while not table.over:
        agent = agents[table.seat]
        assert agent is not None
        table.play(ask(agent, table))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "game.json"
        table.record(names).save(path)
        return Record.load(path)
