"""Every command that kibitz prints runs as it is printed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

import kibitz
from kibitz.cli import COMMANDS
from kibitz.cli.shared import play_command

PROGRAM = [sys.executable, "-c", "from kibitz.cli import main; main()"]
PRINTED = re.compile(rf"\bkibitz (?:{'|'.join(COMMANDS)})\b")


def kibitz_in(folder, *arguments, typed=""):
    """Run a command in a folder, as somebody types it there."""
    done = subprocess.run(
        [*PROGRAM, *arguments], cwd=folder, input=typed, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


def commands_in(text):
    """Find the commands in what was printed: one goes on to the next, or to the end of its line."""
    found = []
    for line in text.splitlines():
        starts = [match.start() for match in PRINTED.finditer(line)]
        for start, end in zip(starts, [*starts[1:], len(line)], strict=False):
            found.append(re.sub(r"(,( or)?)? *$", "", line[start:end]))
    return found


def check_run(folder, text, least=1):
    """Run all commands in what was printed; a person who is asked to play leaves at once."""
    found = commands_in(text)
    assert len(found) >= least, text
    for command in found:
        done = kibitz_in(folder, *shlex.split(command)[1:], typed="quit\n\n")
        assert done.returncode == 0, (command, done.stderr)
        if command.startswith("kibitz play"):
            assert done.stdout.count("You left") <= 1
    return found


def test_a_person_gets_one_seat_of_three():
    command = play_command(kibitz.game("hanabi", players=3), "runs/a model")
    assert command == (
        "kibitz play hanabi --set players=3 --seats 'human,runs/a model,runs/a model'"
    )


def test_what_games_and_words_print_runs(tmp_path):
    check_run(tmp_path, kibitz_in(tmp_path, "games").stdout, least=3)
    told = kibitz_in(tmp_path, "words", "mexican_train").stdout
    rule = re.search(r"A rule: (.*)", told)[1]
    (tmp_path / "rules.txt").write_text(f"{rule}\n")
    check_run(tmp_path, told.replace("rules.txt", "rules.txt -n 4"))


def test_what_solve_and_play_print_runs(tmp_path):
    told = kibitz_in(tmp_path, "solve", "nim", "--set", "rows=2,3", "--save", "a b.safetensors")
    found = check_run(tmp_path, told.stdout)
    played = kibitz_in(tmp_path, *shlex.split(found[0])[1:], "--save", "my game.json", typed="1\n")
    assert check_run(tmp_path, played.stdout) == ["kibitz replay 'my game.json'"]


@pytest.mark.long
def test_what_a_league_prints_names_its_store_and_its_name(tmp_path):
    mine = ["--store", "my league.sqlite", "--name", "for two"]
    nothing = kibitz_in(tmp_path, "league", "nim", "show", *mine)
    assert nothing.returncode == 2
    added = kibitz_in(tmp_path, "league", "nim", "add", "perfect", "random", *mine)
    assert added.returncode == 0
    assert check_run(tmp_path, nothing.stderr)[0].endswith("run")
    shown = kibitz_in(tmp_path, "league", "nim", *mine)
    found = check_run(tmp_path, shown.stdout, least=2)
    assert all("--store 'my league.sqlite'" in command for command in found)
    assert (tmp_path / "page.html").exists()
    assert not (tmp_path / "runs").exists()  # the usual store was never opened


@pytest.mark.long  # trains
@pytest.mark.parametrize(
    "arguments",
    [
        ["nim", "evolution", "--budget", "8"],
        ["tapnswap", "q-learning", "--games", "200"],
        ["tapnswap", "q-optimizer", "--preset", "quick", "--games", "50"],
        ["hanabi", "classifier", "--set", "players=3", "--games", "1000"],
    ],
)
def test_what_train_prints_runs(tmp_path, arguments):
    told = kibitz_in(tmp_path, "train", *arguments, "--seed", "1", "--out", "my run")
    assert told.returncode == 0, told.stderr
    for command in check_run(tmp_path, told.stdout):
        seats = shlex.split(command)[-1].split(",")
        assert seats.count("human") == 1
        assert len(seats) == (3 if "players=3" in arguments else 2)
