"""Pictures of the workbench for the documents: `python -m bench.pictures`. Needs Chromium.

Every page, on a desk and on a phone, with a league and a training run of its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kibitz
from kibitz.play.seats import HUMAN, announce, ask, at_seats
from kibitz.web.sitting import Seat, Sitting
from tests.browser import browsers
from tests.web import SLOW, Server, cookie_of, lay, new_page, serving

FOLDER = Path(__file__).parent.parent / "docs" / "workbench"
DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
PERSON = "pictures"
MOVES = {"carcassonne": 62, "hanabi": 34, "mexican_train": 45, "nim": 2, "tapnswap": 6}
RIVALS = {
    "carcassonne": "settler", "hanabi": "smart", "mexican_train": "planner", "nim": "evolved",
    "tapnswap": "q-table:model=early",
}  # fmt: skip
MISTAKEN = 23  # the seed of a game of TapnSwap in which much goes wrong


def played(game: kibitz.Game, who: list[str], seed: int, moves: int) -> kibitz.Table:
    """Let agents play so many moves, and on until it is the first seat's turn."""
    table = game.deal(seed)
    agents = at_seats(game, who, table)
    while not table.over and (len(table.actions) < moves or table.seat != 0):
        agent = agents[table.seat]
        assert agent is not None
        action = ask(agent, table)
        announce(agents, table, action)
        table.play(action)
    return table


def laid(folder: Path) -> None:
    """Lay a table of every game, in the middle of it, and one that is over."""
    for seed, (name, moves) in enumerate(MOVES.items(), start=3):
        game = kibitz.game(name)
        table = played(game, [RIVALS[name]] * game.players, seed, moves)
        level = {who: level for level, who in game.levels.items()}.get(RIVALS[name], "")
        rivals = [Seat(RIVALS[name], name=level) for _ in range(game.players - 1)]
        at_table(folder, name, table, rivals)
    over = played(kibitz.game("tapnswap"), ["tapper", "tapper"], MISTAKEN, 10_000)
    at_table(folder, "over", over, [Seat("tapper")])


def at_table(folder: Path, name: str, table: kibitz.Table, rivals: list[Seat]) -> None:
    """Lay a table at which somebody sits first, whose pictures these are."""
    sitting = Sitting(name.ljust(12, "-"), table, [Seat(HUMAN), *rivals], host=PERSON)
    sitting.take(PERSON, 0)
    lay(folder, sitting)


def shoot(page: Any, name: str, whole: bool = False) -> None:
    """Take a picture of what a page shows."""
    page.mouse.move(1, 1)
    page.evaluate("() => window.scrollTo(0, 0)")
    page.wait_for_timeout(900)  # what moves has come to rest
    page.screenshot(path=FOLDER / f"{name}.png", full_page=whole)
    print(name, flush=True)


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        laid(folder)
        store = folder / "leagues.sqlite"
        league = kibitz.open_league(kibitz.game("nim"), store, seed=1)
        league.add("perfect", "expert", "evolved", "nim-sum", "gabriele", "take-one", "random")
        league.run(games=600)
        with serving(folder, "--store", str(store)) as server, browsers() as browser:
            for size, prefix in ((DESK, ""), (PHONE, "phone-")):
                context = browser.new_context(viewport=size, device_scale_factor=1)
                context.add_cookies([cookie_of(server, PERSON)])
                page = new_page(context)
                tour(page, server, lambda name, page=page, prefix=prefix: shoot(
                    page, prefix + name, whole=bool(prefix)))  # fmt: skip
                context.close()
            context = browser.new_context(viewport=DESK, color_scheme="dark")
            context.add_cookies([cookie_of(server, PERSON)])
            page = new_page(context)
            page.goto(f"{server.url}/table/{'hanabi'.ljust(12, '-')}")
            page.wait_for_selector(".kb-now svg", timeout=SLOW)
            shoot(page, "dark")
            context.close()


def tour(page: Any, server: Server, take: Callable[[str], None]) -> None:
    """Go to every page, and have a picture of each."""
    page.goto(server.url)
    page.wait_for_function("() => document.querySelectorAll('.kb-picture svg').length === 5",
                           timeout=SLOW)  # fmt: skip
    take("home")
    page.goto(f"{server.url}/new/mexican_train")
    page.wait_for_selector("text=Player 4", timeout=SLOW)
    take("new")
    for name in MOVES:
        page.goto(f"{server.url}/table/{name.ljust(12, '-')}")
        page.wait_for_selector(".kb-now svg", timeout=SLOW)
        take(f"table-{name.replace('_', '-')}")
    page.goto(f"{server.url}/table/{'carcassonne'.ljust(12, '-')}")
    page.wait_for_selector(".kb-now.kb-live", timeout=SLOW)
    page.click(".kb-tabs >> text=Kibitz")
    page.wait_for_selector(".q-chip:has-text('settler')", timeout=SLOW)
    page.click("button:has-text('Ask')")
    page.wait_for_selector(".kb-thought", timeout=SLOW)
    take("kibitz")
    page.goto(f"{server.url}/table/{'over'.ljust(12, '-')}")
    page.wait_for_selector(".kb-now svg", timeout=SLOW)
    page.click(".kb-tabs >> text=Review")
    page.wait_for_selector("button:has-text('Judge this game'), button:has-text('Learn from')")
    if page.query_selector("button:has-text('Judge this game')"):  # once; it is kept
        page.click("button:has-text('Judge this game')")
    page.click("button:has-text('Learn from')", timeout=SLOW)
    page.wait_for_selector("text=/Mistake 1 of/")
    take("review")
    page.goto(f"{server.url}/league")
    page.wait_for_selector(".kb-leaders", timeout=SLOW)
    take("leagues")
    page.click(".kb-entry")
    page.wait_for_selector(".kb-league .ladder", timeout=SLOW)
    page.wait_for_selector(".kb-ratings svg", timeout=SLOW)
    take("league")
    start_run(page, server)
    take("run")
    page.goto(f"{server.url}/train")
    page.wait_for_selector(".kb-run")
    take("train")


def start_run(page: Any, server: Server) -> None:
    """Train for a moment, so that there is a curve."""
    page.goto(f"{server.url}/train/new?game=tapnswap&learner=q-learning")
    page.wait_for_selector("input[aria-label='games']", timeout=SLOW)
    page.fill("input[aria-label='games']", "60000")
    page.click("summary:has-text('More settings')")
    page.fill("input[aria-label='evaluate_every']", "2000")
    page.click("button:has-text('Start')")
    page.wait_for_url("**/train/q-learning-*")
    page.wait_for_selector(".kb-state:has-text('done')", timeout=SLOW)


if __name__ == "__main__":
    main()
