"""The agent that follows rules: from a model, or from a text file that a person has written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion, opinion
from kibitz.core.compiled import pointer
from kibitz.core.errors import BadModel, Misuse
from kibitz.core.game import Game
from kibitz.core.language import FLAG, Language
from kibitz.core.matching import (
    AT_LEAST,
    AT_MOST,
    DEED,
    LEAST,
    MOST,
    NONE,
    ROW,
    SENSE,
    START,
    STRIDE,
    TARGET,
    TARGET_TESTS,
    TEST,
    WORD,
    action_of,
    as_weights,
    groups_of,
    rows_in,
    targets_of,
)
from kibitz.core.models import find_model, load_model, own_model, own_models
from kibitz.core.options import Text
from kibitz.core.table import View
from kibitz.core.training import MODEL as RUN_MODEL

MODEL = "classifier"


def read_rules(path: str | Path, game: Game) -> np.ndarray:
    """Read a list of rules from a text file, one a line."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadModel(f"Cannot read the rules in '{path}': {error}.") from error
    if game.language is None:
        raise Misuse(f"{game.name} offers no language in which rules could be written.")
    rows = game.language.read_all(text, str(path))
    if not len(rows):
        raise BadModel(f"'{path}' holds no rule; write one a line.")
    return rows


def load_rules(path: str | Path, game: Game) -> tuple[np.ndarray, dict[str, Any]]:
    """Read the rules of a model and what is noted about them. Rules are kept as text, and checked.

    Rules that a language no longer has the words for are refused.
    """
    _, about = load_model(path, MODEL, game, any_settings=True)
    texts = about.get("rules")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadModel(f"'{path}' is a damaged model: it holds no rules.")
    return game.language.read_all(texts, str(path)), about


def rules_to_begin_with(named: str, game: Game) -> np.ndarray:
    """Read rules from a text file, a model, the folder of a run, or a model of the game's room."""
    path = Path(named)
    if path.is_dir():
        path = path / RUN_MODEL
        if not path.is_file():
            raise Misuse(f"The run in '{named}' has no {RUN_MODEL} yet: let it end first.")
    elif not path.exists():
        own = own_rules(game) if named == MODEL else own_model(game, named)
        if own is None:
            known = ", ".join(model.stem for model in own_models(game, MODEL)) or "none"
            raise Misuse(
                f"There is no file '{named}', and no model of that name comes with {game.name} "
                f"(there are: {known}). Name a text file with a rule a line, or a model."
            )
        path = own
    if path.suffix == ".safetensors":
        return load_rules(path, game)[0]
    return read_rules(path, game)


def kind_of(game: Game, rows: np.ndarray) -> Kind:
    """Make the kind of agent that follows these rules. rows [rules, ROW]"""
    weights = as_weights(game.language.deed_table, rows)
    return Kind(
        choose=game.language.choose, weights=lambda *_: weights, name=MODEL, explain=explain
    )


# --- saying why ----------------------------------------------------------------------------------


def seen_by(language: Language, view: View, rows: np.ndarray) -> np.ndarray:
    """Give the facts of a view."""
    facts = np.zeros(language.facts, np.float32)
    wanted = int(groups_of(language.deed_table, np.ascontiguousarray(rows[:, :ROW])))
    pointer(language.see)(view.cells, facts, wanted)
    return facts


def triggers_of(language: Language, facts: np.ndarray, row: np.ndarray) -> dict[int, float]:
    """Give the actions that a rule could call for, with its strength there.

    The strength is what the first word that ranks things says of one, 1 where none does. Of several
    things with the same action it is that of the strongest.
    """
    group, action = language.deed_table[int(row[DEED])]
    start, stride = language.group_table[group, START], language.group_table[group, STRIDE]
    words = language.groups[group].words
    ranking, sense = next(
        (
            (int(row[at + WORD]), row[at + SENSE])
            for at in range(TARGET, TARGET + TEST * TARGET_TESTS, TEST)
            if row[at + SENSE] in (AT_LEAST, AT_MOST, MOST, LEAST)
            and words[int(row[at + WORD])].kind != FLAG
        ),
        (None, MOST),
    )
    targets = int(targets_of(facts, language.group_table, language.deed_table, row[None], 0))
    better = max if sense in (AT_LEAST, MOST) else min
    found: dict[int, float] = {}
    for thing in range(int(facts[start])):
        if targets >> thing & 1:
            called = int(facts[start + 1 + action * stride + thing])
            strength = facts[start + 1 + ranking * stride + thing] if ranking is not None else 1.0
            found[called] = better(float(strength), found.get(called, float(strength)))
    return found


