"""Agents from a file of one's own: who may name them, and what happens when they are wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kibitz
import kibitz.play.match
from kibitz.core.errors import KibitzError, Misuse
from tests.test_cli import ask, shell

OWN = '''
import pathlib

import kibitz
from kibitz.core.compiled import CHOOSE, compiled
from kibitz.core.options import Whole

pathlib.Path(__file__).with_suffix(".ran").touch()


class Last(kibitz.Agent):
    """Take from the last row."""

    options = (Whole(name="sticks", default=1, help="sticks to take", low=1, high=9),)

    def values(self, view, options):
        return [option // 64 - 10 * (option % 64 + 1 != self.settings["sticks"])
                for option in options]


def first(view):
    """Take the first option."""
    return view.legal[0]


@compiled(CHOOSE)
def choose(rules, view, actions, n, weights, memory, rng):
    """Take the first option."""
    return actions[0]


FIRST = kibitz.Kind(choose=choose)
SEATED = Last(kibitz.game("nim"))
NUMBER = 7


class Stranger:
    pass


def two(view, rng):
    return 0
'''


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    return path


def test_a_class_a_function_and_a_kind_of_a_file_play(own, capsys):
    """All three do the same, as one could write it anywhere where agents are named."""
    results = []
    for who in ("first", "FIRST"):
        code, out, error = ask(
            capsys,
            "match",
            "nim",
            f"{own}:{who}",
            "random",
            "--games",
            "60",
            "--seed",
            "3",
            "--json",
        )
        assert code == 0, error
        agents = json.loads(out)["agents"]
        assert agents[0]["name"] == f"{own}:{who}"
        results.append(agents[0]["wins"])
    assert results[0] == results[1]
    code, out, error = ask(capsys, "grade", "nim", f"{own}:Last:sticks=2", "--times", "1", "--json")
    assert code == 0, error
    seats = f"{own}:Last:sticks=2,{own}:first"
    code, out, error = ask(capsys, "watch", "nim", "--seats", seats, "--seed", "1", "--plain")
    assert code == 0, error
    assert "take 2 from row 4. Take from the last row." in out
    opinion = "mcts:sims=20,rollout=" + f"{own}:FIRST"
    code, out, error = ask(capsys, "match", "nim", opinion, "random", "--games", "2", "--seed", "1")
    assert code == 0, error
    game = kibitz.game("nim")
    agent = kibitz.agent(f"{own}:Last", game)
    assert agent.explain(game.deal(1).view()).words == "take 1 from row 4"


def test_a_changed_file_is_another_agent(own):
    """An agent that is made after an edit plays what the file says then."""
    game = kibitz.game("nim")
    view = game.deal(1).view()
    assert kibitz.agent(f"{own}:first", game).choose(view) == view.legal[0]
    own.write_text(OWN.replace("return view.legal[0]", "return view.legal[-1]"))
    assert kibitz.agent(f"{own}:first", game).choose(view) == view.legal[-1]


@pytest.mark.parametrize(
    ("who", "says"),
    [
        ("mien.py:Last", "There is no file '{folder}/mien.py'; there is '{folder}/mine.py'."),
        ("no/mine.py:Last", "there is no folder '{folder}/no'"),
        ("mine.py", "as in {folder}/mine.py:Last, {folder}/mine.py:first"),
        ("mine.py:Lsat", "No class or function of '{folder}/mine.py' is called 'Lsat'."),
        ("mine.py:Stranger", "it is a class that does not derive from kibitz.Agent"),
        ("mine.py:SEATED", "every seat needs its own: name the class"),
        ("mine.py:NUMBER", "is no agent: it is 7. An agent is a class"),
        ("mine.py:two", "the function must take one argument, the view"),
        ("mine.py:choose", "make a kibitz.Kind of it"),
        ("mine.py:first:sticks=2", "is a function, which has no settings"),
        ("mine.py:Last:stick=2", "No option of Last is called 'stick'. Did you mean 'sticks'?"),
        ("raises.py:Last", "'{folder}/raises.py', line 3, raised ZeroDivisionError"),
        ("syntax.py:Last", "'{folder}/syntax.py', line 2, raised SyntaxError: "),
    ],
)
def test_what_is_wrong_is_told(own, capsys, who, says):
    folder = own.parent
    (folder / "raises.py").write_text("def f():\n    return 1\nx = f() / 0\n")
    (folder / "syntax.py").write_text("x = 1\ndef f(:\n")
    code, _, error = ask(capsys, "match", "nim", f"{folder}/{who}", "random", "--games", "2")
    assert code == (1 if " raised " in says else 2)
    assert says.format(folder=folder) in " ".join(error.split("\n")), error
    assert "Traceback" not in error


def test_further_processes_load_it_too(own, monkeypatch):
    """The same match on one core and on two, and what a process was not given it does not load."""
    game = kibitz.game("nim")
    kibitz.agent(f"{own}:Last", game)
    alone = kibitz.match(game, [f"{own}:Last", "random"], games=40, seed=1, cores=1)
    monkeypatch.setattr(kibitz.play.match, "WORTH_WAITING", 0.0)
    monkeypatch.setattr(kibitz.play.match, "WORTH_WORKERS", 0.0)
    together = kibitz.match(game, [f"{own}:Last", "random"], games=40, seed=1, cores=2)
    assert [one.wins for one in together.agents] == [one.wins for one in alone.agents]


def test_only_who_names_it_runs_it(own):
    """Names from elsewhere lead nowhere: the file is not run."""
    game = kibitz.game("nim")
    for who in (f"{own}:Last", f"mcts:sims=9,rollout={own}:FIRST"):
        with pytest.raises(KibitzError, match="runs only if you name it yourself"):
            kibitz.match(game, [who, "random"], games=2)
    with pytest.raises(KibitzError, match="runs only if you name it yourself"):
        kibitz.train("evolution", game, opponent=f"{own}:Last", budget=1, games=2)
    assert not own.with_suffix(".ran").exists()
    kibitz.agent(f"{own}:Last", game)
    assert own.with_suffix(".ran").exists()
    with pytest.raises(KibitzError, match="runs only if you name it yourself"):
        kibitz.match(game, [f"{own}:first", "random"], games=2)  # another name of that file


def test_pages_refuse_code_of_files(own, tmp_path):
    """Neither what a browser may ask for nor the processes that think for it run a file."""
    from kibitz.web.catalogue import checked
    from kibitz.web.thinker import Thinker

    game = kibitz.game("nim")
    for who in (f"{own}:Last", f"mcts:sims=9,rollout={own}:FIRST", f"evolved:model={own}:Last"):
        with pytest.raises(Misuse):
            checked(game, who)
        for order in (
            {"do": "prepare", "game": "nim", "settings": {}, "who": who},
            {"do": "league", "what": "begin", "game": "nim", "settings": {}, "name": "",
             "agents": {"mine": who, "random": "random"}, "store": str(tmp_path / "store.sqlite")},
        ):  # fmt: skip
            with pytest.raises(KibitzError):
                Thinker().answer(order, print)
    assert not own.with_suffix(".ran").exists()


@pytest.mark.long
def test_a_league_goes_on_with_it_only_when_it_is_named_again(own, tmp_path):
    store = ("--store", str(tmp_path / "store.sqlite"), "--cores", "2")
    begun = shell("league", "nim", "run", f"mine={own}:Last", "random", "--games", "20", *store)
    assert begun.returncode == 0, begun.stderr
    own.with_suffix(".ran").unlink()
    refused = shell("league", "nim", "run", "--games", "40", *store)
    assert refused.returncode == 2
    assert f"'{own}:Last' is code in a file" in " ".join(refused.stderr.split("\n"))
    assert not own.with_suffix(".ran").exists()
    shown = shell("league", "nim", "show", "--json", *store)
    assert {rung["games"] for rung in json.loads(shown.stdout)["ladder"]} == {20}
    again = shell("league", "nim", "run", f"{own}:Last", "--games", "40", "--json", *store)
    assert again.returncode == 0, again.stderr
    assert {rung["games"] for rung in json.loads(again.stdout)["ladder"]} == {40}
    own.write_text(OWN.replace("option // 64", "-option // 64"))
    changed = shell("league", "nim", "run", f"{own}:Last", "--games", "60", *store)
    assert "has changed since it joined" in changed.stdout + changed.stderr
