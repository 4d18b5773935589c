"""Compiling ahead, and what the doctor says of caches: empty, full, refused, out of date."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from kibitz.core.extras import fits, requirements

KIBITZ = [sys.executable, "-c", "from kibitz.cli import main; main()"]
PLAYS = """
import contextlib, io
from kibitz.cli import run
with contextlib.redirect_stdout(io.StringIO()):
    for command in (
        "match tapnswap mcts:sims=20 tapper --games 2 --seed 1",
        "match tapnswap policy q-table --games 2 --seed 1",
        "match tapnswap perfect random --games 2 --seed 1",
        "watch tapnswap --seats mcts:sims=20,td --seed 1",
        "solve tapnswap", "grade tapnswap random",
    ):
        assert run(command.split()) == 0
import kibitz
from kibitz.play.graph import SMALL, chart, expand
chart(kibitz.game("tapnswap"), most=SMALL)  # as larger games are solved: compiled
assert expand.is_loaded
from kibitz.core.jit.dispatch import compiled_here
print(compiled_here)
"""


def shell(
    *arguments: str, cache: Path, typed: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*KIBITZ, *arguments], input=typed, capture_output=True, text=True, check=False,
        timeout=300, env={**os.environ, "KIBITZ_CACHE": str(cache), **environment},
    )  # fmt: skip


def examined(cache: Path, **environment: str) -> tuple[int, dict[str, list[dict]]]:
    """Ask the doctor; return its exit code and the checks by name."""
    done = shell("doctor", "--json", cache=cache, **environment)
    by_name: dict[str, list[dict]] = {}
    for check in json.loads(done.stdout)["checks"]:
        by_name.setdefault(check["name"], []).append(check)
    return done.returncode, by_name


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with everything that TapnSwap needs."""
    cache = tmp_path_factory.mktemp("cache") / "compiled"
    done = shell("warm", "tapnswap", "--json", cache=cache)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert "kibitz.games.tapnswap.rules.play" in said["compiled"]
    assert "kibitz.play.loop.play_games" in said["compiled"]
    assert "tapnswap: rules.play" in done.stderr  # a line for each in a pipe
    return cache


