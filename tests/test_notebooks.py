"""Notebooks: things show themselves, records play, and the tutorial says what it prints."""

from __future__ import annotations

import base64
import json
import re
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest
from nbclient import NotebookClient

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.errors import Misuse
from kibitz.core.exports import export
from kibitz.core.film import film
from kibitz.core.notebook import Shown
from kibitz.core.record import Record
from kibitz.core.table import Table
from tests.browser import browsers
from tests.conftest import walk
from tests.test_docs import KIBITZ as COMMAND
from tests.test_docs import LINK, ROOT, run

TUTORIAL = ROOT / "docs" / "tutorial.ipynb"
MOST_BYTES = 1_500_000
SPEED = re.compile(r"[\d,]+ games\s+and [\d,]+ moves a second")
EVIL = "<script>document.title='bad'</script>\"'&<img src=x onerror=alert(1)>"
PHONE = {"width": 390, "height": 844}
# What JupyterLab leaves of HTML in a notebook that is not trusted (its sanitizer.ts).
TAKEN_AWAY = re.compile(r"<(style|iframe|script)\b.*?</\1>|</?svg\b[^>]*>", re.S)
ENDLESS = {"img", "input", "meta", "path", "line", "rect", "circle", "polygon"}


class Tree(HTMLParser):
    """Read HTML, and see to it that what is opened is closed, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ENDLESS:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in ENDLESS:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def picture_of(html: str) -> str:
    """Take the drawing out of an image."""
    (image,) = Tree(html).all("img")
    kind, _, data = str(image["src"]).partition(",")
    assert kind == "data:image/svg+xml;base64"
    return base64.b64decode(data).decode()


def outermost(style: str) -> list[str]:
    """List the selectors of a style's outermost rules, those within a media query included."""
    found, depth, begin = [], 0, 0
    for at, sign in enumerate(style):
        if sign == "{":
            selector = style[begin:at].strip()
            if depth == 0 and not selector.startswith("@"):
                found.append(selector)
            depth += not (depth == 0 and selector.startswith("@"))
            begin = at + 1
        elif sign == "}":
            depth = max(depth - 1, 0)
            begin = at + 1
    return found


@pytest.fixture(scope="module")
def tapnswap() -> kibitz.Game:
    return kibitz.game("tapnswap")


@pytest.fixture(scope="module")
def evil_record(tapnswap) -> Record:
    return walk(tapnswap, 5).record((EVIL, "b"))


@pytest.fixture(scope="module")
def shown(tapnswap, evil_record, tmp_path_factory) -> dict[str, Shown]:
    """One of everything that shows itself, with names that would like to be more than names."""

    def first(view):
        return view.legal[0]

    first.__name__ = EVIL
    table = tapnswap.deal(seed=7).play(0)
    league = kibitz.open_league(
        kibitz.game("nim", rows="1,2"), tmp_path_factory.mktemp("league") / "l.sqlite", seed=1
    )
    league.add("perfect")
    league.add("random", name=EVIL)
    ladder = league.run(games=8, cores=1)
    league.suspend(EVIL, EVIL)
    opinion = kibitz.Opinion(
        action=1, words=EVIL, reason=EVIL,
        thoughts=(kibitz.Thought(action=1, words=EVIL, value=0.25, note=EVIL),),
    )  # fmt: skip
    return {
        "game": tapnswap,
        "table": table,
        "view": table.view(0),
        "record": evil_record,
        "match": kibitz.match(tapnswap, ["tapper", first], games=8, seed=1),
        "together": kibitz.match(kibitz.game("hanabi"), ["simple", "simple"], games=4, seed=1),
        "solution": kibitz.solve(tapnswap),
        "grades": kibitz.grade(tapnswap, first),
        "opinion": opinion,
        "ladder": ladder,
        "league": league,
        "analysis": kibitz.analyse(evil_record),
    }


NAMES = [
    "game", "table", "view", "record", "match", "together", "solution", "grades", "opinion",
    "ladder", "league", "analysis",
]  # fmt: skip


