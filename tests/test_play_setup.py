"""Somebody types `kibitz play GAME`: the questions, the levels, several games and their score."""

from __future__ import annotations

import io
import os
import pty
import re
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import kibitz
from kibitz.cli import playing, run
from kibitz.cli.setup import FIRST, SECOND, lot
from kibitz.games.nim import agents as nim_agents
from tests import toys
from tests.test_cli import PROGRAM, read_until, shell

QUESTIONS = (
    "Shall I explain the rules?", "How many players?", "How hard shall it be?", "Who starts?"
)  # fmt: skip
# Misère with two single sticks: whoever starts wins, and every move is the only one.
TINY = ("play", "nim", "--set", "rows=1,1", "--plain")


@pytest.fixture
def person(capsys, monkeypatch):
    """Run a command in this process, with what somebody types."""

    def play(*arguments: str, typed: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = run(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return play


# --- the questions -----------------------------------------------------------------------------


def test_enter_takes_the_default_at_every_question(person, tmp_path):
    path = tmp_path / "game.json"
    code, out, _ = person(*TINY, "--save", str(path), typed="\n\n\n\n1\n")
    assert code == 0
    places = [out.index(question) for question in QUESTIONS]
    assert places == sorted(places)
    for default in ("[y/N]", "Enter for one", "Enter for medium", "Enter for you"):
        assert default in out
    assert kibitz.game("nim").words.RULES.splitlines()[0] not in out
    assert "Game 1: you start." in out
    assert "seat 0 you win." in out
    assert "Score: you 1, medium 0." in out
    assert kibitz.load(path).agents == ("human", "expert:blunders=40%")  # who it was


def test_a_whole_game_of_tapnswap_in_a_process_of_its_own():
    done = shell("play", "tapnswap", "--seed", "1", typed="y\n1\neasy\nyou\n" + "1\n" * 300)
    assert done.returncode == 0, done.stderr
    assert kibitz.game("tapnswap").words.RULES.strip() in done.stdout
    assert "q-table:blunders=50%" in done.stdout  # the levels are shown with their agents
    assert re.search(r"Score: you (1, easy 0|0, easy 1)\.", done.stdout)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("said", ["3", "hard", " HARD ", "h"])
def test_a_level_by_number_name_or_beginning(person, tmp_path, said):
    path = tmp_path / "game.json"
    person(*TINY, "--save", str(path), typed=f"n\none\n{said}\n1\n1\n")
    assert kibitz.load(path).agents == ("human", "expert:blunders=15%")


def test_wrong_answers_are_asked_again_and_told_what_is_possible(person):
    typed = "perhaps\nno\n3\nten\n1\nimpossible\n0\n5\n" + "9" * 5000 + "\neasy\nnobody\nyou\n1\n"
    code, out, _ = person(*TINY, typed=typed)
    assert code == 0
    assert out.count("Type y for yes, n or Enter for no.") == 1
    assert out.count("Type 1 or 2, or a name: one, two.") == 2
    assert out.count("Type 1 to 4, or a name: easy, medium, hard, perfect.") == 4
    assert out.count("Type 1 to 3, or a name: you, the other, by lot.") == 1
    assert "Score: you 1, easy 0." in out


def test_a_beginning_that_fits_several_levels_is_asked_again(person, monkeypatch, tmp_path):
    monkeypatch.setattr(nim_agents, "LEVELS", {"hard": "nim-sum", "harder": "evolved"})
    path = tmp_path / "game.json"
    typed = "\n\nhar\nhard\n\n1\n"
    _, out, _ = person(*TINY, "--save", str(path), typed=typed)
    assert out.count("Type 1 or 2, or a name: hard, harder.") == 1
    assert kibitz.load(path).agents == ("human", "nim-sum")


@pytest.mark.parametrize("last", ["", "quit\n"])
@pytest.mark.parametrize("answered", range(len(QUESTIONS)))
def test_who_says_quit_or_nothing_more_leaves_politely(person, answered, last):
    code, out, err = person(*TINY, typed="\n" * answered + last)
    assert (code, err) == (0, "")
    assert out.endswith("No game then. Until next time.\n")
    assert [question in out for question in QUESTIONS] == [n <= answered for n in range(4)]


def test_strange_answers_and_a_closed_input():
    done = subprocess.run(
        [*PROGRAM, *TINY], input=b"\xff\xfe\n[red]\n\0\n\n\n[/]\n\n\n1\n", capture_output=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"Score: you 1, medium 0." in done.stdout
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *PROGRAM, *TINY], capture_output=True, check=False,
        timeout=120,
    )  # fmt: skip
    assert closed.returncode == 0, closed.stderr
    assert b"No game then" in closed.stdout


def test_ctrl_c_at_a_question_ends_quietly():
    master, slave = pty.openpty()
    program = subprocess.Popen(
        [*PROGRAM, *TINY], stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    )
    try:
        read_until(master, "[y/N] ")
        time.sleep(1)  # the prompt is there before the terminal is read
        os.killpg(program.pid, signal.SIGINT)
        seen = read_until(master, "Interrupted.", 30)
        assert program.wait(30) == 130
        assert "Traceback" not in seen
    finally:
        program.kill()
        program.wait()
        os.close(master)
        os.close(slave)


# --- who starts --------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["2", "the other", "other", "o"])
def test_the_other_may_start(person, tmp_path, said):
    path = tmp_path / "game.json"
    code, out, _ = person(
        "play", "tapnswap", "--plain", "--seed", "1", "--save", str(path),
        typed=f"\n\nmedium\n{said}\n1\nquit\n",
    )  # fmt: skip
    assert code == 0
    assert "Game 1: medium starts." in out
    assert "seat 0 medium: " in out
    record = kibitz.load(path)
    assert record.agents == ("q-table:blunders=50%", "human")
    after_theirs = record.table(1)
    assert str(after_theirs.view(1)) in out  # one's own hands are below
    prompt = out.index("seat 1 you> ")
    assert out.index("seat 0 medium: ") < out.index(str(after_theirs.view(1))) < prompt


def test_the_lot_is_fair_and_the_same_for_the_same_seed(person):
    drawn = [lot(seed) for seed in range(400)]
    assert 150 < drawn.count(FIRST) < 250
    seeds = {drawn.index(FIRST): "you start", drawn.index(SECOND): "easy starts"}
    for seed, expected in seeds.items():
        _, out, _ = person(*TINY, "--seed", str(seed), typed="\n\neasy\nlot\n")
        assert f"Game 1: {expected}." in out


def test_two_people_are_asked_neither_how_hard_nor_who_starts(person, tmp_path):
    path = tmp_path / "game.json"
    code, out, _ = person(*TINY, "--save", str(path), typed="\n2\n1\n1\ny\n1\n1\n\n")
    assert code == 0
    assert "How hard" not in out
    assert "Who starts" not in out
    assert "Game 1: player A starts." in out
    assert "seat 0 player A wins." in out
    assert "Score: player A 1, player B 0." in out
    assert "Game 2: player B starts." in out
    assert "seat 0 player B wins." in out
    assert "Score: player A 1, player B 1." in out
    assert kibitz.load(path).agents == ("human", "human")


# --- when nothing is asked ---------------------------------------------------------------------


def test_seats_ask_nothing_and_play_one_game(person):
    code, out, _ = person(*TINY, "--seats", "human,random", typed="1\n")
    assert code == 0
    assert out.startswith("Nim, seed ")
    assert "seat 0 human wins." in out
    for text in (*QUESTIONS, "Game 1", "Score", "Play again"):
        assert text not in out


def test_a_game_without_levels_asks_nothing(person, monkeypatch):
    monkeypatch.setattr(nim_agents, "LEVELS", {})
    code, out, _ = person(*TINY, typed="1\n")
    assert code == 0
    assert "seat 0 human wins." in out
    for text in (*QUESTIONS, "Score", "Play again"):
        assert text not in out
    code, out, err = person(*TINY, "--level", "hard")
    assert (code, out) == (2, "")
    assert err == "nim has no levels. Choose who plays: --seats human,AGENT.\n"


def toy(**changes):
    """Give a toy that has words and levels."""
    game = replace(toys.RING, room="", **changes)
    words = SimpleNamespace(
        RULES="Walk.", show=lambda view: f"place {view['place']}", say=lambda view, a: f"step {a}",
        brief=lambda view: "", read=lambda view, text: int(text),
    )  # fmt: skip
    game.__dict__["words"] = words
    game.__dict__["_agents_module"] = SimpleNamespace(LEVELS={"easy": "random"})
    return game


@pytest.mark.parametrize(
    ("changes", "asks"),
    [({}, True), ({"cooperative": True}, False), ({"settings": {"players": 3}}, False)],
)
def test_only_two_against_each_other_are_asked(person, monkeypatch, changes, asks):
    monkeypatch.setattr(playing, "chosen_game", lambda name, settings: toy(**changes))
    code, out, _ = person("play", "toy", "--plain", typed="")
    assert code == 0
    assert (QUESTIONS[0] in out) == asks
    assert ("You left the game" in out) != asks


def test_three_players_move_on_by_a_seat(person, monkeypatch):
    game = toy(settings={"players": 3})
    monkeypatch.setattr(playing, "chosen_game", lambda name, settings: game)
    code, out, _ = person("play", "toy", "--plain", "--level", "easy", "-n", "3", typed="1\n" * 200)
    assert code == 0
    assert re.findall(r"Game \d: (.*)\.", out) == ["you start", "easy A starts", "easy B starts"]
    scores = re.findall(r"Score: you (\d), easy A (\d), easy B (\d)\.", out)
    assert [sum(map(int, score)) for score in scores] == [1, 2, 3]


def test_a_cooperative_series_adds_its_points(person, monkeypatch):
    monkeypatch.setattr(playing, "chosen_game", lambda name, settings: toy(cooperative=True))
    code, out, _ = person("play", "toy", "--plain", "-n", "2", typed="1\n" * 200)
    assert code == 0
    points = [float(found) for found in re.findall(r"Together you have (\d+) points", out)]
    assert f"Score: {points[0]:g} points in 1 game." in out
    assert f"Score: {sum(points):g} points in 2 games." in out


# --- levels ------------------------------------------------------------------------------------


def test_level_answers_all_questions(person, tmp_path):
    path = tmp_path / "game.json"
    code, out, _ = person(*TINY, "--level", "Hard", "--save", str(path), typed="1\n")
    assert code == 0
    assert not any(question in out for question in QUESTIONS)
    assert "Score: you 1, hard 0." in out
    assert "Play again?" in out
    assert kibitz.load(path).agents == ("human", "expert:blunders=15%")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("tapnswap", "--level", "hrd"), "No level of tapnswap is called 'hrd'. Did you mean"),
        (("tapnswap", "--level", "x"), "There are: easy, hard, medium, perfect."),
        (("tapnswap", "--level", "hard", "--seats", "human"), "Leave one out"),
        (("tapnswap", "--games", "0"), "Invalid value for '--games'"),
        (("tapnswap", "--seats", "random,random", "--games", "2"), "Use kibitz watch"),
    ],
)
def test_what_cannot_be_played_is_told_at_once(person, arguments, complaint):
    code, out, err = person("play", *arguments)
    assert (code, out) == (2, "")
    assert complaint in err
    assert len(err.strip().splitlines()) == 1


