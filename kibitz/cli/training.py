"""Training: every learner by name, its settings as flags."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from kibitz.cli.person import Series
from kibitz.cli.setup import Player
from kibitz.cli.shared import (
    GameName,
    Json,
    Seed,
    Setting,
    Waiting,
    about_option,
    chosen_game,
    complain,
    console,
    grid,
    play_command,
    print_json,
)
from kibitz.cli.tables import text_columns
from kibitz.core.agent import Agent
from kibitz.core.chance import checked_seed
from kibitz.core.errors import Misuse
from kibitz.core.files import check_can_save
from kibitz.core.game import Game
from kibitz.core.models import find_model
from kibitz.core.options import options_of
from kibitz.core.registry import find_game, game_names
from kibitz.core.rewards import names_for
from kibitz.core.training import seed_of
from kibitz.learners import find_learner, learner_names
from kibitz.learners import train as train_agent
from kibitz.play.seats import HUMAN, YOU
from kibitz.search.opponents import strongest


def learners(json: Json = False) -> None:
    """List the learners and their settings."""
    found = {name: find_learner(name) for name in learner_names()}
    if json:
        print_json(
            [
                {
                    "name": name,
                    "presets": module.PRESETS,
                    "options": [about_option(option) for option in options_of(module.Settings)],
                    "names": names_of(module),
                }
                for name, module in found.items()
            ]
        )
        return
    out = console()
    for name, module in found.items():
        out.print(f"[bold]{name}[/]  {(module.__doc__ or '').strip().splitlines()[0]}")
        rows = [
            (f"--{o.name.replace('_', '-')}", o.say(o.default) or "none", o.help)
            for o in options_of(module.Settings)
        ]
        out.print(grid("", ("setting", "default", "meaning"), rows, text=(1, 2)))
        for setting, games in names_of(module).items():
            for game, names in games.items():
                out.print(f"--{setting} for {game}", style="bold", markup=False)
                out.print(grid("", ("name", "meaning"), list(names.items()), text=(1,)))
        out.print(f"presets: {', '.join(module.PRESETS)}\n", style="dim")


def names_of(module: Any) -> dict[str, dict[str, dict[str, str]]]:
    """Return the names that a learner's settings may use: by setting, game and name."""
    games = {name: find_game(name) for name in game_names()}
    found = {
        option.name: {name: names_for(game, option.name) for name, game in games.items()}
        for option in options_of(module.Settings)
    }
    named = {setting: {g: n for g, n in games.items() if n} for setting, games in found.items()}
    return {setting: games for setting, games in named.items() if games}


def train(
    context: typer.Context,
    game: GameName,
    learner: Annotated[str, typer.Argument(metavar="LEARNER", help="See kibitz learners.")],
    seed: Seed = None,
    preset: Annotated[str | None, typer.Option(help="A named set of settings.")] = None,
    out: Annotated[Path | None, typer.Option(help="The folder of the run.")] = None,
    play_at: Annotated[
        str | None,
        typer.Option(metavar="GAMES", help="Play against it after so many games, as in 100,5000."),
    ] = None,
    settings: Setting = None,
    json: Json = False,
) -> None:
    """Train an agent; the learner's settings are further flags, as in --budget 500.

    A run can be interrupted with Ctrl-C; the same command with the same seed goes on with it.
    """
    chosen = chosen_game(game, settings)
    if json and play_at:
        raise Misuse("--json and --play-at both want the screen. Leave one out.")
    seed = checked_seed(seed_of(out) if seed is None and out is not None else seed)
    folder = out or Path("runs") / f"{chosen.name}-{learner}-{preset or 'default'}-{seed}"
    with Waiting("training") as waiting, telling_how_to_go_on(seed, folder):
        visits = {at: playing_visit(chosen, seed, at, waiting) for at in read_games(play_at)}
        result = train_agent(
            learner, chosen, seed=seed, preset=preset, folder=folder, progress=waiting.progress,
            visits=visits, **flags(context.args),
        )  # fmt: skip
    if json:
        print_json({**result.to_dict(), "folder": str(folder), "seed": seed})
        return
    printer = console()
    rows = result.rows()
    printer.print(grid("", result.columns, rows, text=text_columns(rows)))
    printer.print(f"\n{result.summary()}")
    who = getattr(result, "who", result.path)
    printer.print(
        f"Files in {folder}. Next: {play_command(chosen, str(who))}",
        style="dim",
        markup=False,
        soft_wrap=True,
    )


