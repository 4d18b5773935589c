"""Players without a screen: they load a page of the workbench, hear its socket, and click.

A browser that draws fifty boards keeps a machine busier than the server does. These speak the same
protocol and draw nothing. `python -m bench.web_players URL COOKIE SECONDS NAME..` prints how long
every click took until the new board was there, in milliseconds, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import time
import uuid

import aiohttp
import socketio

THOUGHT = (1.0, 4.0)  # seconds between a player's clicks
ELEMENTS = re.compile(r"parseElements\(String\.raw`(.*?)`\), \{", re.S)
CLIENT = re.compile(r"'client_id': '([0-9a-f-]+)'")
ACTION = re.compile(r'data-action="(\d+)"')
MARKUP = (("&#36;", "$"), ("&#96;", "`"), ("&gt;", ">"), ("&lt;", "<"), ("&amp;", "&"))


class Player:
    """One page, and whoever clicks there."""

    def __init__(self, url: str, cookie: str, name: str) -> None:
        self.url, self.cookie, self.name = url, cookie, name
        self.spans: list[float] = []
        self.clicked = 0.0
        self.socket = socketio.AsyncClient(reconnection=False)

    async def open(self, session: aiohttp.ClientSession) -> None:
        """Load the page, waiting until the game is ready, and open its socket."""
        while True:
            async with session.get(f"{self.url}/table/{self.name}") as answer:
                page = await answer.text()
            found = ELEMENTS.search(page)
            assert found, "this is no page"
            text = found[1]
            for sign, meant in MARKUP:
                text = text.replace(sign, meant)
            boards = [(id, one) for id, one in json.loads(text).items()
                      if "plies" in one.get("props", {})]  # fmt: skip
            if boards:
                break
            await asyncio.sleep(2)
        self.id, board = boards[0]
        self.props = board["props"]
        self.listener = next(one["listener_id"] for one in board["events"] if one["type"] == "act")
        client = CLIENT.search(page)
        assert client
        self.client = client[1]
        self.socket.on("update", self.updated)
        query = (
            f"client_id={self.client}&next_message_id=0&implicit_handshake=true"
            f"&tab_id={uuid.uuid4()}&document_id={uuid.uuid4()}"
        )
        await self.socket.connect(
            f"{self.url}?{query}", socketio_path="/_nicegui_ws/socket.io",
            transports=["websocket"], headers={"Cookie": f"session={self.cookie}"},
        )  # fmt: skip

    async def updated(self, elements: dict) -> None:
        """Hear of a new board."""
        board = elements.get(self.id)
        if board and "plies" in board.get("props", {}):
            if self.clicked and board["props"]["plies"] != self.props["plies"]:
                self.spans.append(1000 * (time.perf_counter() - self.clicked))
                self.clicked = 0.0
            self.props = board["props"]

    async def click(self, action: int) -> None:
        """Click something on the board."""
        said = {"action": action, "plies": self.props["plies"]}
        self.clicked = time.perf_counter()
        await self.socket.emit("event", {
            "id": int(self.id), "client_id": self.client, "listener_id": self.listener,
            "args": [json.dumps(said)],
        })  # fmt: skip

    async def play(self, until: float) -> None:
        """Click now and then."""
        await asyncio.sleep(random.random() * THOUGHT[1])
        while time.monotonic() < until:
            actions = ACTION.findall(self.props.get("svg", "")) if self.props.get("live") else []
            if actions and not self.clicked:
                await self.click(int(random.choice(actions)))
            await asyncio.sleep(random.uniform(*THOUGHT))


async def main(url: str, cookie: str, seconds: float, names: list[str]) -> None:
    """Let all play at once, and print what they measured."""
    players = [Player(url, cookie, name) for name in names]
    async with aiohttp.ClientSession(cookies={"session": cookie}) as session:
        for player in players:
            await player.open(session)
        print("ready", flush=True)
        until = time.monotonic() + seconds
        await asyncio.gather(*(player.play(until) for player in players))
        for player in players:
            await player.socket.disconnect()
    print(json.dumps({player.name: player.spans for player in players}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:]))
