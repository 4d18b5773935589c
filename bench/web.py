"""Fifty tables at once: from the click to the new board.

One table is played in headless Chromium, where the time until the board has changed is measured in
the page; the others by players without a screen (web_players.py), who load the same pages and use
the same socket. All click after a moment's thought, against cheap agents who answer at once. The
browser and the players run beside the server on the same cores. Needs Chromium.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import kibitz
from bench.report import FellShort, Row
from kibitz.play.seats import HUMAN
from kibitz.web.sitting import Seat, Sitting
from tests.browser import SWITCHES, chromium
from tests.web import cookie_of, lay, serving

TABLES = 50
SECONDS = 60
THOUGHT = (1.0, 4.0)  # seconds between a player's clicks
MOST = 150.0  # milliseconds, the median
PERSON = "bench"
RIVALS = {"carcassonne": "greedy", "hanabi": "iggi", "mexican_train": "greedy"}  # else random
AWAKE = [
    "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
]  # fmt: skip
# Clicks now and then, and notes how long it took until the board had changed.
PLAYER = """([least, most]) => {
  window.spans = [];
  const board = document.querySelector('.kb-now');
  let clicked = 0;
  new MutationObserver(() => {
    if (clicked) { window.spans.push(performance.now() - clicked); clicked = 0; }
  }).observe(board, {childList: true});
  const press = (one) => one.dispatchEvent(new MouseEvent('click', {bubbles: true}));
  const play = () => {
    const able = board.classList.contains('kb-live') && !clicked;
    const choices = able ? [...board.querySelectorAll('[data-action]')] : [];
    if (choices.length) {
      const one = choices[Math.floor(Math.random() * choices.length)];
      const cell = one.closest('.cell[data-place]');
      if (cell) press(one);
      setTimeout(() => {
        clicked = performance.now();
        press(cell ? document.querySelector('.kb-lay') || one : one);
      }, cell ? 100 : 0);
    }
    setTimeout(play, 1000 * (least + (most - least) * Math.random()));
  };
  setTimeout(play, 1000 * most * Math.random());
}"""


def lay_tables(folder: Path) -> list[tuple[str, str]]:
    """Lay tables for one person, of every game alike; give the game and the name of each."""
    names = kibitz.game_names()
    laid = []
    for place in range(TABLES):
        name = names[place % len(names)]
        game = kibitz.game(name)
        who = [HUMAN, *[RIVALS.get(name, "random")] * (game.players - 1)]
        sitting = Sitting(f"table-{place:06}", game.deal(place), [Seat(one) for one in who],
                          host=PERSON, pace="at once")  # fmt: skip
        sitting.take(PERSON, 0)
        lay(folder, sitting)
        laid.append((name, sitting.id))
    return laid


def run() -> list[Row]:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        tables = lay_tables(folder)
        with serving(folder) as server, sync_playwright() as playwright:
            cookie = cookie_of(server, PERSON)
            browser = playwright.chromium.launch(executable_path=chromium(), args=SWITCHES + AWAKE)
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            context.add_cookies([cookie])
            page = context.new_page()
            page.set_default_timeout(400_000)
            seen, *others = tables
            page.goto(f"{server.url}/table/{seen[1]}")
            page.wait_for_selector(".kb-now.kb-live [data-action]")
            command = [sys.executable, "-m", "bench.web_players", server.url, cookie["value"],
                       str(SECONDS), *(id for _, id in others)]  # fmt: skip
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as players:
                assert players.stdout is not None
                assert players.stdout.readline() == "ready\n"
                page.evaluate(PLAYER, list(THOUGHT))
                measured = json.loads(players.stdout.readline())
            in_browser = page.evaluate("() => window.spans") or []
            browser.close()
    return judged([(name, measured[id]) for name, id in others], in_browser)


def judged(spans: list[tuple[str, list[float]]], in_browser: list[float]) -> list[Row]:
    """Make rows of what was measured."""
    every = np.array([span for _, some in spans for span in some])
    rows = [
        Row(
            what=f"workbench, {TABLES} tables at once, from click to board",
            figure=f"{np.median(every):.0f} ms",
            spread=f"95% within {np.percentile(every, 95):.0f} ms",
            compared=f"{len(every):,} clicks in {SECONDS} s; at most {MOST:.0f} ms",
        ),
        Row(
            what=f"the same in Chromium, beside the other {TABLES - 1}",
            figure=f"{np.median(in_browser):.0f} ms",
            spread=f"95% within {np.percentile(in_browser, 95):.0f} ms",
            compared=f"{len(in_browser)} clicks; drawn on the same cores, without a GPU",
        ),
    ]
    for game in dict.fromkeys(name for name, _ in spans):
        own = np.array([span for name, some in spans if name == game for span in some])
        rows.append(
            Row(
                what=f"of these {game}", figure=f"{np.median(own):.0f} ms",
                spread=f"95% within {np.percentile(own, 95):.0f} ms",
                compared=f"{len(own):,} clicks",
            )
        )  # fmt: skip
    if np.median(every) > MOST:
        raise FellShort(rows, [f"click to board {np.median(every):.0f} ms, not {MOST:.0f}"])
    return rows
