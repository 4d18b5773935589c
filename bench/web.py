"""Fifty tables at once: from the click to the new board, in a real browser beside the server.

Every table has a page of its own in headless Chromium on the same machine, and a player who clicks
after a moment's thought, against cheap agents who answer at once. Needs Chromium.
"""

from __future__ import annotations

import tempfile
import time
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
            browser = playwright.chromium.launch(executable_path=chromium(), args=SWITCHES + AWAKE)
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            context.add_cookies([cookie_of(server, PERSON)])
            pages = []
            for name, id in tables:
                page = context.new_page()
                page.set_default_timeout(300_000)
                page.goto(f"{server.url}/table/{id}")
                page.wait_for_selector(".kb-now.kb-live [data-action]")
                pages.append((name, page))
            for _, page in pages:
                page.evaluate(PLAYER, list(THOUGHT))
            time.sleep(SECONDS)
            spans = [(name, page.evaluate("() => window.spans") or []) for name, page in pages]
            browser.close()
    return judged(spans)


def judged(spans: list[tuple[str, list[float]]]) -> list[Row]:
    """Make rows of what was measured."""
    every = np.array([span for _, some in spans for span in some])
    rows = [
        Row(
            what=f"workbench, {TABLES} tables at once, from click to board",
            figure=f"{np.median(every):.0f} ms",
            spread=f"95% within {np.percentile(every, 95):.0f} ms",
            compared=f"{len(every):,} clicks in {SECONDS} s, browser and server on the same "
            f"cores; at most {MOST:.0f} ms",
        )
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
