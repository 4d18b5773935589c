"""The demo: every game, every learner, a league, exact play, speed and a replay in a minute."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from kibitz.cli.demo.lanes import Lanes, PartFailed
from kibitz.cli.demo.parts import LEARNERS, MATCHES, OPENINGS, SOLVED
from kibitz.cli.demo.screen import Screen
from kibitz.cli.demo.words import BEFORE, SHIPPED, change, pace
from kibitz.cli.shared import console
from kibitz.core.files import check_can_save, save

PAGE = Path("runs") / "demo.html"

SOLUTIONS = (("game", -9), ("best play", -25), ("positions", 9), ("won", 5), ("drawn", 5),
             ("lost", 5))  # fmt: skip
PAIRS = (("game", -13), ("agents", -32), ("games", 6), ("first agent", 18))
LESSONS = (("learner", -20), ("game", -8), ("before → after", -15), ("figure", -24), ("took", 6))
LADDER = (("", 2), ("agent", -24), ("rating", 12), ("wins", 14))


def demo(
    page: Annotated[Path, typer.Option(help="Where to write the page.")] = PAGE,
    seed: Annotated[
        int, typer.Option(min=0, help="Random seed; the same seed gives the same figures.")
    ] = 1,
) -> None:
    """Show what kibitz can do, in the terminal and as a page for the browser."""
    with contextlib.suppress(OSError):  # what is wrong with the place is said next
        page.parent.mkdir(parents=True, exist_ok=True)
    check_can_save(page)
    began = time.perf_counter()
    shown = Demo(Screen(console()), seed)
    with shown.screen.waiting() as tell, Lanes(seed, tell) as lanes:
        shown.run(lanes)
    from kibitz.cli.demo.page import page as write  # drawings are loaded when they are used

    save(page, write(shown.results, shown.problems, seed))
    shown.screen.say(
        f"\n[bold]{escape(str(page))}[/] has the boards, curves, the ladder and the replay. "
        "Open it in a browser.\n"
        f"[dim]{time.perf_counter() - began:.0f} seconds. Next:[/] kibitz serve[dim],[/] "
        "kibitz play tapnswap[dim],[/] kibitz watch nim --step"
    )
    if shown.failed:
        raise typer.Exit(1)


class Demo:
    """The course of the demo: results are shown in a fixed order as soon as they are there."""

    def __init__(self, screen: Screen, seed: int) -> None:
        self.screen = screen
        self.seed = seed
        self.results: dict[str, Mapping[str, Any]] = {}
        self.problems: dict[str, str] = {}
        self.failed = False

    def run(self, lanes: Lanes) -> None:
        """Show all parts."""
        self.screen.title("kibitz: agents learn tabletop games, rate one another, and play you")
        for name in OPENINGS:
            self._part(lanes, f"board:{name}", self.screen.board)
        self.screen.rest_of_boards()
        self._table(lanes, "Solved exactly", SOLUTIONS, _keys("solve", SOLVED), _solution)
        self._table(lanes, "Matches", PAIRS, _keys("match", MATCHES), _pair)
        self._part(lanes, "league", self._league)
        self._part(lanes, "speed", self._speed)
        self._table(lanes, "Learning", LESSONS, _keys("learn", LEARNERS), _lesson)
        self.screen.say(f"[dim]{BEFORE}[/]")
        if any(
            key.startswith("learn:") and not one["curve"]["points"]
            for key, one in self.results.items()
        ):
            self.screen.say(f"[dim]{SHIPPED}[/]")
        self._part(lanes, "record", self._record)

    def _part(self, lanes: Lanes, key: str, show: Callable[[Mapping[str, Any]], None]) -> None:
        try:
            self.results[key] = lanes.result(key)
        except PartFailed as problem:
            self.problems[key] = str(problem)
            self.failed = self.failed or not problem.is_refusal
            self.screen.problem(key.partition(":")[2] or key, str(problem))
        else:
            show(self.results[key])

    def _table(
        self,
        lanes: Lanes,
        title: str,
        columns: Iterable[tuple[str, int]],
        keys: Iterable[str],
        row: Callable[[Mapping[str, Any]], tuple[str, ...]],
    ) -> None:
        rows = self.screen.rows(title, columns)
        for key in keys:
            self._part(lanes, key, lambda result: rows.add(row(result)))

    def _league(self, league: Mapping[str, Any]) -> None:
        rows = self.screen.rows(f"League of {league['game']}, {league['games']:,} games", LADDER)
        for rung in league["rows"]:
            rows.add((str(rung["place"]), rung["name"], rung["rating"], rung["share"]))

    def _speed(self, speed: Mapping[str, Any]) -> None:
        self.screen.say("\n[bold]Speed[/] of random play, beside the other parts")
        for row in speed["rows"]:
            self.screen.say(escape(pace(row)))

    def _record(self, record: Mapping[str, Any]) -> None:
        self.screen.say(f"\n[bold]Recorded[/] {record['game']}, saved, loaded and replayed")
        names, moves = record["names"], record["moves"]
        # The first two moves and the last two; a game of up to five is shown whole.
        left_out = range(2, len(moves) - 2) if len(moves) > 5 else range(0)
        for at, (seat, words) in enumerate(moves):
            if at not in left_out:
                self.screen.say(escape(f"{at + 1:>4}  {names[seat]:<8} {words}"))
            elif at == left_out[0]:
                self.screen.say("   …")
        ending = ", ".join(
            f"{name} {points:g}" for name, points in zip(names, record["points"], strict=True)
        )
        self.screen.say(escape(f"Points: {ending}."))


def _keys(kind: str, names: Iterable[str]) -> list[str]:
    return [f"{kind}:{name}" for name in names]


def _solution(one: Mapping[str, Any]) -> tuple[str, ...]:
    counts = (f"{one[name]:,}" for name in ("positions", "won", "drawn", "lost"))
    return (one["game"], one["outcome"], *counts)


def _pair(one: Mapping[str, Any]) -> tuple[str, ...]:
    return (one["game"], one["who"], f"{one['games']:,}", one["figure"])


def _lesson(one: Mapping[str, Any]) -> tuple[str, ...]:
    took = f"{one['seconds']:.1f} s"
    return (one["learner"], one["game"], change(one), one["figure"], took)
