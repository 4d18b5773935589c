"""Playing in a real browser: whole games by clicking, by keys and by two people; what is hidden."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kibitz
from kibitz.core.registry import find_game
from kibitz.web.sitting import Sitting
from tests.browser import browsers
from tests.web import (
    MY_TURN,
    OVER,
    POINT,
    SLOW,
    Server,
    at_once,
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
    with serving(tmp_path_factory.mktemp("web")) as server:
        yield server


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    """A page of a new person; it must have met no error in the end."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = new_page(context)
    yield page
    wrong = list(page.wrong)
    context.close()
    assert not wrong


def table_on_disk(server: Server, url: str) -> dict[str, Any]:
    """Read what the server has kept of a table."""
    id = url.rpartition("/")[2].partition("?")[0]
    return json.loads((server.folder / "tables" / f"{id}.json").read_text(encoding="utf-8"))


SHORTER = {  # whole games, but not the longest there are
    "carcassonne": {"tiles": "20"},
    "mexican_train": {"players": "3", "hands": "1"},
}


QUICK = ("nim", "tapnswap")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else pytest.mark.long)
        for name in kibitz.game_names()
    ],
)
def test_a_whole_game_is_played_by_clicking(page, server, name):
    options = SHORTER.get(name, {})
    seats = range(1, int(options.get("players", kibitz.game(name).players)))
    url = open_table(page, server.url, name, dict.fromkeys(seats, "easy"), **options)
    at_once(page)
    clicks = 0
    while play_on(page, 7 * clicks):
        clicks += 1
        assert clicks < 400
    assert clicks >= 1
    page.wait_for_timeout(600)  # what is kept is written now and then
    kept = table_on_disk(server, url)
    game = kibitz.game(name, **kept["settings"])
    assert kept["over"]
    table = game.deal(0)
    table.dealt[:] = kept["dealt"]
    table.undo(0)
    for action in kept["actions"]:
        table.play(action)
    assert table.over
    own = sum(step.seat == 0 for step in table.history)
    assert own == clicks, "every click was one move"
    listed = page.query_selector_all(".kb-move")
    assert len(listed) == len(kept["actions"])


def test_hands_are_clicked_one_after_the_other(page, server):
    """TapnSwap: a hand of one's own, then the hand that it taps."""
    open_table(page, server.url, "tapnswap", {1: "random"})
    page.wait_for_function(MY_TURN, timeout=SLOW)
    for hand, picked in (("own-left", True), ("other-right", False)):
        box = page.locator(
            f".kb-now g[data-hand='{hand}']:not([data-action]) g"
        ).first.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        if picked:
            page.wait_for_selector(".kb-now .kb-picked")
    page.wait_for_selector(".kb-move >> nth=0")
    assert "tap left on right" in page.inner_text(".kb-move >> nth=0")


