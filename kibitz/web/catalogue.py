"""Which agents a browser may ask for: names from our own lists, never a path.

A trained agent is named by its run, `run:NAME`; the server knows where its model lies.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

from kibitz.core.blunders import BLUNDERS, settings_of
from kibitz.core.errors import Misuse, unknown
from kibitz.core.game import Game
from kibitz.core.models import own_models
from kibitz.core.options import Text, split
from kibitz.core.registry import agent_kinds

LONGEST = 200
MODEL = "model"  # the setting that names a file
SEARCH = "mcts"
SLOW = ("perfect", "run", "own")  # beside those that say so: solving, networks, and whatever
WITH_FILES = RUN, OWN = "run:", "own:"  # what names begin with that stand for a file
STRENGTHS = (400, 2000)  # simulations that are offered


@dataclass(frozen=True, slots=True)
class Offer:
    """An agent to choose from."""

    who: str
    about: str


@functools.lru_cache(maxsize=64)
def offers(game: Game) -> tuple[Offer, ...]:
    """List the agents that can play a game, its own first."""
    kinds = agent_kinds(game)
    own = [name for name in kinds if name in game.agents]
    others = [name for name in kinds if name not in game.agents and name != SEARCH]
    found = [Offer(name, kinds[name].summary()) for name in (*own, *others)]
    if SEARCH in kinds:
        found += [
            Offer(f"{SEARCH}:sims={sims}", f"Search with {sims:,} simulations for a move")
            for sims in STRENGTHS
        ]
        if game.analyst != SEARCH:
            found.append(Offer(game.analyst, "The search that judges played games"))
    return tuple(found)


def takes_time(game: Game, who: str) -> bool:
    """Whether an agent may think for long, or is prepared first: compiled, or a game solved."""
    name = who.partition(":")[0]
    return name in SLOW or bool(getattr(agent_kinds(game).get(name), "slow", False))


def levels_of(game: Game) -> dict[str, str]:
    """Give the levels whose agents can play a game as it is set, the easiest first."""
    kinds = agent_kinds(game)
    return {level: who for level, who in game.levels.items() if who.partition(":")[0] in kinds}


def described(who: str) -> str:
    """Put an agent that may blunder into words: `settler, 30% blunders`."""
    name, _, settings = who.partition(":")
    given = split(settings) if settings else {}
    share = given.pop(BLUNDERS.name, "")
    rest = ",".join(f"{key}={value}" for key, value in given.items())
    own = f"{name}:{rest}" if rest else name
    return f"{own}, {share} blunders" if share else own


def checked(game: Game, who: object) -> str:
    """Give back the name of an agent that a browser may ask for, or raise and say why not."""
    if not isinstance(who, str) or len(who) > LONGEST:
        raise Misuse("That is no agent's name.")
    who = who.strip()
    kinds = agent_kinds(game)
    name, colon, settings = who.partition(":")
    if name not in kinds:
        raise unknown(f"agent for {game.name}", name, kinds)
    if not colon:
        return who
    options = {option.name: option for option in settings_of(kinds[name])}
    for key, value in split(settings).items():
        if key not in options:
            raise unknown(f"option of {name}", key, options)
        if not isinstance(options[key], Text):
            options[key].parse(value)
        elif key == MODEL:
            _check_name("model", value, (path.stem for path in own_models(game, "")))
        else:
            for part in value.split("+"):
                _check_name(f"agent for {game.name}", part, [*kinds, "none"])
    return who


def _check_name(kind: str, name: str, valid: Iterable[str]) -> None:
    names = list(valid)
    if name not in names:
        raise unknown(kind, name, names)
