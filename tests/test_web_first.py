"""The workbench before anything is compiled: tables answer at once, and preparing is shown."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kibitz
from kibitz.core.jit.cache import home
from kibitz.play.seats import HUMAN
from kibitz.web.catalogue import levels_of, takes_time
from kibitz.web.hall import Hall
from kibitz.web.new_table import usual_level
from kibitz.web.thinker import sent
from kibitz.web.thinking import THINKS, Stage, Thinkers
from tests.browser import browsers
from tests.web import MY_TURN, SLOW, Server, at_once, new_page, open_table, play_on, serving

QUICK = [name for name in kibitz.game_names()
         if not takes_time(kibitz.game(name), levels_of(kibitz.game(name))[
             usual_level(kibitz.game(name))])]  # fmt: skip
LEARNED = "td"  # plays by a network, which is slow as Python
FAR = re.compile(r"(\d+) of (\d+) functions compiled")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let processes that are started keep compiled code in a folder with nothing in it."""
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    home()  # our own is known from here on
    monkeypatch.setenv("KIBITZ_CACHE", str(folder))
    return folder


def compiled(cache: Path) -> list[Path]:
    """List what was compiled."""
    return sorted(cache.rglob("*.run"))


def has_compiler(pid: int) -> bool:
    """Tell whether a process has loaded the compiler."""
    return "llvmlite" in Path(f"/proc/{pid}/maps").read_text()


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux")
def test_an_agent_that_is_cheap_answers_as_python(empty, name):
    game = kibitz.game(name)
    who = levels_of(game)[usual_level(game)]
    table = game.deal(1)
    order = {"key": "a", "who": who, "table": sent(table)}

    async def work() -> None:
        thinkers = Thinkers(1)
        try:
            assert await thinkers.ask({"do": "choose", **order}) in table.legal
            said = await thinkers.ask({"do": "explain", **order})
            assert said["action"] in table.legal
            assert not has_compiler(thinkers.pids[0])
        finally:
            await thinkers.stop()

    asyncio.run(work())
    assert compiled(empty) == []


def test_agents_of_every_game_are_sorted_by_whether_they_take_time():
    games = map(kibitz.game, kibitz.game_names())
    slow = {
        game.name: {who for who in kibitz.agent_names(game) if takes_time(game, who)}
        for game in games
    }
    assert slow == {
        "carcassonne": {"mcts", "policy"},
        "hanabi": {"mcts"},
        "mexican_train": {"best-line", "mcts", "persistent-line", "planner", "td"},
        "nim": {"mcts", "perfect", "policy", "td"},
        "tapnswap": {"mcts", "perfect", "policy", "td"},
    }
    assert takes_time(kibitz.game("nim"), "run:mine")
    assert takes_time(kibitz.game("hanabi"), "mcts:sims=10")


@pytest.mark.long
def test_an_agent_is_prepared_once_for_all_tables_and_processes(tmp_path, empty):
    game = kibitz.game("nim")
    heard: list[list[Stage]] = [[], [], []]

    async def work() -> None:
        hall = Hall(tmp_path)
        try:
            tables = [hall.open(game, [HUMAN, LEARNED], who, sit_at=[0], pace="at once")
                      for who in ("ann", "bob")]  # fmt: skip
            for sitting, stages in zip(tables, heard, strict=False):
                sitting.listen(lambda: None, lambda s=sitting, to=stages: to.append(s.stage))
                sitting.play(sitting.host, sitting.table.legal[0], 0)
            while any(sitting.table.seat != 0 for sitting in tables):
                assert not any(sitting.trouble for sitting in tables)
                await asyncio.sleep(0.05)
            assert all(sitting.stage == THINKS for sitting in tables)
        finally:
            await hall.stop()
        others = Thinkers(1)
        order = {"do": "prepare", "who": LEARNED, "game": game.name, "settings": {}}
        try:
            await others.ask(order, told=heard[2].append)
        finally:
            await others.stop()

    asyncio.run(work())
    for stages in heard[:2]:
        preparing = [stage for stage in stages if stage.is_preparing]
        assert preparing, "it was told"
        most = max(stage.total for stage in preparing)
        main = [stage.done for stage in preparing if stage.total == most]
        assert main == sorted(main)
        assert len(main) > 2, "little by little"
    assert not any(stage.is_preparing for stage in heard[2]), "another process takes it from disk"
    assert compiled(empty)


