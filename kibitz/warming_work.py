"""What there is to compile for a game, and the process that compiles it; see warming.py.

Rules and agents have known signatures and are compiled by themselves. Loops are compiled by running
them on something small. `python -m kibitz.warming_work` reads orders as lines of JSON and answers
each with a line.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kibitz.core.agent import Kind
from kibitz.core.compiled import (
    CHOOSE,
    NOTICE,
    SIGNATURES,
    VALUE,
    Compilable,
    Rule,
    is_compiled,
    plain_loops,
)
from kibitz.core.errors import KibitzError, NotSolvable
from kibitz.core.game import Game
from kibitz.core.jit.keys import key_of
from kibitz.core.jit.work import end_with
from kibitz.core.registry import agent_kinds, find_agent, find_game
from kibitz.learners import learner_names, train
from kibitz.learners import unfit as cannot_learn
from kibitz.play.graph import SMALL, chart, unsolvable
from kibitz.play.loop import random_games
from kibitz.play.match import match
from kibitz.play.seats import announce, ask, at_seats, guarded
from kibitz.search.agreement import grade
from kibitz.search.analysis import analyse
from kibitz.search.perfect import is_quickly_solved

PLIES = 8  # that each agent plays at a table
SIMS = 50  # of a search, which would otherwise think for its usual time
TRAIN = "train "

# The smallest training of each learner that runs all of its loops.
NETWORK = {
    "decisions": 64, "boards": 8, "buffer": 64, "batch": 32, "epochs": 1, "hidden": "8",
    "option_hidden": "8", "channels": "2", "evaluate_every": 1, "evaluate_games": 2, "threads": 1,
}  # fmt: skip
TINY: dict[str, dict[str, Any]] = {
    "classifier": {
        "games": 1000, "tested_on": 100, "compacted_on": 10, "scouts": 4, "islands": 1,
        "colonies": 1, "population": 20, "young": 1, "round_games": 100, "stages": 3,
    },
    "evolution": {"budget": 4, "offspring": 2, "games": 2},
    "ppo": NETWORK,
    "q_learning": {"games": 100, "evaluate_every": 100, "evaluate_games": 2},
    "td_lambda": NETWORK,
}  # fmt: skip


# --- what there is -----------------------------------------------------------------------------


@functools.cache
def functions_of(game: Game) -> dict[str, Compilable]:
    """Return a game's rules and the functions of all agents that can play it, by name and key."""
    if not game.is_compiled:
        return {}
    found = [rule.function for rule in game.rules if isinstance(rule, Rule)]
    for name, kind in agent_kinds(game).items():
        made = kind if isinstance(kind, Kind) else _kind_of(name, game)
        if made is not None:
            found += [made.choose, made.value, made.notice]
    known = [one.compiled for one in found if one is not None and is_compiled(one)]
    return {f"{one.name} {key_of(one)}": one for one in known}


def _kind_of(name: str, game: Game) -> Kind | None:
    """Make an agent to see what it runs; None for those in Python, and where no model fits."""
    with plain_loops(), contextlib.suppress(KibitzError):
        return getattr(find_agent(name, game), "kind", None)
    return None


def learners_of(game: Game) -> list[str]:
    """List the learners that can be trained on a game here."""
    return [name for name in learner_names() if name in TINY and cannot_learn(name, game) is None]


def is_solvable(game: Game) -> bool:
    """Whether the solver can answer for a game within seconds."""
    with plain_loops():
        return unsolvable(game) is None and is_quickly_solved(game)


# --- running loops on something small ----------------------------------------------------------


def play_match(game: Game) -> None:
    """Play a match."""
    match(game, ["random"], game.players, seed=1, cores=1)


def solve(game: Game) -> None:
    """Number a game's positions, solve it, and grade an agent."""
    with contextlib.suppress(NotSolvable):
        chart(game, most=SMALL)  # with a larger bound the smallest games run as Python
    grade(game, "random", 1)


def search(game: Game) -> None:
    """Let the tree search play."""
    _play(game, f"mcts:sims={SIMS}")


def measure(game: Game) -> None:
    """Play random games, as the measurement of speed does."""
    random_games(game.rules, game.blank(), game.bound("most_legal"), 1, 1)


def call_rules(game: Game) -> None:
    """Prepare what Python calls compiled rules and agents through."""
    from kibitz.core.jit.calls import prepare_calls

    prepare_calls([*SIGNATURES, CHOOSE, VALUE, NOTICE])


def examine(game: Game) -> None:
    """Prepare what `kibitz doctor` runs."""
    from kibitz.doctor import STREAM, draw

    draw(1, np.zeros(len(STREAM), np.int64))


def sit_down(game: Game) -> None:
    """Let every agent play some moves at a table and say why, then judge them."""
    for name, kind in agent_kinds(game).items():
        searches = any(option.name == "sims" for option in kind.options)
        _play(game, f"{name}:sims={SIMS}" if searches else name)


def _play(game: Game, who: str) -> None:
    table = game.deal(seed=1)
    names = [who] * game.players
    agents = at_seats(game, names, table)
    for _ in range(PLIES):
        if table.over:
            break
        agent = agents[table.seat]
        assert agent is not None
        guarded(agent, agent.explain, table.view())
        action = ask(agent, table)
        announce(agents, table, action)
        table.play(action)
    if "sims" in who:
        analyse(table.record(tuple(names)), who)
        find_agent(game.analyst, game)


def learn(name: str, game: Game) -> None:
    """Train for a moment, in a folder that is then dropped."""
    with tempfile.TemporaryDirectory() as folder:
        train(name, game, seed=1, folder=folder, plots=False, **TINY[name])


SHARED: dict[str, Callable[[Game], None]] = {  # loops that serve every game
    "match": play_match, "search": search, "solver": solve, "speed": measure, "calls": call_rules,
    "checks": examine,
}  # fmt: skip
OWN: dict[str, Callable[[Game], None]] = {"agents at a table": sit_down}


def run_step(name: str, game: Game) -> None:
    """Run what compiles a step."""
    if name.startswith(TRAIN):
        learn(name.removeprefix(TRAIN), game)
    else:
        (SHARED | OWN)[name](game)


# --- the other process -------------------------------------------------------------------------


class WouldCompileError(BaseException):
    """Raised instead of compiling; nothing that stands for `Exception` catches it."""


@contextlib.contextmanager
def looking() -> Iterator[None]:
    """Raise `WouldCompileError` where something would be compiled within this block."""
    from kibitz.core.jit.dispatch import watching

    def refuse(name: str) -> None:
        raise WouldCompileError(name)

    watching.append(refuse)
    try:
        yield
    finally:
        watching.remove(refuse)


def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    """Compile one function, or run one step; say what was compiled, or what would be."""
    from kibitz.core.jit.dispatch import address_of, compiled_here

    already, began = len(compiled_here), time.process_time()
    answer: dict[str, Any] = {"missing": "", "error": ""}
    try:
        with looking() if order["look"] else contextlib.nullcontext():
            game = find_game(order["game"])
            if order["key"]:
                address_of(functions_of(game)[order["key"]])
            else:
                run_step(order["name"], game)
    except WouldCompileError as error:
        answer["missing"] = str(error)
    except Exception as error:
        answer["error"] = str(error) if isinstance(error, KibitzError) else repr(error)
    spent = time.process_time() - began
    return {**answer, "compiled": compiled_here[already:], "seconds": spent}


def main() -> None:
    """Carry out orders until there are no more."""
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    out = sys.stdout.buffer
    sys.stdout = sys.stderr
    for line in sys.stdin.buffer:
        out.write(json.dumps(carry_out(json.loads(line))).encode() + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
