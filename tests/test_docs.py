"""The documents: their code runs, prints what they say it prints, and their links lead somewhere.

A fence marked `python` is a whole script; a `text` fence right after it is all that it prints. A
`python peers` script needs what `make peers` installs, and its figures may differ a little. A
`python fragment` is not run. A `text` fence after `sh` shows part of what the last command prints.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from kibitz.cli import build
from kibitz.core.registry import find_game, game_names
from tests.web import serving

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("docs/decisions/*.md")),
]  # fmt: skip
RUNNABLE = [
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            "add-an-agent",
            "nim-expert",
            "evolution",
            "q-learning",
            "mexican-train",
            "hanabi",
            "classifier",
            "carcassonne",
            "ppo",
            "td-lambda",
            "league",
            "search",
            "workbench",
            "notebooks",
            "open-spiel",
        )
    ),
]  # commands need nothing else
KINDS = {"python", "python fragment", "python peers", "sh", "text", "toml"}
PEERS = ROOT / ".venv" / "peers" / "bin" / "python"
FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\((?P<target>[^)#\s]*)(?:#(?P<anchor>[^)\s]*))?\)")
KIBITZ = [sys.executable, "-c", "from kibitz.cli import main; main()"]


@dataclass(frozen=True)
class Fence:
    page: Path
    line: int
    kind: str
    body: str
    shown: str | None  # the text fence that follows at once

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def fences(page: Path) -> list[Fence]:
    text = page.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    made = []
    for place, fence in enumerate(found):
        after = found[place + 1] if place + 1 < len(found) else None
        follows = (
            after and after["kind"] == "text" and not text[fence.end() : after.start()].strip()
        )
        line = text.count("\n", 0, fence.start()) + 1
        shown = after["body"] if after and follows else None
        made.append(Fence(page, line, fence["kind"], fence["body"], shown))
    return made


FENCES = [fence for page in PAGES for fence in fences(page)]
SCRIPTS = [fence for fence in FENCES if fence.kind == "python"]
COMMANDS = [fence for fence in FENCES if fence.kind == "sh" and fence.page in RUNNABLE]


def run(command: list[str], folder: Path, given: str = "") -> str:
    done = subprocess.run(
        command, cwd=folder, input=given, capture_output=True, text=True, encoding="utf-8",
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_fence_says_what_it_is():
    assert {fence.kind for fence in FENCES} <= KINDS
    assert len(SCRIPTS) >= 6


def marked(fence: Fence) -> Any:
    """Mark all pages but the README, which is always tried: together they take minutes."""
    is_long = fence.page.name != "README.md"
    return pytest.param(fence, id=str(fence), marks=pytest.mark.long if is_long else [])


@pytest.mark.parametrize("fence", [marked(fence) for fence in SCRIPTS])
def test_python_runs_and_prints_what_is_shown(fence, tmp_path, request):
    script = tmp_path / "script.py"
    script.write_text(fence.body, encoding="utf-8")
    printed = run([sys.executable, str(script)], tmp_path)
    if request.config.getoption("--update-docs") and fence.shown is not None:
        text = fence.page.read_text(encoding="utf-8")
        old, new = (f"{fence.body}```\n\n```text\n{shown}```" for shown in (fence.shown, printed))
        fence.page.write_text(text.replace(old, new), encoding="utf-8")
    else:
        assert printed == (fence.shown or "")


@pytest.mark.long
@pytest.mark.skipif(not PEERS.exists(), reason="needs programs of others: make peers")
@pytest.mark.parametrize(
    "fence", [fence for fence in FENCES if fence.kind == "python peers"], ids=str
)
def test_programs_of_others_run_and_print_about_what_is_shown(fence, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(fence.body, encoding="utf-8")
    printed = run([str(PEERS), "-W", "ignore", str(script)], tmp_path)
    number = re.compile(r"\d+(?:\.\d+)?")
    assert number.sub("#", printed) == number.sub("#", fence.shown)
    told = [float(one) for one in number.findall(fence.shown)]
    assert [float(one) for one in number.findall(printed)] == pytest.approx(told, abs=10)


def run_line(line: str, folder: Path) -> str:
    """Run a command as a document has it; return what it prints."""
    program, *arguments = shlex.split(line)
    if program == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert all(re.search(rf"^{target}:", makefile, re.M) for target in arguments)
        return ""
    if program != "kibitz":
        assert program == "pip"
        return ""
    if arguments[0] == "serve":  # goes on until it is interrupted
        with serving(folder / "data", *arguments[1:]) as server:
            said = urllib.request.urlopen(server.url, timeout=60).read().decode()
        assert "kibitz" in said
        return said
    # Enter goes on where a command waits; a person who only presses it leaves in the end.
    said = run([*KIBITZ, *arguments], folder, given="\n" * 200)
    assert said
    return said


@pytest.mark.parametrize("fence", [marked(fence) for fence in COMMANDS])
def test_commands_run_and_print_what_is_shown(fence, tmp_path):
    said = ""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    for line in fence.body.splitlines():
        said = run_line(line, tmp_path)
    if fence.shown is not None:
        printed = "\n".join(map(str.rstrip, said.splitlines()))
        assert fence.shown.rstrip() in printed


SEEDS = [
    (title, re.findall(r"`(kibitz [^`]*)`", body))
    for title, body in re.findall(
        r"^## (.*?)\n(.*?)(?=^## |\Z)",
        (ROOT / "docs/seeds.md").read_text(encoding="utf-8"),
        re.M | re.S,
    )
]


@pytest.mark.long
@pytest.mark.parametrize(("title", "commands"), SEEDS, ids=[title for title, _ in SEEDS])
def test_what_the_five_projects_describe_can_be_seen(title, commands, tmp_path):
    assert len(commands) > 5
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    for line in commands:
        run_line(line, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.finditer(text):
        if "://" in link["target"]:
            continue
        target = page.parent / link["target"] if link["target"] else page
        assert target.exists(), link[0]
        if link["anchor"]:
            headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.M)
            slugs = {re.sub(r"[^\w\- ]", "", name).lower().replace(" ", "-") for name in headings}
            assert link["anchor"] in slugs, link[0]


def test_the_readme_names_every_game_agent_and_command():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in game_names():
        game = find_game(name)
        if game.room.startswith("kibitz."):
            assert game.title in text
            for agent in game.agents:
                assert f"`{agent}`" in text
    for point in distribution("kibitz").entry_points.select(group="kibitz.agents"):
        assert f"`{point.name}`" in text
    for command in build().registered_commands:
        assert f"`{command.callback.__name__.replace('_', '-')}`" in text


def test_every_decision_is_listed():
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\(([^)]+\.md)\)", (folder / "README.md").read_text(encoding="utf-8"))
    assert listed == sorted(path.name for path in folder.glob("[0-9]*.md"))