# --- things show themselves ----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_a_card_that_disturbs_nothing(shown, name):
    bundle = shown[name]._repr_mimebundle_()
    assert bundle["text/plain"] == str(shown[name])
    assert " object at 0x" not in bundle["text/plain"]
    html = bundle["text/html"]
    assert html == shown[name]._repr_html_()
    tree = Tree(html)
    assert "kibitz-shown" in str(tree.tags[0][1]["class"]).split()
    assert not [attributes for _, attributes in tree.tags if "id" in attributes]
    assert tree.all("script") == []
    assert not {"href", "onerror", "onload"} & {key for _, of in tree.tags for key in of}
    for image in tree.all("img"):
        assert str(image["src"]).startswith("data:image/svg+xml;base64,")
        assert image["alt"]
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.S)
    assert "url(" not in style
    assert len(outermost(style)) >= 6
    for rule in outermost(style):
        assert all(".kibitz-shown" in selector for selector in rule.split(",")), rule


@pytest.mark.parametrize("name", NAMES)
def test_names_are_words_and_nothing_else(shown, name):
    html = shown[name]._repr_html_()
    assert "<script>document" not in html
    assert "<img src=x" not in html
    if name in ("match", "grades", "opinion", "ladder", "league", "analysis"):
        assert EVIL in Tree(html).text


@pytest.mark.parametrize("name", NAMES)
def test_what_matters_is_left_where_a_notebook_is_not_trusted(shown, name):
    left = TAKEN_AWAY.sub("", shown[name]._repr_html_())
    tree = Tree(left)
    assert {"style", "iframe", "svg"} & {tag for tag, _ in tree.tags} == set()
    assert tree.text
    if name in ("table", "view", "record"):
        ElementTree.fromstring(picture_of(left))


def test_a_board_is_the_drawing_and_says_who_moves(any_game):
    table = any_game.deal(seed=2)
    table.play(table.legal[0])
    html = table._repr_html_()
    drawn = picture_of(html)
    ElementTree.fromstring(drawn)
    assert "data-action" not in drawn
    words = Tree(html).text
    assert f"seat {table.seat} moves" in words
    assert table.last_move().words in words
    assert f"as seat {1} sees it" in Tree(table.view(1)._repr_html_()).text


def test_figures_are_those_of_the_match(shown):
    result = shown["match"]
    text = Tree(result._repr_html_()).text
    for agent in result.agents:
        assert agent.share.text() in text
        assert agent.margin.text() in text
    assert "8 games, seed 1" in text
    assert SPEED.search(text)
    together = shown["together"]
    assert together.agents[0].points.text() in Tree(together._repr_html_()).text


def test_a_solution_and_its_grades_say_what_the_command_says(shown):
    text = Tree(shown["solution"]._repr_html_()).text
    assert "Seat 1, who moves second, wins in 26 plies with best play." in text
    assert "mirror images folded177120104714" in text  # the cells of a row, one after another
    assert "26 plies" in str(shown["solution"])
    assert shown["grades"].shares()[0] in str(shown["grades"])


def test_a_ladder_shows_everybody_with_intervals(shown):
    ladder = shown["ladder"]
    html = ladder._repr_html_()
    assert html.count("<tr") == 1 + len(ladder.rungs)
    strength = ladder.rungs[0].rating.strength
    assert re.search(rf"{strength.mean:.0f} (± |\(\d+ to )", html)


# --- what a seat may not know --------------------------------------------------------------------


def twins(game: kibitz.Game, seat: int, plies: int) -> tuple[Table, Table]:
    """Play the same moves in two deals that a seat cannot tell apart all the while."""
    rng = Chance(4, 0, 9)
    for seed in range(50):
        one = game.deal(seed)
        two = one.view(seat).redeal(rng)
        two = Table(game, two.cells, seed=None)
        for _ in range(plies):
            for action in one.legal:
                if action not in two.legal:
                    continue
                after = one.copy().play(action), two.copy().play(action)
                if after[0].view(seat) == after[1].view(seat):
                    one, two = after
                    break
        if one.plies == plies and one.cells.tolist() != two.cells.tolist():
            return one, two
    raise AssertionError("no twins were found")


