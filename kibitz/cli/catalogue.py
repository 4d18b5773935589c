"""What is there: games, their rules, their agents."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from kibitz.cli.shared import (
    GameName,
    Json,
    Setting,
    about_option,
    chosen_game,
    console,
    grid,
    print_json,
    prose,
)
from kibitz.core.registry import agent_kinds, catalogue_names, find_game, game_names


def games(json: Json = False) -> None:
    """List the games."""
    found = [find_game(name) for name in game_names()]
    if json:
        print_json(
            [
                {
                    "name": game.name, "title": game.title, "summary": game.summary,
                    "version": game.version, "seats": list(game.seats),
                    "options": [about_option(option) for option in game.all_options],
                }
                for game in found
            ]
        )  # fmt: skip
        return
    out = console()
    for game in found:
        low, high = game.seats
        seats = f"{low}" if low == high else f"{low}-{high}"
        out.print(f"[bold]{game.name}[/]  ({seats} seats)  {game.summary}")
    for name in catalogue_names():
        out.print(f"[bold]{name}:NAME[/]  Any game of that catalogue, as {name} calls it.")
    one = found[-1].name
    out.print(
        f"\nNext, as in: kibitz rules {one}, kibitz play {one}, kibitz agents {one}", style="dim"
    )


def rules(game: GameName, settings: Setting = None, json: Json = False) -> None:
    """Explain a game, as it is set, and list its options."""
    found = chosen_game(game, settings)
    if json:
        options = [about_option(option) for option in found.all_options]
        print_json({"name": found.name, "rules": found.how_to_play, "options": options})
        return
    out = console()
    out.print(f"[bold]{found.title}[/]\n")
    out.print(prose(out, found.how_to_play), markup=False)
    rows = [
        (option.name, option.say(option.default), option.help, option.takes())
        for option in found.all_options
    ]
    heads = ("name", "default", "meaning", "values")
    title = "Options (set them with --set name=value)"
    out.print(grid(title, heads, rows, text=(2, 3)))


def agents(game: GameName, settings: Setting = None, json: Json = False) -> None:
    """List the agents that can play a game."""
    found = chosen_game(game, settings)
    kinds = agent_kinds(found)
    if json:
        print_json(
            [
                {
                    "name": name,
                    "summary": kind.summary(),
                    "options": [about_option(option) for option in kind.options],
                }
                for name, kind in kinds.items()
            ]
        )
        return
    out = console()
    for name, kind in kinds.items():
        out.print(f"[bold]{name}[/]  {kind.summary()}")
        for option in kind.options:
            default = option.say(option.default) or "none"
            out.print(f"    {option.name}={default}  {option.help}", markup=False)
    for name, kind in found.agents.items():
        if name not in kinds:
            out.print(f"[dim]{name}  not here: {escape(kind.unfit(found))}.[/]")
    hint = (
        "\nSettings follow a colon, as in perfect:model=FILE. Every agent takes blunders, the "
        "share of its moves that are random: perfect:blunders=30%."
    )
    out.print(hint, style="dim", markup=False)


def models(
    name: Annotated[
        str, typer.Argument(help="A game, a model, GAME/MODEL, or a file.", show_default=False)
    ] = "",
    json: Json = False,
) -> None:
    """List the trained models that come with kibitz, or show one: how it was made, how it plays."""
    from kibitz.model_cards import cards

    found = cards(name)
    if json:
        print_json([card.to_dict() for card in found])
        return
    out = console()
    if name and (name not in game_names() or len(found) == 1):
        for card in found:
            out.print(f"[bold]{escape(card.title)}[/]")
            for what, text in card.rows():
                out.print(f"  {what:<9} {text}", markup=False, soft_wrap=True)
        return
    rows = [(card.title, card.learner, card.date, card.in_short)
            for card in found]  # fmt: skip
    out.print(grid("", ("model", "learner", "made on", "plays"), rows, left=(0, 1, 2, 3)))
    out.print(f"\nNext: kibitz models {found[0].title}", style="dim", markup=False)
