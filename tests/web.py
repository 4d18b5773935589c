"""The workbench under test: a server of its own, and ways to use its pages as a person does."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kibitz.web.server import secret_of
from kibitz.web.sitting import Sitting

START = 120  # seconds; a busy machine imports slowly
SLOW = 120_000  # milliseconds: two busy cores, on which agents are still being compiled

# Where a click hits an element with data-action and not something that lies over it.
POINT = """(group) => {
  for (const part of [group, ...group.querySelectorAll('*')]) {
    const box = part.getBoundingClientRect();
    for (const across of [.5, .2, .8]) for (const down of [.5, .2, .8]) {
      const x = box.left + box.width * across, y = box.top + box.height * down;
      const hit = document.elementFromPoint(x, y);
      if (hit && hit.closest('[data-action]') === group) return [x, y];
    }
  }
  return null;
}"""
MY_TURN = "() => document.querySelector('.kb-now.kb-live [data-action]')"
OVER = """() => [...document.querySelectorAll('.kb-status button')]
  .some((one) => one.innerText === 'New game')"""


class Server:
    """A workbench in a process of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.arguments = arguments
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.log = folder / "server.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [
            sys.executable, "-c", "from kibitz.cli import main; main()", "serve", "--no-show",
            "--port", str(self.port), "--folder", str(self.folder), *self.arguments,
        ]  # fmt: skip
        with open(self.log, "ab") as log:
            # What serves people must not know that it is tested.
            known = {name: of for name, of in os.environ.items() if not name.startswith("PYTEST")}
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=known)
        end = time.monotonic() + START
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log.read_text()
            try:
                urllib.request.urlopen(f"{self.url}/kibitz/style.css", timeout=5).close()
                return
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                time.sleep(0.1)
        raise AssertionError(f"The server did not start: {self.log.read_text()}")

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """End it as Ctrl-C does."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Server]:
    """Start a server, and end it with the block."""
    folder.mkdir(parents=True, exist_ok=True)
    server = Server(folder, *arguments)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def free_port() -> int:
    """Find a port on which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def lay(folder: Path, sitting: Sitting) -> None:
    """Put a table into the folder of a server that has not started yet."""
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    (tables / f"{sitting.id}.json").write_text(sitting.to_json(), encoding="utf-8")


def cookie_of(server: Server, person: str) -> dict[str, str]:
    """Give the cookie by which a server knows a person, signed as it would sign it."""
    import itsdangerous

    data = base64.b64encode(json.dumps({"id": person}).encode())
    signed = itsdangerous.TimestampSigner(secret_of(server.folder)).sign(data).decode()
    return {"name": "session", "value": signed, "url": server.url}


def contrast(one: str, other: str) -> float:
    """Give the contrast of two colours as the guidelines for web content reckon it."""

    def light(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


# --- as a person does ----------------------------------------------------------------------------


def new_page(context: Any) -> Any:
    """Open a page that remembers what went wrong in it, in `page.wrong`."""
    page = context.new_page()
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("console", lambda said: page.wrong.append(said.text) if said.type == "error" else None)
    page.set_default_timeout(SLOW)
    return page


def open_table(
    page: Any,
    url: str,
    game: str,
    seats: dict[int, str] | None = None,
    called: str = "",
    **options: str,
) -> str:
    """Set up a table by its form, sit down, and let agents move at once; give its address."""
    page.goto(f"{url}/new/{game}")
    page.wait_for_selector("text=Start", timeout=SLOW)
    page.wait_for_selector("text=Player 1")
    if options:
        page.click("summary:has-text('Options of the game')")
    for name, value in options.items():
        field = page.locator(f"[aria-label='{name}']").first
        if field.evaluate("one => one.tagName") == "INPUT":
            field.fill(value)
            field.press("Tab")
        else:
            field.click()
            exactly = re.compile(f"^{re.escape(value)}$")
            page.locator(".q-menu .q-item").filter(has_text=exactly).click()
            page.wait_for_selector(".q-menu", state="hidden")
    for seat, who in (seats or {}).items():
        sit(page, seat, who)
    if called:
        page.fill("input[aria-label^='Your name']", called)
    page.click("button:has-text('Start')")
    page.wait_for_url("**/table/*")
    page.wait_for_selector(".kb-now svg, .kb-curtain h2", timeout=SLOW)
    return page.url


def sit(page: Any, seat: int, who: str) -> None:
    """Choose who sits at a seat, counted from 0, in the form."""
    field = page.locator(f"input[aria-label='Player {seat + 1}']")
    field.click()
    field.fill(who)
    page.locator(".q-menu .q-item").filter(has_text=who).first.click()
    page.wait_for_selector(".q-menu", state="hidden")


def at_once(page: Any) -> None:
    """Let agents move without a pause."""
    page.click(".kb-tabs >> text=Table")
    page.locator("[aria-label='pace of agents']").first.click()
    page.click(".q-menu .q-item:has-text('at once')")
    page.click(".kb-tabs >> text=Moves")


def press(page: Any, group: Any) -> None:
    """Click an action on the board with the mouse; a tile that is held is laid."""
    group.scroll_into_view_if_needed()
    at = group.evaluate(POINT)
    assert at, f"nothing to hit: {group.evaluate('one => one.outerHTML')[:200]}"
    page.mouse.click(*at)
    lay = page.query_selector(".kb-lay")
    if lay:
        lay.click()


def plies_of(page: Any) -> int:
    """Read how many moves were played."""
    return int(page.inner_text(".kb-count").split("/")[1])


def play_on(page: Any, place: int = 0) -> bool:
    """Wait for one's turn and click some action; False when the game is over."""
    page.wait_for_function(f"() => ({MY_TURN})() || ({OVER})()", timeout=SLOW)
    if page.evaluate(OVER):
        return False
    before = page.inner_text(".kb-count")
    groups = page.query_selector_all(".kb-now [data-action]")
    press(page, groups[place % len(groups)])
    page.wait_for_function(
        "before => document.querySelector('.kb-count').innerText !== before", arg=before,
        timeout=SLOW,
    )  # fmt: skip
    return True
