"""What is known of a model: for which game it is, how it was made, and how well it plays.

Most of it stands in the model's own header. Dates and results of the models that come with a game
lie beside them in `facts.json`, which `python -m bench.model_facts` writes: a model file itself
depends on nothing but its training, so that the same seed gives the same bytes.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kibitz.core.errors import BadModel, KibitzError, unknown
from kibitz.core.game import Game
from kibitz.core.models import made_for, own_models, read_header
from kibitz.core.options import options_of
from kibitz.core.registry import find_game, game_names

FACTS = "facts.json"
ANYWHERE = ("cores", "threads")  # settings that depend on the machine


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """A model, in words that one can read and type."""

    title: str  # GAME/NAME, or the file
    path: str
    agent: str  # who plays by it
    game: str  # as one types it
    settings: dict[str, Any]
    learner: str
    layers: dict[str, str]
    encoding: str
    command: str  # that trains it
    play: str  # that plays against it
    date: str
    results: tuple[str, ...]

    @property
    def in_short(self) -> str:
        """How well it plays, without the command that shows it."""
        return self.results[0].partition(": kibitz ")[0] if self.results else ""

    def rows(self) -> list[tuple[str, str]]:
        """List what to show, by name."""
        settings = " ".join(f"{name}={_said(value)}" for name, value in self.settings.items())
        layers = "; ".join(f"{name} {of}" for name, of in self.layers.items())
        rows = [
            ("game", self.game), ("settings", settings), ("agent", self.agent),
            ("layers", layers), ("sees", self.encoding), ("made by", self.command),
            ("made on", self.date), *(("plays", one) for one in self.results),
            ("try it", self.play), ("file", self.path),
        ]  # fmt: skip
        return [(what, text) for what, text in rows if text]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def cards(name: str = "") -> list[ModelCard]:
    """Return the cards of a file, of a game's models, of those with a name, or of all."""
    if Path(name).suffix == ".safetensors":
        return [card_of(Path(name))]
    wanted, _, model = name.rpartition("/")
    games = [find_game(wanted)] if wanted else [find_game(one) for one in game_names()]
    shipped = [(game, path) for game in games for path in own_models(game, "")]
    if not name:
        return [card_of(path, game) for game, path in shipped]
    found = [(game, path) for game, path in shipped if path.stem == model]
    if not found and not wanted and model in game_names():
        found = [(game, path) for game, path in shipped if game.name == model]
    if not found:
        found = [(game, path) for game, path in shipped if path.stem.startswith(f"{model}-")]
    if not found:
        known = {path.stem for _, path in shipped} | ({game.name for game in games} - {wanted})
        raise unknown(f"model of {wanted}" if wanted else "model or game", model, known)
    return [card_of(path, game) for game, path in found]


def card_of(path: Path, shipped_with: Game | None = None) -> ModelCard:
    """Read the card of a model file; `shipped_with` is the game in whose room it lies."""
    header = read_header(path)
    game = made_for(path, shipped_with or find_game(header.get("game", "")))
    try:
        about = json.loads(header["about"])
        learner = str(about.get("learner", ""))
        layers = {str(what): str(of) for what, of in about.get("layers", {}).items()}
    except (KeyError, AttributeError, ValueError, RecursionError) as error:
        raise BadModel(f"'{path}' is a damaged model: {error}.") from error
    facts = _facts(path) if shipped_with is not None else {}
    agent = header.get("agent", "")
    who = f"{agent}:model={path.stem}" if shipped_with is not None else str(path)
    known = {option.name: option for option in game.all_options}
    seen = " ".join(f"{name}={known[name].say(game.settings[name])}" for name in game.senses)
    try:
        command = _command(game, learner, about)
    except (KibitzError, AttributeError, TypeError, ValueError):
        command = ""  # a learner that is not installed here, or settings it no longer has
    return ModelCard(
        title=f"{game.name}/{path.stem}" if shipped_with is not None else str(path),
        path=str(path), agent=agent, game=game.typed(), settings=dict(game.settings),
        learner=learner, layers=layers,
        encoding=f"{game.bound('features')} features{f' ({seen})' if seen else ''}"
        if layers else "",
        command=command,
        play=f"kibitz play {game.typed()} --seats human,{shlex.quote(who)}",
        date=str(facts.get("date", "")), results=tuple(map(str, facts.get("results", ()))),
    )  # fmt: skip


def _facts(path: Path) -> dict[str, Any]:
    file = path.with_name(FACTS)
    return json.loads(file.read_text(encoding="utf-8")).get(path.stem, {}) if file.is_file() else {}


def _command(game: Game, learner: str, about: dict[str, Any]) -> str:
    """Write the command that trains a model anew."""
    from kibitz.learners import find_learner

    if not learner:
        return ""
    flags = []
    for option in options_of(find_learner(learner).Settings):
        value = about["settings"].get(option.name, option.default)
        if value != option.default and option.name not in ANYWHERE:
            flag = option.name.replace("_", "-")
            if isinstance(value, bool):
                flags.append(f"--{flag}" if value else f"--no-{flag}")
            else:
                flags.append(f"--{flag} {shlex.quote(option.say(value))}")
    seed = int(about["seed"])
    return " ".join([f"kibitz train {game.typed()} {learner} --seed {seed}", *flags])


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