def test_levels_that_cannot_play_the_game_as_set_are_not_offered(person, monkeypatch):
    levels = {"easy": "random", "medium": "q-table", "perfect": "perfect"}
    monkeypatch.setattr(nim_agents, "LEVELS", levels)
    code, _, err = person(*TINY, "--level", "medium")
    assert code == 2
    assert "Levels that can play it: easy, perfect." in err
    _, out, _ = person(*TINY, typed="\n\nmedium\n")
    assert "1. easy     (random)\n  2. perfect  (perfect)\n" in out
    assert "2. medium" not in out
    assert "Enter for easy" in out


# --- several games -----------------------------------------------------------------------------


def test_play_again_changes_the_starter_and_keeps_the_score(person):
    code, out, _ = person(*TINY, typed="\n\neasy\n\n1\ny\n1\nwell\nyes\n1\nn\n1\n")
    assert code == 0
    starters = re.findall(r"Game (\d): (.*)\.", out)
    assert starters == [("1", "you start"), ("2", "easy starts"), ("3", "you start")]
    assert re.findall(r"Score: (.*)\.", out) == [
        "you 1, easy 0", "you 1, easy 1", "you 2, easy 1",
    ]  # fmt: skip
    assert out.count("Type y for yes, n or Enter for no.") == 1
    assert out.count("Play again?") == 4