def test_a_tile_is_turned_where_it_lies(page, server):
    """Carcassonne: click a cell, click again to turn, and confirm by key."""
    game = kibitz.game("carcassonne", tiles=30)
    cells_of = {seed: [a // 4 for a in game.deal(seed).legal] for seed in range(9)}
    seed = next(seed for seed, cells in cells_of.items() if len(set(cells)) < len(cells))
    seats = {1: "random"}
    url = open_table(page, server.url, "carcassonne", seats, tiles="30", seed=str(seed))
    page.wait_for_function(MY_TURN, timeout=SLOW)
    cells = page.query_selector_all(".kb-now .cell[data-place]")
    cell = next(one for one in cells if len(one.query_selector_all("[data-action]")) > 1)
    groups = cell.query_selector_all("[data-action]")
    actions = [one.get_attribute("data-action") for one in groups]
    at = groups[0].evaluate(POINT)
    page.mouse.click(*at)
    page.wait_for_selector(".kb-lay")
    held = page.get_attribute(".kb-now .chosen", "data-action")
    assert held == actions[0]
    page.mouse.click(*at)
    turned = page.get_attribute(".kb-now .chosen", "data-action")
    assert turned == actions[1]
    page.keyboard.press("r")
    again = page.get_attribute(".kb-now .chosen", "data-action")
    assert again == actions[(actions.index(turned) + 1) % len(actions)]
    assert plies_of(page) == 0, "nothing is laid yet"
    page.click(".kb-lay")
    page.wait_for_selector(".kb-move >> nth=0")
    page.wait_for_timeout(600)
    assert table_on_disk(server, url)["actions"][0] == int(again)


def test_a_game_is_played_by_keys_alone(page, server):
    open_table(page, server.url, "nim", {1: "random"})
    at_once(page)
    while True:
        page.wait_for_function(f"() => ({MY_TURN})() || ({OVER})()", timeout=SLOW)
        if page.evaluate(OVER):
            break
        before = page.inner_text(".kb-count")
        page.focus(".kb-now [data-action]")
        page.keyboard.press("Enter")
        page.wait_for_function(
            "before => document.querySelector('.kb-count').innerText !== before", arg=before
        )
    last = plies_of(page)
    page.keyboard.press("Home")
    page.wait_for_function("() => document.querySelector('.kb-count').innerText.startsWith('0 /')")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('.kb-count').innerText.startsWith('1 /')")
    page.keyboard.press("End")
    page.wait_for_function(
        "last => document.querySelector('.kb-count').innerText.startsWith(last + ' /')",
        arg=str(last),
    )
    page.keyboard.press("?")
    page.wait_for_selector(".kb-keys")


def test_undo_redo_reload_resign(page, server):
    url = open_table(page, server.url, "tapnswap", {1: "random"})
    at_once(page)
    play_on(page)
    page.wait_for_function(MY_TURN, timeout=SLOW)
    assert plies_of(page) == 2
    page.keyboard.press("u")
    page.wait_for_function("() => document.querySelector('.kb-count').innerText === '0 / 0'")
    page.click("button:has-text('Redo')")
    page.wait_for_function("() => document.querySelector('.kb-count').innerText === '2 / 2'")
    page.reload()
    page.wait_for_function(MY_TURN, timeout=SLOW)
    assert plies_of(page) == 2
    assert page.url == url
    assert play_on(page)
    page.click(".kb-tabs >> text=Table")
    page.click("button:has-text('Resign')")
    page.click(".kb-card button:has-text('Resign')")
    page.wait_for_selector("text=You have resigned.")


@pytest.mark.long
def test_a_table_survives_a_server_that_is_killed(browser, tmp_path):
    with serving(tmp_path / "killed") as server:
        context = browser.new_context()
        page = new_page(context)
        url = open_table(page, server.url, "nim", {1: "random"})
        at_once(page)
        play_on(page)
        page.wait_for_selector(".kb-count:has-text('2 / 2')", timeout=SLOW)
        page.wait_for_function(f"() => ({MY_TURN})()", timeout=SLOW)
        moves = page.inner_text(".kb-moves")
        page.wait_for_timeout(1500)  # what is kept is written now and then
        server.kill()
        server.start()
        page.goto(url)
        page.wait_for_function(MY_TURN, timeout=SLOW)
        assert page.inner_text(".kb-moves") == moves
        assert play_on(page), "it is still the same person's seat"
        context.close()


# --- several people, and what is hidden ----------------------------------------------------------


def watch_traffic(page: Any) -> list[str]:
    """Collect everything that reaches a browser: pages, and what comes by the socket."""
    heard: list[str] = []

    def came(response: Any) -> None:
        if "/_nicegui/" not in response.url:
            heard.append(response.text())

    def opened(socket: Any) -> None:
        socket.on("framereceived", lambda data: heard.append(data if isinstance(data, str) else ""))
        socket.on("framereceived", lambda data: assert_text(data))

    page.on("websocket", opened)
    page.on("response", came)
    return heard


def assert_text(data: Any) -> None:
    """What comes as bytes could not be searched."""
    assert isinstance(data, str)


def plainly(text: str) -> str:
    """Undo what JSON and HTML do to markup, however often it was done."""
    for _ in range(3):
        for sign in ("\\", '"', "/"):
            text = text.replace(f"\\{sign}", sign)
        text = text.replace("\\n", "\n")
        text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
        text = text.replace("&#39;", "'").replace("&amp;", "&")
    return "".join(text.split())


def boards_in(texts: list[str]) -> set[str]:
    """Find all boards of Hanabi in what was sent."""
    return {
        board
        for text in texts
        for board in re.findall(r"<svg[^>]*kibitz-hanabi.*?</svg>", plainly(text))
    }


@pytest.mark.long
def test_two_people_play_hanabi_and_neither_learns_what_is_hidden(browser, server):
    contexts = [browser.new_context() for _ in range(3)]
    ann, bob, eve = map(new_page, contexts)
    heard = [watch_traffic(page) for page in (ann, bob, eve)]
    url = open_table(ann, server.url, "hanabi", {1: "a friend"})
    bob.goto(url)
    bob.click("button:has-text('Sit down')")
    bob.wait_for_selector(".kb-now svg")
    eve.goto(url)
    eve.wait_for_selector("text=Something is hidden in this game")
    pages = (ann, bob)
    for turn in range(16):
        mover = pages[turn % 2]
        mover.wait_for_function(MY_TURN, timeout=SLOW)
        hints = mover.query_selector_all(".kb-now [data-action][data-hint]")
        others = mover.query_selector_all(".kb-now [data-action][data-place]")
        # A card is played now and then; the rest are hints, and discards when notes run out.
        choices = others[:1] if turn in (4, 9) else hints or others[1::2]
        press(mover, choices[turn % len(choices)])
        for page in pages:
            page.wait_for_function(
                "turn => document.querySelector('.kb-count').innerText.endsWith('/ ' + turn)",
                arg=str(turn + 1),
            )
    for page in pages:
        page.reload()
        page.wait_for_selector(".kb-now svg")
    sources = [page.content() for page in pages]
    page.wait_for_timeout(800)  # what is kept is written now and then
    kept = table_on_disk(server, url)
    sitting = Sitting.from_json(json.dumps(kept), find_game)
    assert len(sitting.told) == 16
    assert not sitting.over
    for seat in range(2):
        own = {
            plainly(
                sitting.at(ply)
                .view(seat)
                .shown_to(sitting.called(sitting.seats[seat].person), only_looks)
                .svg(last=sitting.told[ply - 1].move(seat) if ply else None)
            )
            for ply in range(17)
            for only_looks in (False, True)
        }
        theirs = boards_in([*heard[seat], sources[seat]])
        assert len(boards_in(heard[seat])) > 10, "the boards were found"
        # A browser takes some liberties with markup in its own source; there, look for the other's.
        assert boards_in(heard[seat]) <= own, "no board but those of this seat's views"
        for word in secrets_of(sitting, seat):
            for text in (*heard[seat], sources[seat]):
                assert word not in text, f"seat {seat} was sent {word}"
        assert theirs
    assert boards_in(heard[2]) == set(), "whoever watches is sent no board"
    for page, context in zip((ann, bob, eve), contexts, strict=True):
        assert not page.wrong
        context.close()


def secrets_of(sitting: Sitting, seat: int) -> list[str]:
    """List what a seat must not read: the seed, and moves in words that tell the other more."""

    def in_names(text: str) -> str:
        return sitting.in_names(text, sitting.seats[seat].person)

    own = {in_names(told.words[seat]) for told in sitting.told}
    other = {in_names(told.words[1 - seat]) for told in sitting.told}
    other = {words for words in other if not any(words in mine for mine in own)}
    return [str(sitting.table.seed), '"dealt"', '\\"dealt', *sorted(other)]


def test_others_agree_before_a_move_is_taken_back(browser, server):
    contexts = [browser.new_context() for _ in range(2)]
    ann, bob = (new_page(context) for context in contexts)
    url = open_table(ann, server.url, "nim", {1: "a friend"})
    bob.goto(url)
    bob.click("button:has-text('Sit down')")
    bob.wait_for_selector(".kb-now svg")
    assert play_on(ann)
    ann.click("button:has-text('Undo')")
    bob.click("button:has-text('Agree')")
    ann.wait_for_function("() => document.querySelector('.kb-count').innerText === '0 / 0'")
    for context in contexts:
        context.close()


# --- whoever watches -----------------------------------------------------------------------------


def test_agents_play_and_are_paused(page, server):
    page.goto(f"{server.url}/new/nim?watch=1")
    page.click("button:has-text('Start')")
    page.wait_for_url("**/table/*")
    at_once(page)
    page.click("button:has-text('One move')")
    page.wait_for_function(
        "() => document.querySelector('.kb-count').innerText === '1 / 1'", timeout=SLOW
    )
    page.click("button:has-text('Go on')")
    page.wait_for_selector(".kb-status button:has-text('New game')", timeout=SLOW)
    assert "wins" in page.inner_text(".kb-status")


def test_records_are_saved_and_brought(page, server, tmp_path):
    open_table(page, server.url, "tapnswap", {1: "random"})
    at_once(page)
    while play_on(page):
        pass
    page.click(".kb-tabs >> text=Table")
    with page.expect_download() as waiting:
        page.click("button:has-text('Save the record')")
    path = tmp_path / "game.json"
    waiting.value.save_as(path)
    record = kibitz.load(path)
    assert record.table().over
    page.goto(server.url)
    page.set_input_files("input[type=file]", path)
    page.wait_for_url("**/table/*")
    assert plies_of(page) == len(record.actions)
    broken = Path(tmp_path / "broken.json")
    broken.write_text(path.read_text().replace('"action": ', '"action": 9'))
    page.goto(server.url)
    page.set_input_files("input[type=file]", broken)
    page.wait_for_selector(".kb-toast")
    assert "/table/" not in page.url


def test_a_click_anywhere_in_a_cell_holds_the_tile(page, server):
    """Carcassonne: between the rotations that a cell shows, and where it shows none."""
    open_table(page, server.url, "carcassonne", {1: "random"}, tiles="24", seed="5")
    page.wait_for_function(MY_TURN, timeout=SLOW)
    cells = page.locator(".kb-now .cell[data-place]").all()
    several = [cell for cell in cells if cell.locator("[data-action]").count() > 1]
    assert several
    for cell in several:
        box = page.locator(
            f".kb-now .cell[data-place='{cell.get_attribute('data-place')}'] .room"
        ).bounding_box()
        for across, down in ((0.5, 0.5), (0.25, 0.25), (0.75, 0.25), (0.75, 0.75), (0.25, 0.75)):
            page.mouse.click(box["x"] + box["width"] * across, box["y"] + box["height"] * down)
            page.wait_for_selector(".kb-held")
            assert cell.evaluate("one => one.classList.contains('choosing')")
            dashes = cell.locator(".legal").all()
            strokes = {one.evaluate("one => getComputedStyle(one).stroke") for one in dashes}
            assert strokes == {"none"}, "no outline lies half on the tile that is held"
            page.keyboard.press("Escape")
            page.wait_for_selector(".kb-held", state="hidden")
