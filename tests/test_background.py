"""Compiling in the background, as users have it: tables go on in Python, then change over."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

BACKGROUND = {"KIBITZ_COMPILE": "background"}
PLAYED = """
import hashlib, time
import kibitz
from kibitz.core import tiers
from kibitz.core.chance import Chance
game = kibitz.game("tapnswap")
seen = hashlib.sha256()

def play(seed):
    table, rng = game.deal(seed), Chance(seed, 0, 9)
    while not table.over:
        table.play(rng.choice(table.legal))
    seen.update(table.cells.tobytes())

for seed in range(100):
    play(seed)
until = time.monotonic() + 240
while tiers.preparation().total and not game.rules.play.is_enabled and time.monotonic() < until:
    time.sleep(0.05)
for seed in range(100, 200):
    play(seed)
print(game.rules.play.is_enabled, seen.hexdigest(), tiers.preparation().failed)
"""
ONE_FAILS = """
import time
import numpy as np
from kibitz.core import tiers
from kibitz.core.compiled import PLAY, compiled, pointer

@compiled(PLAY)
def bad(state, action):
    state[0] = len(open("/dev/null").read())

@compiled(PLAY)
def good(state, action):
    state[0] = 7

rules = pointer(bad), pointer(good)
tiers.prepare(rules)
until = time.monotonic() + 240
while not rules[1].is_enabled and time.monotonic() < until:
    time.sleep(0.05)
state = np.ones(1, np.int16)
rules[1](state, 0)
after = int(state[0])
rules[0](state, 0)
failed = bool(tiers.preparation().failed)
print(rules[0].is_enabled, rules[1].is_enabled, after, int(state[0]), failed)
"""
ENDS_EARLY = """
import sys, time
import kibitz
from kibitz.core import tiers
from kibitz.core.jit import work
tiers.prepare(kibitz.game("carcassonne").rules)
while not work._background:
    time.sleep(0.01)
print(work._background[0].pid, flush=True)
"""
FORKS = """
import os, threading, time
from kibitz.core.jit import calls
held = threading.Event()

def load():
    with calls._loading, calls.global_compiler_lock:
        held.set()
        time.sleep(0.5)

threading.Thread(target=load).start()
held.wait()
child = os.fork()
if not child:
    with calls._loading, calls.global_compiler_lock:
        os._exit(7)
until = time.monotonic() + 20
while time.monotonic() < until:
    pid, status = os.waitpid(child, os.WNOHANG)
    if pid:
        print(os.waitstatus_to_exitcode(status))
        break
    time.sleep(0.05)
else:
    os.kill(child, 9)
"""
OTHER_GAME = """
import kibitz
from kibitz.core.agent import CompiledAgent, Kind
from kibitz.core.compiled import CHOOSE, compiled, pointer
from kibitz.core.jit.calls import enable_all

@compiled(CHOOSE)
def last(rules, view, actions, n, weights, memory, rng):
    return actions[rules.legal(view, actions) - 1]

kind = Kind(choose=last, name="last")
games = [kibitz.game(name) for name in ("nim", "tapnswap")]
enable_all([pointer(last), games[0].rules.legal])
for game in games:
    view = game.deal(1).view()
    answer = CompiledAgent(kind, game).choose(view)
    print(answer == view.legal[-1], bool(game.rules.legal.address))
"""


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True,
        env={**os.environ, **environment}, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_game_is_the_same_before_and_after_its_rules_are_compiled():
    enabled, games, failed = f"{run(PLAYED, **BACKGROUND)} -".split()[:3]
    assert (enabled, failed) == ("True", "-")
    assert f"False {games}" == run(PLAYED, KIBITZ_COMPILE="loops")


def test_a_rule_that_cannot_be_compiled_stays_python_and_others_are_used():
    assert run(ONE_FAILS, **BACKGROUND) == "False True 7 0 True"


def test_an_agent_used_in_one_game_lets_no_other_wait_for_the_compiler():
    assert run(OTHER_GAME, **BACKGROUND).splitlines() == ["True True", "True False"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs Linux")
def test_who_ends_early_leaves_no_compiler_behind(tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    compiler = Path("/proc") / run(ENDS_EARLY, **BACKGROUND, KIBITZ_CACHE=str(cache))
    until = time.monotonic() + 5
    while compiler.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not compiler.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_forked_while_rules_are_loaded_can_load_its_own():
    assert run(FORKS) == "7"


def test_a_policy_that_is_none_is_named():
    done = subprocess.run(
        [sys.executable, "-c", "import kibitz.core.tiers as t; print(t.waits())"],
        capture_output=True, text=True, env={**os.environ, "KIBITZ_COMPILE": "frist"}, check=True,
    )  # fmt: skip
    assert "KIBITZ_COMPILE=frist is none of background, first, loops" in done.stderr
    assert done.stdout == "False\n"
    assert run("import kibitz.core.tiers as t; print(t.waits())", KIBITZ_COMPILE="") == "False"
