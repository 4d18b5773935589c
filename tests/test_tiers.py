"""Two tiers: whoever plays, a game is the same in Python, compiled, and changed over halfway."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

import kibitz
from kibitz.core.agent import Agent, CompiledAgent
from kibitz.core.compiled import Rule
from kibitz.core.game import Game
from kibitz.core.jit.calls import enable_all
from kibitz.core.registry import find_game, game_names
from kibitz.core.table import Table
from kibitz.play.match import Runner
from kibitz.play.recorded import recorded
from kibitz.play.seats import announce, begin

ROOT = Path(__file__).parent.parent
SHORTER = {"mexican_train": {"hands": 1}}
QUICKLY = {"mcts": "mcts:sims=20"}  # who would take as long as they are given
# Who takes seconds to compile is tried by make test-long.
HEAVY = ("best-line", "evolved", "mcts", "persistent-line", "planner", "policy", "reckoner", "td")
AGENTS = [
    pytest.param(name, who, id=f"{name}-{who}", marks=pytest.mark.long if who in HEAVY else [])
    for name in game_names()
    for who in kibitz.agent_names(find_game(name))
]


def rules_of(game: Game) -> list[Rule]:
    return [rule for rule in game.rules if rule is not None]


@contextlib.contextmanager
def as_python(rules: Iterable[Rule]) -> Iterator[None]:
    """Run rules as Python when Python calls them, as at the beginning of a process."""
    kept = {rule: (rule._run, rule.is_enabled) for rule in rules}
    for rule in kept:
        rule._run, rule.is_enabled = rule.function, False
    try:
        yield
    finally:
        for rule, (run, is_enabled) in kept.items():
            rule._run, rule.is_enabled = run, is_enabled


def play(table: Table, agents: list[Agent], plies: int | None = None) -> None:
    """Let agents play on, to the end or for so many plies."""
    while not table.over and plies != 0:
        action = agents[table.seat].choose(table.view())
        announce(agents, table, action)
        table.play(action)
        plies = None if plies is None else plies - 1


@pytest.mark.parametrize(("name", "who"), AGENTS)
def test_every_agent_plays_the_same_game_in_python_compiled_and_changed_over_halfway(name, who):
    game = kibitz.game(name, **SHORTER.get(name, {}))
    agents = [kibitz.agent(QUICKLY.get(who, who), game) for _ in range(game.players)]
    own = [part for agent in agents for part in agent.compiled_parts()]
    parts = list({id(rule): rule for rule in [*rules_of(game), *own]}.values())
    with as_python(parts):
        plain = game.deal(3)
        begin(agents, plain)
        play(plain, agents)
        # Only agents that would take too long, and those that are no compiled ones, are excused
        # from playing as Python; what they run is compiled by then.
        if isinstance(agents[0], CompiledAgent) and not agents[0].kind.slow:
            assert not [rule for rule in parts if rule.is_enabled]
    enable_all(parts)
    compiled = game.deal(3)
    begin(agents, compiled)
    play(compiled, agents)
    assert compiled.actions == plain.actions
    assert compiled.points == plain.points
    assert np.array_equal(compiled.cells, plain.cells)
    with as_python(parts):
        half = game.deal(3)
        begin(agents, half)
        play(half, agents, plain.plies // 2)
        agent, view = agents[half.seat], half.view()
        has_values = isinstance(agent, CompiledAgent)  # what others think may depend on chance
        before = agent.values(view, view.legal) if has_values else []
        enable_all(parts)
        after = agent.values(view, view.legal) if has_values else []
        assert before == pytest.approx(after, rel=1e-4, abs=1e-5)
        play(half, agents)
    assert half.actions == plain.actions


@pytest.mark.parametrize(("name", "who"), AGENTS)
def test_every_agent_plays_the_same_game_in_a_match(name, who):
    """Where all is compiled, a loop plays; it deals and draws as a table does."""
    game = kibitz.game(name, **SHORTER.get(name, {}))
    agents = [kibitz.agent(QUICKLY.get(who, who), game) for _ in range(game.players)]
    runner = Runner(game, agents, 3, duplicate=True)
    if not runner.is_compiled:
        assert not isinstance(agents[0], CompiledAgent)
        return
    points, plies = np.zeros((1, game.players)), np.zeros(1, np.int32)
    runner.play(0, points, plies)
    table = recorded(runner, 0).table()
    assert table.plies == plies[0]
    assert table.points == points[0].tolist()


@pytest.mark.long
def test_every_function_is_compiled_in_one_form(tmp_path):
    """Arguments of other types compile a function again, and again in all that call it.

    From an empty cache: what is loaded no longer names small functions that went into others.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tests.every_loop"], capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, "KIBITZ_CACHE": str(tmp_path / "cache"), "KIBITZ_CORES": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["functions"] > 500
    assert found["several"] == {}
    assert found["overloads"] == {}
