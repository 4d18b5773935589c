"""Manners of the pages: rules that fit, names that are said, tables that go, and a way home."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import kibitz
from kibitz.play.result import Share, interval_text
from kibitz.web.hall import Hall
from kibitz.web.plan import learners_for
from kibitz.web.rules_text import rules_markup
from kibitz.web.sitting import Refused
from tests.browser import browsers
from tests.web import SLOW, Server, at_once, new_page, open_table, play_on, serving

ANN, EVE = "ann-0123456789", "eve-0123456789"
BOX = "() => document.querySelector('.kb-now svg').getBoundingClientRect().toJSON()"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsers() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("manners")) as server:
        yield server


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield new_page(context)
    context.close()


# --- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", kibitz.game_names())
def test_a_learner_is_described_by_a_whole_sentence(name):
    for learner in learners_for(kibitz.game(name)):
        assert re.search(r"[.!?)]$", learner.about), learner.about
        assert "\n" not in learner.about


@pytest.mark.parametrize("name", ["nim", "tapnswap", "mexican_train", "hanabi", "carcassonne"])
def test_rules_on_pages_tell_what_to_click_and_nothing_of_terminals(name):
    told = rules_markup(kibitz.game(name))
    assert "Click" in told
    for word in ("Type", "terminal", "\n", "in short"):
        assert word not in told
    first = kibitz.game(name).how_to_play.splitlines()[0]
    assert first in told.replace("&#x27;", "'")


def test_columns_of_rules_stay_columns():
    told = rules_markup(kibitz.game("carcassonne"))
    assert "<dt>road</dt><dd>1 for each tile</dd>" in told
    told = rules_markup(kibitz.game("hanabi"))
    assert re.search(r"<dt>play</dt><dd>a card\. .* it is lost and a storm comes up", told)


def test_intervals_stay_within_what_can_be():
    assert Share(mean=1.0, low=0.722, high=1.0).text() == "100.0% (72.2 to 100.0)"
    assert Share(mean=0.621, low=0.612, high=0.63).text() == "62.1 ± 0.9%"
    assert interval_text(2000, 1928, 2140) == "2000 (1928 to 2140)"
    assert interval_text(1480, 1450, 1511) == "1480 ± 31"
    assert interval_text(3.0, float("nan"), float("nan"), 2) == "3.00 ± ?"


# --- a table, heard and used by keyboard ---------------------------------------------------------


@pytest.mark.long
def test_buttons_are_called_what_they_show(page, server):
    open_table(page, server.url, "nim", {1: "random"})
    for shown in ("Hint", "Undo", "Redo", "What if"):
        assert page.get_by_role("button", name=shown, exact=True).count() == 1, shown
    assert page.get_by_role("button", name="One move back (left arrow)").count() == 1
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.locator("main").count() == 1


@pytest.mark.long
def test_the_move_of_the_other_is_heard_and_the_keyboard_stays_on_the_board(page, server):
    open_table(page, server.url, "nim", {1: "random"})
    at_once(page)
    page.locator(".kb-now.kb-live [data-action]").first.focus()
    page.keyboard.press("Enter")
    heard = "document.querySelector('.kb-unseen[aria-live]').textContent"
    page.wait_for_function(f"() => /easy: take \\d+ from row/.test({heard})")
    page.wait_for_selector(".kb-before", state="detached")
    assert page.evaluate("document.activeElement.closest('.kb-board') !== null")


@pytest.mark.long
def test_a_banner_leaves_the_board_where_it_is(page, server):
    open_table(page, server.url, "nim", {1: "random"})
    at_once(page)
    assert play_on(page)
    page.wait_for_selector(".kb-now.kb-live [data-action]", timeout=SLOW)
    before = page.evaluate(BOX)
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("text=You look at an earlier position")
    after = page.evaluate(BOX)
    assert (before["top"], before["height"]) == (after["top"], after["height"])


@pytest.mark.long
def test_the_accent_is_ours_in_lists_and_boxes(page, server):
    page.goto(f"{server.url}/new/nim")
    page.wait_for_selector(".q-checkbox__bg")
    primary = "getComputedStyle(document.body).getPropertyValue('--q-primary').trim()"
    assert page.evaluate(primary).upper() in ("#0072B2", "VAR(--ACCENT)")
    drawn = page.evaluate(
        "getComputedStyle(document.querySelector('.q-checkbox__inner--truthy')).color"
    )
    assert drawn == "rgb(0, 114, 178)"


@pytest.mark.long
def test_an_address_with_nothing_there_has_a_way_home(page, server):
    said = page.goto(f"{server.url}/nosuch")
    assert said.status == 404
    page.wait_for_selector("h1:has-text('No such page')")
    assert "HTTPException" not in page.content()
    page.click("text=To the games")
    page.wait_for_url(f"{server.url}/")


# --- tables that go ------------------------------------------------------------------------------


@pytest.mark.long
def test_all_tables_can_be_reached_and_removed(page, server):
    for _ in range(14):
        open_table(page, server.url, "nim", {1: "random"})
    page.goto(server.url)
    page.wait_for_function("() => document.querySelectorAll('.kb-line').length === 12")
    page.click("button:has-text('Show all 14')")
    page.wait_for_function("() => document.querySelectorAll('.kb-line').length === 14")
    gone = page.locator(".kb-line a").first.get_attribute("href")
    page.locator(".kb-line button").first.click()
    page.wait_for_function("() => document.querySelectorAll('.kb-line').length === 13")
    page.goto(f"{server.url}{gone}")
    page.wait_for_selector("text=There is no such table")


@pytest.mark.long
def test_only_the_host_removes_a_table_and_not_under_others(tmp_path):
    async def work() -> None:
        hall = Hall(tmp_path)
        game = kibitz.game("nim")
        table = hall.open(game, ["human", "human"], ANN, sit_at=[0])
        with pytest.raises(Refused, match="Only whoever opened"):
            hall.remove(table.id, EVE)
        table.take(EVE, 1, "Eve")
        with pytest.raises(Refused, match="Somebody else plays"):
            hall.remove(table.id, ANN)
        other = hall.open(game, ["human", "random"], ANN, sit_at=[0])
        hall.save()
        hall.remove(other.id, ANN)
        other.changed()  # whoever still has it cannot bring it back
        hall.save()
        assert hall.of(ANN) == [table.id]
        assert not (hall.folder / f"{other.id}.json").exists()
        with pytest.raises(Refused, match="no such table"):
            hall.remove(other.id, ANN)

    with ThreadPoolExecutor(1) as pool:  # the browser has a loop of its own in this thread
        pool.submit(asyncio.run, work()).result()