def explain(agent: CompiledAgent, view: View) -> Opinion:
    """Say which rule acts, on what and how strongly, and what comes next in line."""
    language = agent.game.language
    rows = rows_in(agent.weights)
    facts = seen_by(language, view, rows)
    in_line = []  # (place, action) of all rules that call for one
    for place in range(len(rows)):
        called = int(action_of(facts, language.group_table, language.deed_table, rows, place))
        if called != NONE:
            in_line.append((place, called))
    if not in_line:
        return opinion(view, agent.tried(view), "No rule holds; it takes a legal move by lot.")
    first, action = in_line[0]
    triggers = triggers_of(language, facts, rows[first])
    others = [f"{view.say(a)} ({s:.3g})" for a, s in triggers.items() if a != action][:3]
    strength = triggers[action]
    reason = f"Rule {first + 1} of {len(rows)}: {language.write(rows[first])}. "
    reason += f"Strength {strength:.3g}"
    reason += f"; also {', '.join(others)}. " if others else ". "
    later = [(place, called) for place, called in in_line[1:] if called != action]
    if later:
        place, called = later[0]
        reason += f"Next in line: rule {place + 1}, {view.say(called)}."
    notes: dict[int, str] = {}
    for place, called in in_line:
        notes.setdefault(called, f"rule {place + 1}")
    values = {called: 1.0 - place / len(rows) for place, called in reversed(in_line)}
    return opinion(view, action, reason.strip(), values, notes)


class ClassifierKind:
    """Follow a list of rules that a person can read, learned or written."""

    options = (
        Text(
            name="model", default="",
            help="a model that classifier made, a name of the game's own, or a text file of rules",
        ),
    )  # fmt: skip

    def summary(self) -> str:
        """Say in a line who this is."""
        return str(self.__doc__)

    def unfit(self, game: Game) -> str | None:
        """Say why it cannot play a game, or None."""
        if game.language is None:
            return "the game offers no language for rules"
        if own_rules(game) is None:
            return f"no rules come with it; make some: kibitz train {game.typed()} classifier"
        return None

    def __call__(self, game: Game, model: str = "") -> CompiledAgent:
        """Make the agent from its model or its text file, or from what comes with the game."""
        if game.language is None:
            raise Misuse(f"{game.name} offers no language in which rules could be written.")
        if not model:
            own = own_rules(game)
            if own is None:
                raise Misuse(
                    f"No rules come with {game.described()}; make some: "
                    f"kibitz train {game.typed()} classifier"
                )
            model = str(own)
        if Path(model).suffix == ".safetensors":
            return kind_of(game, load_rules(model, game)[0])(game)
        if os.path.basename(model) == model and own_models(game, model):
            return kind_of(game, load_rules(find_model(model, game), game)[0])(game)
        return kind_of(game, read_rules(model, game))(game)


def own_rules(game: Game) -> Path | None:
    """Find the model that comes with a game, for as many players."""
    return own_model(game, f"{MODEL}-{game.players}") or own_model(game, MODEL)


CLASSIFIER = ClassifierKind()


def rules_table(about: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """List rules in order of use: number, text, utility, share of moves, how often it holds."""
    columns = [
        [f"{number:{form}}" for number in about.get(name, [])]
        for name, form in (("utility", ".2f"), ("acts", ".1%"), ("holds", ".1%"))
    ]
    blank = [""] * len(about["rules"])
    utility, acts, holds = (column or blank for column in columns)
    return [
        (str(place + 1), *cells)
        for place, cells in enumerate(zip(about["rules"], utility, acts, holds, strict=True))
    ]
