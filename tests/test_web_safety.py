"""What a browser may send: forged moves, foreign tables, broken and huge messages."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

import kibitz
from kibitz.web.server import LARGEST_BODY
from tests.browser import browsers
from tests.web import (
    MY_TURN,
    SLOW,
    Server,
    at_once,
    new_page,
    open_table,
    play_on,
    plies_of,
    serving,
)

# Sends an event of the board as a browser would, with whatever arguments.
FORGE = """args => {
  const [id, board] = Object.entries(mounted_app.elements)
    .find(([_, one]) => one.props && 'plies' in one.props);
  const listener = board.events.find((one) => one.type === 'act').listener_id;
  window.socket.emit('event', {
    id: Number(id), client_id: window.clientId, listener_id: listener,
    args: args.map((one) => JSON.stringify(one)),
  });
}"""
# The same through any element of the page, with any listener.
SHAKE = """value => {
  for (const [id, one] of Object.entries(mounted_app.elements)) {
    for (const event of one.events || []) {
      if (['click', 'keydown', 'keyup', 'key'].includes(event.type)) continue;
      window.socket.emit('event', {
        id: Number(id), client_id: window.clientId, listener_id: event.listener_id,
        args: [JSON.stringify(value)],
      });
    }
  }
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsers() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("safe")) as server:
        yield server
        # Whatever was sent, nothing went wrong in our own house that nobody had reckoned with.
        faults = server.log.read_text().split("Traceback")[1:]
        assert [fault for fault in faults if "kibitz/web" in fault] == []


@pytest.fixture(scope="module")
def quiet_table(browser: Any, server: Server) -> Iterator[Any]:
    """A table that somebody plays at while others misbehave."""
    context = browser.new_context()
    page = new_page(context)
    open_table(page, server.url, "tapnswap", {1: "random"})
    at_once(page)
    play_on(page)
    page.wait_for_function(MY_TURN, timeout=SLOW)
    yield page
    context.close()


def still_well(page: Any) -> None:
    """Somebody who plays elsewhere notices nothing, and can go on."""
    before = plies_of(page)
    page.click("button:has-text('Undo')")
    page.wait_for_function(
        "plies => Number(document.querySelector('.kb-count').innerText.split('/')[1]) < plies",
        arg=before,
    )
    play_on(page)
    page.wait_for_function(MY_TURN, timeout=SLOW)
    assert plies_of(page) == before


FORGED = [
    [{"action": 99999, "plies": 0}], [{"action": -1, "plies": 0}], [{"action": "0", "plies": 0}],
    [{"action": None, "plies": None}], [{"action": [1], "plies": {}}], [{"action": 1e300}],
    [{"action": True, "plies": 0}], [{}], ["act"], [None], [], [[]], [{"action": 0, "plies": 77}],
    [{"action": {"__proto__": {}}, "plies": 0}], [{"action": "take " * 10_000}], [1, 2, 3],
    [{"action": 2**70, "plies": 0}], [{"action": 0, "plies": "0"}],
]  # fmt: skip


def test_forged_moves_are_refused(browser, server, quiet_table):
    context = browser.new_context()
    page = new_page(context)
    open_table(page, server.url, "nim", {1: "random"})
    page.wait_for_function(MY_TURN, timeout=SLOW)
    for args in FORGED:
        page.evaluate(FORGE, args)
    page.wait_for_selector(".kb-toast")
    page.wait_for_timeout(500)
    assert plies_of(page) == 0
    page.evaluate(FORGE, [{"action": kibitz.game("nim").deal(0).legal[0], "plies": 0}])
    page.wait_for_function("() => !document.querySelector('.kb-count').innerText.endsWith('/ 0')")
    still_well(quiet_table)
    context.close()


def test_nobody_moves_at_a_foreign_table(browser, server, quiet_table):
    context = browser.new_context()
    eve = new_page(context)
    eve.goto(quiet_table.url)
    eve.wait_for_selector(".kb-now svg")
    before = plies_of(quiet_table)
    for action in range(12):
        eve.evaluate(FORGE, [{"action": action, "plies": before}])
    eve.wait_for_selector(".kb-toast")
    for value in (0, 1, "random", None, {"value": "at once"}, [1], "x" * 1000):
        eve.evaluate(SHAKE, value)
    eve.wait_for_timeout(500)
    assert plies_of(quiet_table) == before
    for name in ("Undo", "Redo", "Hint"):
        assert eve.locator(f".kb-controls button:has-text('{name}')").is_disabled()
    still_well(quiet_table)
    context.close()


@pytest.mark.long
def test_forms_take_nothing_strange(browser, server, quiet_table):
    context = browser.new_context()
    page = new_page(context)
    page.goto(f"{server.url}/new/nim")
    page.wait_for_selector("text=Player 1")
    page.click("summary:has-text('Options of the game')")
    for value in ("9" * 5000, "-1", "../../etc/passwd", "<script>alert(1)</script>", "1,2;3"):
        page.locator("input[aria-label='rows']").fill(value)
        page.click("button:has-text('Start')")
        page.wait_for_selector(".kb-toast")
        page.click(".kb-toast .q-btn >> nth=0")
        assert "/new/nim" in page.url
    for value in (99, -1, "/etc/passwd", "x.safetensors", {"value": 99}, [0, 1], None, True):
        page.evaluate(SHAKE, value)
    page.wait_for_timeout(500)
    still_well(quiet_table)
    context.close()


