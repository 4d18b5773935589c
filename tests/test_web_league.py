"""Leagues in the workbench: what pages may ask for, runs in processes, and a real browser."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nicegui")

import kibitz
from kibitz.core.errors import KibitzError
from kibitz.core.models import own_models
from kibitz.core.record import Record
from kibitz.league import League
from kibitz.play.result import interval_text
from kibitz.web.league_orders import LeagueOrders, short
from kibitz.web.leagues import (
    ENOUGH,
    MOST_AGENTS,
    MOST_GAMES,
    Entry,
    Leagues,
    Run,
    checked_agents,
    checked_games,
    checked_name,
    key_of,
)
from kibitz.web.rating_chart import rating_options
from tests.browser import browsers
from tests.lengths import first_always
from tests.web import SLOW, Server, new_page, serving

ROOT = Path(kibitz.__file__).parent.parent
PHONE = {"width": 390, "height": 844}

EVIL = "<img src=x onerror=alert(1)>"
LONG = "mcts:sims=400"  # whoever plays with it is still at it when we look


def silent(_: Any) -> None:
    """Hear nothing."""


def order(store: Path, what: str, name: str = "small", **more: Any) -> dict[str, Any]:
    """Write an order for the league of these tests."""
    game = kibitz.game("nim")
    about = {"store": str(store), "name": name, "game": "nim", "settings": dict(game.settings)}
    return {"do": "league", "what": what, **about, **more}


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    """A store with a small league: a file of a model and a function among its members."""
    folder = tmp_path_factory.mktemp("leagues")
    model = folder / "far" / "away" / "model.safetensors"
    model.parent.mkdir(parents=True)
    game = kibitz.game("nim")
    shutil.copy(next(path for path in own_models(game, "") if path.stem == "td"), model)
    store = folder / "leagues.sqlite"
    league = League(game, store, name="small", seed=1)
    league.add("perfect", "take-one", str(model))
    league.add("random", name=EVIL)
    league.add(lambda view: view.legal[0], name="first")
    league.run(games=32, cores=1)
    league.suspend("first", "it took <b>too</b> long")
    return store


@pytest.fixture
def view(played) -> dict[str, Any]:
    return LeagueOrders().answer(order(played, "view"), silent)


# --- what comes from a browser -----------------------------------------------------------------


@pytest.mark.parametrize("games", ["", "many", "0", "-4", str(MOST_GAMES + 1), None, "1e3", "3.5"])
def test_games_are_whole_numbers_within_bounds(games):
    with pytest.raises(KibitzError, match="games"):
        checked_games(games)


def test_games_may_be_written_as_people_do():
    assert [checked_games(games) for games in ("400", "1,000", 400.0, 7)] == [400, 1000, 400, 7]


def test_agents_are_names_of_the_catalogue_and_never_paths(played):
    game = kibitz.game("nim")
    assert checked_agents(game, ["perfect", "mcts:sims=400", "perfect"]) == [
        "perfect", "mcts:sims=400",
    ]  # fmt: skip
    model = played.parent / "far" / "away" / "model.safetensors"
    assert model.is_file()
    for bad in (str(model), "../x", "nobody", 7, None, f"td:model={model}", "a" * 300):
        with pytest.raises(KibitzError):
            checked_agents(game, [bad])
    with pytest.raises(KibitzError, match="At most"):
        checked_agents(game, ["random"] * (MOST_AGENTS + 1))


def test_names_of_leagues_are_short_and_printable():
    assert checked_name("  evening ") == "evening"
    assert checked_name(None) == ""
    for bad in ("x" * 81, "a\nb", "\x00"):
        with pytest.raises(KibitzError, match="name"):
            checked_name(bad)


def test_keys_are_safe_in_addresses_and_differ():
    names = ["nim", "Nim", "nim rows=3,4,5", "../../etc", "名前", "a/b", "a b", "x" * 200]
    keys = [key_of(name) for name in names]
    assert all(re.fullmatch(r"[a-z0-9-]{8,60}", key) for key in keys)
    assert len(set(keys)) == len(keys)


def test_paths_are_shown_as_short_as_tells_them_apart():
    names = ["runs/a/model.csv", "runs/b/model.csv", "/x/best.csv", "perfect", "mcts:sims=9"]
    assert short(names) == dict(
        zip(
            names, ["a/model.csv", "b/model.csv", "best.csv", "perfect", "mcts:sims=9"], strict=True
        )
    )


# --- figures -----------------------------------------------------------------------------------


def test_a_view_shows_the_ladder_of_the_league(played, view):
    league = League(kibitz.game("nim"), played, "small", make=False)
    ladder = league.ladder()
    assert view["games"] == ladder.games
    assert [member["games"] for member in view["members"]] == [
        ladder.rung(member.name).games for member in league.members
    ]
    best = ladder.rungs[0].rating.strength
    assert best is not None
    assert interval_text(best.mean, best.low, best.high) in view["ladder"]
    assert "model.safetensors" in view["ladder"]
    assert str(played.parent) not in json.dumps({**view, "members": []})
    assert EVIL not in json.dumps(view["ladder"] + view["matrix"] + view["samples"])
    assert "it took &lt;b&gt;too&lt;/b&gt; long" in view["ladder"]


def test_figures_are_drawn_again_only_when_something_has_changed(played, view):
    clerk = LeagueOrders()
    known = order(played, "view", known=view["stamp"])
    assert clerk.answer(known, silent) is None
    clerk.answer(order(played, "suspend", member="take-one"), silent)
    assert clerk.answer(known, silent)["stamp"] != view["stamp"]
    clerk.answer(order(played, "readmit", member="take-one"), silent)
    assert clerk.answer(known, silent) is None


def test_every_cell_opens_a_table_or_says_why_not(view, tmp_path):
    leagues = Leagues(tmp_path)
    game = kibitz.game("nim")
    ids = {member["name"]: member["id"] for member in view["members"]}
    for one, first in ids.items():
        for two, second in ids.items():
            pair = f"{first}-{second}"
            if one != two:
                assert f'data-choice="{pair}"' in view["matrix"]
            if {one, two} & {"model.safetensors", "first"}:
                with pytest.raises(KibitzError, match=r"file|Python"):
                    leagues.pair(view, game, pair)
            else:
                assert len(leagues.pair(view, game, pair)) == 2
    assert "which pages do not open" in view["matrix"]
    for bad in ("", "1", "1-2-3", "0-0", "x-y", None, 5, ["1", "2"], "1-" + "9" * 10_000):
        with pytest.raises(KibitzError, match="pair"):
            leagues.pair(view, game, bad)


def test_copies_take_turns_where_there_are_more_seats(tmp_path):
    members = [
        {"id": id, "name": who, "who": who, "why": ""} for id, who in ((1, "double"), (2, "greedy"))
    ]
    game = kibitz.game("mexican_train", players=5)
    assert Leagues(tmp_path).pair({"members": members}, game, "1-2") == [
        "double", "greedy", "double", "greedy", "double",
    ]  # fmt: skip


def test_a_path_that_slipped_into_a_view_is_still_refused(tmp_path):
    members = [{"id": 1, "name": "x", "who": "/etc/passwd", "why": ""}]
    with pytest.raises(KibitzError):
        Leagues(tmp_path).pair({"members": members}, kibitz.game("nim"), "1-1")


def test_a_sample_is_the_record_with_the_members_names(played, view):
    numbers = [int(number) for number in re.findall(r'data-choice="(\d+)"', view["samples"])]
    assert numbers
    names = {member["name"] for member in view["members"]}
    clerk = LeagueOrders()
    for number in numbers:
        text = clerk.answer(order(played, "record", number=number), silent)
        record = Record.from_json(text)
        assert set(record.agents) <= names
        assert record.table().over
    with pytest.raises(KibitzError, match="no longer kept"):
        clerk.answer(order(played, "record", number=10**6), silent)


def test_a_store_that_nobody_made_holds_no_leagues(tmp_path):
    missing = tmp_path / "none.sqlite"
    assert LeagueOrders().answer(order(missing, "list"), silent) == []
    assert not missing.exists()


def test_a_list_says_who_leads(played):
    (listed,) = LeagueOrders().answer(order(played, "list"), silent)
    ladder = League(kibitz.game("nim"), played, "small", make=False).ladder()
    assert (listed["name"], listed["games"], listed["members"]) == ("small", ladder.games, 5)
    assert len(listed["leaders"]) == 3
    best = ladder.rungs[0]
    assert best.rating.strength is not None
    first = listed["leaders"][0]
    assert first["strength"] == pytest.approx(best.rating.strength.mean)
    assert first["plus_minus"] == pytest.approx(best.rating.strength.plus_minus)
    assert not {"first"} & {leader["name"] for leader in listed["leaders"]}  # suspended
    assert str(played.parent) not in json.dumps(listed["leaders"])


def test_a_league_is_not_begun_twice_nor_with_somebody_who_cannot_play(played, tmp_path):
    clerk = LeagueOrders()
    with pytest.raises(KibitzError, match="already"):
        clerk.answer(
            order(played, "begin", agents={"perfect": "perfect", "random": "random"}), silent
        )
    store = tmp_path / "new.sqlite"
    with pytest.raises(KibitzError):
        clerk.answer(
            order(store, "begin", agents={"perfect": "perfect", "nobody": "nobody"}), silent
        )
    assert clerk.answer(order(store, "list"), silent) == []


def test_bands_are_the_intervals_and_names_are_escaped(view):
    history = view["history"]
    line = {
        "name": EVIL,
        "agent": 7,
        "dash": "7 4",
        "rows": [[1, 5.0, 4.0, 7.0], [3, 6.0, None, 8.0]],
    }
    options = rating_options(
        {**history, "rounds": [1, 2, 3], "low": 1.0, "high": 9.0, "lines": [line]}, "rating", 0
    )
    floor, height, course = options["series"]
    assert floor["data"] == [4.0, None, 1.0]  # of what is not known, all of the axis
    assert height["data"] == [3.0, None, 7.0]
    assert course["data"][0]["said"] == "&lt;img src=x onerror=alert(1)&gt; <b>5 (4 to 7)</b>"
    assert course["lineStyle"]["type"] == [7, 4]
    assert {one["name"] for one in options["series"]} == {EVIL}
    drawn = rating_options(history, "rating", 0)
    assert len(drawn["series"]) == 3 * len(history["lines"])


def test_home_hears_who_leads_only_after_enough_games(tmp_path):
    game = kibitz.game("nim")
    leagues = Leagues(tmp_path)
    leagues._listed_at = float("inf")  # nothing is read

    def known(games: int, **more: Any) -> str | None:
        about = {"game": "nim", "version": game.version, "members": 3, "games": 3 * games}
        settings = json.loads(json.dumps(dict(game.settings)))
        leader = {"name": "td", "strength": 1.0, "plus_minus": 1.0, "games": games}
        entry = {"key": "k", "name": "n", "settings": settings, "leaders": [leader], **about}
        leagues._entries = {"k": Entry(**{**entry, **more})}
        return leagues.best_in_league(game)

    assert known(ENOUGH) == "td"
    assert known(ENOUGH - 1) is None
    assert known(ENOUGH, members=1) is None
    assert known(ENOUGH, version=game.version + 1) is None
    assert known(ENOUGH, settings={}) is None


# --- runs --------------------------------------------------------------------------------------


def alive(process: int) -> bool:
    """Tell whether a process is there and does something."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def under(process: int) -> list[int]:
    """List the processes below one."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if parent == process:
            child = int(path.parent.name)
            found += [child, *under(child)]
    return found


@pytest.mark.long
def test_a_run_is_a_process_that_can_be_stopped_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for the processes of runs
    store = tmp_path / "leagues.sqlite"
    game = kibitz.game("nim")

    async def story() -> None:
        leagues = Leagues(tmp_path, str(store))
        try:
            key = await leagues.begin(game, "long", ["perfect", "random", LONG], MOST_GAMES)
            run = leagues.runs[key]
            while not run.done:
                assert not run.over, run.said
                await asyncio.sleep(0.02)
            with pytest.raises(KibitzError, match="already"):
                await leagues.play(key, 10)
            with pytest.raises(KibitzError, match="already"):
                await leagues.begin(game, "long", ["perfect", "random"], 10)
            leagues.runs["others"] = leagues.runs["more"] = Run(1)
            with pytest.raises(KibitzError, match="being played already"):
                await leagues.begin(game, "third", ["perfect", "random"], 10)
            del leagues.runs["others"], leagues.runs["more"]
            await leagues.halt(key)
            assert run.over
            assert run.said.startswith("Stopped")
            before = (await leagues.view(key))["games"]
            assert before > 0
            least = min(member["games"] for member in (await leagues.view(key))["members"])
            again = await leagues.play(key, 30)
            assert again.wanted == least + 30
            await leagues.halt(key)
            page = await leagues.written(key, ".html")
            assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
            assert await leagues.written(key, ".html") == page
        finally:
            await leagues.stop()

    asyncio.run(story())
    League(game, store, "long", make=False).ladder()


# --- in a browser ------------------------------------------------------------------------------


def workbench(folder: Path) -> AbstractContextManager[Server]:
    """Serve the workbench with a store of its own."""
    return serving(folder, "--store", str(folder / "leagues.sqlite"))


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A server and a browser."""
    with browsers() as browser, workbench(tmp_path_factory.mktemp("bench")) as server:
        yield browser, server.url


