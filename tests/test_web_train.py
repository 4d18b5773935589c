"""Training in the workbench: states, limits, what outlives a killed server, and real pages."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import kibitz
from kibitz.core.errors import KibitzError, Misuse
from kibitz.core.options import Text
from kibitz.core.registry import game_names
from kibitz.learners import learner_names
from kibitz.play.seats import HUMAN
from kibitz.web import runs as runs_module
from kibitz.web.curve import chart, counts_of, figures_of, is_steep, usual
from kibitz.web.hall import Hall
from kibitz.web.plan import Plan, learner_options, learners_for, planned
from kibitz.web.rows import Rows
from kibitz.web.runs import Runs
from kibitz.web.training import Refused, State, Training
from tests.browser import browsers
from tests.web import SLOW, new_page, serving

ANN, EVE = "ann", "eve"
PATIENCE = 120.0  # seconds; a busy machine compiles slowly
TAPNSWAP = kibitz.game("tapnswap")
LONG = {"games": "10000000000", "evaluate_every": "20000"}  # nobody waits for its end


def a_plan(**given: str) -> Plan:
    return planned(TAPNSWAP, "q-learning", {**LONG, **given}, "7")


async def until(true: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "this did not come true"
        await asyncio.sleep(0.02)


async def begun(run: Training) -> None:
    """Wait until a run has learned for a while, as it is now."""
    rows = run.rows.count
    await until(lambda: run.told and run.rows.count > max(rows, 20))


def with_runs(folder: Path, work: Callable[[Runs], Any], **limits: Any) -> None:
    """Do something with runs, and end them afterwards whatever happens."""

    async def all_of_it() -> None:
        runs = Runs(folder, **limits)
        await runs.start()
        try:
            await work(runs)
        finally:
            for run in runs.all():
                await run.kill()
            await runs.close()

    asyncio.run(all_of_it())


# --- states --------------------------------------------------------------------------------------


def test_a_run_is_watched_paused_resumed_stopped_and_resumed(tmp_path):
    async def work(runs: Runs) -> None:
        run = runs.open(a_plan(), ANN)
        assert run.state is State.AT_WORK
        await begun(run)
        assert run.total == 10**10
        assert "agreement" in run.words
        assert run.rows.last["games"] > 1000

        runs.pause(run.id, ANN)
        await until(lambda: run.state is State.PAUSED)
        done = run.done
        await asyncio.sleep(0.5)
        assert run.done == done, "it waits"
        with pytest.raises(Refused, match="paused"):
            runs.pause(run.id, ANN)

        runs.resume(run.id, ANN)
        await until(lambda: run.done > done)
        runs.stop(run.id, ANN)
        await until(lambda: run.state is State.STOPPED)
        assert run.process is None
        assert (run.folder / "training" / "checkpoint.safetensors").is_file()
        with pytest.raises(Refused, match="nothing to stop"):
            runs.stop(run.id, ANN)

        done, rows = run.done, run.rows.count
        runs.resume(run.id, ANN)
        await until(lambda: run.process and run.told and run.done > done)
        assert run.rows.count >= rows, "the curve goes on, too"
        runs.pause(run.id, ANN)
        await until(lambda: run.state is State.PAUSED)
        runs.stop(run.id, ANN)
        await until(lambda: run.state is State.STOPPED)

    with_runs(tmp_path, work)


def test_a_run_that_is_done_says_what_it_found(tmp_path):
    async def work(runs: Runs) -> None:
        run = runs.open(a_plan(games="2000", evaluate_every="500"), ANN)
        await until(lambda: not run.state.is_alive)
        assert run.state is State.DONE, run.reason
        assert "moves right" in run.result["summary"]
        assert run.share == 1.0
        rows = list(csv.DictReader(io.StringIO(runs.curve_of(run.id))))
        assert [float(row["games"]) for row in rows] == [row["games"] for row in run.rows]
        assert runs.pinned(f"run:{run.id}") == f"run:{run.id}@end"
        assert kibitz.agent(runs.model_of(run.id), TAPNSWAP).game == TAPNSWAP
        with pytest.raises(Refused, match="done"):
            runs.resume(run.id, ANN)
        again = kibitz.train("q-learning", TAPNSWAP, seed=7, folder=tmp_path / "by hand",
                             games=2000, evaluate_every=500, plots=False)  # fmt: skip
        assert again.path.read_bytes() == runs.model_of(run.id).read_bytes()

    with_runs(tmp_path, work)


def test_a_run_that_fails_says_why(tmp_path):
    async def work(runs: Runs) -> None:
        run = runs.open(a_plan(epsilon="7"), ANN)
        await until(lambda: run.state is State.FAILED)
        assert "epsilon is a number from 0 to 1" in run.reason
        assert str(tmp_path) not in run.reason
        killed = runs.open(a_plan(), ANN)
        await begun(killed)
        assert killed.process is not None
        os.kill(killed.process.pid, signal.SIGKILL)
        await until(lambda: killed.state is State.FAILED)
        assert "Resume" in killed.reason
        runs.resume(killed.id, ANN)
        await until(lambda: killed.process and killed.told)

    with_runs(tmp_path, work)


def test_what_is_asked_before_the_process_is_there_is_not_forgotten(tmp_path):
    async def work(runs: Runs) -> None:
        stopped, paused, gone = (runs.open(a_plan(), ANN) for _ in range(3))
        runs.stop(stopped.id, ANN)
        runs.pause(paused.id, ANN)
        await runs.delete(gone.id, ANN)
        await until(lambda: stopped.state is State.STOPPED and paused.state is State.PAUSED)
        await until(lambda: gone.process is None)
        assert not gone.folder.exists()

    with_runs(tmp_path, work, most_at_work=3)


# --- limits --------------------------------------------------------------------------------------


def test_only_so_many_are_at_work_and_the_next_begins_when_there_is_room(tmp_path):
    async def work(runs: Runs) -> None:
        first, second, third = (runs.open(a_plan(), ANN) for _ in range(3))
        assert [run.state for run in (first, second, third)] == ["at work", "waiting", "waiting"]
        await begun(first)
        runs.stop(third.id, ANN)
        assert third.state is State.STOPPED, "it had not begun"
        runs.pause(first.id, ANN)
        await until(lambda: first.state is State.PAUSED)
        await until(lambda: second.state is State.AT_WORK and second.told)
        runs.resume(first.id, ANN)
        assert first.state is State.WAITING, "another one is at work"
        await runs.delete(second.id, ANN)
        assert first.state is State.AT_WORK
        done = first.done
        await until(lambda: first.done > done)
        runs.open(a_plan(), ANN)
        with pytest.raises(Refused, match="3 runs already"):
            runs.open(a_plan(), ANN)

    with_runs(tmp_path, work, most_at_work=1, most_kept=3)


def test_paused_runs_are_limited_too(tmp_path, monkeypatch):
    monkeypatch.setattr(runs_module, "MOST_PAUSED", 1)

    async def work(runs: Runs) -> None:
        first, second = (runs.open(a_plan(), ANN) for _ in range(2))
        runs.pause(first.id, ANN)
        with pytest.raises(Refused, match="paused already"):
            runs.pause(second.id, ANN)

    with_runs(tmp_path, work)


def test_strangers_may_look_and_nothing_else(tmp_path):
    async def work(runs: Runs) -> None:
        run = runs.open(a_plan(), ANN)
        assert runs.get(run.id) is run
        for change in (runs.pause, runs.resume, runs.stop):
            with pytest.raises(Refused, match="Only whoever started"):
                change(run.id, EVE)
        with pytest.raises(Refused, match="Only whoever started"):
            await runs.delete(run.id, EVE)
        with pytest.raises(Refused, match="no such run"):
            runs.stop("../../etc", ANN)
        await runs.delete(run.id, ANN)
        assert not run.folder.exists()
        assert runs.all() == []

    with_runs(tmp_path, work, private=False)


def test_very_many_rows_are_thinned_evenly():
    rows = Rows(most=100)
    for number in range(10_000):
        rows.add(number, {"at": number})
    kept = [row["at"] for row in rows]
    assert len(kept) <= 101
    assert kept[:5] == [0, 1, 2, 3, 4], "where most happens"
    assert kept[-1] == 9999
    assert len({b - a for a, b in pairwise(kept[5:-1])}) == 1
    assert rows.count == 10_000
    assert not rows.are_all
    again = Rows(most=100)
    for number, row in rows.numbered():
        again.add(number, row)
    assert list(again)[-1] == {"at": 9999}
    again.add(0, {"at": 0})
    assert list(again) == [{"at": 0}], "a run that is resumed tells all again"


# --- the server ends -----------------------------------------------------------------------------

SERVER = """
import asyncio, sys
from pathlib import Path
from kibitz.core.registry import find_game
from kibitz.web.plan import planned
from kibitz.web.runs import Runs

