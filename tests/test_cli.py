"""The command line as a person and a script meet it."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import kibitz
from kibitz.cli import run
from kibitz.cli.person import Sitting
from kibitz.play.match import Runner, seated

PROGRAM = [sys.executable, "-c", "from kibitz.cli import main; main()"]


def ask(capsys, *arguments: str) -> tuple[int, str, str]:
    """Run a command in this process."""
    code = run(list(arguments))
    said = capsys.readouterr()
    return code, said.out, said.err


def shell(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, with what somebody types."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_games_rules_agents(capsys):
    code, out, _ = ask(capsys, "games")
    assert code == 0
    for name in kibitz.game_names():
        assert name in out
        code, said, _ = ask(capsys, "rules", name)
        assert code == 0
        assert kibitz.game(name).how_to_play.splitlines()[0][:60] in said
        code, said, _ = ask(capsys, "agents", name)
        assert code == 0
        assert "random" in said


def test_json_is_json(capsys):
    for arguments in (
        ("games",), ("rules", "nim"), ("agents", "nim"), ("solve", "nim"),
        ("match", "nim", "random", "--games", "10", "--seed", "1"),
        ("bench", "tapnswap", "--seconds", "0.1"),
    ):  # fmt: skip
        code, out, _ = ask(capsys, *arguments, "--json")
        assert code == 0
        assert json.loads(out)


def test_match_prints_and_repeats(capsys):
    arguments = ("match", "nim", "perfect", "random", "--games", "2000", "--seed", "4")
    code, out, _ = ask(capsys, *arguments)
    assert code == 0
    assert re.search(r"perfect +100.0% \(99.\d to 100.0\)", out)
    assert "seat 1" in out
    results = [json.loads(ask(capsys, *arguments, "--json", "--cores", c)[1]) for c in "12"]
    for result in results:
        for key in ("seconds", "games_per_second", "moves_per_second"):
            result.pop(key)
    assert results[0] == results[1]
    direct = kibitz.match(kibitz.game("nim"), ["perfect", "random"], 2000, seed=4)
    assert results[0]["agents"][0]["wins"] == direct.agents[0].wins


def test_solve_prints_who_wins_and_the_counts(capsys, tmp_path):
    code, out, _ = ask(capsys, "solve", "tapnswap")
    assert code == 0
    assert "seat 1, who moves second, wins in 26 plies" in out
    assert re.search(r"mirror images folded +177 +120 +10 +47 +14", out)
    assert re.search(r"unfolded +526 +368 +25 +133 +24", out)
    path = tmp_path / "nim.safetensors"
    code, out, _ = ask(capsys, "solve", "nim", "--set", "rows=3,4,5,misere=no", "--save", str(path))
    assert code == 0
    assert "seat 0, who moves first, wins in" in out
    code, out, _ = ask(
        capsys,
        "match",
        "nim",
        str(path),
        "random",
        "-s",
        "rows=3,4,5",
        "-s",
        "misere=no",
        "-n",
        "50",
    )
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nonsense",), "No such command 'nonsense'"),
        (("rules",), "Missing argument 'GAME'"),
        (("rules", "chess"), "No game is called 'chess'"),
        (("match", "nim"), "Missing argument"),
        (("match", "nim", "nobody"), "No agent for nim is called 'nobody'"),
        (("match", "nim", "random", "--games", "none"), "Invalid value for '--games'"),
        (("match", "nim", "random", "--games", "0"), "A match has 1 to 50,000,000 games, not 0"),
        (("match", "nim", "random", "--seed", "-4"), "A seed is a whole number"),
        (("match", "nim", "random", "random", "random"), "too many"),
        (("match", "nim", "random", "--set", "rows"), "write name=value"),
        (("match", "nim", "random", "--set", "rows=99"), "Option 'rows' takes"),
        (("match", "nim", "random:deep=3"), "No option of random"),
        (("match", "nim", "random", "--fast"), "No such option: --fast"),
        (("solve", "nim", "--most", "10"), "more than 10 positions"),
        (("play", "nim", "--seats", "perfect,random"), "Use kibitz watch"),
        (("watch", "nim", "--seats", "human,random"), "Use kibitz play"),
        (("watch", "nim", "--seats", "random,random,random"), "too many"),
        (("replay", "no-such-file.json"), "No such file"),
        (("replay", __file__), "no kibitz record"),
        (("bench", "chess"), "No game is called 'chess'"),
    ],
)
def test_wrong_input_gets_one_sentence_and_exit_code_2(capsys, arguments, complaint):
    code, out, err = ask(capsys, *arguments)
    assert code == 2
    assert complaint in err
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err
    assert out == ""


def test_a_failure_that_is_nobodys_misuse_has_exit_code_1(capsys, tmp_path):
    code, _, err = ask(capsys, "solve", "nim", "--save", str(tmp_path / "no" / "x.safetensors"))
    assert code == 1
    assert "Could not write" in err
    code, _, err = ask(capsys, "watch", "nim", "--save", "/proc/no/such/place.json")
    assert code == 1


def test_help_is_help(capsys):
    code, out, _ = ask(capsys, "--help")
    assert code == 0
    for command in ("games", "play", "match", "solve", "watch", "replay", "demo", "bench"):
        assert command in out
    code, out, err = ask(capsys)
    assert code == 2
    assert "Usage: kibitz" in out + err
    assert ask(capsys, "--version") == (0, f"kibitz {kibitz.__version__}\n", "")
    code, out, _ = ask(capsys, "match", "--help")
    assert code == 0
    assert "--duplicate" in out


def test_watch_save_replay(capsys, tmp_path):
    path = tmp_path / "game.json"
    code, out, _ = ask(
        capsys, "watch", "tapnswap", "--seats", "random,perfect", "--seed", "3", "--save", str(path)
    )
    assert code == 0
    assert "perfect wins" in out
    assert "loses in" in out  # the reasons are shown
    record = kibitz.load(path)
    assert record.agents == ("random", "perfect")
    code, out, _ = ask(capsys, "replay", str(path))
    assert out == str(record)
    code, out, _ = ask(capsys, "replay", str(path), "--at", "2", "--svg", str(tmp_path / "b.svg"))
    assert str(record.table(2)) in out
    assert (tmp_path / "b.svg").read_text().startswith("<svg")
    code, out, _ = ask(capsys, "replay", str(path), "--json")
    assert kibitz.Record.from_json(out) == record
    assert ask(capsys, "replay", str(path), "--at", "999")[0] == 2


def test_analyse_says_what_moves_cost(capsys, tmp_path):
    path = str(tmp_path / "game.json")
    ask(capsys, "watch", "nim", "--seats", "random,expert", "--seed", "3", "--save", path)
    code, out, _ = ask(capsys, "analyse", path)
    assert code == 0
    assert out.split("\n")[0].split() == ["ply", "seat", "move", "outlook", "cost", "better"]
    assert "expert lost nothing" in out
    assert "Judged by exact play." in out
    code, out, _ = ask(capsys, "analyse", path, "--agent", "mcts:sims=200", "--json")
    found = json.loads(out)
    assert found["how"] == "mcts:sims=200"
    assert len(found["moves"]) == len(kibitz.load(path).actions)
    assert all(move["cost"] >= 0.0 for move in found["moves"])
    code, _, err = ask(capsys, "analyse", path, "--agent", "expert")
    assert code == 2
    assert "does not search" in err


def test_watching_is_the_same_as_a_match(capsys, tmp_path):
    """The first game of a match can be watched: same seed, same chance."""
    for seed in range(5):
        path = tmp_path / f"{seed}.json"
        ask(
            capsys,
            "watch",
            "tapnswap",
            "--seats",
            "random",
            "--seed",
            str(seed),
            "--save",
            str(path),
        )
        watched = kibitz.load(path).table()
        game = kibitz.game("tapnswap")
        points, plies = np.zeros((1, 2)), np.zeros(1, np.int32)
        Runner(game, seated(game, ["random"]), seed, True).play(0, points, plies)
        assert watched.plies == plies[0]
        assert watched.points == points[0].tolist()


# --- a person ----------------------------------------------------------------------------------


def test_a_person_plays_a_whole_game_by_words_and_numbers(tmp_path):
    path = tmp_path / "game.json"
    typed = "take 7 from row 4\n1\n"
    typed += "1\n" * 20
    done = shell(
        "play", "nim", "--seats", "human,perfect", "--seed", "1", "--save", str(path), typed=typed
    )
    assert done.returncode == 0, done.stderr
    assert "seat 1 perfect wins" in done.stdout
    record = kibitz.load(path)
    assert record.table().over
    assert record.agents == ("human", "perfect")
    assert record.table(1)["rows"][:4].tolist() == [1, 3, 5, 0]


def test_a_person_gets_help_hints_and_second_chances(tmp_path):
    path = tmp_path / "kept.json"
    typed = "\n".join(
        ["help", "rules", "moves", "board", "hint", "hint random", "hint nobody", "undo",
         "nonsense", "9 from 1", "99", "", "3 from 4", "undo", "2 from 4", f"save {path}", "save",
         "quit", ""]
    )  # fmt: skip
    done = shell("play", "nim", "--seats", "human,gabriele", "--seed", "1", typed=typed + "\n")
    assert done.returncode == 0, done.stderr
    out = done.stdout
    for expected in (
        "what an agent would do", "Sticks lie in rows", "16. take 7 from row 4", "loses in 15",
        "random would", "No agent for nim is called 'nobody'", "nothing of yours to take back",
        "cannot read 'nonsense'", "may not 'take 9 from row 1'", "numbered 1 to 16",
        "Type a move, or help", "Taken back", "Say where", "You left the game",
    ):  # fmt: skip
        assert expected in out, expected
    assert "Traceback" not in out + done.stderr
    kept = kibitz.load(path)
    assert [table.say(action) for table, action in kept.steps()] == [
        "take 2 from row 4", "take 1 from row 1",
    ]  # fmt: skip


def test_quit_offers_to_save_the_record(tmp_path):
    path = tmp_path / "left.json"
    typed = f"3 from 4\nquit\n/no/such/folder/x.json\n{path}\n"
    done = shell("play", "nim", "--seats", "human,gabriele", "--seed", "1", typed=typed)
    assert done.returncode == 0
    assert "Save the record?" in done.stdout
    assert "Could not write" in done.stdout
    assert len(kibitz.load(path).actions) == 2


@pytest.mark.parametrize(
    ("answers", "kept"),
    [
        ("n", []), ("No", []), ("", []), ("y", ["nim-7.json"]), ("yes", ["nim-7.json"]),
        ("mine.json", ["mine.json"]),
    ],
)  # fmt: skip
def test_the_question_whether_to_save_takes_yes_no_or_a_name(
    capsys, tmp_path, monkeypatch, answers, kept
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"3 from 4\nquit\n{answers}\n"))
    code, out, _ = ask(capsys, "play", "nim", "--seats", "human,gabriele", "--seed", "7")
    assert code == 0
    assert "Save the record? [y/N, or a file name]" in out
    assert [path.name for path in tmp_path.iterdir()] == kept
    for name in kept:
        assert f"kibitz replay {name}" in out
        assert len(kibitz.load(name).actions) == 2


def test_yes_never_writes_over_a_record(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nim-7.json").write_text("mine")
    monkeypatch.setattr("sys.stdin", io.StringIO("3 from 4\nquit\ny\n"))
    ask(capsys, "play", "nim", "--seats", "human,gabriele", "--seed", "7")
    assert (tmp_path / "nim-7.json").read_text() == "mine"
    assert len(kibitz.load(tmp_path / "nim-7-2.json").actions) == 2


def test_the_end_of_input_leaves_the_game():
    done = shell("play", "tapnswap", "--seats", "human,tapper", "--seed", "1", typed="lr\n")
    assert done.returncode == 0
    assert "You left the game" in done.stdout


def test_several_people_at_one_terminal():
    typed = "1 1\n" * 2 + "1 from 2\n1 from 1\n"
    done = shell("play", "nim", "--set", "rows=1,1", "--seats", "human,human", typed=typed)
    assert done.returncode == 0
    assert "seat 0 human wins" in done.stdout


def test_undo_goes_back_to_ones_own_last_decision():
    typed = "lr\nundo\nll\nquit\n\n"
    done = shell("play", "tapnswap", "--seats", "human,tapper", "--seed", "1", typed=typed)
    assert done.stdout.count("seat 0 human: tap left on") == 2
    assert done.returncode == 0


def test_plain_text_has_no_colour_and_no_shapes():
    done = shell("watch", "nim", "--seats", "random", "--seed", "1", "--plain")
    assert "\x1b" not in done.stdout
    assert "●" not in done.stdout
    assert "seat 0 random" in done.stdout
    assert "\x1b" not in shell("watch", "nim", "--seats", "random", "--seed", "1").stdout


def test_a_reader_that_goes_away_is_no_error():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, subprocess\n"
         f"p = subprocess.Popen({[*PROGRAM, 'solve', 'nim', '--json']!r}, stdout=subprocess.PIPE)\n"
         "p.stdout.close(); sys.exit(p.wait())"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


# --- a real terminal ---------------------------------------------------------------------------


def read_until(master: int, text: str, seconds: float = 90) -> str:
    """Read what a terminal shows until it shows this."""
    seen = ""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if select.select([master], [], [], 0.2)[0]:
            try:
                seen += os.read(master, 65_536).decode(errors="replace")
            except OSError:
                break
        if text in seen:
            return seen
    raise AssertionError(f"never saw {text!r} in {seen!r}")


def test_ctrl_c_in_a_match_leaves_the_terminal_sound():
    master, slave = pty.openpty()
    program = subprocess.Popen(
        [*PROGRAM, "match", "nim", "perfect", "random", "--games", "50000000"],
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
    )  # fmt: skip
    try:
        read_until(master, "50000000")  # the progress bar is there
        os.killpg(program.pid, signal.SIGINT)
        seen = read_until(master, "Interrupted.", 30)
        assert program.wait(30) == 130
        assert "Traceback" not in seen
        assert "\x1b[?25h" in seen  # the cursor is shown again
    finally:
        program.kill()
        program.wait()
        os.close(master)
        os.close(slave)


def test_ctrl_c_at_the_prompt_ends_quietly():
    master, slave = pty.openpty()
    program = subprocess.Popen(
        [*PROGRAM, "play", "nim", "--seats", "human,gabriele"],
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
    )  # fmt: skip
    try:
        read_until(master, "> ")
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


# --- what must not break a game ----------------------------------------------------------------


def test_strange_typing_is_answered(tmp_path):
    typed = b"\xff\xfe\n" + b"9" * 5000 + b"\nsave a\0b\n1 1\nquit\nx\0y\n\n"
    done = subprocess.run(
        [*PROGRAM, "play", "nim", "--seats", "human,gabriele", "--seed", "1"],
        input=typed, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    out = done.stdout.decode()
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in out + done.stderr.decode()
    assert "numbered 1 to 16" in out
    assert "Could not write" in out
    assert "You left the game" in out


def test_an_interrupted_game_is_kept(tmp_path):
    path = tmp_path / "kept.json"
    master, slave = pty.openpty()
    program = subprocess.Popen(
        [*PROGRAM, "play", "nim", "--seats", "human,gabriele", "--save", str(path)],
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
    )  # fmt: skip
    try:
        read_until(master, "> ")
        os.write(master, b"3 from 4\n")
        seen = read_until(master, "gabriele: take")
        if "> " not in seen.rpartition("gabriele: take")[2]:  # both may come at once
            read_until(master, "> ")
        time.sleep(1)
        os.killpg(program.pid, signal.SIGINT)
        assert program.wait(30) == 130
        assert len(kibitz.load(path).actions) == 2
    finally:
        program.kill()
        program.wait()
        os.close(master)
        os.close(slave)


def test_a_place_where_nothing_can_be_saved_is_told_before_the_game(capsys):
    code, out, err = ask(capsys, "play", "nim", "--save", "/proc/no/such.json")
    assert (code, out) == (1, "")
    assert "Could not write" in err


def test_a_large_game_has_an_opponent_at_once():
    rows = ",".join(["63"] * 16)
    typed = "\n\n\n\nhint\n63 from 1\nquit\n\n"
    done = shell("play", "nim", "--set", f"rows={rows}", "--seed", "1", typed=typed)
    assert done.returncode == 0, done.stderr
    assert "(perfect)" not in done.stdout  # solving it would take minutes
    assert "expert would take" in done.stdout
    assert "seat 1 medium: take" in done.stdout


def test_a_full_disk_behind_standard_output():
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*PROGRAM, "games"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert "Could not write the output" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_that_knows_no_shapes():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*PROGRAM, "watch", "nim", "--seats", "random", "--seed", "1"],
        capture_output=True, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_broken_plugin_breaks_nothing_else(tmp_path):
    broken = tmp_path / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (broken / "entry_points.txt").write_text(
        "[kibitz.games]\nbroken = no_such_module:GAME\n[kibitz.agents]\nlost = no_such:KIND\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def shout(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PROGRAM, *arguments], capture_output=True, text=True, env=environment, check=False
        )

    done = shout("games")
    assert done.returncode == 0
    assert "nim" in done.stdout
    assert "cannot be loaded" in done.stderr
    assert shout("match", "nim", "random", "-n", "10").returncode == 0
    done = shout("rules", "broken")
    assert done.returncode == 1
    assert "Mend or remove the package" in done.stderr
    assert "Traceback" not in done.stderr


def test_solve_save_wants_a_name_that_can_be_used(capsys, tmp_path):
    code, _, err = ask(capsys, "solve", "nim", "--save", str(tmp_path / "table"))
    assert code == 2
    assert ".safetensors" in err
    path = tmp_path / "a[red].safetensors"
    code, out, _ = ask(capsys, "solve", "nim", "--set", "rows=2,3", "--save", str(path))
    assert code == 0
    assert f"kibitz play nim --set rows=2,3 --seats 'human,{path}'" in out


def test_undo_reminds_the_agents(monkeypatch):
    """An agent that follows the game must have seen what is left of it, and no more."""
    from kibitz.cli.shared import console
    from kibitz.core.agent import Agent
    from kibitz.play.seats import announce, begin

    class Follower(Agent):
        def begin(self, seat, rng):
            super().begin(seat, rng)
            self.seen = 0

        def notice(self, view, actor, action):
            self.seen += 1

    game = kibitz.game("nim")
    table = game.deal(1)
    agents = [None, Follower(game)]
    begin(agents, table)
    for move in ("1 4", "1 4", "1 4"):
        announce(agents, table, table.read(move))
        table.play(move)
    table.undo()
    sitting = Sitting(table, ["human", "follower"], agents, "random", console(), True, None)
    assert sitting._do_undo("")
    assert agents[1].seen == len(sitting.table.actions) == 0


class Overheard(Sitting):
    """A sitting whose person types given lines, and whose words are kept."""

    def __init__(self, table, adviser, typed=()):
        from kibitz.cli.shared import console

        nobody = [None] * table.game.players
        super().__init__(table, ["human"] * len(nobody), nobody, adviser, console(), True, None)
        self.lines, self.said = iter(typed), []

    def _input(self, prompt):
        return next(self.lines)

    def _say(self, text):
        self.said.append(text)


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("name", ["smart", "hat", "iggi"])
def test_a_hint_is_what_the_agent_would_do_had_it_sat_there_all_along(name, players):
    from kibitz.play.seats import announce, ask, at_seats

    game = kibitz.game("hanabi", players=players)
    for seed in range(2):
        table = game.deal(seed)
        agents = at_seats(game, [name] * players, table)
        while not table.over:
            action = ask(agents[table.seat], table)
            sitting = Overheard(table, name)
            sitting._do_hint("")
            assert sitting.said[0].startswith(f"{name} would {table.say(action)}. ")
            announce(agents, table, action)
            table.play(action)


def test_a_hint_for_somebody_is_a_move_even_where_it_is_not_legal():
    table = kibitz.game("hanabi").deal(1)  # seat 1 has yellow cards, and no red ones
    typed = ["", "hint +1 red", "hint +2 red", "hint iggi", "hint nobody", "hint +1 yellow"]
    sitting = Overheard(table, "iggi", typed)
    assert table.say(sitting._ask_person(0)) == "tell seat 1 yellow"
    said = "\n".join(sitting.said)
    for words in ("may not 'tell seat 1 red'", "+2 is nobody else", "iggi would",
                  "No agent for hanabi is called 'nobody'"):  # fmt: skip
        assert words in said


def test_rules_are_told_as_the_game_is_set(capsys):
    code, out, _ = ask(capsys, "rules", "hanabi", "--set", "storms=1", "--set", "bomb=pile")
    assert code == 0
    assert "The first ends the game" in out


def test_an_agent_that_cannot_play_says_why(capsys):
    code, _, err = ask(capsys, "match", "hanabi", "cheater", "--games", "2")
    assert code == 2
    assert "'cheater' cannot play hanabi" in err
    assert "--set open=yes" in err


# --- training ----------------------------------------------------------------------------------


def test_train_by_flags_and_play_what_came_of_it(capsys, tmp_path):
    folder = tmp_path / "run"
    arguments = ["train", "nim", "evolution", "--seed", "1", "--out", str(folder)]
    arguments += ["--budget", "32", "--games=68", "--no-reevaluate", "--method", "plus"]
    code, out, _ = ask(capsys, *arguments)
    assert code == 0
    assert "evaluations" in out
    assert "nim-sum-misere" in out
    code, out, _ = ask(capsys, *arguments, "--json")  # again: nothing is left to do
    assert code == 0
    told = json.loads(out)
    assert told["evaluations"] == 33
    about = json.loads((folder / "run.json").read_text())
    assert about["settings"]["reevaluate"] is False
    code, out, _ = ask(
        capsys, "watch", "nim", "--seats", f"{told['folder']}/model.safetensors,random"
    )
    assert code == 0
    assert "% of the votes" in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("train", "nim", "revolution"), "No learner is called 'revolution'"),
        (("train", "nim", "evolution", "--budgt", "3"), "Did you mean 'budget'"),
        (("train", "nim", "evolution", "--budget", "none"), "Option 'budget' takes"),
        (("train", "nim", "evolution", "stray"), "Cannot read 'stray'"),
        (("train", "tapnswap", "evolution"), "offers neither strategies"),
        (("train", "nim", "evolution", "--play-at", "9"), "cannot be visited"),
        (("train", "nim", "q-learning", "--games", "5", "--play-at", "9"), "there are only 5"),
        (("train", "nim", "q-learning", "--play-at", "soon"), "not 'soon'"),
        (("train", "nim", "evolution", "--preset", "best"), "No preset of evolution"),
    ],
)
def test_wrong_training_gets_one_sentence(capsys, tmp_path, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    code, out, err = ask(capsys, *arguments)
    assert (code, out) == (2, "")
    assert complaint in err
    assert len(err.strip().splitlines()) == 1


def test_learners_are_listed(capsys):
    code, out, _ = ask(capsys, "learners")
    assert code == 0
    assert "--offspring" in out
    listed = [learner["name"] for learner in json.loads(ask(capsys, "learners", "--json")[1])]
    assert listed == [
        "classifier",
        "classifier_optimizer",
        "evolution",
        "ppo",
        "q_learning",
        "q_optimizer",
        "td_lambda",
    ]


@pytest.mark.long  # trains three times
def test_training_that_was_interrupted_goes_on(tmp_path):
    """Ctrl-C in the middle, and the result is that of a run without a stop."""
    warm = shell("train", "nim", "evolution", "--budget", "16", "--out", str(tmp_path / "warm"))
    assert warm.returncode == 0, warm.stderr  # what follows then need not compile
    arguments = ["train", "nim", "evolution", "--seed", "5", "--budget", "48000", "--games", "170"]
    folder = tmp_path / "part"
    program = subprocess.Popen(
        [*PROGRAM, *arguments, "--out", str(folder)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not (folder / "checkpoint.safetensors").exists() and time.monotonic() < until:
        time.sleep(0.02)  # training begins with an empty one
    time.sleep(0.5)
    program.send_signal(signal.SIGINT)
    _, err = program.communicate(timeout=60)
    assert program.returncode == 130, err
    assert "Traceback" not in err
    assert f"To go on: the same command with --seed 5 --out {folder}" in err
    assert not (folder / "model.safetensors").exists()
    for out in (folder, tmp_path / "whole"):
        done = shell(*arguments, "--out", str(out))
        assert done.returncode == 0, done.stderr
    models = [(out / "model.safetensors").read_bytes() for out in (folder, tmp_path / "whole")]
    assert models[0] == models[1]


def test_grade_says_how_far_agents_agree_with_exact_play(capsys):
    code, out, _ = ask(capsys, "grade", "tapnswap", "q-table", "random")
    assert code == 0
    assert re.search(r"q-table +100.0% +100.0% +100.0% +loses +wins within 26", out)
    told = json.loads(ask(capsys, "grade", "nim", "expert", "--times", "3", "--json")[1])
    assert told[0]["agreement"] == 1
    assert told[0]["drawn"] is None  # nothing is drawn in Nim
    code, _, err = ask(capsys, "grade", "tapnswap", "nobody")
    assert code == 2
    assert "nobody" in err


def test_tables_are_converted_to_csv_and_back(capsys, tmp_path):
    game = kibitz.game("tapnswap")
    kibitz.train("q-learning", game, seed=1, games=300, folder=tmp_path / "run")
    model, made = tmp_path / "run" / "model.safetensors", tmp_path / "new" / "t.csv"
    assert ask(capsys, "convert", "tapnswap", str(model), str(made))[0] == 0
    again = tmp_path / "again.safetensors"
    assert ask(capsys, "convert", "tapnswap", str(made), str(again))[0] == 0
    back = tmp_path / "back.csv"
    assert ask(capsys, "convert", "tapnswap", str(again), str(back))[0] == 0
    assert made.read_bytes() == back.read_bytes()
    counts = [path.parent / "data" / f"count_{path.name}" for path in (made, back)]
    assert counts[0].read_bytes() == counts[1].read_bytes()
    agents = [kibitz.agent(str(path), game) for path in (model, again)]
    assert agents[0].weights.tobytes() == agents[1].weights.tobytes()
    made.write_text(made.read_text().replace("e", "x", 1))
    before = again.read_bytes()
    code, _, err = ask(capsys, "convert", "tapnswap", str(made), str(again))
    assert code == 2
    assert "is not a number" in err
    assert again.read_bytes() == before
    assert ask(capsys, "convert", "tapnswap", str(made), str(tmp_path / "t.txt"))[0] == 2


def test_a_person_plays_against_the_agent_while_it_learns(tmp_path):
    arguments = ["train", "tapnswap", "q-learning", "--seed", "1", "--games", "400"]
    alone = shell(*arguments, "--out", str(tmp_path / "alone"))
    visited = shell(
        *arguments, "--play-at", "37,400", "--out", str(tmp_path / "visited"),
        typed="ll\nquit\n\nquit\n\n",
    )  # fmt: skip
    assert visited.returncode == 0, visited.stderr
    assert "The learner after 37 games" in visited.stdout
    assert "seat 1 the learner after 37 games: " in visited.stdout
    assert "The learner after 400 games" in visited.stdout
    for name in ("model.safetensors", "curve.csv"):
        files = [(tmp_path / folder / name).read_bytes() for folder in ("alone", "visited")]
        assert files[0] == files[1]
    assert alone.returncode == 0


def test_without_a_seed_the_folder_knows_it_and_the_next_step_works(capsys, tmp_path):
    folder = tmp_path / "run"
    arguments = ["train", "nim", "q-learning", "--set", "rows=1,2,3", "--games", "200"]
    code, out, _ = ask(capsys, *arguments, "--out", str(folder))
    assert code == 0
    first = (folder / "model.safetensors").read_bytes()
    assert f"kibitz play nim --set rows=1,2,3 --seats human,{folder}/model.safetensors" in out
    assert ask(capsys, *arguments, "--out", str(folder))[0] == 0
    assert (folder / "model.safetensors").read_bytes() == first
    code, _, err = ask(capsys, *arguments, "--seed", "1", "--play-at", "9", "--json")
    assert code == 2
    assert "Leave one out" in err
