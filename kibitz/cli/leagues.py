"""Leagues: who is better, by how much, and how sure that is."""

from __future__ import annotations

import contextlib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from kibitz.cli.shared import (
    GameName,
    Json,
    Seed,
    Setting,
    Waiting,
    chosen_game,
    complain,
    console,
    grid,
    print_json,
)
from kibitz.core.errors import Misuse
from kibitz.core.files import check_can_save, save
from kibitz.play.result import interval_text

if TYPE_CHECKING:  # the store takes half a second to import
    from kibitz.league import League
    from kibitz.league.ladder import Ladder, Rung

WIDEST = 12  # agents whose matrix a terminal can show


class Action(StrEnum):
    """What can be done with a league."""

    RUN = "run"
    ADD = "add"
    SUSPEND = "suspend"
    READMIT = "readmit"
    SHOW = "show"
    MATRIX = "matrix"
    REPORT = "report"
    EXPORT = "export"
    LIST = "list"


def league(
    game: GameName,
    action: Annotated[
        Action,
        typer.Argument(
            metavar="ACTION",
            help="run: play on. add, suspend, readmit: who takes part. show: the ladder. matrix: "
            "who beats whom. report: a page for the browser. export: CSV or JSON. list: leagues.",
            show_default=False,
        ),
    ] = Action.SHOW,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="AGENT|FILE...", help="Agents, as in strong=mcts:sims=500; a file."),
    ] = None,
    games: Annotated[
        int | None, typer.Option(help="Run until everybody has so many games.")
    ] = None,
    precision: Annotated[
        float | None, typer.Option(help="Or until no rating is less sure than this.")
    ] = None,
    pairing: Annotated[str, typer.Option(help="robin, swiss, tables or ladder.")] = "robin",
    each: Annotated[int | None, typer.Option(help="Games of one match.")] = None,
    patience: Annotated[
        float | None, typer.Option(help="Seconds for a move; who takes longer is suspended.")
    ] = None,
    cores: Annotated[int | None, typer.Option(help="How many cores; all by default.")] = None,
    store: Annotated[
        str | None,
        typer.Option(help="A file, or postgresql://..; else $KIBITZ_STORE or runs/leagues.sqlite."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Tells leagues of one game apart.")] = None,
    reason: Annotated[str, typer.Option(help="Why somebody is suspended.")] = "by hand",
    seed: Seed = None,
    settings: Setting = None,
    json: Json = False,
) -> None:
    """Rate agents: let them meet, keep every result, and show who is better and how sure that is.

    `run` begins a league with all agents of the game if none has been added, and goes on with one
    that was stopped, at any moment. Agents that are named after it join first; name those from
    files of your own (FILE.py:CLASS) every time. Several processes may run the same league.
    """
    from kibitz.league import League
    from kibitz.league.league import PATIENCE
    from kibitz.league.pairings import pairing_of
    from kibitz.league.store import league_command

    chosen = chosen_game(game, settings)
    pairing_of(pairing)  # a league is not begun for a command that cannot be carried out
    given = names or []
    typed = league_command(chosen, store, name)
    if action in (Action.SHOW, Action.MATRIX, Action.LIST) and given:
        raise Misuse(f"'{action}' takes no agents. To let some join: {typed} add AGENT")
    if action is Action.LIST:
        _list(store, json)
        return
    makes = action in (Action.RUN, Action.ADD)
    opened = League(chosen, store, name, seed, make=makes)
    if action in (Action.ADD, Action.SUSPEND, Action.READMIT):
        _change(opened, action, given, reason, json)
        return
    if action in (Action.REPORT, Action.EXPORT):
        _write(opened, action, given)
        return
    if action is Action.RUN:
        waits = PATIENCE if patience is None else patience
        ladder = _run(opened, given, games, precision, pairing, each, waits, cores)
    else:
        ladder = opened.ladder()
    if json:
        print_json(ladder.to_dict())
        return
    out = console()
    if action is Action.MATRIX:
        print_matrix(out, ladder)
    else:
        print_ladder(out, ladder, opened.command())


def _list(store: str | None, json: bool) -> None:
    from kibitz.league.book import league_names
    from kibitz.league.store import Store

    found = league_names(Store(store, make=False))
    if json:
        rows = [{"name": name, "game": game, "games": games} for name, game, games in found]
        print_json(rows)
        return
    rows_of = [(name, game, f"{games:,}") for name, game, games in found]
    console().print(grid("", ("league", "game", "games"), rows_of, left=(0, 1)))


def _run(
    opened: League,
    names: list[str],
    games: int | None,
    precision: float | None,
    pairing: str,
    each: int | None,
    patience: float,
    cores: int | None,
) -> Ladder:
    from kibitz.league.members import everybody

    with Waiting("looking for agents"):
        _join(opened, names)
    if not opened.members:
        with Waiting("looking for agents"):
            opened.add(*everybody(opened.game))
    try:
        with Waiting("playing") as waiting:
            return opened.run(
                games, precision=precision, pairing=pairing, each=each, patience=patience,
                cores=cores, progress=waiting.progress,
            )  # fmt: skip
    except KeyboardInterrupt:
        complain("Stopped. Every match that was finished is kept; the same command goes on.")
        raise


def _join(opened: League, names: list[str]) -> None:
    """Let agents join; who plays here under another name already need not be added again."""
    from kibitz.league.members import anywhere

    there = {member.who for member in opened.members}
    for text in names:
        name, who = _called(text)
        if name is not None or anywhere(who) not in there:
            opened.add(who, name=name)


def _change(opened: League, action: Action, names: list[str], reason: str, json: bool) -> None:
    if not names:
        command = opened.command(f"{action} AGENT")
        raise Misuse(f"Say whom to {action}, as in: {command}")
    for text in names:
        if action is Action.ADD:
            name, who = _called(text)
            opened.add(who, name=name)
        elif action is Action.SUSPEND:
            opened.suspend(text, reason)
        else:
            opened.readmit(text)
    if json:
        print_json([member.to_dict() for member in opened.members])
        return
    rows = [
        (member.name, member.who or "an object of one process", member.suspended or "")
        for member in opened.members
    ]
    console().print(grid("", ("agent", "plays as", "suspended"), rows, left=(0, 1), text=(2,)))


def _called(text: str) -> tuple[str | None, str]:
    """Read `NAME=AGENT`; what follows a colon are settings of the agent, which have their own =."""
    head, equals, who = text.partition("=")
    if equals and ":" not in head and who and not Path(text).is_file():
        return head, who
    return None, text


def _write(opened: League, action: Action, names: list[str]) -> None:
    from kibitz.league.exporting import check_ending

    if len(names) != 1:
        kind = "page.html" if action is Action.REPORT else "games.csv"
        raise Misuse(f"Say where to write it: {opened.command(f'{action} {kind}')}")
    path = Path(names[0])
    if action is Action.EXPORT:
        check_ending(path.suffix)
    with contextlib.suppress(OSError):  # what is wrong with the place is told next
        path.parent.mkdir(parents=True, exist_ok=True)
    check_can_save(path)
    with Waiting("writing"):
        content = opened.report() if action is Action.REPORT else opened.export(path.suffix)
    save(path, content)
    console().print(f"Wrote {path}.", markup=False, soft_wrap=True)


def print_ladder(out: Console, ladder: Ladder, typed: str) -> None:
    """Show how everybody stands; `typed` is the command that opens the league."""
    if not ladder.rungs:
        out.print(f"Nobody has joined yet. For all agents of the game: {typed} run", markup=False)
        return
    if ladder.cooperative:
        columns = ["", "agent", "points with itself", "with others", "games"]
        rows = [
            [
                _place(rung), rung.name, rung.points.text() if rung.points else "",
                rung.with_others.text() if rung.with_others else "", f"{rung.games:,}",
            ]
            for rung in ladder.rungs
        ]  # fmt: skip
    else:
        columns = ["", "agent", "rating", "Elo", "OpenSkill", "wins", "games", "lottery"]
        rows = [
            [
                _place(rung), rung.name, rating_text(rung),
                *(_online(rung) if rung.place else ("", "")),
                rung.share.text() if rung.share else "", f"{rung.games:,}",
                f"{rung.lottery:.1%}" if rung.lottery else "",
            ]
            for rung in ladder.rungs
        ]  # fmt: skip
    out.print(grid("", columns, rows, left=(1,), keys=2))
    for rung in ladder.rungs:
        if rung.suspended:
            out.print(f"{rung.name} is suspended: {rung.suspended}", markup=False)
    for circle in ladder.circles:
        out.print(f"A circle: {' beats '.join((*circle, circle[0]))}.", markup=False)
    out.print(f"\n{footnote(ladder)}", style="dim", markup=False)
    after = f"{typed} matrix, or {typed} report page.html" if ladder.games else f"{typed} run"
    out.print(
        f"Next: {after}",
        style="dim",
        markup=False,
        soft_wrap=True,
    )


def footnote(ladder: Ladder) -> str:
    """Say what the figures of a ladder rest on."""
    text = (
        f"{ladder.league}: {ladder.games:,} games of duplicate deals in {ladder.rounds} rounds"
        f", seed {ladder.seed}. Intervals are 95%."
    )
    if ladder.anchor:
        text += f" The scale is such that {ladder.anchor} has 2000."
    if len(ladder.versions) > 1:
        text += f" Played by several versions of kibitz: {', '.join(ladder.versions)}."
    return text


def print_matrix(out: Console, ladder: Ladder) -> None:
    """Show who beats whom, or who gets how many points with whom."""
    names = [rung.name for rung in ladder.rungs if rung.place]
    shown = names[:WIDEST]
    rows = []
    for place, one in enumerate(shown):
        row = [f"{place + 1}  {one}"]
        for two in shown:
            cell = ladder.cells.get((one, two))
            if cell is None:
                row.append("")
            elif ladder.cooperative:
                row.append(f"{cell.points.mean:.1f}")
            else:
                row.append(f"{100 * cell.share.mean:.0f}")
        rows.append(row)
    what = "points together" if ladder.cooperative else "per cent ahead of"
    out.print(grid("", (what, *(str(place + 1) for place in range(len(shown)))), rows))
    if len(names) > len(shown):
        out.print(f"and {len(names) - len(shown)} more: see the report, or --json", style="dim")


def rating_text(rung: Rung) -> str:
    """Write a rating with its interval."""
    strength = rung.rating.strength
    return interval_text(strength.mean, strength.low, strength.high) if strength else "none yet"


def _place(rung: Rung) -> str:
    return str(rung.place) if rung.place else ""


def _online(rung: Rung) -> tuple[str, str]:
    skill = rung.rating.skill
    return f"{rung.rating.elo:.0f}", f"{skill.mean:.1f} ± {skill.spread:.1f}"
