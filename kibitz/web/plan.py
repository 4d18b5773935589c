"""What somebody wants trained, checked: names from our own lists, never a path.

A setting that names agents may name a run, `run:NAME`, and one that names a model nothing else: the
server knows where its model lies and puts a copy into the folder of the run that needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kibitz.core.chance import checked_seed
from kibitz.core.errors import BadOption, Misuse, unknown
from kibitz.core.game import Game
from kibitz.core.options import AGENTS, CODE, MODEL, Option, Text, options_of
from kibitz.core.registry import find_listed_game
from kibitz.learners import find_learner, learner_names, renamed, unfit
from kibitz.web.catalogue import RUN

LONGEST = 200  # signs of a setting
OWN_WORDS = ("", "self", "past", "all")  # that learners use besides names of agents
PLAIN = re.compile(r"[A-Za-z0-9_+,.=:*% -]*|1/[a-z]+")
NAMED = re.compile(r"run:[a-z0-9-]+(?:@[a-z0-9]+)?")  # a run, and one of its snapshots

Check = Callable[[Game, str], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A game, a learner and its settings."""

    game: Game
    learner: str
    settings: Mapping[str, Any]
    seed: int
    preset: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Write it, for a file or an order."""
        return {
            "game": self.game.name, "game settings": dict(self.game.settings),
            "learner": self.learner, "settings": dict(self.settings), "seed": self.seed,
            "preset": self.preset,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Plan:
        """Read what `to_dict` wrote, in whichever version."""
        new_names = renamed(find_learner(content["learner"]))
        settings = {new_names.get(name, name): of for name, of in content["settings"].items()}
        return cls(
            game=find_listed_game(content["game"]).having(**content["game settings"]),
            learner=content["learner"], settings=settings, seed=content["seed"],
            preset=content["preset"],
        )  # fmt: skip

    @property
    def title(self) -> str:
        """Say in a line what learns what."""
        return f"{self.learner} learns {self.game.title}"

    def changed(self) -> dict[str, str]:
        """Give the settings that differ from the usual ones, in words."""
        return {
            option.name: option.say(self.settings[option.name])
            for option in learner_options(self.learner)
            if option.name in self.settings and self.settings[option.name] != option.default
        }

    def command(self) -> str:
        """Write the command that trains the same in a terminal."""
        parts = [f"kibitz train {self.game.typed()} {self.learner} --seed {self.seed}"]
        for name, value in self.changed().items():
            parts.append(f"--{name.replace('_', '-')} {value!r}" if " " in value or not value
                         else f"--{name.replace('_', '-')} {value}")  # fmt: skip
        return " ".join(parts)

    def models(self) -> list[str]:
        """List the runs whose models the settings name."""
        return [name for text in self._naming().values() for name in NAMED.findall(text)]

    def having_models(self, where: Callable[[str], str]) -> dict[str, Any]:
        """Give the settings with every run that they name replaced by where its model lies."""
        found = {
            name: NAMED.sub(lambda run: where(run[0]), text)
            for name, text in self._naming().items()
        }
        return {**self.settings, **found}

    def _naming(self) -> dict[str, str]:
        """Give the settings that name agents or models."""
        return {
            option.name: str(self.settings.get(option.name, ""))
            for option in learner_options(self.learner)
            if isinstance(option, Text) and option.names
        }


@dataclass(frozen=True, slots=True)
class Learner:
    """A learner to choose: what it is, and why it does not fit a game, if so."""

    name: str
    about: str
    presets: tuple[str, ...]
    unfit: str = ""


def first_sentence(text: str) -> str:
    """Return the first sentence of a docstring, wherever its lines break."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return re.split(r"(?<=[.!?]) ", paragraph, maxsplit=1)[0]


def learners_for(game: Game) -> list[Learner]:
    """List all learners, and which of them do not fit a game and why."""
    found = []
    for name in learner_names():
        module = find_learner(name)
        about = first_sentence(module.__doc__ or "")
        about = about.partition(": ")[2] or about
        found.append(Learner(
            name.replace("_", "-"), about[:1].upper() + about[1:], tuple(module.PRESETS),
            unfit(name, game) or "",
        ))  # fmt: skip
    return found


def learner_options(learner: str) -> tuple[Option, ...]:
    """Give the options of a learner."""
    return options_of(find_learner(learner).Settings)


def planned(
    game: Game,
    learner: object,
    given: Mapping[str, object],
    seed: object = "",
    preset: object = "",
    check: Check | None = None,
) -> Plan:
    """Check what a browser has sent; whatever does not fit raises and says so.

    `given` are settings as text, `check(game, who)` says whether an agent or a run may be named.
    """
    names = {name.replace("_", "-") for name in learner_names()}
    if not isinstance(learner, str) or learner not in names:
        raise unknown("learner", str(learner)[:LONGEST], names)
    reason = unfit(learner, game)
    if reason:
        raise Misuse(f"{learner} cannot learn {game.described()}: {reason}.")
    presets = find_learner(learner).PRESETS
    if not isinstance(preset, str) or (preset and preset not in presets):
        raise unknown(f"preset of {learner}", str(preset)[:LONGEST], presets)
    options = {option.name: option for option in learner_options(learner)}
    for name in given:
        if name not in options:
            raise unknown(f"option of {learner}", str(name)[:LONGEST], options)
    usual = presets.get(preset, {})
    settings = {
        name: checked_value(game, option, given[name], check)
        if name in given
        else option.parse(usual.get(name, option.default))
        for name, option in options.items()
    }
    return Plan(
        game=game, learner=learner, settings=settings, seed=read_seed(seed), preset=preset,
    )  # fmt: skip


def checked_value(game: Game, option: Option, value: object, check: Check | None) -> Any:
    """Read the value of a setting; what could be a path is refused."""
    if isinstance(value, str):
        value = value.strip()
        if len(value) > LONGEST:
            raise BadOption(f"Option '{option.name}' is too long: {LONGEST} signs at most.")
    if not isinstance(option, Text):
        return option.parse(value)
    text = str(value)
    if option.names == AGENTS:
        for part in parts_of(text):
            if part not in OWN_WORDS and part not in game.strategies:
                _allow(game, part, check)
    elif option.names == MODEL:
        if text and not text.startswith(RUN):
            raise BadOption(f"Option '{option.name}' names a run, as in {RUN}NAME, or nothing.")
        if text:
            _allow(game, text, check)
    elif option.names == CODE:
        if text:  # it would run in the server's name
            raise BadOption(f"Option '{option.name}' names code, which a page may not run.")
    elif not PLAIN.fullmatch(text):
        raise BadOption(f"Option '{option.name}' takes words and numbers, not '{text[:60]}'.")
    return text


def parts_of(text: str) -> list[str]:
    """Take a list of agents apart; a name with settings has commas of its own."""
    found: list[str] = []
    for part in text.split("+"):
        found += [part] if ":" in part and not part.startswith(RUN) else part.split(",")
    return [part.strip() for part in found]


def _allow(game: Game, who: str, check: Check | None) -> None:
    if check is None:
        raise Misuse(f"'{who[:60]}' may not be named here.")
    check(game, who)


def read_seed(text: object) -> int:
    """Read a seed; nothing means any."""
    if text is None or text == "":
        return checked_seed(None)
    if not isinstance(text, str) or not text.strip().isascii() or not text.strip().isdecimal():
        raise BadOption("A seed is a whole number, or nothing for any.")
    return checked_seed(int(text.strip()[:20]))
