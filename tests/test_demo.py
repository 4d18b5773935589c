"""The demo: its parts are complete, its output fits, and its processes end with it."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console

import kibitz
from kibitz.cli.demo import Demo, lessons, parts
from kibitz.cli.demo.lanes import Lanes, PartFailed
from kibitz.cli.demo.page import page
from kibitz.cli.demo.screen import Screen
from kibitz.learners import learner_names

PROGRAM = [sys.executable, "-c", "from kibitz.cli import main; main()"]
OWN_LEARNERS = {name.replace("_", "-") for name in learner_names()}


def lesson(name: str) -> dict:
    percent = not name.startswith("classifier")
    curve = {"points": [[0, 0.1], [10, 0.4], [20, 0.9]], "x": "games", "y": "wins"}
    return lessons.lesson(
        name, "TapnSwap", 0.3, 0.9, "right moves, mean → best", "20 games", time.perf_counter(),
        curve["points"], "games", "wins", percent=percent, trials=name.endswith("optimizer"),
    )  # fmt: skip


def results() -> dict[str, dict]:
    """Make a result for every part, with boards and the record as they really are."""
    found = {f"board:{name}": parts.board(name, 1) for name in ("nim", "tapnswap")}
    wide = {"title": "Hanabi", "about": "2 to 5 players", "brief": "8 points", "svg": "<svg/>"}
    for name in parts.OPENINGS:
        found.setdefault(f"board:{name}", {**wide, "text": "x" * 76})
    for name in parts.SOLVED:
        found[f"solve:{name}"] = {
            "game": "TapnSwap", "outcome": "seat 1 wins in 26 plies", "positions": 177, "won": 120,
            "drawn": 10, "lost": 47,
        }  # fmt: skip
    for name, (names, games) in parts.MATCHES.items():
        found[f"match:{name}"] = {
            "game": "Mexican train", "who": f"{names[0]} v. {', '.join(names[1:])}",
            "games": games, "figure": "100.0 ± 15.8% wins",
        }  # fmt: skip
    for name in parts.LEARNERS:
        found[f"learn:{name}"] = lesson(name)
    row = {"place": 1, "name": "q-learning, 5,000 games", "rating": "2,000 ± 363"}
    found["league"] = {
        "game": "TapnSwap", "games": 1000, "rows": [{**row, "share": "87.5 ± 3.3%"}],
        "html": "<table></table>", "notes": "Intervals.",
    }  # fmt: skip
    found["speed"] = {"rows": [{"game": "Nim", "moves": 2e7, "peers": {"OpenSpiel": 1e7}}]}
    film = kibitz.core.film.film(parts.play_out(kibitz.game("nim"), ["random"] * 2, 1).record())
    found["record"] = {
        "name": "nim", "game": "Nim", "names": ["random", "other"], "points": list(film.points),
        "moves": [list(move) for move in film.moves], "film": film.data, "last": film.last,
        "plies": film.plies,
    }  # fmt: skip
    return found


class Ready:
    """Lanes whose results are there; what is left out is not installed."""

    def __init__(self, found: dict[str, dict]) -> None:
        self.found = found

    def result(self, key: str) -> dict:
        if key in self.found:
            return self.found[key]
        problem = PartFailed("Training a network needs JAX: pip install 'kibitz[neural]'")
        problem.is_refusal = True
        raise problem


@pytest.fixture(scope="module")
def found() -> dict[str, dict]:
    return results()


def shown(found: dict[str, dict], width: int) -> tuple[Demo, str]:
    out = Console(file=io.StringIO(), width=width, highlight=False)
    demo = Demo(Screen(out), 1)
    demo.run(Ready(found))  # type: ignore[arg-type]
    return demo, out.file.getvalue()  # type: ignore[attr-defined]


def test_every_game_and_learner_has_its_part():
    assert set(parts.OPENINGS) == set(parts.MATCHES) >= {"nim", "carcassonne"}
    assert set(parts.LEARNERS) == OWN_LEARNERS
    keys = [part.key for lane in parts.LANES.values() for part in lane]
    assert len(keys) == len(set(keys))
    wanted = {f"learn:{name}" for name in parts.LEARNERS} | {f"match:{n}" for n in parts.MATCHES}
    assert wanted | {"league", "speed", "record"} <= set(keys)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_all_is_shown_and_nothing_is_cut(found, width):
    demo, out = shown(found, width)
    assert not demo.failed
    assert not demo.problems
    assert max(map(len, out.splitlines())) <= width
    for expected in ("Solved exactly", "Matches", "League of TapnSwap", "Speed", "Recorded",
                     "100.0 ± 15.8% wins", "87.5 ± 3.3%", *parts.LEARNERS):  # fmt: skip
        assert expected in out
    if width >= 80:
        assert len(out.splitlines()) <= 80


def test_what_is_not_installed_is_said_and_the_rest_goes_on(found):
    rest = {key: result for key, result in found.items() if key != "learn:ppo"}
    demo, out = shown(rest, 80)
    assert "pip install 'kibitz[neural]'" in out
    assert "Recorded" in out
    assert not demo.failed
    assert "kibitz[neural]" in page(demo.results, demo.problems, 1)


def test_the_page_is_whole_in_itself(found):
    demo, _ = shown(found, 80)
    text = page(demo.results, demo.problems, 1)
    for name in parts.LEARNERS:
        assert f"<b>{name}</b>" in text
    assert text.count('class="board"') == len(parts.OPENINGS) + 1
    assert found["record"]["film"] in text
    assert not re.search(r'(src|href)="|url\(|@import', text)


def test_a_process_that_ends_early_is_a_failure(monkeypatch):
    def broken(seed: int) -> dict:
        raise AssertionError

    one = parts.Part(key="speed", doing="measuring", run=broken)
    # The process has its own table of lanes, in which there is none of this name.
    monkeypatch.setattr("kibitz.cli.demo.lanes.LANES", {"unknown": [one]})
    with Lanes(1) as lanes, pytest.raises(PartFailed, match=r"ended early.*unknown") as failed:
        lanes.result("speed")
    assert not failed.value.is_refusal


def test_a_bad_place_for_the_page_is_refused_at_once(capsys, tmp_path):
    assert kibitz.cli.run(["demo", "--page", str(tmp_path)]) == 1
    assert "Could not write" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="sends a signal to a group")
def test_ctrl_c_ends_the_demo_and_its_processes(tmp_path):
    program = subprocess.Popen(
        [*PROGRAM, "demo"], cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        assert program.stdout is not None
        assert b"kibitz" in program.stdout.readline()
        while b"Nim" not in program.stdout.readline():
            pass
        lanes = children(program.pid)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=30)
    finally:
        program.kill()
        program.wait()
    assert program.returncode == 130
    assert b"Interrupted." in said
    assert b"Traceback" not in said
    assert not [pid for pid in lanes if os.path.exists(f"/proc/{pid}")]
    assert not (tmp_path / "runs" / "demo.html").exists()


def children(parent: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=False
    ).stdout
    return [int(pid) for pid in listed.split()]


@pytest.mark.long
def test_the_whole_demo(tmp_path):
    """All games, learners and figures as a user has them, and the page that it leaves."""
    done = subprocess.run(
        [*PROGRAM, "demo", "--seed", "3"], capture_output=True, text=True, cwd=tmp_path,
        timeout=600, check=False, env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    titles = [kibitz.game(name).title for name in parts.OPENINGS]
    heads = ("Solved exactly", "Matches", "League of TapnSwap", "Speed", "Recorded")
    for expected in (*heads, *titles, *parts.LEARNERS):
        assert expected in done.stdout
    assert "problem" not in done.stdout.lower()
    page = (tmp_path / "runs" / "demo.html").read_text(encoding="utf-8")
    assert page.count("<svg") > 5
    for name in parts.LEARNERS:
        assert name in page


@pytest.mark.parametrize("count", range(1, 9))
def test_a_recorded_game_shows_no_move_twice(count):
    out = io.StringIO()
    demo = Demo(Screen(Console(file=out, width=80)), 1)
    moves = [[ply % 2, f"move {ply + 1}"] for ply in range(count)]
    demo._record({"game": "Nim", "names": ["a", "b"], "points": [1, -1], "moves": moves})
    shown = [int(number) for number in re.findall(r"move (\d)", out.getvalue())]
    assert shown == ([*range(1, count + 1)] if count <= 5 else [1, 2, count - 1, count])
    assert out.getvalue().count("…") == (count > 5)