@pytest.fixture
def page(bench):
    browser, address = bench
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = new_page(context)
    page.set_default_timeout(SLOW)
    page.address = address
    yield page
    context.close()
    assert not page.wrong


@pytest.fixture(scope="module")
def begun(bench) -> str:
    """The address of a league that was begun and played from the page."""
    browser, address = bench
    page = browser.new_context().new_page()
    page.set_default_timeout(SLOW)
    page.goto(f"{address}/league")
    page.get_by_text("No league has been played yet").wait_for()
    choose(page, "game", "TapnSwap")
    choose(page, "agents", "perfect:")
    choose(page, "agents", "tapper:")
    choose(page, "agents", "random:")
    page.locator(".q-chip").nth(2).wait_for()
    games = page.get_by_label("games of each agent")
    games.fill("a lot")
    page.get_by_role("button", name="Begin").click()
    page.get_by_text("as a whole number").wait_for()
    games.fill("40")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/league/tapnswap-*")
    page.get_by_text(re.compile("^Everybody has 40 games")).wait_for()
    page.locator(".matrix td > button").nth(5).wait_for()
    found: str = page.url
    page.close()
    return found


def choose(page: Any, label: str, start: str) -> None:
    """Choose from a list by keyboard, which opens it."""
    page.get_by_label(label, exact=True).first.click()
    page.get_by_role("option").filter(has_text=re.compile(f"^{start}")).first.click()
    page.keyboard.press("Escape")
    page.get_by_role("option").first.wait_for(state="hidden")  # one that is closing hears no click


