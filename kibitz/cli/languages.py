"""Rules that can be read: the words of a game's language, and the rules of a model."""

from __future__ import annotations

import json as reader
from pathlib import Path
from typing import Annotated

import typer

from kibitz.cli.shared import GameName, Json, Setting, chosen_game, console, grid, print_json
from kibitz.core.errors import BadModel, Misuse
from kibitz.core.game import Game
from kibitz.core.language import Language
from kibitz.core.models import own_models, read_header
from kibitz.core.registry import find_game, game_names


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
            }
        )  # fmt: skip
        return
    out = console()
    for group in language.groups:
        rows = [
            (word.name, _values(word), word.help, word.topic) for word in group.words
        ]  # fmt: skip
        table = grid(f"{group.name}: {group.help}", ("word", "", "", "topic"), rows)
        for column in table.columns[1:]:
            column.justify = "left"
        out.print(table)
    deeds = [(deed.name, deed.group, deed.help) for deed in language.deeds]
    table = grid("What to do", ("deed", "aimed at", ""), deeds)
    for column in table.columns[1:]:
        column.justify = "left"
    out.print(table)
    out.print("\nA rule: when notes <= 3 and no own [hinted]: discard [most dead]", markup=False)
    out.print(
        "Write one a line into a file, and let it play: "
        f"kibitz match {chosen.typed()} classifier:model=FILE",
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
            metavar="MODEL", help="A classifier's model, its name in kibitz models, or a game."
        ),
    ],
    settings: Setting = None,
    json: Json = False,
) -> None:
    """Print the rules of a model in order of use, with each one's share of the moves."""
    from kibitz.learners.classifier.agent import load_rules, own_rules, rules_table

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
    _, about = load_rules(path, game)
    if json:
        print_json(about)
        return
    out = console()
    table = grid(game.described(), ("rule", "", "utility", "moves", "holds"), rules_table(about))
    table.columns[1].justify, table.columns[1].no_wrap = "left", False
    out.print(table)
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
