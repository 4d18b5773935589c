"""Kibitzing and reviewing in a real browser: opinions, hints, costs, lessons, what-if, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import kibitz
from tests.browser import browsers
from tests.conftest import walk
from tests.lengths import first_always
from tests.web import (
    MY_TURN,
    SLOW,
    Server,
    at_once,
    contrast,
    new_page,
    open_table,
    play_on,
    plies_of,
    press,
    serving,
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsers() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("kibitz")) as server:
        yield server


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = new_page(context)
    yield page
    wrong = list(page.wrong)
    context.close()
    assert not wrong


def bring(page: Any, server: Server, record: kibitz.Record, tmp_path: Any) -> None:
    """Bring a record to a table of its own."""
    path = record.save(tmp_path / "record.json")
    page.goto(server.url)
    page.set_input_files("input[type=file]", path)
    page.wait_for_url("**/table/*")
    page.wait_for_selector(".kb-now svg")


def go_to(page: Any, ply: int) -> None:
    """Show the position after so many moves."""
    page.click(".kb-tabs >> text=Moves")
    if ply == 0:
        page.click("button[title^='To the first move']")
    else:
        page.click(f".kb-move >> nth={ply - 1}")
    page.wait_for_function(
        "ply => document.querySelector('.kb-count').innerText.startsWith(ply + ' /')", arg=str(ply)
    )


def test_agents_say_what_they_would_do_and_why(page, server):
    open_table(page, server.url, "tapnswap", {1: "random"})
    page.wait_for_function(MY_TURN, timeout=SLOW)
    page.click(".kb-tabs >> text=Kibitz")
    page.wait_for_selector(".q-chip:has-text('perfect')", timeout=SLOW)
    page.locator("[aria-label='Whom to ask']").first.click()
    page.locator(".q-menu .q-item").filter(has_text="q-table").first.click()
    page.keyboard.press("Escape")
    page.click("button:has-text('Ask')")
    page.wait_for_function(
        "() => document.querySelectorAll('.kb-thought').length > 8", timeout=SLOW
    )
    said = page.inner_text(".kb-panel:visible")
    solution = kibitz.solve(kibitz.game("tapnswap"))
    table = kibitz.game("tapnswap").deal(0)
    best = max(solution.options(table).items(), key=lambda one: (one[1] > 0, -abs(one[1])))
    assert f"loses in {abs(solution.verdict)}" in said or best
    opinion = kibitz.agent("perfect", table.game).explain(table.view())
    assert opinion.reason in said
    for thought in opinion.thoughts:
        assert thought.words in said
        assert f"{thought.value:+.3f}" in said
    shown = page.query_selector_all(".kb-now .value")
    assert len(shown) == len(table.legal), "each option is shaded on the board"
    assert play_on(page)
    assert not page.query_selector_all(".kb-now .value"), "of another position nothing was said"


def test_a_hint_is_given_when_asked_for(page, server):
    open_table(page, server.url, "nim", {1: "random"})
    page.wait_for_function(MY_TURN, timeout=SLOW)
    assert not page.query_selector_all(".kb-now .value")
    page.keyboard.press("h")
    page.wait_for_selector(".kb-opinion .kb-thought", timeout=SLOW)
    assert "against the best play" in page.inner_text(".kb-opinion")


@pytest.mark.long
def test_no_help_where_a_table_was_opened_without(page, server):
    page.goto(f"{server.url}/new/nim")
    page.click("text=hints and kibitzing allowed")
    page.click("button:has-text('Start')")
    page.wait_for_url("**/table/*")
    page.wait_for_function(MY_TURN, timeout=SLOW)
    assert page.locator("button:has-text('Hint')").is_disabled()
    page.keyboard.press("k")
    page.wait_for_selector(".kb-toast:has-text('No help here')")
    page.click(".kb-tabs >> text=Review")
    assert page.locator("button:has-text('Judge this game')").count() == 0


def test_a_game_is_judged_as_the_library_judges_it(page, server, tmp_path):
    record = walk(kibitz.game("tapnswap"), 11).record(("ann", "bob"))
    analysis = kibitz.analyse(record)
    costly = [move for move in analysis.moves if move.cost > 0]
    assert costly
    bring(page, server, record, tmp_path)
    page.click(".kb-tabs >> text=Review")
    page.click("button:has-text('Judge this game')")
    page.wait_for_selector("text=Judged by exact play", timeout=SLOW)
    figures = page.inner_text(".kb-figures")
    for seat in range(2):
        assert f"{analysis.cost_of(seat):.2f}" in figures
        assert f"{analysis.agreement_of(seat):.0%}" in figures
    assert page.query_selector(".kb-chart svg path")
    page.click(".kb-tabs >> text=Moves")
    costs = page.query_selector_all(".kb-cost")
    assert [one.inner_text() for one in costs] == [f"−{move.cost:.2f}" for move in costly]


@pytest.mark.long
def test_lessons_stop_where_it_went_wrong_and_let_one_try_again(page, server, tmp_path):
    record = walk(kibitz.game("tapnswap"), 11).record(("ann", "bob"))
    analysis = kibitz.analyse(record)
    seat = next(move.seat for move in analysis.moves if move.cost > 0)
    wrong = [move for move in analysis.of(seat) if move.cost > 0]
    bring(page, server, record, tmp_path)
    page.click(".kb-tabs >> text=Review")
    page.click("button:has-text('Judge this game')")
    name = ("ann", "bob")[seat]
    page.click(f'button:has-text("Learn from {name}\'s mistakes ({len(wrong)})")', timeout=SLOW)
    page.wait_for_selector(f"text=/Mistake 1 of {len(wrong)}/")
    assert page.inner_text(".kb-count").startswith(f"{wrong[0].ply} /")

    def try_out(action: int) -> None:
        press(page, page.wait_for_selector(f".kb-now.kb-live [data-action='{action}']"))

    try_out(wrong[0].action)
    page.wait_for_selector("text=That is what was played")
    try_out(wrong[0].best)
    page.wait_for_selector(f"text=Yes: {wrong[0].best_words}")
    page.click(".kb-banner button:has-text('Next'), .kb-banner button:has-text('Done')")
    if len(wrong) > 1:
        page.wait_for_selector(f"text=/Mistake 2 of {len(wrong)}/")
        page.click("button:has-text('Show it')")
        page.wait_for_selector(f"text=Best was: {wrong[1].best_words}")
    assert plies_of(page) == len(record.actions), "the record is as it was"


def test_other_moves_are_tried_and_the_game_is_as_it_was(page, server, tmp_path):
    record = walk(kibitz.game("nim"), 5).record(("a", "b"))
    bring(page, server, record, tmp_path)
    go_to(page, 1)
    page.click("button:has-text('What if')")
    table = record.table(1)
    other = next(action for action in table.legal if action != record.actions[1])
    press(page, page.wait_for_selector(f".kb-now.kb-live [data-action='{other}']"))
    page.wait_for_selector("text=What if: 1 move of your own")
    page.click("button:has-text('Let an agent move')")
    page.wait_for_selector("text=What if: 2 moves of your own", timeout=SLOW)
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("text=What if: 1 move of your own")
    page.click("button:has-text('Back to the game')")
    page.wait_for_selector("text=What if:", state="hidden")
    assert plies_of(page) == len(record.actions)


@pytest.mark.long
def test_a_link_leads_to_a_position(page, server, browser, tmp_path):
    record = walk(kibitz.game("hanabi"), 5).record()
    bring(page, server, record, tmp_path)
    other = new_page(browser.new_context())
    other.goto(f"{page.url}?ply=3")
    other.wait_for_selector(".kb-now svg")
    assert other.inner_text(".kb-count").startswith("3 /")
    label = other.get_attribute(".kb-board", "aria-label")
    assert label == f"Hanabi: {record.table(3).view(0).brief()}"
    other.goto(f"{page.url}?ply=99999")
    other.wait_for_selector(".kb-now svg")
    assert other.inner_text(".kb-count").startswith(f"{len(record.actions)} /")


WIDTHS = ((390, 844), (1280, 800))


@pytest.mark.parametrize("size", first_always(WIDTHS))
@pytest.mark.long
def test_pages_fit_the_screen(browser, server, size):
    """No page scrolls sideways, on a phone or a desk; a wide board scrolls by itself."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    page = new_page(context)
    for path in ("/", "/new/mexican_train", "/league", "/train", "/table/none", "/new/none"):
        page.goto(server.url + path)
        page.wait_for_timeout(400)
        wide = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, path
    for name in ("carcassonne", "nim"):
        open_table(page, server.url, name)
        at_once(page)
        wide = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, name
    context.close()