def test_broken_and_huge_messages(server, quiet_table):
    for data in (
        b"", b"\0" * 100, b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 65536,
        b"GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: localhost\r\n"
        b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" + b"\x81\xfe" + b"A" * 4096,
    ):  # fmt: skip
        with socket.create_connection(("127.0.0.1", server.port), 10) as raw:
            raw.sendall(data)
            raw.settimeout(2)
            with contextlib.suppress(TimeoutError, ConnectionError):
                raw.recv(4096)
    still_well(quiet_table)


def test_a_socket_that_sends_too_much_is_closed_and_others_play_on(browser, server, quiet_table):
    context = browser.new_context()
    page = new_page(context)
    page.goto(server.url)
    page.wait_for_selector("h2:has-text('Nim')")
    page.evaluate("size => window.socket.emit('event', 'x'.repeat(size))", 40 << 20)
    page.evaluate("() => window.socket.emit('event', {client_id: 5})")
    page.evaluate("() => window.socket.emit('nothing', [[[[]]]])")
    page.wait_for_timeout(1000)
    still_well(quiet_table)
    context.close()


def post(server: Server, path: str, size: int) -> int:
    request = urllib.request.Request(server.url + path, data=b"x" * size, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except (urllib.error.URLError, ConnectionError, http.client.HTTPException):
        return 413  # it hung up before all was sent


def test_requests_of_a_size(server, quiet_table):
    for path in ("/", "/_nicegui/client/x/upload/1", "/table/x"):
        assert post(server, path, LARGEST_BODY + (1 << 20)) in (404, 405, 413)
    still_well(quiet_table)


@pytest.mark.parametrize(
    "path",
    [
        "/table/..%2F..%2Fsecret", "/table/%00", "/table/" + "x" * 3000, "/table/no?ply=999999999",
        "/new/..%2F..%2Fetc", "/new/nimm", "/kibitz/../server.py", "/kibitz/server.py", "/secret",
        "/tables/", "/static/../../secret", "/_nicegui/../../etc/passwd",
        "/new/open_spiel:hanabi(players=2,colors=99)",  # would end the process
        "/train/new?game=open_spiel:efg_game(filename=/etc/passwd)",
        "/train/new?game=open_spiel:tic_tac_toe",
    ],
)  # fmt: skip
def test_addresses_lead_to_pages_and_to_no_files(server, path):
    connection = http.client.HTTPConnection("localhost", server.port, timeout=30)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", f"localhost:{server.port}")
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read().decode("utf-8", "replace")
    assert answer.status in (200, 307, 404)
    secret = (server.folder / "secret").read_text()
    assert secret not in body
    assert "root:" not in body
    assert "def serve(" not in body
    connection.close()


def test_pages_are_for_this_machine_and_stay_by_themselves(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.putrequest("GET", "/", skip_host=True)
    connection.putheader("Host", "evil.example:80")
    connection.endheaders()
    assert connection.getresponse().status == 400
    connection.close()
    with urllib.request.urlopen(server.url, timeout=30) as answer:
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        cookie = answer.headers["Set-Cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
    assert not answers(outside(), server.port)


def answers(host: str, port: int) -> bool:
    """Tell whether somebody listens there."""
    try:
        socket.create_connection((host, port), 2).close()
    except OSError:
        return False
    return True


def outside() -> str:
    """Give an address of this machine that is not its loopback, if it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
            address = probe.getsockname()[0]
        except OSError:
            address = "0.0.0.0"
    return address if not address.startswith(("127.", "0.")) else "192.0.2.1"


def test_nothing_comes_from_elsewhere(browser, server):
    """It works with no internet: every request goes to the server itself."""
    context = browser.new_context()
    page = new_page(context)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for path in ("/", "/new/hanabi", "/league", "/train"):
        page.goto(server.url + path)
        page.wait_for_timeout(500)
    assert asked
    assert all(url.startswith((server.url, "data:", "blob:")) for url in asked)
    context.close()


def test_a_dead_browser_harms_nobody(browser, server, quiet_table):
    """Its socket hangs while a game goes on in another window."""
    context = browser.new_context()
    page = new_page(context)
    page.goto(quiet_table.url)
    page.wait_for_selector(".kb-now svg")
    client = context.new_cdp_session(page)
    client.send("Emulation.setCPUThrottlingRate", {"rate": 50})
    page.evaluate(
        "() => setTimeout(() => { const end = Date.now() + 8000; while (Date.now() < end); }, 0)"
    )
    still_well(quiet_table)
    still_well(quiet_table)
    context.close()


def test_what_people_are_called_is_only_words(browser, server):
    context = browser.new_context()
    page = new_page(context)
    page.goto(f"{server.url}/new/nim")
    page.wait_for_selector("text=Player 1")
    page.locator("input[aria-label='Your name (optional)']").fill('<img src=x onerror="alert(1)">')
    page.click("button:has-text('Start')")
    page.wait_for_url("**/table/*")
    page.wait_for_selector(".kb-now svg")
    other = new_page(browser.new_context())
    other.goto(page.url)
    other.wait_for_selector(".kb-seat")
    assert "<img src=x" in other.inner_text(".kb-seats")
    assert other.query_selector(".kb-seats img") is None
    assert json.dumps(other.wrong) == "[]"
    context.close()