def test_a_league_is_begun_and_shown(page, begun):
    page.goto(begun)
    rows = page.locator(".ladder tbody tr")
    rows.nth(2).wait_for()
    assert rows.count() >= 3
    assert "perfect" in rows.first.inner_text()
    assert re.search(r"\d+ (± \d+|\(\d+ to \d+\))", rows.first.inner_text())
    assert page.locator(".matrix td > button").count() >= 6
    page.locator(".kb-ratings svg").wait_for()
    page.get_by_role("heading", name="Seats").wait_for()
    page.goto(f"{page.address}/league")
    card = page.locator(".kb-entry")
    card.wait_for()
    assert re.search("[34] agents", card.inner_text())
    assert "perfect" in card.inner_text()


def test_more_games_are_played_and_stopped(page, begun):
    page.goto(begun)
    page.locator(".matrix td > button").first.wait_for()
    shown = re.search(r"([\d,]+) games,", page.locator("body").inner_text())
    games = int(shown[1].replace(",", ""))
    page.get_by_text("Agents who take part").click()
    choose(page, "who shall join", LONG)
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator(".ladder").get_by_text(LONG).wait_for()
    more = page.get_by_label("more games of each")
    more.fill("100000")
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_text("Playing:").wait_for()
    page.get_by_text(re.compile(r"Playing: \d+%")).wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Every match that was finished is kept").wait_for()
    page.wait_for_function(
        "before => Number(document.body.innerText.match(/([\\d,]+) games,/)[1]"
        ".replaceAll(',', '')) > before",
        arg=games,
    )
    assert page.get_by_role("button", name="Play", exact=True).is_visible()


