"""What the commands share: options, tables, waiting, and how things are shown."""

from __future__ import annotations

import shlex
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from kibitz.cli.tables import Grid, reflowed
from kibitz.core import tiers
from kibitz.core.agent import Opinion
from kibitz.core.game import Game
from kibitz.core.options import Option, split
from kibitz.core.plain import as_json
from kibitz.core.registry import find_game
from kibitz.core.svg import SEAT_SIGNS, seat_colour
from kibitz.play.seats import HUMAN

PIPE_WIDTH = 120
DELAY = 1.0  # seconds before a wait is worth a bar

GameName = Annotated[str, typer.Argument(metavar="GAME", help="A game; see kibitz games.")]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="NAME=VALUE", help="Set an option of the game."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Plain = Annotated[bool, typer.Option("--plain", help="Text without colour or shapes.")]
Seed = Annotated[int | None, typer.Option(help="Repeat the same chance.")]


def console(plain: bool = False) -> Console:
    """Make the console for what a command prints; a pipe gets plain text, with lines unbroken."""
    piped = sys.stdout is None or not sys.stdout.isatty()
    return Console(
        highlight=False,
        color_system=None if plain else "auto",
        width=PIPE_WIDTH if piped else None,
        soft_wrap=piped,
    )


def complain(message: str) -> None:
    """Say on standard error what went wrong."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(escape(message))


def print_json(content: Any) -> None:
    """Print data as JSON; what is not a number becomes null."""
    print(as_json(content))


def chosen_game(name: str, settings: Iterable[str] | None) -> Game:
    """Find the game that was asked for, with what was set."""
    given: dict[str, str] = {}
    for text in settings or ():
        given.update(split(text))
    return find_game(name).having(**given)


def about_option(option: Option) -> dict[str, object]:
    """Describe an option as plain data."""
    return {
        "name": option.name,
        "default": option.default,
        "help": option.help,
        "takes": option.takes(),
    }


def grid(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    left: Sequence[int] = (0,),
    text: Sequence[int] = (),
    keys: int = 1,
) -> Grid:
    """Make a table: names left, text left and wrapped, in the columns given; numbers right.

    Nothing is ever cut. Where a table is split because it is too wide, each part begins with the
    first `keys` columns.
    """
    return Grid(title, columns, rows, left, text, keys)


def prose(out: Console, text: str) -> str:
    """Break paragraphs anew where a terminal is narrower than they are."""
    return text if out.soft_wrap else reflowed(text, out.width)


def play_command(game: Game, who: str) -> str:
    """Write the command that seats a person once, and an agent everywhere else."""
    seats = ",".join([HUMAN, *[who] * (game.players - 1)])
    return f"kibitz play {game.typed()} --seats {shlex.quote(seats)}"


def seat_name(seat: int, name: str = "", plain: bool = False) -> str:
    """Write a seat with its shape in its colour, and who sits there."""
    label = escape(f"seat {seat}" + (f" {name}" if name else ""))
    if plain:
        return label
    return f"[{seat_colour(seat)}]{SEAT_SIGNS[seat % len(SEAT_SIGNS)]}[/] {label}"


def seat_names(names: Sequence[str], plain: bool = False) -> list[str]:
    """Write all seats so."""
    return [seat_name(seat, name, plain) for seat, name in enumerate(names)]


def opinion_lines(opinion: Opinion, most: int = 5) -> list[str]:
    """Write an agent's opinion: its choice and reason, then what it thinks of the options."""
    lines = [f"{opinion.words}. {opinion.reason}"]
    shown = [thought for thought in opinion.thoughts if thought.value is not None or thought.note]
    for thought in shown[:most]:
        value = "" if thought.value is None else f"{thought.value:+.3f}"
        lines.append(f"   {thought.words:<24} {value:>8}  {thought.note}".rstrip())
    if len(shown) > most:
        lines.append(f"   and {len(shown) - most} more")
    return lines


class Waiting:
    """A progress bar that appears on standard error when something takes longer than a second.

    with Waiting("playing") as waiting:
        match(..., progress=waiting.progress)
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TimeRemainingColumn(), console=Console(stderr=True), transient=True,
        )  # fmt: skip
        self._task = self._bar.add_task(label, total=None)
        self._timer = threading.Timer(DELAY, self._bar.start)
        self._timer.daemon = True

    def __enter__(self) -> Waiting:
        tiers.reports.append(self._compiling)
        if sys.stderr is not None and sys.stderr.isatty():
            self._timer.start()
        return self

    def progress(self, done: int, total: int, words: str = "") -> None:
        """Move the bar, with a few words about how it goes."""
        label = f"{self.label}: {words}" if words else self.label
        self._bar.update(self._task, description=label, completed=done, total=total)

    def _compiling(self, done: int, total: int, name: str) -> None:
        """Say how far compiling is, which happens once, before something runs."""
        label = f"{self.label}: compiling (once)" if done < total else self.label
        self._bar.update(self._task, description=label, completed=done, total=total)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Keep the bar away while something else happens on the terminal."""
        self._stop()
        yield
        if sys.stderr is not None and sys.stderr.isatty():
            self._bar.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        tiers.reports.remove(self._compiling)
        self._stop()

    def _stop(self) -> None:
        self._timer.cancel()
        if self._timer.ident is not None:
            self._timer.join()  # it may be starting the bar at this very moment
        if self._bar.live.is_started:
            self._bar.stop()
