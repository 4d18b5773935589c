"""Agents of one's own in the browser: files that the command line names, and runs of a terminal."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kibitz
from kibitz.core.errors import Misuse
from kibitz.core.models import own_model
from kibitz.learners.q_learning.table import QTable
from kibitz.web.hall import Hall
from kibitz.web.own import OwnAgents, read_named
from tests.browser import browsers
from tests.web import SLOW, Server, new_page, open_table, play_on, serving, sit

RULES = Path(__file__).parent.parent / "docs" / "rules" / "iggi.rules"
TAPS, NIM, HANABI = (kibitz.game(name) for name in ("tapnswap", "nim", "hanabi"))


def model() -> Path:
    path = own_model(TAPS, "early")
    assert path is not None
    return path


def shell(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from kibitz.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=400)


# --- names ---------------------------------------------------------------------------------------


def test_models_tables_and_rules_are_offered_where_they_can_play(tmp_path):
    QTable.load(model(), TAPS).save_csv(tmp_path / "table.csv")
    own = OwnAgents(
        read_named({"early": str(model()), "csv": str(tmp_path / "table.csv"), "r": str(RULES),
                    "weak": "expert:blunders=40%"})
    )  # fmt: skip
    assert {one.who for one in own.offers(TAPS)} == {"own:early", "own:csv"}
    assert {one.who for one in own.offers(HANABI)} == {"own:r"}
    assert {one.who for one in own.offers(NIM)} == {"own:weak"}
    assert own.offers(TAPS.having(max_plies=50)) == ()


def test_what_cannot_play_is_told_before_the_server_starts(tmp_path):
    damaged = tmp_path / "x.safetensors"
    damaged.write_bytes(b"nothing")
    for arguments, complaint in [
        (["--agent", "mine"], "write NAME=FILE"),
        (["--agent", "a b=x.csv"], "'a b' is no name for an agent"),
        (["--agent", f"mine={damaged}"], "Cannot read the model"),
        (["--agent", "mine=none.csv"], "There is no file 'none.csv' for the agent 'mine'"),
        (["--agent", "mine=nobody"], "The agent 'mine' can play no game"),
        (["--agent", "m=random", "--agent", "m=perfect"], "Two agents are called 'm'"),
    ]:
        done = shell("serve", "--no-show", "--folder", str(tmp_path / "home"), *arguments)
        assert done.returncode in (1, 2), done.stdout
        assert complaint in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "who",
    [
        "own:", "own:other", "own:../early", f"own:{model()}", str(model()), "own:early:model=x",
        f"q-table:model={model()}", "own:early/../early", "own:.", "x.py:Agent", "own:x.py:Agent",
    ],
)  # fmt: skip
def test_a_browser_names_no_file(tmp_path, who):
    own = OwnAgents(read_named({"early": str(model())}), tmp_path / "runs")

    async def work() -> None:
        hall = Hall(tmp_path, own=own)
        assert hall.checked(TAPS, "own:early") == "own:early"
        with pytest.raises(Misuse):
            hall.checked(TAPS, who)

    asyncio.run(work())


def test_an_agent_that_was_removed_says_so_without_its_path(tmp_path):
    path = tmp_path / "gone.safetensors"
    shutil.copy(model(), path)
    own = OwnAgents(read_named({"gone": str(path)}))
    path.unlink()
    assert own.offers(TAPS) == ()
    with pytest.raises(Misuse, match="own:gone") as told:
        own.checked(TAPS, "own:gone")
    assert str(tmp_path) not in str(told.value)


# --- pages ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsers() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("own")
    done = shell("train", "tapnswap", "q-learning", "--games", "200", "--seed", "3", cwd=folder)
    assert done.returncode == 0, done.stderr
    (run,) = os.listdir(folder / "runs")
    (folder / "runs" / run).rename(folder / "runs" / "learned")
    arguments = ("--agent", f"early={model()}", "--runs", str(folder / "runs"))
    with serving(folder / "home", *arguments, "--store", str(folder / "store.db")) as server:
        yield server


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    context = browser.new_context()
    yield new_page(context)
    context.close()


@pytest.mark.long
@pytest.mark.parametrize("who", ["own:early", "own:learned"])
def test_an_own_agent_sits_down_answers_and_gives_its_opinion(page, server, who):
    open_table(page, server.url, "tapnswap", {1: who})
    assert play_on(page)
    assert play_on(page), "it has answered"
    page.click(".kb-tabs >> text=Kibitz")
    page.locator("[aria-label='Whom to ask']").first.click()
    page.locator(".q-menu .q-item").filter(has_text=who).first.click()
    page.keyboard.press("Escape")
    page.wait_for_selector(".kb-now.kb-live [data-action], .kb-status button:has-text('New game')")
    page.click("button:has-text('Ask')")
    page.wait_for_selector(f".kb-opinion:has-text('{who}') .kb-thought", timeout=SLOW)
    assert str(model().parent) not in page.content()


@pytest.mark.long
def test_own_agents_meet_in_a_league(page, server):
    page.goto(f"{server.url}/league")
    page.locator("[aria-label='game']").first.click()
    page.locator(".q-menu .q-item").filter(has_text="TapnSwap").click()
    for who in ("own:early", "own:learned"):
        page.locator("input[aria-label='agents']").fill(who)
        page.locator(".q-menu .q-item").filter(has_text=who).first.click()
    page.keyboard.press("Escape")
    page.locator("[aria-label='games of each agent']").fill("20")
    page.click("button:has-text('Begin')")
    page.wait_for_url("**/league/*", timeout=SLOW)
    page.wait_for_selector("text=/^Everybody has 20 games/", timeout=SLOW)
    page.wait_for_selector(".kb-league :text('own:learned')", timeout=SLOW)
    said = page.inner_text(".kb-league")
    assert "own:early" in said
    assert "own:learned" in said
    assert str(server.folder.parent) not in page.content()


def test_the_form_offers_own_agents_by_name(page, server):
    page.goto(f"{server.url}/new/tapnswap")
    page.wait_for_selector("text=Player 2")
    sit(page, 1, "own:learned")
    assert "own:learned" in page.locator("input[aria-label='Player 2']").input_value()
    assert str(server.folder.parent) not in page.content()


# --- settings ------------------------------------------------------------------------------------


def set_field(page: Any, name: str, value: str) -> None:
    field = page.locator(f".kb-settings input[aria-label='{name}']")
    field.fill(value)
    field.press("Tab")


def test_an_agent_is_set_in_the_form(page, server):
    page.goto(f"{server.url}/new/tapnswap")
    page.wait_for_selector("text=Player 2")
    sit(page, 1, "mcts:sims=400")
    page.locator("button:has-text('Settings')").nth(1).click()
    page.wait_for_selector(".kb-settings")
    assert page.locator(".kb-settings input[aria-label='sims']").input_value() == "400"
    set_field(page, "sims", "0")
    page.click("button:has-text('Use it')")
    page.wait_for_selector("text=Option 'sims' takes a whole number from 1")
    set_field(page, "sims", "25")
    set_field(page, "blunders", "10%")
    page.click("button:has-text('Use it')")
    page.wait_for_selector(".kb-settings", state="hidden")
    chosen = page.locator("input[aria-label='Player 2']").input_value()
    assert chosen == "mcts:sims=25,blunders=10%"
    page.click("button:has-text('Start')")
    page.wait_for_url("**/table/*")
    page.wait_for_selector(".kb-seats :text('mcts:sims=25')", timeout=SLOW)


def test_an_agent_with_settings_is_asked(page, server):
    open_table(page, server.url, "tapnswap", {1: "random"})
    page.click(".kb-tabs >> text=Kibitz")
    page.click(".kb-panel button:has-text('Settings')")
    page.locator(".kb-settings [aria-label='agent']").first.click()
    page.locator(".q-menu .q-item").filter(has_text="tapper").click()
    set_field(page, "blunders", "20%")
    page.click("button:has-text('Use it')")
    page.wait_for_selector(".q-chip:has-text('tapper:blunders=20%')")
    page.click("button:has-text('Ask')")
    page.wait_for_selector(".kb-opinion:has-text('80% of the time')", timeout=SLOW)
