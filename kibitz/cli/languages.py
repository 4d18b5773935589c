"""Rules that can be read: the words of a game's language, and the rules of a model."""

from __future__ import annotations

import json as reader
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from kibitz.cli.shared import GameName, Json, Setting, chosen_game, console, grid, print_json
from kibitz.core.errors import BadModel, Misuse
from kibitz.core.game import Game
from kibitz.core.language import Language
from kibitz.core.models import own_models, read_header
from kibitz.core.registry import RULES, find_game, game_names
from kibitz.core.rewards import names_for
from kibitz.core.training import MODEL as RUN_MODEL


def words(game: GameName, settings: Setting = None, json: Json = False) -> None:
    """List the words in which rules about a game are written, for people and learners."""
    chosen = chosen_game(game, settings)
    language: Language | None = chosen.language
    if language is None:
        raise Misuse(f"{chosen.name} offers no language for rules. Try hanabi.")
    if json:
        print_json(
            {
                "groups": [
                    {
                        "name": group.name, "most": group.most, "help": group.help,
                        "words": [
                            {"name": word.name, "kind": word.kind, "help": word.help,
                             "topic": word.topic, "low": word.low, "high": word.high,
                             "names": list(word.names)}
                            for word in group.words
                        ],
                    }
                    for group in language.groups
                ],
                "deeds": [
                    {"name": deed.name, "group": deed.group, "help": deed.help}
                    for deed in language.deeds
                ],
                "vocabularies": {name: list(out) for name, out in language.vocabularies.items()},
                "events": [
                    {"name": event.name, "help": event.help, "reward": event.reward}
                    for event in language.events
                ],
            }
        )  # fmt: skip
        return
    out = console()
    for group in language.groups:
        rows = [
            (word.name, _values(word), word.help, word.topic) for word in group.words
        ]  # fmt: skip
        title = f"{group.name}: {group.help}"
        out.print(grid(title, ("word", "values", "meaning", "topic"), rows, (0, 3), (1, 2)))
    deeds = [(deed.name, deed.group, deed.help) for deed in language.deeds]
    out.print(grid("What to do", ("deed", "aimed at", "meaning"), deeds, (0, 1), (2,)))
    for setting, title in (("vocabulary", "Vocabularies"), ("wages", "What a learner is paid for")):
        named = list(names_for(chosen, setting).items())
        if named:
            out.print(grid(title, (setting, ""), named, text=(1,)))
    if language.example:
        out.print(f"\nA rule: {language.example}", markup=False)
    out.print(
        "Write one a line into rules.txt, and let it play: "
        f"kibitz match {chosen.typed()} classifier:model=rules.txt",
        style="dim", markup=False, soft_wrap=True,
    )  # fmt: skip


def _values(word: object) -> str:
    kind = getattr(word, "kind", "")
    if kind == "name":
        return ", ".join(getattr(word, "names", ()))
    if kind == "count":
        return f"{getattr(word, 'low', 0):g} to {getattr(word, 'high', 0):g}"
    return "0% to 100%" if kind == "chance" else "yes or no"


def rules_of(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A classifier's model, its name in kibitz models, a .rules file, a run's folder, "
            "or a game.",
        ),
    ],
    text: Annotated[
        bool, typer.Option("--text", help="Print them as a file that can be edited and played.")
    ] = False,
    game_name: Annotated[
        str, typer.Option("--game", help="The game of a .rules file.", metavar="GAME")
    ] = "hanabi",
    settings: Setting = None,
    json: Json = False,
) -> None:
    """Print the rules of a model in order of use, with each one's share of the moves."""
    from kibitz.learners.classifier.agent import load_rules, own_rules, read_rules

    if Path(model).is_dir() and (Path(model) / RUN_MODEL).is_file():
        model = str(Path(model) / RUN_MODEL)
    if Path(model).suffix == RULES:
        game = chosen_game(game_name, settings)
        about = counted(game, read_rules(model, game))
        print_rules(game, about, text, json, f"{model}, {game.described()}")
        return
    shipped = [path.stem for name in game_names() for path in own_models(find_game(name), "")]
    if model.rpartition("/")[2] in shipped:
        from kibitz.model_cards import cards

        model = cards(model)[0].path
    if Path(model).suffix == ".safetensors":
        game = _game_of(model)
        path: Path | None = Path(model)
    else:
        game = chosen_game(model, settings)
        path = own_rules(game) if game.language is not None else None
    if game.language is None or path is None:
        raise Misuse(
            f"No rules come with {game.described()}. Give the model of a classifier, as made by "
            "kibitz train GAME classifier."
        )
    print_rules(game, load_rules(path, game)[1], text, json, game.described())


def counted(game: Game, rows: np.ndarray) -> dict[str, Any]:
    """Return rules as text with how often each acts and holds, on games that are played for it."""
    from kibitz.learners.classifier.usage import usage_of

    acts, holds = usage_of(game, rows, seed=0)
    return {"rules": game.language.write_all(rows), "acts": acts, "holds": holds}


def print_rules(game: Game, about: Mapping[str, Any], text: bool, json: bool, title: str) -> None:
    """Print rules as a table, as the text of a file, or as JSON."""
    from kibitz.learners.classifier.agent import rules_table

    if text and json:
        raise Misuse("--text and --json are two ways to print the same. Leave one out.")
    if text:
        typer.echo(f"# {title}")
        for rule in about["rules"]:
            typer.echo(rule)
        return
    if json:
        print_json(dict(about))
        return
    out = console()
    heads = ("rule", "", "utility", "moves", "holds")
    out.print(grid(title, heads, rules_table(about), text=(1,)))
    if "score" in about:
        others = "".join(f", {v:.2f} with {k}" for k, v in about.get("otherwise", {}).items())
        out.print(f"\nscore {about['score']:.2f} ± {about['spread']:.2f}{others}", markup=False)


def _game_of(path: str) -> Game:
    """Find the game for which a model was made, with its settings."""
    header = read_header(path)
    try:
        return find_game(header["game"]).having(**reader.loads(header["settings"]))
    except (KeyError, TypeError, ValueError) as error:
        raise BadModel(f"'{path}' is a damaged model: {error}.") from error