async def main():
    runs = Runs(Path(sys.argv[1]))
    await runs.start()
    given = {"games": "10000000000", "evaluate_every": "20000"}
    run = runs.open(planned(find_game("tapnswap"), "q-learning", given, "7"), "ann")
    while run.done < 100_000:
        await asyncio.sleep(0.02)
    if sys.argv[2] == "pause":
        runs.pause(run.id, "ann")
        while run.state != "paused":
            await asyncio.sleep(0.02)
    print(run.process.pid, run.done, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("state", ["at work", "pause"])
def test_a_killed_server_leaves_a_run_that_can_be_resumed(tmp_path, state):
    command = [sys.executable, "-c", SERVER, str(tmp_path), state]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        pid, done = map(int, server.stdout.readline().split())
        server.kill()

    async def work(runs: Runs) -> None:
        [run] = runs.all()
        assert run.state is State.STOPPED
        assert "server ended" in run.reason
        runs.resume(run.id, ANN)  # waits for what is left of the old process
        await until(lambda: run.told and run.done >= done)
        assert run.rows.count > 5
        await until(lambda: not Path(f"/proc/{pid}").exists() or _is_dead(pid))

    with_runs(tmp_path, work)


def _is_dead(pid: int) -> bool:
    """Tell whether a process has ended, though nobody has asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_an_orderly_end_stops_all_runs_and_damaged_ones_are_passed_over(tmp_path):
    async def work() -> tuple[str, int]:
        runs = Runs(tmp_path, most_at_work=1)
        await runs.start()
        run, waiting = runs.open(a_plan(), ANN), runs.open(a_plan(), ANN)
        await begun(run)
        await runs.close()
        assert run.state is State.STOPPED
        assert waiting.state is State.STOPPED
        return run.id, run.done

    id, done = asyncio.run(work())
    damaged = tmp_path / "runs" / "damaged-1"
    damaged.mkdir()
    (damaged / "plan.json").write_text('{"game": "nim"')
    again = Runs(tmp_path)
    assert {run.state for run in again.all()} == {State.STOPPED}
    assert len(again.all()) == 2
    run = again.get(id)
    assert run.done == done
    assert len(run.rows) > 5
    assert run.plan == a_plan()


# --- what comes from a browser -------------------------------------------------------------------

PATHS = ("/etc/passwd", "../model.safetensors", "~/x", "a\\b", "x/y.csv")
NAMES = ("model.safetensors", "table.csv", "run:nobody", "run:../../x", "q-table:model=/etc/x",
         "mcts:model=x.safetensors", "kibitz", "self+/etc/passwd")  # fmt: skip


@pytest.mark.long
def test_no_setting_takes_a_path(tmp_path):
    runs = Runs(tmp_path)
    hall_checks = Hall(tmp_path).checked
    for learner in learner_names():
        name = learner.replace("_", "-")
        game = next(
            kibitz.game(one) for one in game_names()
            if all(who.name != name or not who.unfit for who in learners_for(kibitz.game(one)))
        )  # fmt: skip
        for option in learner_options(name):
            if not isinstance(option, Text):
                continue
            for path in (*PATHS, *(NAMES if option.names else ())):
                with pytest.raises(KibitzError):
                    planned(game, name, {option.name: path}, "1", "", hall_checks)
            with pytest.raises(KibitzError, match="too long"):
                planned(game, name, {option.name: "a" * 201}, "1", "", hall_checks)
        assert planned(game, name, {}, "1", "", hall_checks).seed == 1
    assert runs.all() == []


def test_forged_forms_are_refused():
    plan = a_plan()
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    for learner in ("os", "../q_learning", None, 3, "classifier", ["q-learning"]):
        with pytest.raises(KibitzError):
            planned(TAPNSWAP, learner, {})
    for given in ({"folder": "/tmp"}, {"games": "0"}, {"games": "1e9"}, {"gamma": "nan"},
                  {"look_ahead": "eval"}, {"games": "9" * 5000}, {"fold": "perhaps"}):  # fmt: skip
        with pytest.raises(KibitzError):
            planned(TAPNSWAP, "q-learning", given)
    for seed in ("-1", "x", 5, "9" * 30, "٣"):
        with pytest.raises(KibitzError):
            planned(TAPNSWAP, "q-learning", {}, seed)
    for preset in ("nobody", 3, None):
        with pytest.raises(KibitzError):
            planned(TAPNSWAP, "q-learning", {}, "", preset)
    assert planned(TAPNSWAP, "q-learning", {}, "", "seed").settings["rate"] == "1/visits"


def test_a_plan_says_the_command_that_does_the_same():
    plan = planned(
        kibitz.game("nim", rows="3,4,5"), "q-learning", {"opponents": "self+random"}, "3"
    )
    assert plan.command() == (
        "kibitz train nim --set rows=3,4,5 q-learning --seed 3 --opponents self+random"
    )


# --- the agents of runs --------------------------------------------------------------------------


def test_an_agent_that_learns_plays_a_game_as_it_was_at_its_beginning(tmp_path):
    async def work() -> None:
        hall = Hall(tmp_path)
        runs = hall.runs
        await runs.start()
        try:
            run = runs.open(a_plan(), ANN)
            name = f"run:{run.id}"
            await begun(run)
            who = await runs.snapshot(run.id)
            assert re.fullmatch(rf"{name}@\d+", who)
            assert name in [offer.who for offer in hall.offers(TAPNSWAP)]
            assert hall.checked(TAPNSWAP, name) == name
            assert [o for o in hall.offers(kibitz.game("nim")) if o.who == name] == []

            sitting = hall.open(TAPNSWAP, [HUMAN, name], ANN, seed=1, sit_at=[0], pace="at once")
            pinned = sitting.seats[1].who
            before = runs.path_of(pinned).read_bytes()
            later = await runs.snapshot(run.id)
            assert later not in (who, pinned), "it has learned on"
            assert runs.path_of(pinned).read_bytes() == before
            sitting.play(ANN, sitting.table.legal[0], 0)
            await until(lambda: len(sitting.told) == 2 or sitting.trouble)
            assert not sitting.trouble
            said = await hall.explain("key", sitting.table, name)
            assert "Its table holds" in said["reason"]

            await runs.delete(run.id, ANN)
            sitting.play(ANN, sitting.table.legal[0], 2)
            await until(lambda: sitting.trouble)
            assert "no such run" in sitting.trouble
            assert str(tmp_path) not in sitting.trouble
        finally:
            for run in runs.all():
                await run.kill()
            await hall.stop()

    asyncio.run(work())


def test_names_of_runs_are_checked(tmp_path):
    async def work(runs: Runs) -> None:
        run = runs.open(a_plan(), ANN)
        with pytest.raises(Refused, match="yet"):
            runs.pinned(f"run:{run.id}")
        await begun(run)
        await runs.snapshot(run.id)
        for name in ("run:", "run:..", "run:../x", f"run:{run.id}@../x", f"run:{run.id}@1/2",
                     f"run:{run.id}@end", "run:q-learning-000000",
                     f"run:{run.id}@5\n"):  # fmt: skip
            with pytest.raises(KibitzError):
                runs.checked(TAPNSWAP, name)
        with pytest.raises(Misuse, match="has learned tapnswap"):
            runs.checked(kibitz.game("nim"), f"run:{run.id}")

    with_runs(tmp_path, work)


def test_a_run_learns_from_another_one_and_goes_on_without_it(tmp_path):
    async def work(runs: Runs) -> None:
        first = runs.open(a_plan(), ANN)
        await begun(first)
        name = (await runs.snapshot(first.id)).partition("@")[0]
        given = {**LONG, "opponents": f"{name}+self", "begin_with": name}
        second = runs.open(planned(TAPNSWAP, "q-learning", given, "8", "", runs.checked), ANN)
        assert re.fullmatch(rf"{name}@\d+", second.plan.settings["begin_with"])
        await begun(second)
        runs.stop(second.id, ANN)
        await until(lambda: second.state is State.STOPPED)
        await runs.delete(first.id, ANN)
        done = second.done
        runs.resume(second.id, ANN)
        await until(lambda: second.state is State.FAILED or (second.told and second.done > done))
        assert second.state is State.AT_WORK, second.reason

    with_runs(tmp_path, work)


# --- the curve -----------------------------------------------------------------------------------


def test_a_chart_shows_what_tells_most_with_intervals():
    rows = [
        {"update": n, "decisions": 100 * n, "seconds": n / 3, "loss": 2.0 - n / 10,
         "share_random": n / 10, "share_spread_random": 0.05, "name": "a"}
        for n in range(10)
    ]  # fmt: skip
    assert counts_of(rows) == ["update", "decisions", "seconds"]
    assert figures_of(rows) == ["share_random", "loss"]
    assert usual(figures_of(rows)) == ["share_random"]
    made = chart(rows, "decisions", ["share_random", "loss"])
    assert [axis["name"] for axis in made["yAxis"]] == ["share", "loss"]
    assert len(made["series"]) == 4, "two lines, and a band of two parts"
    assert made["series"][1]["data"][5] == [500, pytest.approx(0.45)]
    assert is_steep(rows, "decisions") is False
    assert chart(rows, "update", ["loss"], log=True)["series"][0]["data"][0] == [1, 1.9]
    assert chart([], "", [])["series"] == []
    bad = [
        {"games": 1, "score": None},
        {"games": 2, "score": float("nan")},
        {"games": 3, "score": 1},
    ]
    assert [point[1] for point in chart(bad, "games", ["score"])["series"][0]["data"]] == [
        None, None, 1,
    ]  # fmt: skip


# --- in a browser --------------------------------------------------------------------------------

DONE = "() => Number(document.querySelector('.kb-far').innerText.replace(/,/g, '').split(' ')[0])"

DRAWN = "() => document.querySelector('.kb-curve path[stroke=\"#009E73\"]')?.getAttribute('d')"


def state(page: Any, name: str) -> None:
    page.wait_for_selector(f".kb-state:has-text('{name}')", timeout=SLOW)


@pytest.mark.long
def test_a_run_from_the_form_to_a_game_against_it(tmp_path):
    with browsers() as browser, serving(tmp_path) as server:
        page = new_page(browser.new_context(viewport={"width": 1280, "height": 800}))
        page.goto(f"{server.url}/train")
        page.wait_for_selector("text=Nothing is being trained yet")
        page.click("a:has-text('q-learning on TapnSwap')")
        page.wait_for_selector("summary:has-text('others do not fit')")
        page.click("summary:has-text('others do not fit')")
        page.wait_for_selector("li:has-text('no language')")
        page.fill("input[aria-label='games']", "-3")
        page.click("button:has-text('Start')")
        page.wait_for_selector("text=a whole number from 1")
        page.fill("input[aria-label='games']", LONG["games"])
        page.click("summary:has-text('More settings')")
        page.fill("input[aria-label='evaluate_every']", LONG["evaluate_every"])
        page.click("button:has-text('Start')")
        page.wait_for_url("**/train/q-learning-*")
        address, id = page.url, page.url.rpartition("/")[2]

        # It is watched: the figures and the curve grow.
        page.wait_for_function(DRAWN, timeout=SLOW)
        first, drawn = page.evaluate(DONE), page.evaluate(DRAWN)
        page.wait_for_function(f"first => ({DONE})() > first", arg=first)
        page.wait_for_function(f"drawn => ({DRAWN})() !== drawn", arg=drawn)
        page.click("button.kb-figure:has-text('agreement')")
        page.wait_for_selector("button.kb-figure[aria-pressed=false]:has-text('agreement')")

        # Paused, and the page loaded anew in the middle.
        page.click("button:has-text('Pause')")
        state(page, "paused")
        page.reload()
        state(page, "paused")
        stood = page.evaluate(DONE)
        page.click("button:has-text('Resume')")
        state(page, "at work")
        page.wait_for_function(f"stood => ({DONE})() > stood", arg=stood)

        # A game against it while it learns.
        page.click("button:has-text('Play against it')")
        page.wait_for_url("**/table/*", timeout=SLOW)
        page.wait_for_selector(".kb-now.kb-live [data-action]", timeout=SLOW)
        page.wait_for_selector(f"text=run:{id}@")
        page.locator(".kb-now [data-action]").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_function(
            "() => Number(document.querySelector('.kb-count').innerText.split('/')[1]) >= 2",
            timeout=SLOW,
        )

        # Its files, by its name alone.
        with urllib.request.urlopen(f"{address}/curve") as answer:
            assert answer.read().startswith(b"games,first_against_random")
        with urllib.request.urlopen(f"{address}/model") as answer:
            assert b'"kibitz model"' in answer.read()
        for wrong in ("nobody/model", "..%2f..%2fsecret/model", f"{id}%2f..%2f{id}/curve"):
            with pytest.raises(urllib.error.HTTPError) as error:
                urllib.request.urlopen(f"{server.url}/train/{wrong}")
            assert error.value.code == 404

        page.goto(address)
        page.click("button:has-text('Stop')")
        state(page, "stopped")
        assert page.wrong == []

        # The server is killed while it is at work: the run is there, and goes on.
        page.click("button:has-text('Resume')")
        state(page, "at work")
        page.wait_for_function(f"first => ({DONE})() > first", arg=first)
        server.kill()
        server.start()
        phone = new_page(browser.new_context(viewport={"width": 390, "height": 844}))
        phone.goto(f"{server.url}/train")
        phone.wait_for_selector(f".kb-run:has-text('{id}'):has-text('stopped')")
        phone.click(f".kb-run:has-text('{id}') a")
        phone.wait_for_selector("text=The server ended.")
        phone.click("button:has-text('Resume')")
        state(phone, "at work")
        phone.wait_for_function(DRAWN)
        for path in ("/train", "/train/new", f"/train/{id}"):
            phone.goto(f"{server.url}{path}")
            phone.wait_for_selector("h1")
            wide = phone.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, f"{path} is wider than a phone"
        phone.wait_for_selector("button:has-text('Delete')")
        phone.click("button:has-text('Delete')")
        phone.click("button:has-text('Delete it')")
        phone.wait_for_selector("text=Nothing is being trained yet")
        assert phone.wrong == []


@pytest.mark.long
def test_q_optimizer_is_started_as_the_form_stands(tmp_path):
    with browsers() as browser, serving(tmp_path) as server:
        page = new_page(browser.new_context())
        page.goto(f"{server.url}/train/new?game=tapnswap&learner=q-optimizer")
        page.wait_for_selector("input[aria-label='epsilons']")
        labels = [one for one in page.locator("label:not(.q-field)").all_inner_texts() if one]
        assert {"preset", "epsilons", "base"} <= set(labels)
        assert len(set(labels)) == len(labels), "no two fields have the same name"
        page.click("button:has-text('Start')")
        page.wait_for_url("**/train/q-optimizer-*")
        page.wait_for_function(f"({DONE})() > 0", timeout=SLOW)
        assert not page.query_selector(".kb-state.bad")
        page.click("button:has-text('Stop')")


def test_runs_of_q_optimizer_from_before_its_setting_was_renamed_load():
    plan = planned(TAPNSWAP, "q-optimizer", {"base": "default"}, "8")
    content = plan.to_dict()
    content["settings"]["preset"] = content["settings"].pop("base")
    assert Plan.from_dict(content) == plan


@pytest.mark.long
def test_the_form_lists_what_a_learner_can_be_paid_for(tmp_path):
    with browsers() as browser, serving(tmp_path) as server:
        page = new_page(browser.new_context(viewport={"width": 1280, "height": 800}))
        page.goto(f"{server.url}/train/new?game=hanabi&learner=classifier")
        page.wait_for_selector("summary:has-text('For population')", timeout=SLOW)
        shown = page.inner_html("body")
        for name in ("loses-critical", "tells-nothing", "patterns"):
            assert name in shown
        assert page.locator("[aria-label='begin_with']").count() > 0


@pytest.mark.long
def test_a_curve_has_a_point_at_every_update(tmp_path):
    """Losses are known at every update, strength only where a run evaluates itself."""
    given = {"decisions": "3000000", "evaluate_every": "20", "evaluate_games": "50"}

    def known(run: Training) -> dict[str, list[int]]:
        names = ("value_loss", "share_random")
        return {name: [row["update"] for row in run.rows if name in row] for name in names}

    async def work(runs: Runs) -> None:
        run = runs.open(planned(kibitz.game("nim"), "td-lambda", given, "3"), ANN)
        await until(lambda: run.state is State.FAILED or run.rows.last.get("update", 0) >= 3)
        assert run.state is State.AT_WORK, run.reason
        runs.stop(run.id, ANN)
        await until(lambda: run.state is State.STOPPED)
        at = known(run)["value_loss"][-1]
        runs.resume(run.id, ANN)
        await until(lambda: run.state is State.FAILED or run.rows.last.get("update", 0) > at + 2)
        points = known(run)
        last = points["value_loss"][-1]
        assert points["value_loss"] == list(range(1, last + 1)), "before and after the stop"
        assert points["share_random"][0] == 0, "nothing is said of losses before the first update"
        assert len(points["share_random"]) < last
        rows = list(run.rows)
        assert {"share_random", "value_loss"} <= set(figures_of(rows))
        drawn = chart(rows, "update", ["value_loss"])["series"][0]["data"]
        assert [x for x, y in drawn if y is not None] == points["value_loss"]
        runs.stop(run.id, ANN)

    with_runs(tmp_path, work)


@pytest.mark.long
def test_losses_are_drawn_from_the_first_updates_on(tmp_path):
    with browsers() as browser, serving(tmp_path) as server:
        page = new_page(browser.new_context(viewport={"width": 1280, "height": 800}))
        page.goto(f"{server.url}/train/new?game=nim&learner=td-lambda")
        page.wait_for_selector("input[aria-label='decisions']")
        page.fill("input[aria-label='decisions']", "3000000")
        page.click("button:has-text('Start')")
        page.wait_for_url("**/train/td-lambda-*")
        page.wait_for_function(f"({DONE})() >= 6", timeout=SLOW)
        chip = page.locator(".kb-figure:has-text('value loss')")
        chip.click()
        page.wait_for_selector(".kb-figure.on:has-text('value loss')")
        assert chip.inner_text().split()[-1] != "0"
        colour = chip.locator("i").evaluate("one => getComputedStyle(one).backgroundColor")
        page.wait_for_function(
            """colour => [...document.querySelectorAll('.kb-curve path')].some((path) =>
              getComputedStyle(path).stroke === colour && path.getTotalLength() > 0
              && (path.getAttribute('d').match(/[LC]/g) || []).length >= 4)""",
            arg=colour, timeout=SLOW,
        )  # fmt: skip
        page.click("button:has-text('Stop')")
