"""People in a real browser: who looks, who is invited, who follows, and what all are called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import kibitz
from tests.browser import browsers
from tests.conftest import walk
from tests.web import (
    MY_TURN,
    OVER,
    SLOW,
    Server,
    new_page,
    open_table,
    play_on,
    press,
    serving,
)

pytestmark = pytest.mark.long  # each opens several browsers

BOARD = ".kb-now > svg"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsers() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("people")) as server:
        yield server


@pytest.fixture
def people(browser: Any, server: Server) -> Iterator[Any]:
    """Call it for the page of one more person; none of them may have met an error in the end."""
    pages = []

    def arrive() -> Any:
        pages.append(new_page(browser.new_context(viewport={"width": 1280, "height": 800})))
        return pages[-1]

    yield arrive
    wrong = [one for page in pages for one in page.wrong]
    for page in pages:
        page.context.close()
    assert not wrong


def words_on(page: Any) -> list[str]:
    """List all words that the board shows."""
    return page.locator(f"{BOARD} text").all_text_contents()


def sit_down(page: Any, url: str, name: str) -> None:
    """Come by a link, give a name and sit down."""
    page.goto(url)
    page.fill("input[aria-label='Your name']", name)
    page.click("button:has-text('Sit down')")
    page.wait_for_selector(".kb-seat .name:text-is('you')")


# --- who only looks ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nim", "carcassonne", "mexican_train", "hanabi", "tapnswap"])
def test_whoever_watches_is_not_told_that_it_is_their_turn(people, server, name):
    page = people()
    page.goto(f"{server.url}/new/{name}?watch=true")
    page.wait_for_selector("text=Player 1")
    page.click("button:has-text('Start')")
    page.wait_for_selector(BOARD, timeout=SLOW)
    said = " ".join(words_on(page))
    assert "to move" in said
    assert "You" not in said
    assert page.locator(f"{BOARD} [data-action]").count() == 0
    assert page.locator(f"{BOARD} [role=button]").count() == 0


def test_whoever_follows_a_link_sees_who_is_to_move(people, server):
    ann, bob, eve = people(), people(), people()
    url = open_table(ann, server.url, "nim", {1: "a friend"}, called="Ann")
    for page in (bob, eve):
        page.goto(url)
        page.wait_for_selector(f"{BOARD} text:text-is('Ann · to move')")
        assert page.locator(f"{BOARD} .legal").count() == 0
    assert "You · to move" in words_on(ann)
    assert ann.locator(f"{BOARD} .legal").count() > 0
    # An earlier position offers nothing either.
    sit_down(bob, url, "Bob")
    play_on(ann)
    bob.wait_for_function(MY_TURN)
    bob.keyboard.press("Home")
    bob.wait_for_selector(f"{BOARD} text:text-is('Ann · to move')")
    assert bob.locator(f"{BOARD} .legal").count() == 0


# --- invitations ---------------------------------------------------------------------------------


def test_an_invitation_is_copied_and_who_comes_is_asked_for_a_name(people, server):
    ann, bob = people(), people()
    url = open_table(ann, server.url, "nim", {1: "a friend"}, called="Ann")
    main = ann.locator(".kb-invite .kb-button.main:visible")
    assert main.all_inner_texts() == ["Copy invitation"]
    assert ann.locator(".kb-seats .kb-button.main").count() == 0
    ann.context.grant_permissions(["clipboard-read", "clipboard-write"])
    main.click()
    ann.wait_for_selector(".kb-toast:has-text('Link copied')")
    assert ann.evaluate("() => navigator.clipboard.readText()") == url
    bob.goto(url)
    field = bob.locator("input[aria-label='Your name']")
    field.fill("Bob")
    play_on(ann)  # what is being typed survives a move
    bob.wait_for_function("() => document.querySelector('.kb-count').innerText.endsWith('/ 1')")
    assert field.input_value() == "Bob"
    assert not bob.locator("button:has-text('Copy invitation')").is_visible()
    bob.click("button:has-text('Sit down')")
    bob.wait_for_function(MY_TURN)
    ann.wait_for_selector(".kb-seat .name:text-is('Bob')")
    ann.wait_for_selector(f"{BOARD} text:text-is('Bob · to move')")
    for page in (ann, bob):
        page.wait_for_selector(".kb-invite", state="hidden")


def test_a_link_that_cannot_be_copied_is_shown(people, server):
    ann = people()
    url = open_table(ann, server.url, "nim", {1: "a friend"})
    ann.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject('no'); }")
    ann.click("button:has-text('Copy invitation')")
    ann.wait_for_selector(f".kb-toast:has-text('Copy this link: {url}')")


# --- rematch -------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_rematch_reaches_the_other_person(people, server):
    ann, bob, eve = people(), people(), people()
    url = open_table(ann, server.url, "nim", {1: "a friend"}, called="Ann", rows="1,1")
    sit_down(bob, url, "Bob")
    eve.goto(url)
    for page in (ann, bob):
        play_on(page)
    ann.click("button:has-text('Rematch')")
    ann.wait_for_url(lambda to: to != url)
    bob.wait_for_selector(".kb-banner:has-text('Ann has opened a rematch')")
    eve.wait_for_selector(".kb-banner:has-text('Ann has opened a rematch')")
    bob.reload()
    bob.click(".kb-banner button:has-text('Play')")
    bob.wait_for_url(ann.url)
    bob.wait_for_function(MY_TURN)  # the seats are exchanged
    play_on(bob)
    ann.wait_for_function(MY_TURN)
    eve.click(".kb-banner button:has-text('Watch')")
    eve.wait_for_url(ann.url)
    # Whoever presses the button too does not open a third table.
    bob.goto(url)
    bob.click(".kb-status button:has-text('Rematch')")
    bob.wait_for_url(ann.url)


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.long
def test_agents_of_one_kind_are_told_apart_everywhere(people, server):
    page = people()
    open_table(
        page, server.url, "mexican_train", dict.fromkeys(range(1, 4), "easy"), players="4",
        highest="6", hands="1",
    )  # fmt: skip
    names = [f"easy {number}" for number in (1, 2, 3)]
    assert page.locator(".kb-seat .name").all_inner_texts() == ["you", *names]
    said = " ".join(words_on(page))
    assert all(name in said for name in names)
    page.click(".kb-tabs >> text=Table")
    page.locator("[aria-label='pace of agents']").first.click()
    page.click(".q-menu .q-item:has-text('at once')")
    while play_on(page):
        pass
    end = page.inner_text(".kb-status .say")
    assert all(f"{name} " in end.partition("Pips")[2] for name in ["you", *names])
    everything = page.inner_text("body") + page.locator(BOARD).text_content()
    assert not re.search(r"seat \d", everything.lower())


def test_hints_and_kibitz_name_those_who_play(people, server):
    page = people()
    open_table(page, server.url, "hanabi", {1: "easy", 2: "easy"}, players="3", seed="5")
    page.wait_for_function(MY_TURN, timeout=SLOW)
    titles = page.locator(f"{BOARD} [data-hint] title").all_text_contents()
    assert titles
    assert all(title.startswith(("tell easy 1 ", "tell easy 2 ")) for title in titles)
    page.click(".kb-tabs >> text=Kibitz")
    page.wait_for_selector(".q-chip:has-text('smart')", timeout=SLOW)
    page.click("button:has-text('Ask')")
    page.wait_for_selector(".kb-thought", timeout=SLOW)
    said = page.inner_text(".kb-opinion")
    assert "tell easy" in said
    assert "seat" not in said


def test_two_people_at_one_screen_have_names(people, server):
    page = people()
    open_table(page, server.url, "nim", {1: "you"}, called="Ada")
    assert page.locator(".kb-seat .name").all_inner_texts() == ["Ada 1", "Ada 2"]
    assert "Ada 1 · to move" in words_on(page)
    assert page.inner_text(".kb-status .say") == "Ada 1, your turn"


def test_a_record_without_names_counts_players_from_one(people, server, tmp_path):
    page = people()
    record = kibitz.game("nim").deal(seed=3).play("take 1 from row 1").record()
    page.goto(server.url)
    page.set_input_files("input[type=file]", record.save(tmp_path / "bare.json"))
    page.wait_for_url("**/table/*")
    page.wait_for_selector(BOARD)
    assert page.locator(".kb-seat .name").all_inner_texts() == ["Player 1", "Player 2"]


# --- scores --------------------------------------------------------------------------------------


def test_mexican_train_shows_one_score_everywhere_and_who_won_which_hand(people, server, tmp_path):
    page = people()
    table = walk(kibitz.game("mexican_train", players=3, highest=6, hands=3), 7)
    page.goto(server.url)
    path = table.record(("Ann", "Bob", "Eve")).save(tmp_path / "train.json")
    page.set_input_files("input[type=file]", path)
    page.wait_for_url("**/table/*")
    page.wait_for_selector(BOARD)

    def sheet() -> tuple[list[str], list[str]]:
        board = [one for one in words_on(page) if re.fullmatch(r"\d+ pips", one)]
        return page.locator(".kb-seat .points").all_inner_texts(), board

    beside, board = sheet()
    pips = [f"{0 - points:g} pips" for points in table.points]
    assert beside == pips
    assert sorted(board) == sorted(pips)
    total = ", ".join(
        f"{n} {p.split()[0]}" for n, p in zip(("Ann", "Bob", "Eve"), pips, strict=True)
    )
    assert page.inner_text(".kb-status .say").endswith(f"Pips: {total}.")
    won = page.locator(".kb-seat .what").all_inner_texts()
    hands = sum(int(found[1]) for one in won if (found := re.search(r"(\d+) hands? won", one)))
    assert hands >= 3, "every hand was won by somebody"
    page.keyboard.press("Home")
    page.wait_for_function("() => document.querySelector('.kb-count').innerText.startsWith('0 ')")
    assert sheet() == (["0 pips"] * 3, ["0 pips"] * 3)
    assert "won" not in " ".join(page.locator(".kb-seat .what").all_inner_texts())


def test_at_the_end_of_hanabi_cards_are_turned_up_and_the_reason_is_told(people, server):
    page = people()
    open_table(page, server.url, "hanabi", {1: "easy"}, storms="1", seed="4")
    own = f"{BOARD} [data-hand='0'] [data-card]"
    listed = []
    while True:
        page.wait_for_function(f"() => ({MY_TURN})() || ({OVER})()", timeout=SLOW)
        listed = page.locator(".kb-move").all_inner_texts() or listed
        if page.evaluate(OVER):
            break
        assert page.locator(own).count() == 0, "own cards are hidden while playing"
        press(page, page.query_selector(".kb-now [data-action][data-place='1']"))
        page.wait_for_timeout(300)
    end = page.inner_text(".kb-status .say")
    assert re.fullmatch(r"Game over: the only storm has struck. \d+ of 25 points.", end)
    faces = page.locator(own).count()
    assert faces >= 4, "they are turned up"
    moves = page.locator(".kb-move").all_inner_texts()
    played = [one for one in moves if "play" in one or "discard" in one]
    assert played
    assert all(re.search(r"\([RYGWB][1-5]\)", one) for one in played)
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(".kb-status .say:has-text('After')")
    assert page.locator(own).count() == 0, "an earlier position is shown as it was seen"