@pytest.mark.long
def test_a_cell_lets_those_two_play(page, begun):
    page.goto(begun)
    page.get_by_label(re.compile(r"^perfect ahead of tapper: .* Watch them play\.$")).click()
    page.wait_for_url("**/table/*")
    seats = page.locator(".kb-seat .name")
    seats.nth(1).wait_for()
    assert seats.all_inner_texts() == ["perfect", "tapper"]
    page.locator(".kb-move").nth(2).wait_for()  # they play by themselves


@pytest.mark.long
def test_the_matrix_by_keyboard(page, begun):
    page.goto(begun)
    cells = page.locator(".matrix td > button")
    cells.nth(5).wait_for()
    assert page.locator(".matrix td > button[tabindex='0']").count() == 1
    cells.first.focus()
    at = "document.activeElement.getAttribute('aria-label').split(':')[0]"
    names = [
        row.split("\t")[0].split()[-1] for row in page.locator(".matrix tbody th").all_inner_texts()
    ]
    first, second, third, *_ = names
    assert page.evaluate(at) == f"{first} ahead of {second}"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(at) == f"{first} ahead of {third}"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(at) == f"{second} ahead of {third}"
    page.keyboard.press("Home")
    assert page.evaluate(at) == f"{second} ahead of {first}"
    page.keyboard.press("ArrowUp")  # nothing to open on the diagonal
    assert page.evaluate(at) == f"{second} ahead of {first}"
    page.keyboard.press("Tab")
    assert not page.evaluate("!!document.activeElement.closest('.matrix')")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(at) == f"{second} ahead of {first}"
    page.keyboard.press("Enter")
    page.wait_for_url("**/table/*")


