"""The report: what it says is what the ladder says, and it works in a real browser."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import kibitz
from kibitz.core.film import film
from kibitz.core.game import Game
from kibitz.core.markup import element
from kibitz.core.record import Record
from kibitz.core.svg import only_seen
from kibitz.league import League
from kibitz.league import report as report_module
from kibitz.league.charts import axis_over, history_plot
from kibitz.league.heat import CONTRAST, LEVELS, colours, contrast
from kibitz.league.ladder import Ladder
from kibitz.league.report import report
from tests.browser import browsers

EVIL = "<script>document.title='bad'</script>\"'&<img src=x onerror=alert(1)>"
REASON = "<b id='bold'>too slow</b>"
PHONE = {"width": 390, "height": 844}


@dataclass
class Page:
    """A league whose report was written."""

    ladder: Ladder
    game: Game
    records: list[tuple[tuple[str, ...], str]]
    text: str
    path: Path


def written(folder: Path, game: Game, agents: dict[str, str], games: int, **run: Any) -> Page:
    """Play a small league and write its report; agents by the name that they get."""
    league = League(game, folder / "league.sqlite", seed=3)
    for name, agent in agents.items():
        league.add(agent, name=name)
    league.run(games=games, cores=1, **run)
    if EVIL in agents:
        league.suspend("gabriele", REASON)
    names = {member.id: member.name for member in league.members}
    records = [(tuple(names[id] for id in ids), text) for ids, text in league.book.records()]
    path = folder / "page.html"
    path.write_text(league.report(), encoding="utf-8")
    return Page(league.ladder(), game, records, path.read_text(encoding="utf-8"), path)


def films_of(page: Page) -> list[dict[str, Any]]:
    """Unpack the films of a page."""
    packed = re.findall(r'<script type="text/plain" id="film-\d+">([\w+/=]+)</script>', page.text)
    return [unpacked(data) for data in packed]


def unpacked(data: str) -> dict[str, Any]:
    return json.loads(zlib.decompress(base64.b64decode(data)))


@pytest.fixture(scope="module")
def nim(tmp_path_factory):
    agents = {"perfect": "perfect", EVIL: "random", "gabriele": "gabriele", "n" * 200: "take-one"}
    folder = tmp_path_factory.mktemp("nim")
    return written(folder, kibitz.game("nim", rows="1,2,3"), agents, 60)


@pytest.fixture(scope="module")
def hanabi(tmp_path_factory):
    agents = {name: name for name in ("random", "simple", "internal")}
    folder = tmp_path_factory.mktemp("hanabi")
    return written(folder, kibitz.game("hanabi", players=2, colours=3), agents, 8, each=2)


@pytest.fixture(scope="module")
def carcassonne(tmp_path_factory):
    agents = {name: name for name in ("greedy", "random")}
    folder = tmp_path_factory.mktemp("carcassonne")
    return written(folder, kibitz.game("carcassonne", tiles=20), agents, 4, each=2)


@pytest.fixture(params=["nim", "hanabi", "carcassonne"])
def page(request):
    return request.getfixturevalue(request.param)


# --- parts -------------------------------------------------------------------------------------


def test_a_film_shows_every_ply_as_the_table_draws_it(hanabi):
    names, text = hanabi.records[0]
    record = Record.from_json(text)
    made = film(record, names)
    content = unpacked(made.data)
    shown = ["".join(content["pieces"][at] for at in frame) for frame in content["frames"]]
    assert len(shown) == len(record.actions) + 1 == made.plies + 1
    for plies in (0, 1, made.plies // 2, made.plies):
        assert shown[plies] == only_seen(record.table(plies).svg(seat=0))
    assert 'role="button"' not in "".join(shown)
    assert [words for _, words in content["moves"]] == [m.words for m in record.table().history]
    assert content["points"] == record.table().points
    assert len(made.data) < sum(map(len, shown)) / 20


def test_words_on_every_colour_can_be_read():
    for dark in (False, True):
        for level in range(-LEVELS, LEVELS + 1):
            ground, ink = colours(level, dark)
            assert contrast(ground, ink) >= CONTRAST


def test_contrast_of_known_colours():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.01)


def test_plain_text_is_escaped_and_markup_is_not():
    inner = element("b", "a < b & c")
    assert element("p", inner, "<i>", title='"') == (
        '<p title="&quot;"><b>a &lt; b &amp; c</b>&lt;i&gt;</p>'
    )
    assert element("td", class_=None, hidden=True) == "<td hidden></td>"


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-97.7, 2000), (21.4, 21.9), (5, 5), (-3e5, 9e6)]
)
def test_axes_have_a_few_round_ticks_within_them(low, high):
    axis = axis_over([low, high], [float("inf"), low - 1e9])
    assert axis.low <= low <= high <= axis.high
    assert 2 <= len(axis.ticks) <= 7
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)
    assert len({axis.label(tick) for tick in axis.ticks}) == len(axis.ticks)


def test_names_at_lines_keep_apart(nim):
    rows = nim.ladder.history
    members = sorted({row.member for row in rows})
    agents = {member: (at, f"agent {at}") for at, member in enumerate(members)}
    drawn = history_plot(rows, agents, "rating", 800, 360)
    heights = sorted(float(y) for y in re.findall(r'y="([\d.]+)"[^>]*>agent', drawn))
    assert len(heights) == 4
    assert all(b - a > 14 for a, b in pairwise(heights))
    bare = history_plot(rows, agents, "rating", 360, 300, labels=False)
    assert not re.search(">agent [0-9]</text>", bare)


def test_games_of_the_best_come_first_and_the_page_stays_small(nim, monkeypatch):
    best = {rung.name for rung in nim.ladder.rungs[:2]}
    chosen = report_module._films(nim.ladder, nim.game, nim.records, 1)
    assert set(chosen[0].names) == best
    text = report(nim.ladder, nim.game, nim.records, films=2)
    assert text.count('type="text/plain"') == 2
    assert f"{len(nim.records) - 2} more are in the store" in text
    monkeypatch.setattr(report_module, "MOST_BYTES", report_module.REST + 10_000)
    assert len(report(nim.ladder, nim.game, nim.records)) < report_module.MOST_BYTES
    none = report(nim.ladder, nim.game, nim.records, films=0)
    assert "none of them in this page" in none


def test_a_league_in_which_nobody_has_played_has_a_report(tmp_path):
    league = League(kibitz.game("nim"), tmp_path / "league.sqlite", seed=1)
    assert "Nobody has played yet" in league.report()
    league.add("random")
    assert "none yet" in league.report()


def test_nothing_from_outside_and_nothing_inline(page):
    for sign in ("http:", "https:", "url(", "@import", "<link", "<iframe", "javascript:"):
        assert sign not in page.text
    found: list[tuple[str, str]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda name, pairs: found.extend((name, key) for key, _ in pairs)
    parser.feed(page.text)
    assert ("table", "class") in found
    assert not [pair for pair in found if pair[1].startswith("on") or pair[1] in ("src", "href")]
    assert page.text.count("<script>") == 1


# --- in the browser ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with browsers() as started:
        yield started


@pytest.fixture
def opened(browser, request):
    """Open pages, and see to it that nothing went wrong or out."""
    contexts, asked, complaints = [], [], []

    def open_page(page: Page, **settings: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        tab = context.new_page()
        tab.on("request", lambda sent: asked.append(sent.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.goto(page.path.as_uri())
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert len(asked) == len(contexts)
    assert all(address.startswith("file://") for address in asked)


def watch(tab: Any, button: Any) -> Any:
    button.click()
    tab.wait_for_selector("#viewer[open] svg.kibitz")
    return tab.locator("#viewer")


def count(tab: Any) -> str:
    return tab.locator("#viewer .beside .count").inner_text()


def test_ladder_and_matrix_are_those_of_the_league(opened, page):
    tab = opened(page)
    rungs = page.ladder.rungs
    rows = tab.locator("table.ladder tbody tr")
    assert rows.locator("th .name").all_text_contents() == [rung.name for rung in rungs]
    for row, rung in zip(rows.all(), rungs, strict=True):
        strength = rung.rating.strength
        figure = row.locator(".rating").text_content()
        assert float(figure.split()[0]) == pytest.approx(strength.mean, abs=0.51)
        if rung.name == page.ladder.anchor:
            assert row.locator(".tag").first.text_content() == "anchor"
            assert figure.startswith(("2000 ± ", "2000 ("))
    cells = tab.locator("table.matrix tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))"
    )
    for one, row in zip(rungs, cells, strict=True):
        for two, figure in zip(rungs, row, strict=True):
            cell = page.ladder.cells.get((one.name, two.name))
            if cell is None:
                assert figure == ("·" if one == two and not page.ladder.cooperative else "–")
            elif page.ladder.cooperative:
                assert figure == f"{cell.points.mean:.1f}"
            else:
                assert figure == f"{100 * cell.share.mean:.0f}"


def test_a_cell_opens_a_game_that_is_stepped_through(opened, page):
    tab = opened(page)
    button = tab.locator("table.matrix button").first
    viewer = watch(tab, button)
    at = int(button.get_attribute("data-film"))
    shown = films_of(page)[at]
    plies = len(shown["moves"])
    assert viewer.locator("#viewer-title .who").count() == len(shown["names"])
    assert count(tab) == f"0 / {plies}"
    assert viewer.locator(".beside .moves li").count() == plies + 1
    begun = tab.locator("#viewer .stage > .board").inner_html()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    assert count(tab) == f"2 / {plies}"
    assert tab.locator("#viewer .stage > .board").inner_html() != begun
    tab.keyboard.press("ArrowLeft")
    assert count(tab) == f"1 / {plies}"
    assert tab.locator("#viewer .beside .moves [aria-current]").text_content().startswith("1")
    tab.keyboard.press("End")
    assert count(tab) == f"{plies} / {plies}"
    assert "The game is over" in tab.locator("#viewer .beside .now").inner_text()
    tab.keyboard.press("ArrowRight")  # nothing comes after the end
    assert count(tab) == f"{plies} / {plies}"
    viewer.locator(".beside .moves button").nth(1).click()
    assert count(tab) == f"1 / {plies}"
    tab.get_by_role("button", name="First").click()
    assert tab.locator("#viewer .beside .now").inner_text() == "The deal"
    assert tab.locator("#viewer .stage > .board").inner_html() == begun
    tab.keyboard.press("Escape")
    assert not viewer.is_visible()
    assert button.evaluate("button => button === document.activeElement")
    assert ("What is hidden" in page.text) == page.game.hides


@pytest.mark.long
def test_every_sample_opens_and_ends_as_it_was_played(opened, nim):
    tab = opened(nim)
    for card, one in zip(tab.locator(".card").all(), films_of(nim), strict=True):
        assert card.locator(".name").all_text_contents() == one["names"]
        watch(tab, card)
        tab.keyboard.press("End")
        words = tab.locator("#viewer .beside .now .end").text_content()
        assert all(f"{points:g}" in words for points in one["points"])
        tab.get_by_role("button", name="Close").click()


def test_names_are_words_and_nothing_else(opened, nim):
    tab = opened(nim)
    assert tab.title() != "bad"
    assert tab.locator("img").count() == 0
    assert tab.locator("#bold").count() == 0
    assert tab.locator("tr.suspended .reason").text_content() == REASON
    mine = tab.locator(".card").filter(has_text=EVIL).first
    watch(tab, mine)
    assert EVIL in tab.locator("#viewer-title").text_content()
    tab.keyboard.press("End")
    assert tab.title() != "bad"
    assert tab.locator("img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.long
def test_a_phone_shows_all_of_it(opened, page, scheme):
    tab = opened(page, viewport=PHONE, color_scheme=scheme, reduced_motion="reduce")
    for fold in tab.locator("details").all():
        fold.evaluate("fold => fold.open = true")
    assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    paper = "rgb(250, 248, 244)" if scheme == "light" else "rgb(22, 24, 29)"
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == paper
    # Names stay while their table scrolls.
    box = tab.locator(".box:has(.matrix)")
    before = box.locator("th.who").first.bounding_box()["x"]
    box.evaluate("box => box.scrollLeft = 40")
    assert box.locator("th.who").first.bounding_box()["x"] == before
    viewer = watch(tab, tab.locator(".card").first)
    tab.keyboard.press("End")
    for part in (".stage svg", "[data-step=forward]", ".beside .moves", "#viewer-close"):
        place = viewer.locator(part).first.bounding_box()
        assert 0 <= place["x"] <= place["x"] + place["width"] <= PHONE["width"]
        assert 0 <= place["y"] <= place["y"] + place["height"] <= PHONE["height"]


@pytest.mark.long
def test_an_agent_comes_to_the_front(opened, nim):
    tab = opened(nim)
    name = tab.locator("table.ladder .pin").nth(1)
    name.click()
    tab.mouse.move(1, 1)
    assert name.get_attribute("aria-pressed") == "true"
    lit = tab.locator(".wide .line.lit")
    assert lit.count() == 1
    assert lit.get_attribute("data-agent") == "1"
    name.click()
    tab.mouse.move(1, 1)
    assert tab.locator(".lit").count() == 0


@pytest.mark.long
def test_on_paper_everything_is_unfolded(opened, nim, tmp_path):
    tab = opened(nim)
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(250, 248, 244)"
    tab.pdf(path=tmp_path / "page.pdf")
    assert tab.locator("details:not([open])").count() == 0
