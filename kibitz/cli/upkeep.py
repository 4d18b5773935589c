"""Compiling ahead, and whether kibitz is sound on this machine."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from kibitz.cli.shared import Json, console, print_json
from kibitz.core.errors import KibitzError
from kibitz.core.registry import find_game, game_names

FAILURE = 1


def warm(
    games: Annotated[
        list[str] | None, typer.Argument(metavar="[GAME]...", help="Games; all by default.")
    ] = None,
    learners: Annotated[
        bool, typer.Option("--learners", help="Compile the loops of training, too.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "--list", help="Only list what is missing.")
    ] = False,
    cores: Annotated[
        int | None, typer.Option(min=1, help="How many processes; one for each core by default.")
    ] = None,
    json: Json = False,
) -> None:
    """Compile ahead what games need, so that nothing is compiled when you play.

    What is done stays done: it can be interrupted with Ctrl-C, and later goes on from there.
    """
    from kibitz.warming import warm as compile_ahead

    chosen = [find_game(name) for name in games or game_names()]
    with _Bar("looking" if dry_run else "compiling") as bar:
        found = compile_ahead(
            chosen, learners=learners, look=dry_run, cores=cores, report=bar.report
        )
    if json:
        print_json(
            {
                "games": [game.name for game in chosen], "dry_run": dry_run,
                "kept": found.kept, "compiled": found.compiled,
                "missing": [str(one.job) for one in found.missing] if dry_run else [],
                "failed": [{"job": str(one.job), "error": one.error} for one in found.failed],
                "seconds": found.seconds, "cpu_seconds": found.cpu_seconds,
            }
        )  # fmt: skip
    else:
        out = console()
        if dry_run and found.missing:
            for one in found.missing:
                out.print(escape(str(one.job)), soft_wrap=True)
            command = " ".join(
                ["kibitz warm", *(games or ()), *(["--learners"] if learners else ())]
            )
            out.print(f"\n{len(found.missing)} to compile: {escape(command)}", style="dim")
        elif found.compiled:
            by_group = Counter(one.job.group for one in found.done for _ in one.compiled)
            for group, count in sorted(by_group.items()):
                out.print(f"{group}: {count} functions and loops", markup=False)
            out.print(
                f"Compiled {len(found.compiled)} in {found.seconds:.0f} s "
                f"({found.cpu_seconds:.0f} s of processor time); {found.kept} were there already."
            )
        elif not found.failed:
            out.print("Nothing to do: everything is compiled.")
    for one in found.failed:
        Console(stderr=True, highlight=False, soft_wrap=True).print(
            escape(f"{one.job} failed: {one.error}")
        )
    if found.failed:
        raise typer.Exit(FAILURE)


class _Bar:
    """How far compiling is: a bar on a terminal, a line for each job in a pipe."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.done = 0
        self.live = sys.stderr is not None and sys.stderr.isatty()
        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TimeElapsedColumn(), console=Console(stderr=True), transient=True,
            disable=not self.live,
        )  # fmt: skip
        self.task = self.bar.add_task(label, total=None)

    def __enter__(self) -> _Bar:
        self.bar.start()
        return self

    def report(self, done: int, total: int, last: Any) -> None:
        """Show that a job is done."""
        self.done = done
        self.bar.update(self.task, completed=done, total=total)
        if last is None:
            return
        if self.live:
            self.bar.update(self.task, description=f"{self.label} {escape(last.job.group)}")
        elif last.is_missing or last.error:
            words = last.error or f"{last.seconds:.1f} s"
            print(f"{done} of {total}  {last.job}  {words}", file=sys.stderr, flush=True)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.bar.stop()
        if kind is KeyboardInterrupt:
            print(f"{self.done} jobs are done and kept.", file=sys.stderr)


def doctor(
    json: Json = False,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Compile a tiny game to check it.")
    ] = False,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all compiled code.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before that.")] = False,
) -> None:
    """Check this machine, the compiled code and the extras; say what to do about problems."""
    if clear:
        _clear(yes, json)
        return
    from kibitz.doctor import examine

    checks = examine(thorough)
    sound = all(check.ok is not False for check in checks)
    if json:
        print_json({"sound": sound, "checks": [asdict(check) for check in checks]})
    else:
        _print(checks)
        failed = sum(check.ok is False for check in checks)
        words = "Everything is sound." if sound else f"{failed} to see to."
        console().print(f"\n{words}")
    if not sound:
        raise typer.Exit(FAILURE)


def _print(checks: list[Any]) -> None:
    out = console()
    signs = {True: "[green]✓[/]", False: "[red]✗[/]", None: "[dim]·[/]"}
    if not out.is_terminal:
        signs = {True: "ok", False: "FAIL", None: "-"}
    topic = ""
    for check in checks:
        if check.topic != topic:
            topic = check.topic
            out.print(f"{chr(10) if check is not checks[0] else ''}[bold]{topic}[/]")
        row = Table.grid(padding=(0, 1))
        row.add_column(width=4 if not out.is_terminal else 1, no_wrap=True)
        row.add_column(width=24, overflow="fold")
        row.add_column(overflow="fold")
        said = escape(check.said)
        if check.remedy and check.ok is not True:
            said += f"\n[dim]{escape(check.remedy)}[/]"
        row.add_row(signs[check.ok], escape(check.name), said)
        out.print(row)


def _clear(yes: bool, json: bool) -> None:
    from kibitz.core.jit import inspect
    from kibitz.doctor import in_words

    found = inspect.survey()
    if found.home is None:
        raise KibitzError("There is no folder of compiled code.")
    if not yes:
        question = f"Remove {in_words(found.bytes)} of compiled code from {found.home}?"
        typer.confirm(question, abort=True, err=True)
    gone = inspect.clear(found.home)
    if json:
        print_json({"folder": str(found.home), "bytes": gone})
    else:
        console().print(f"Removed {in_words(gone)}.")