@pytest.mark.parametrize("name", ["hanabi", "mexican_train"])
@pytest.mark.parametrize("seat", [0, 1])
def test_worlds_that_a_seat_cannot_tell_apart_look_the_same(name, seat):
    one, two = twins(kibitz.game(name), seat, 4)
    assert one.dealt.tolist() != two.dealt.tolist()
    assert one.view(seat)._repr_html_() == two.view(seat)._repr_html_()
    pages = [table.record().to_html(seat) for table in (one, two)]
    assert pages[0] == pages[1]
    if seat == 0:
        assert one.record()._repr_html_() == two.record()._repr_html_()
    if one.seat == seat:
        assert one._repr_html_() == two._repr_html_()
    other = 1 - seat  # who can tell them apart, since their cards differ
    if name == "hanabi":
        assert one.record().to_html(other) != two.record().to_html(other)


def test_a_page_tells_neither_the_deal_nor_the_seed():
    table = walk(kibitz.game("hanabi"), 12345)
    record = table.record()
    text = record.to_html()
    content = film_of(text)
    assert set(content) == {"pieces", "frames", "moves", "names", "points", "over", "together"}
    assert "12345" not in text
    assert "12345" not in json.dumps(content)


# --- pages ---------------------------------------------------------------------------------------


def film_of(page: str) -> dict[str, Any]:
    (data,) = re.findall(r'<script type="text/plain" class="film">([\w+/=]+)</script>', page)
    return json.loads(zlib.decompress(base64.b64decode(data)))


def test_a_page_is_whole_in_itself(evil_record, tmp_path):
    path = evil_record.save_page(tmp_path / "game.html")
    text = path.read_text(encoding="utf-8")
    assert text == evil_record.to_html()
    for sign in ("http:", "https:", "url(", "@import", "<link", "<iframe", "javascript:"):
        assert sign not in text.replace("http://www.w3.org/2000/svg", "")
    assert text.count("<script>") == 1
    assert film_of(text)["names"] == [EVIL, "b"]
    words = Tree(re.sub(r"<script>.*?</script>", "", text, flags=re.S)).text
    for move in evil_record.table().history:
        assert move.words in words


def test_a_page_is_as_its_seat_sees_it():
    record = walk(kibitz.game("hanabi"), 3).record()
    pages = [record.to_html(seat) for seat in (0, 1)]
    assert pages[0] != pages[1]
    for seat, page in enumerate(pages):
        assert f"drawn for seat {seat}," in page
        data = film(record, seat=seat).data
        assert data in page
    with pytest.raises(Misuse, match="there is no seat 2; 0 to 1"):
        record.to_html(2)


def test_the_command_writes_the_same_page(tmp_path):
    record = walk(kibitz.game("hanabi"), 3).record()
    record.save(tmp_path / "game.json")
    said = run([*COMMAND, "export", "game.json"], tmp_path)
    assert "a page that plays the game in a browser" in said
    command = [*COMMAND, "export", "game.json", "html", "--seat", "1", "--out", "game.html"]
    run(command, tmp_path)
    assert (tmp_path / "game.html").read_text(encoding="utf-8") == record.to_html(1)
    assert export(record, "html") == record.to_html()
    with pytest.raises(Misuse, match="Leave the seat out"):
        export(record, "moves", seat=1)


# --- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with browsers() as started:
        yield started