@pytest.mark.long
def test_a_sample_game_is_laid_on_a_table(page, begun):
    page.goto(begun)
    card = page.locator(".games .card").first
    card.wait_for()
    moves = int(re.search(r"(\d+) moves", card.inner_text())[1])
    card.click()
    page.wait_for_url("**/table/*")
    page.locator(".kb-move").nth(moves - 1).wait_for()
    assert page.locator(".kb-move").count() == moves


@pytest.mark.long
def test_the_report_and_the_exports_can_be_had(page, begun):
    page.goto(begun)
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Report").click()
    opened.value.get_by_role("heading", name="The ladder").wait_for()
    opened.value.locator("[data-film]").first.click()
    opened.value.locator("dialog[open] svg").first.wait_for()
    answer = page.request.get(f"{begun}/games.csv")
    assert answer.ok
    assert answer.text().startswith("round,match,game,deal,seat,agent,points,rank\n")
    assert "attachment" in answer.headers["content-disposition"]
    assert page.request.get(f"{begun}/ladder.json").json()["game"] == "tapnswap"
    for bad in (f"{begun}/secret", f"{page.address}/league/nothing/report"):
        answer = page.request.get(bad)
        assert answer.status == 404
        assert "To the leagues" in answer.text()


def test_who_takes_part_can_be_changed(page, begun):
    page.goto(begun)
    page.get_by_text("Agents who take part").click()
    page.get_by_role("button", name="Suspend random").click()
    page.locator(".ladder .tag", has_text="suspended").wait_for()
    page.get_by_role("button", name="Readmit random").click()
    page.locator(".ladder .tag", has_text="suspended").wait_for(state="detached")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_text("Choose who shall join").wait_for()


def test_what_is_not_there_is_told(page):
    page.goto(f"{page.address}/league/nothing-0000")
    page.get_by_text("There is no such league").wait_for()


BEYOND = """width => [...document.querySelectorAll('body *')].filter(
  one => one.getBoundingClientRect().right > width
    || one.getBoundingClientRect().left + one.scrollWidth > width
  ).map(one => one.outerHTML.slice(0, 90)).slice(-4)"""


@pytest.mark.parametrize("dark", first_always([False, True]))
@pytest.mark.long
def test_on_a_phone_only_the_tables_scroll(bench, begun, dark):
    browser, address = bench
    context = browser.new_context(
        viewport=PHONE, has_touch=True, color_scheme="dark" if dark else "light"
    )
    page = context.new_page()
    page.set_default_timeout(SLOW)
    for where, shown in ((f"{address}/league", ".kb-entry"), (begun, ".matrix td > button")):
        page.goto(where)
        page.locator(shown).first.wait_for()
        if shown == ".kb-entry":
            choose(page, "agents", "greedy:")  # a long line about it
            page.get_by_text("Name, and options of the game").click()
        page.wait_for_timeout(600)  # a menu that closes
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= PHONE["width"], page.evaluate(BEYOND, PHONE["width"])
    box = page.locator(".box", has=page.locator(".ladder"))
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    before = page.locator(".ladder th.who").first.bounding_box()["x"]
    box.evaluate("box => { box.scrollLeft = 200; }")
    after = page.locator(".ladder th.who").first.bounding_box()["x"]
    assert after <= before + 1
    assert after >= box.bounding_box()["x"] - 1  # the names stay
    assert page.locator("body.body--dark").count() == dark
    context.close()


@pytest.mark.long  # a league in processes that end after their server
def test_a_run_ends_with_the_server(bench, tmp_path):
    with workbench(tmp_path) as server:
        page = bench[0].new_page()
        page.set_default_timeout(SLOW)
        page.goto(f"{server.url}/league")
        page.get_by_label("games of each agent").wait_for()
        choose(page, "game", "TapnSwap")
        choose(page, "agents", "perfect:")
        choose(page, "agents", "random:")
        choose(page, "agents", LONG)
        page.get_by_label("games of each agent").fill(str(MOST_GAMES))
        page.get_by_role("button", name="Begin").click()
        page.get_by_text(re.compile(r"Playing: \d+%")).wait_for()
        assert server.process is not None
        below = under(server.process.pid)
        assert below
        server.kill()
        while any(alive(child) for child in below):
            page.wait_for_timeout(50)
        page.close()
    League(kibitz.game("tapnswap"), tmp_path / "leagues.sqlite", make=False).ladder()
