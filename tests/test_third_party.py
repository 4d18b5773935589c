"""A game and an agent from another package join by their entry points and lack nothing."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent
CLI = [sys.executable, "-c", "from kibitz.cli import main; main()"]
LAWS = """
import sys, pytest
from kibitz.core import registry
registry.game_names = lambda: ["kuhn"]
sys.exit(pytest.main(sys.argv[1:]))
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Install the package into a folder of its own; give a way to run commands that see it."""
    folder = tmp_path_factory.mktemp("kuhn")
    shutil.copytree(
        HERE / "third_party" / "kuhn",
        folder / "source",
        ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"),
    )
    subprocess.run(
        [
            sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
            "--no-index", "--no-deps", "--no-build-isolation", "--target", folder / "site",
            folder / "source",
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    paths = [str(folder / "site"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}

    def run(
        command: list[Any], code: int = 0, given: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(part) for part in command], env={**known, **environment}, cwd=ROOT, input=given,
            capture_output=True, text=True, encoding="utf-8", timeout=120,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def found_inside(run: Run, check: str, **environment: str) -> Any:
    done = run([sys.executable, HERE / "third_party" / "inside.py", check], **environment)
    return json.loads(done.stdout)


# --- the command line --------------------------------------------------------------------------


def test_the_game_is_listed_beside_our_own(run):
    names = [game["name"] for game in json.loads(run([*CLI, "games", "--json"]).stdout)]
    assert {"nim", "tapnswap", "kuhn"} <= set(names)
    assert "kuhn  (2-4 seats)" in run([*CLI, "games"]).stdout


def test_its_agents_are_listed_and_those_that_cannot_play_it_are_not(run):
    names = {agent["name"] for agent in json.loads(run([*CLI, "agents", "kuhn", "--json"]).stdout)}
    assert {"bluffer", "honest", "random"} <= names
    assert "perfect" not in names
    nim = {agent["name"] for agent in json.loads(run([*CLI, "agents", "nim", "--json"]).stdout)}
    assert "bluffer" not in nim
    refused = run([*CLI, "match", "nim", "bluffer", "random"], code=2).stderr
    assert refused == "'bluffer' cannot play nim: it plays kuhn only.\n"


def test_a_match_is_the_same_on_any_number_of_cores(run):
    results = []
    for cores in (1, 2):
        command = ["match", "kuhn", "random", "bluffer", "--games", 200, "--seed", 1, "--json"]
        result = json.loads(run([*CLI, *command, "--cores", cores]).stdout)
        for name in ("seconds", "games_per_second", "moves_per_second"):
            del result[name]
        results.append(result)
    assert results[0] == results[1]
    assert results[0]["games"] == 200
    assert [agent["name"] for agent in results[0]["agents"]] == ["random", "bluffer"]
    assert sum(agent["points"]["mean"] for agent in results[0]["agents"]) == pytest.approx(0)


def test_worker_processes_find_it_too(run):
    assert found_inside(run, "workers") is True


def test_the_solver_refuses_it_in_one_sentence(run):
    done = run([*CLI, "solve", "kuhn"], code=2)
    assert done.stdout == ""
    assert done.stderr == (
        "kuhn cannot be solved: the solver needs a game in which nothing is hidden.\n"
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_person_can_play_it(run, seed):
    command = ["play", "kuhn", "--seats", "human,random", "--seed", seed, "--plain"]
    said = run([*CLI, *command], given="raise\nhint\nche\nfold\n").stdout
    assert "cannot read 'raise' as a move. Write it like 'check'." in said
    assert "honest would " in said  # the room's own agent gives the hint
    assert "seat 0 human: check" in said
    assert "card ?" in said
    assert said.rstrip().splitlines()[-1].startswith("seat ")
    assert "Points: " in said


# --- the rules ---------------------------------------------------------------------------------


@pytest.mark.long
def test_the_laws_hold(run):
    run(
        [
            sys.executable, "-c", LAWS, "-p", "no:cacheprovider", "-p", "no:xdist",
            "tests/test_laws.py", "tests/test_drawings.py",
        ]
    )  # fmt: skip


def test_views_hide_the_cards_of_others_and_redealt_worlds_look_the_same(run):
    seen = found_inside(run, "views")
    assert seen.pop("views") > 3 * 200 * 6
    assert not any(seen.values()), seen


def test_redeals_are_uniform_over_what_the_viewer_cannot_see(run):
    spreads = found_inside(run, "uniform")
    assert [spread["hidden"] for spread in spreads] == [2, 3, 4, 3]
    for spread in spreads:
        assert spread["worlds"] == math.factorial(spread["hidden"])
        freedom = spread["worlds"] - 1
        assert spread["statistic"] < freedom + 4 * math.sqrt(2 * freedom), spread


def test_a_search_does_not_look_at_hidden_cards(run):
    seen = found_inside(run, "searches")
    assert seen.pop("searches") > 3 * 60
    assert seen.pop("bets") > 0
    assert not any(seen.values()), seen


def test_the_compiler_changes_nothing(run):
    compiled = found_inside(run, "games", NUMBA_DISABLE_JIT="0")
    plain = found_inside(run, "games", NUMBA_DISABLE_JIT="1")
    assert (compiled.pop("compiled"), plain.pop("compiled")) == (True, False)
    assert compiled == plain


# --- the oracle: Kuhn's own game, written out by hand -------------------------------------------

# Chips that seat 0 wins: fixed where somebody folds, otherwise to the higher card.
HISTORIES = {
    ("check", "check"): (1, "showdown"),
    ("check", "bet", "fold"): (-1, "folded"),
    ("check", "bet", "call"): (2, "showdown"),
    ("bet", "fold"): (1, "folded"),
    ("bet", "call"): (2, "showdown"),
}


def played_out(run: Run) -> dict[tuple[tuple[int, ...], tuple[str, ...]], list[float]]:
    ends = found_inside(run, "tree")
    found = {(tuple(cards), tuple(moves)): points for cards, moves, points in ends}
    assert len(found) == len(ends)
    return found


def test_two_seats_play_exactly_kuhn_poker(run):
    truth = {}
    for cards in permutations((1, 2, 3), 2):
        for moves, (chips, end) in HISTORIES.items():
            won = -chips if end == "showdown" and cards[0] < cards[1] else chips
            truth[cards, moves] = [won, -won]
    assert played_out(run) == truth


def test_the_published_strategies_are_worth_an_eighteenth_to_the_second_seat(run):
    third = Fraction(1, 3)
    # How often each seat pays (bets or calls) with cards 1, 2, 3: one of Kuhn's equilibria.
    pays = {
        (0, "first"): (third, 0, 1),
        (0, "check bet"): (0, 2 * third, 1),
        (1, "check"): (third, 0, 1),
        (1, "bet"): (0, third, 1),
    }
    value = Fraction(0)
    for (cards, moves), points in played_out(run).items():
        chance = Fraction(1, 6)
        for ply, move in enumerate(moves):
            seat = ply % 2
            paid = Fraction(pays[seat, " ".join(moves[:ply]) or "first"][cards[seat] - 1])
            chance *= paid if move in ("bet", "call") else 1 - paid
        value += chance * Fraction(points[0])
    assert value == Fraction(-1, 18)