def test_light_and_dark(browser, server):
    for scheme, paper in (("light", "rgb(250, 248, 244)"), ("dark", "rgb(22, 24, 29)")):
        context = browser.new_context(color_scheme=scheme)
        page = new_page(context)
        page.goto(server.url)
        ground = "() => getComputedStyle(document.body).backgroundColor"
        page.wait_for_function(f"paper => ({ground})() === paper", arg=paper)
        page.click("button[title='Light or dark']")
        page.wait_for_function(f"paper => ({ground})() !== paper", arg=paper)
        page.reload()
        page.wait_for_function(f"paper => ({ground})() !== paper", arg=paper)
        context.close()


COLOURS = """(toast) => {
  const as_hex = (rgb) => '#' + rgb.match(/\\d+/g).slice(0, 3)
    .map((part) => Number(part).toString(16).padStart(2, '0')).join('');
  const of = (part) => as_hex(getComputedStyle(toast.querySelector(part)).color);
  const ground = as_hex(getComputedStyle(toast).backgroundColor);
  return [ground, of('.q-notification__message'), of('.q-btn')];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_message_can_be_read(browser, server, scheme, tmp_path):
    context = browser.new_context(color_scheme=scheme)
    page = new_page(context)
    page.goto(server.url)
    (tmp_path / "letter.json").write_text("Dear all,", encoding="utf-8")
    page.set_input_files("input[type=file]", tmp_path / "letter.json")
    toast = page.wait_for_selector(".kb-toast:has-text('record')")
    ground, message, way_out = toast.evaluate(COLOURS)
    assert contrast(ground, message) >= 4.5
    assert contrast(ground, way_out) >= 4.5
    context.close()


@pytest.mark.long
def test_a_judgement_is_kept_with_the_table(page, server, browser, tmp_path):
    record = walk(kibitz.game("nim", rows=(3, 4, 5)), 5).record()
    bring(page, server, record, tmp_path)
    page.click(".kb-tabs >> text=Review")
    page.click("button:has-text('Judge this game')")
    page.wait_for_selector(".kb-panel >> text=Judged by exact play", timeout=SLOW)
    figures = page.inner_text(".kb-figures")
    page.wait_for_timeout(600)  # what is kept is written now and then
    page.reload()
    page.wait_for_selector(".kb-now svg")
    assert page.locator(".kb-cost").count() > 0
    other = new_page(browser.new_context())
    other.goto(page.url)
    for one in (page, other):
        one.click(".kb-tabs >> text=Review")
        one.wait_for_selector(".kb-panel >> text=Judged by exact play")
        assert one.inner_text(".kb-figures") == figures
        assert not one.locator("button:has-text('Judge this game')").is_visible()
    other.context.close()


@pytest.mark.long
def test_a_search_shows_chances_and_not_how_often_it_tried(page, server):
    open_table(page, server.url, "tapnswap", {1: "random"})
    page.click(".kb-tabs >> text=Kibitz")
    page.wait_for_selector(".q-chip", timeout=SLOW)
    page.click("[aria-label='Whom to ask']")
    page.locator(".q-menu .q-item").filter(has_text="mcts").first.click()
    page.keyboard.press("Escape")
    page.click("button:has-text('Ask')")
    said = page.locator(".kb-opinion").filter(has_text="mcts").locator(".kb-thought")
    said.first.wait_for(timeout=SLOW)
    for thought in said.all():
        words, note = thought.inner_text(), thought.locator(".note").inner_text()
        chance = re.search(r"wins (\d+)%", note)
        if chance:
            assert f"{chance[1]}%" in words.removesuffix(note)
        elif "surely" in note:
            assert ("100%" if "wins" in note else "0%") in words.removesuffix(note)
    assert "+0." not in said.first.inner_text()


# Whatever lies partly under a figure; what is around all of it is its ground.
OVERLAPS = """() => {
  const box = (part) => part.getBoundingClientRect();
  const found = [];
  for (const group of document.querySelectorAll('svg [data-action]')) {
    for (const figure of group.querySelectorAll('text')) {
      if (!figure.textContent.endsWith('%')) continue;
      const of = box(figure);
      for (const part of group.querySelectorAll('path, circle, polygon, rect, text')) {
        const other = box(part);
        const around = other.left <= of.left && other.right >= of.right;
        const apart = other.right <= of.left + 1 || of.right <= other.left + 1
          || other.bottom <= of.top + 3 || of.bottom <= other.top + 3;
        if (part !== figure && !around && !apart) found.push(group.textContent);
      }
    }
  }
  return found;
}"""


@pytest.mark.parametrize(
    ("name", "settings", "plies"),
    [
        ("hanabi", {"players": 2}, 0), ("hanabi", {"players": 5}, 9), ("tapnswap", {}, 3),
        ("mexican_train", {"players": 4}, 30), ("mexican_train", {"players": 2}, 0),
        ("mexican_train", {"players": 8, "highest": 12}, 40),
    ],
)  # fmt: skip
def test_figures_stand_beside_what_they_are_about(page, name, settings, plies):
    table = walk(kibitz.game(name, **settings), 5)
    table.undo(len(table.actions) - plies)
    while table.legal[0] >= table.game.bound("actions") - 2:  # to draw or to pass
        table.play(table.legal[0])
    page.set_content(table.svg(opinion=dict.fromkeys(table.legal, 1.0)))
    assert page.locator("svg [data-action] text >> text=100%").count() > 0
    assert page.evaluate(OVERLAPS) == []


@pytest.mark.long
def test_planner_says_in_a_sentence_why_it_lays_a_double(page, server, tmp_path):
    game = kibitz.game("mexican_train", players=3)
    planner = kibitz.agent("planner", game)
    table = game.deal(seed=5)
    while True:
        said = table.say(planner.choose(table.view()))
        if len(table.legal) > 1 and re.match(r"(\d+)-\1 ", said):
            break
        table.play(table.legal[0])
    bring(page, server, table.record(), tmp_path)
    page.click(".kb-tabs >> text=Kibitz")
    page.wait_for_selector(".q-chip:has-text('planner')", timeout=SLOW)
    page.click("button:has-text('Ask')")
    page.wait_for_selector(".kb-thought", timeout=SLOW)
    said = page.inner_text(".kb-opinion")
    assert re.search(
        r"(line|train)\. A double comes first: it gives another turn\. "
        r"With about \d+ more turns? to come, then ", said,
    ), said  # fmt: skip
    assert "turn should" not in said