@pytest.mark.long
def test_afterwards_nothing_is_compiled(warm):
    done = subprocess.run(
        [sys.executable, "-c", PLAYS], capture_output=True, text=True, check=False,
        env={**os.environ, "KIBITZ_CACHE": str(warm)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


@pytest.mark.long
def test_a_second_time_there_is_nothing_to_do(warm):
    done = shell("warm", "tapnswap", cache=warm)
    assert done.returncode == 0
    assert done.stdout == "Nothing to do: everything is compiled.\n"
    listed = shell("warm", "tapnswap", "--list", "--json", cache=warm)
    assert json.loads(listed.stdout)["missing"] == []


@pytest.mark.long
def test_what_is_missing_is_listed_and_not_compiled(warm, tmp_path):
    done = shell("warm", "nim", "--list", cache=tmp_path / "empty")
    assert done.returncode == 0
    assert "nim: rules.play" in done.stdout
    assert "every game: match" in done.stdout
    assert not list((tmp_path / "empty").rglob("*.run"))


def test_misuse_and_no_folder(tmp_path):
    assert shell("warm", "nimm", cache=tmp_path).returncode == 2
    assert shell("warm", "nim", cache=tmp_path, NUMBA_DISABLE_JIT="1").returncode == 2
    nowhere = {"TMPDIR": "/proc", "XDG_CACHE_HOME": "/proc/nowhere"}
    code = "import tempfile; tempfile.tempdir = '/proc'; from kibitz.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "warm", "nim"], capture_output=True, text=True, check=False,
        env={**os.environ, "KIBITZ_CACHE": "/proc/nowhere", **nowhere},
    )  # fmt: skip
    assert done.returncode == 1
    assert "kibitz doctor" in done.stderr


def test_the_doctor_on_an_empty_cache(tmp_path):
    code, checks = examined(tmp_path / "cache")
    assert code == 0
    assert checks["compiled"][0]["said"] == "nothing yet for this machine"
    assert checks["random numbers, compiled"][0]["ok"]
    assert "in Python" in checks["a tiny game"][0]["said"]
    assert len(list((tmp_path / "cache").rglob("*.run"))) == 1  # the random numbers


@pytest.mark.long
def test_the_doctor_on_a_full_cache(warm):
    code, checks = examined(warm)
    assert code == 0
    assert "functions" in checks["  tapnswap"][0]["said"]
    assert "outdated" not in checks
    assert "left over" not in checks
    done = shell("doctor", cache=warm)
    assert "ok   folder" in done.stdout
    assert done.stdout.endswith("Everything is sound.\n")


@pytest.mark.long
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_column_is_cut_on_a_terminal(warm, width):
    surroundings = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    process = subprocess.Popen(
        [*KIBITZ, "doctor"], stdin=theirs, stdout=theirs, stderr=theirs,
        env={**surroundings, "KIBITZ_CACHE": str(warm), "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # which is how its end is told
        while part := os.read(ours, 65_536):
            said += part
    os.close(ours)
    assert process.wait() == 0
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said.decode()).splitlines()
    assert max(map(len, lines)) <= width
    together = re.sub(r"\s+", "", "".join(lines))
    assert "✓folder" in together
    assert re.sub(r"\s+", "", f"{warm}, private to you") in together
    assert "…" not in together


@pytest.mark.long
def test_the_doctor_on_folders_that_are_refused(tmp_path):
    cache = tmp_path / "open"
    cache.mkdir()
    cache.chmod(0o777)
    code, checks = examined(cache, TMPDIR=str(tmp_path))
    assert code == 1
    assert checks["refused"][0]["said"] == f"{cache}: other users may write there"
    assert "chmod 700" in checks["refused"][0]["remedy"]
    assert checks["folder"][0]["said"].startswith(str(tmp_path / "kibitz-"))
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    assert "it is a link" in examined(link, TMPDIR=str(tmp_path))[1]["refused"][0]["said"]


@pytest.mark.long
def test_the_doctor_on_what_is_out_of_date(tmp_path):
    cache = tmp_path / "cache"
    assert examined(cache)[0] == 0
    (ours,) = cache.glob("x*") if list(cache.glob("x*")) else cache.glob("a*")
    module = ours / "kibitz.games.nim.rules"
    module.mkdir()
    (module / f"play-{'0' * 20}-{'0' * 8}.run").write_bytes(b"old")
    other = cache / "x86_64-other-0123"
    other.mkdir()
    facts = json.loads((ours / ".made-by-kibitz").read_text())
    (other / ".made-by-kibitz").write_text(json.dumps({**facts, "Numba": "0.1"}))
    code, checks = examined(cache)
    assert code == 0
    assert checks["outdated"][0]["said"].endswith("kibitz.games.nim.rules.play")
    assert checks["left over"][0]["said"].startswith("3 bytes")
    assert f"Numba 0.1, here {facts['Numba']}" in checks["not for here"][0]["said"]


def test_a_setting_that_means_nothing_is_a_failure(tmp_path):
    code, checks = examined(tmp_path, KIBITZ_COMPILE="never")
    assert code == 1
    assert checks["KIBITZ_COMPILE"][0]["remedy"] == "It takes background, first, loops"


@pytest.mark.long
def test_clear_removes_what_kibitz_made_and_nothing_else(tmp_path):
    cache = tmp_path / "cache"
    assert examined(cache)[0] == 0
    (cache / "thesis").mkdir()
    (cache / "thesis" / "chapter").write_text("1")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".made-by-kibitz").touch()
    (cache / "link").symlink_to(elsewhere)
    assert shell("doctor", "--clear", cache=cache, typed="n\n").returncode == 130
    assert list(cache.rglob("*.run"))
    done = shell("doctor", "--clear", "--yes", "--json", cache=cache)
    assert done.returncode == 0
    assert json.loads(done.stdout)["bytes"] > 0
    assert sorted(one.name for one in cache.iterdir()) == ["link", "thesis"]
    assert (elsewhere / ".made-by-kibitz").exists()


def test_versions_within_bounds():
    assert fits("0.68.1", ">=0.68,<0.69")
    assert not fits("0.69.0", ">=0.68,<0.69")
    assert not fits("0.67", ">=0.68,<0.69")
    assert fits("2.0rc1", ">=2.0")
    assert "jax" in dict(requirements("neural"))
    assert {"gymnasium", "pettingzoo"} <= dict(requirements("pettingzoo")).keys()


def test_the_doctor_without_a_compiler(tmp_path):
    checks = examined(tmp_path, NUMBA_DISABLE_JIT="1")[1]
    assert "in Python" in checks["a tiny game"][0]["said"]