@contextmanager
def telling_how_to_go_on(seed: int, folder: Path) -> Iterator[None]:
    """Say after Ctrl-C how a run goes on."""
    try:
        yield
    except KeyboardInterrupt:
        where = shlex.quote(str(folder))
        complain(f"Stopped. To go on: the same command with --seed {seed} --out {where}")
        raise


def read_games(text: str | None) -> list[int]:
    """Read numbers of games with commas between them."""
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    if not all(part.isdecimal() and 0 < int(part) < 10**12 for part in parts):
        raise Misuse(f"--play-at takes numbers of games with commas between them, not '{text}'.")
    return sorted({int(part) for part in parts})


def playing_visit(game: Game, seed: int, games: int, waiting: Waiting) -> Callable[[Agent], None]:
    """Make a visit to an agent that is learning: a person plays against it for a while."""

    def visit(agent: Agent) -> None:
        out = console()
        called = f"the learner after {games:,} games"
        players = [
            Player(who=HUMAN, called=YOU),
            *[Player(who="learner", called=called, agent=agent)] * (game.players - 1),
        ]
        with waiting.paused():
            out.print(f"\n[bold]{called[0].upper()}{called[1:]}.[/] Type quit to let it learn on.")
            Series(game, players, strongest(game), out, False, None).play(seed, None)

    return visit


def flags(arguments: list[str]) -> dict[str, Any]:
    """Read `--name value`, `--name=value`, `--name` and `--no-name`."""
    found: dict[str, Any] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--") or len(word) < 3:
            raise Misuse(f"Cannot read '{word}': a learner's settings are given as --name value.")
        name, equals, value = word[2:].partition("=")
        if not equals and rest and not rest[0].startswith("--"):
            value, equals = rest.pop(0), "="
        name = name.replace("-", "_")
        if equals:
            found[name] = value
        elif name.startswith("no_"):
            found[name[3:]] = False
        else:
            found[name] = True
    return found


def convert(
    game: GameName,
    source: Annotated[
        Path, typer.Argument(help="A Q-table: .safetensors, .csv, or a name of kibitz models.")
    ],
    target: Annotated[Path, typer.Argument(help="Where to write it: .csv or .safetensors.")],
    settings: Setting = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Name moves and positions in the CSV.")
    ] = False,
) -> None:
    """Turn a Q-table into CSV, or CSV into a model; counts of visits lie in data/ beside a CSV.

    values.csv has its counts in data/count_values.csv. With --labels, spreadsheets and pandas
    find a header and the positions in the first column; such a CSV is read like any other.
    """
    from kibitz.learners.q_learning import read_table, trained_against

    chosen = chosen_game(game, settings)
    source = find_model(source, chosen)
    for path in (source, target):
        if path.suffix not in (".csv", ".safetensors"):
            raise Misuse(f"'{path}' must end in .csv or .safetensors.")
    if labels and target.suffix != ".csv":
        raise Misuse(f"Only a CSV can have labels, not '{target}'. Leave --labels out.")
    table = read_table(source, chosen)
    target.parent.mkdir(parents=True, exist_ok=True)
    check_can_save(target)
    if target.suffix == ".csv":
        written: tuple[Path, ...] = table.save_csv(target, labels)
    else:
        written = (table.save(target, {"against": trained_against(source)}),)
    console().print(f"Wrote {' and '.join(map(str, written))}.", markup=False, soft_wrap=True)