def test_who_is_stopped_while_being_prepared_can_be_asked_again(tmp_path, empty):
    async def work() -> None:
        hall = Hall(tmp_path)
        try:
            sitting = hall.open(
                kibitz.game("nim"), [HUMAN, LEARNED], "ann", sit_at=[0], pace="at once"
            )
            sitting.play("ann", sitting.table.legal[0], 0)
            while not sitting.stage.is_preparing:
                assert not sitting.trouble
                await asyncio.sleep(0.02)
            hall.interrupt(sitting)
            while sitting.stage != THINKS or not sitting.trouble:
                await asyncio.sleep(0.02)
            assert sitting.trouble == "You stopped it."
            sitting.undo("ann")
            sitting.seat_agent("ann", 1, "random")
            sitting.play("ann", sitting.table.legal[0], 0)
            while sitting.table.seat != 0:
                assert not sitting.trouble
                await asyncio.sleep(0.02)
        finally:
            await hall.stop()

    asyncio.run(work())


# --- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsers() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that finds nothing compiled."""
    folder = tmp_path_factory.mktemp("first")
    cache = folder / "cache"
    cache.mkdir(mode=0o700)
    home()
    kept = os.environ.get("KIBITZ_CACHE")
    os.environ["KIBITZ_CACHE"] = str(cache)
    try:
        with serving(folder) as server:
            yield server
    finally:
        os.environ.pop("KIBITZ_CACHE")
        if kept is not None:
            os.environ["KIBITZ_CACHE"] = kept


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = new_page(context)
    yield page
    wrong = list(page.wrong)
    context.close()
    assert not wrong


@pytest.mark.parametrize("name", kibitz.game_names())
def test_the_first_click_changes_the_board_and_nothing_is_compiled_for_it(page, server, name):
    agents = {} if name in QUICK else dict.fromkeys(range(1, 4), "greedy")
    open_table(page, server.url, name, agents)
    at_once(page)
    assert play_on(page)
    assert play_on(page), "the agent has answered"
    assert compiled(server.folder / "cache") == []
    assert server.process is not None
    assert not has_compiler(server.process.pid)


@pytest.mark.long
def test_an_agent_that_is_prepared_says_how_far_it_is_and_the_table_goes_on(page, server):
    open_table(page, server.url, "nim", {1: LEARNED})
    assert play_on(page)
    page.wait_for_selector(".kb-status .kb-bar", timeout=SLOW)
    said = page.inner_text(".kb-status")
    assert f"{LEARNED} is being prepared" in said
    far = FAR.search(said)
    assert far
    assert int(far[1]) < int(far[2])
    assert "preparing" in page.inner_text(".kb-seats")
    page.click(".kb-tabs >> text=Kibitz")  # meanwhile another agent is asked
    page.locator("[aria-label='Whom to ask']").first.click()
    page.locator(".q-menu .q-item").filter(has_text="nim-sum").first.click()
    page.keyboard.press("Escape")
    page.click(".q-chip:has-text('perfect') .q-chip__icon--remove")
    page.click("button:has-text('Ask')")
    page.wait_for_function("() => document.querySelectorAll('.kb-opinion .kb-spin').length === 0")
    assert "nim-sum" in page.inner_text(".kb-opinion")
    page.wait_for_function(MY_TURN, timeout=SLOW)
    assert compiled(server.folder / "cache")
    assert not page.query_selector_all(".kb-status .kb-bar")