@pytest.mark.parametrize("last", ["", "\n", "no\n", "quit\n"])
def test_playing_again_is_not_the_default(person, last):
    code, out, err = person(*TINY, "--level", "easy", typed=f"1\n{last}")
    assert (code, err) == (0, "")
    assert out.count("Play again?") == 1
    assert "Game 2" not in out


def test_draws_are_counted(person):
    arguments = ("play", "tapnswap", "-s", "max_plies=2", "--level", "easy", "--games", "2")
    code, out, _ = person(*arguments, typed="1\n1\n")
    assert code == 0
    assert "Score: you 0, easy 0, 1 draw." in out
    assert "Score: you 0, easy 0, 2 draws." in out


def sitting(person, folder: Path, *arguments: str) -> tuple[str, list[kibitz.Record]]:
    """Play three games, always the first move, and give what was said and the records."""
    path = folder / "my.game.json"
    code, out, _ = person(
        "play", "tapnswap", "--plain", "--games", "3", "--save", str(path), *arguments,
        typed="1\n" * 400,
    )  # fmt: skip
    assert code == 0
    names = ["my.game.json", "my.game-2.json", "my.game-3.json"]
    assert sorted(file.name for file in folder.iterdir()) == sorted(names)
    return out, [kibitz.load(folder / name) for name in names]