@pytest.fixture
def opened(browser, tmp_path):
    """Open pages, and see to it that nothing went wrong or out."""
    contexts, asked, complaints = [], [], []

    def open_page(text: str, **settings: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        tab = context.new_page()
        tab.on("request", lambda sent: asked.append(sent.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        path = tmp_path / f"page-{len(contexts)}.html"
        path.write_text(text, encoding="utf-8")
        tab.goto(path.as_uri())
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert not [url for url in asked if not url.startswith(("file:", "data:", "about:"))]


@pytest.fixture(scope="module")
def hanabi_record() -> Record:
    return walk(kibitz.game("hanabi"), 3).record(("Ann", EVIL))


def wait_for(player: Any, count: str) -> None:
    player.locator(".beside .count").filter(has_text=re.compile(f"^{re.escape(count)}$")).wait_for()


def test_a_page_is_stepped_through(opened, hanabi_record):
    tab = opened(hanabi_record.to_html())
    plies = len(hanabi_record.actions)
    wait_for(tab, f"0 / {plies}")
    assert tab.locator(".beside .moves li").count() == plies + 1
    assert tab.locator(".title .who").all_text_contents() == ["●Ann", f"■{EVIL}"]
    assert tab.title() != "bad"
    assert tab.locator("img").count() == 0
    begun = tab.locator(".stage > .board").inner_html()
    tab.get_by_role("button", name="Forward").click()
    wait_for(tab, f"1 / {plies}")
    assert tab.locator(".stage > .board").inner_html() != begun
    tab.get_by_role("button", name="Back").click()
    assert tab.locator(".stage > .board").inner_html() == begun
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowLeft")
    wait_for(tab, f"2 / {plies}")
    assert tab.locator(".beside .moves [aria-current]").text_content().startswith("2")
    tab.locator(".beside .slider").fill("7")
    wait_for(tab, f"7 / {plies}")
    tab.locator(".beside .slider").press("ArrowRight")
    wait_for(tab, f"8 / {plies}")
    tab.locator(".beside .moves button").nth(5).click()
    wait_for(tab, f"5 / {plies}")
    tab.keyboard.press("End")
    wait_for(tab, f"{plies} / {plies}")
    points = hanabi_record.table().points[0]
    assert f"The game is over. Points: {points:g}." in tab.locator(".beside .now").inner_text()
    assert tab.locator(".beside .slider").input_value() == str(plies)
    assert tab.get_by_role("button", name="Last").get_attribute("aria-disabled") == "true"
    tab.get_by_role("button", name="First").click()
    assert tab.locator(".stage > .board").inner_html() == begun


def test_a_page_plays_by_itself_until_the_end(opened, evil_record):
    tab = opened(evil_record.to_html(), reduced_motion="reduce")
    plies = len(evil_record.actions)
    wait_for(tab, f"0 / {plies}")
    tab.locator(".beside .slider").fill(str(plies - 2))
    tab.get_by_role("button", name="Play").click()
    assert tab.get_by_role("button", name="Pause").count() == 1
    wait_for(tab, f"{plies - 1} / {plies}")
    tab.get_by_role("button", name="Pause").click()
    tab.locator("body").press(" ")
    wait_for(tab, f"{plies} / {plies}")
    tab.get_by_role("button", name="Play").wait_for()
    assert evil_record.name_of(0) in tab.locator(".beside .now .end").text_content()


def test_a_page_without_scripts_shows_the_end(opened, hanabi_record):
    tab = opened(hanabi_record.to_html(), java_script_enabled=False)
    assert tab.locator(".stage > .board svg").is_visible()
    assert tab.locator(".beside .moves li").count() == len(hanabi_record.actions)
    assert "Scripts are off" in tab.inner_text("body")
    assert not tab.locator(".controls").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_the_whole_player(opened, hanabi_record, scheme):
    tab = opened(hanabi_record.to_html(), viewport=PHONE, color_scheme=scheme)
    wait_for(tab, f"0 / {len(hanabi_record.actions)}")
    tab.keyboard.press("End")
    assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    paper = "rgb(250, 248, 244)" if scheme == "light" else "rgb(22, 24, 29)"
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == paper
    for part in (
        ".stage svg",
        "[data-step=play]",
        "[data-step=last]",
        ".beside .slider",
        ".beside .moves",
    ):
        place = tab.locator(part).first.bounding_box()
        assert 0 <= place["x"] <= place["x"] + place["width"] <= PHONE["width"]
        assert 0 <= place["y"] <= place["y"] + place["height"] <= PHONE["height"]


def notebook_page(*shown: Shown, dark: bool = False) -> str:
    """Write what JupyterLab makes of outputs: each in a box of its own, under its own theme."""
    boxes = "".join(
        f'<div class="jp-RenderedHTMLCommon">{one._repr_html_()}</div>' for one in shown
    )
    return (
        "<!doctype html><meta charset=utf-8><title>notebook</title>"
        "<style>:not(.x).jp-RenderedHTMLCommon td{text-align:center;border:9px solid red}"
        ".jp-RenderedHTMLCommon tbody tr:nth-child(even){background:red}</style>"
        f"<body data-jp-theme-light={str(not dark).lower()}><h2>Mine</h2><table><tr><td>own</table>"
        f"{boxes}</body>"
    )


def test_players_in_a_notebook_keep_to_themselves(opened, hanabi_record, evil_record):
    tab = opened(notebook_page(hanabi_record, evil_record))
    tab.locator("iframe").nth(1).scroll_into_view_if_needed()
    one, two = (tab.frame_locator("iframe").nth(at) for at in (0, 1))
    plies = [len(record.actions) for record in (hanabi_record, evil_record)]
    wait_for(one, f"0 / {plies[0]}")
    wait_for(two, f"0 / {plies[1]}")
    two.get_by_role("button", name="Forward").click()
    tab.keyboard.press("ArrowRight")
    wait_for(two, f"2 / {plies[1]}")
    wait_for(one, f"0 / {plies[0]}")
    one.get_by_role("button", name="Last").click()
    wait_for(one, f"{plies[0]} / {plies[0]}")
    wait_for(two, f"2 / {plies[1]}")
    assert tab.title() == "notebook"
    assert not tab.locator("img").first.is_visible()  # the last board is for those without frames
    assert tab.locator("h2").evaluate("one => getComputedStyle(one).fontFamily") != ""


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_cards_and_frames_follow_the_notebook_and_not_the_system(
    opened, shown, evil_record, dark, width
):
    tab = opened(
        notebook_page(*shown.values(), dark=dark),
        color_scheme="light" if dark else "dark", viewport={"width": width, "height": 900},
    )  # fmt: skip
    paper = "rgb(22, 24, 29)" if dark else "rgb(250, 248, 244)"
    ground = "one => getComputedStyle(one).backgroundColor"
    for one in tab.locator(".kibitz-shown").all():
        assert one.evaluate(ground) == paper
    cells = tab.locator(".kibitz-shown td")
    assert cells.evaluate_all("all => all.map(one => getComputedStyle(one).borderTopWidth)")
    assert not set(cells.evaluate_all(f"all => all.map({ground})")) - {paper}
    tab.locator("iframe").scroll_into_view_if_needed()
    frame = tab.frame_locator("iframe")
    wait_for(frame, f"0 / {len(evil_record.actions)}")
    assert frame.locator("body").evaluate(ground) == paper
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_a_notebook_that_is_not_trusted_shows_the_last_board(opened, hanabi_record):
    tab = opened(TAKEN_AWAY.sub("", notebook_page(hanabi_record)))
    assert tab.locator("iframe").count() == 0
    image = tab.locator("img")
    assert image.is_visible()
    assert image.evaluate("one => one.complete && one.naturalWidth > 0")


# --- the tutorial --------------------------------------------------------------------------------


def said(cell: Any) -> list[str]:
    """Give what a cell shows, without what depends on the speed of the machine."""
    found = []
    for output in cell.outputs:
        texts = [output.text] if "text" in output else [*output.get("data", {}).values()]
        found += [SPEED.sub("so many games and moves a second", text) for text in texts]
    return found


def executed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the tutorial in a clean kernel of this very Python, in a folder of its own."""
    spec = folder / "data" / "kernels" / "here"
    spec.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    content = {"argv": argv, "display_name": "here", "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(content), encoding="utf-8")
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(folder / "data"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (folder / "work").mkdir()
    notebook = nbformat.read(TUTORIAL, as_version=4)
    client = NotebookClient(
        notebook, timeout=300, kernel_name="here", record_timing=False, store_widget_state=False,
        resources={"metadata": {"path": str(folder / "work")}},
    )  # fmt: skip
    client.execute()
    return notebook


@pytest.mark.long
def test_the_tutorial_runs_and_shows_what_is_stored(tmp_path, monkeypatch, request):
    stored = nbformat.read(TUTORIAL, as_version=4)
    fresh = executed(tmp_path, monkeypatch)
    if request.config.getoption("--update-docs"):
        fresh.metadata = stored.metadata
        nbformat.write(fresh, TUTORIAL)
        stored = fresh
    codes = [cell for cell in stored.cells if cell.cell_type == "code"]
    again = [cell for cell in fresh.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in codes] == list(range(1, len(codes) + 1))
    for cell, now in zip(codes, again, strict=True):
        assert [output.output_type for output in now.outputs if output.output_type == "error"] == []
        assert said(now) == said(cell), cell.source


def test_the_tutorial_is_small_and_names_no_place_on_this_machine():
    text = TUTORIAL.read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    for sign in (str(ROOT), str(Path.home()) + "/", "/tmp", "Traceback"):
        assert sign not in text
    notebook = nbformat.read(TUTORIAL, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for link in LINK.finditer(cell.source):
                assert "://" in link["target"] or (TUTORIAL.parent / link["target"]).exists()