def test_games_in_a_row_are_saved_and_repeat_with_the_seed(person, tmp_path):
    found = []
    for name, arguments in (
        ("a", ("--seed", "7", "--level", "easy")),
        ("b", ("--seed", "7", "--seats", "human,random")),
        ("c", ("--seed", "70", "--level", "easy")),
    ):
        (tmp_path / name).mkdir()
        found.append(sitting(person, tmp_path / name, *arguments))
    (out, records), (_, again), (_, other) = found
    assert "Play again" not in out
    assert records == again
    assert records != other
    assert len({record.seed for record in records}) == 3
    assert len({record.actions for record in records}) == 3
    assert [record.agents for record in records] == [
        ("human", "random"), ("random", "human"), ("human", "random"),
    ]  # fmt: skip
    wins = sum(record.table().points[record.agents.index("human")] > 0 for record in records)
    assert out.rstrip().endswith(f"Score: you {wins}, easy {3 - wins}.")


def test_a_later_game_is_that_of_its_own_seed(person, tmp_path):
    """The agents sit down anew, so a game can be repeated without those before it."""
    _, records = sitting(person, tmp_path, "--seed", "7", "--level", "easy")
    for record in records[1:]:
        path = tmp_path / "again.json"
        arguments = ("--seats", ",".join(record.agents), "--seed", str(record.seed))
        person("play", "tapnswap", *arguments, "--save", str(path), typed="1\n" * 400)
        assert kibitz.load(path) == record


def test_the_score_names_people_first(person):
    _, out, _ = person(*TINY, typed="\n\neasy\nother\n1\n")
    assert "Score: you 0, easy 1." in out


def test_the_last_seed_has_a_next(person):
    code, out, _ = person(
        *TINY, "--level", "easy", "-n", "2", "--seed", str(2**63 - 1), typed="1\n1\n"
    )
    assert code == 0
    assert "Nim, seed 0." in out


def test_people_of_the_same_name_are_told_apart_over_several_games(person):
    code, out, _ = person(*TINY, "--seats", "human,human", "--games", "2", typed="1\n" * 4)
    assert code == 0
    assert "Score: human A 1, human B 0." in out
    assert out.rstrip().endswith("Score: human A 1, human B 1.")


def test_leaving_ends_the_series_and_does_not_count(person):
    code, out, _ = person(*TINY, "--level", "easy", "--games", "5", typed="1\nquit\n\n")
    assert code == 0
    assert "Game 2: easy starts." in out
    assert "Game 3" not in out
    assert out.rstrip().endswith("You left the game.\nScore: you 1, easy 0.")
    code, out, _ = person(*TINY, "--level", "easy", typed="quit\n\n")
    assert code == 0
    assert "You left the game." in out
    assert "Score" not in out
    assert "Play again" not in out
