"""What the tests share: every game with random settings, and random play."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from kibitz.core import tiers
from kibitz.core.chance import Chance
from kibitz.core.game import Game
from kibitz.core.options import Choice, Flag, Option, Whole, Wholes
from kibitz.core.registry import find_game, game_names
from kibitz.core.table import Table
from tests import servers

# Tests play thousands of games move by move, so rules are compiled before they run. Programs that
# tests start run tables as Python, without a compiler in the background. See kibitz/core/tiers.py.
tiers.use(tiers.FIRST)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background of a script:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # programs would inherit it
os.environ["KIBITZ_COMPILE"] = tiers.LOOPS

settings.register_profile(
    "kibitz", deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
settings.load_profile("kibitz")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-records", action="store_true", help="rewrite tests/records")
    parser.addoption(
        "--update-docs", action="store_true", help="rewrite what Python in docs prints"
    )


def values_of(option: Option) -> st.SearchStrategy[Any]:
    """Draw a valid value of an option."""
    if isinstance(option, Whole):
        numbers = st.integers(option.low, option.high)
        return numbers if option.none is None else numbers | st.just(option.none)
    if isinstance(option, Wholes):
        number = st.integers(option.low, option.high)
        return st.lists(number, min_size=1, max_size=option.cells).map(tuple)
    if isinstance(option, Flag):
        return st.booleans()
    if isinstance(option, Choice):
        return st.sampled_from(option.names)
    raise TypeError(f"no strategy for {option!r}")


@st.composite
def games(draw: Any) -> Game:
    """Draw any game with any settings: each option is left alone or set at random."""
    game = find_game(draw(st.sampled_from(game_names())))
    chosen = {
        option.name: draw(values_of(option)) for option in game.all_options if draw(st.booleans())
    }
    return game.having(**chosen)


def walk(game: Game, seed: int, deal: int = 0) -> Table:
    """Deal and play a random game; stop anywhere by breaking out of the loop over it."""
    table = game.deal(seed, deal)
    rng = Chance(seed, deal, 99)
    while not table.over:
        table.play(rng.choice(table.legal))
    return table


def positions(game: Game, seed: int, deal: int = 0):
    """Go through all positions of a random game, the last included."""
    table = game.deal(seed, deal)
    rng = Chance(seed, deal, 99)
    yield table
    while not table.over:
        table.play(rng.choice(table.legal))
        yield table


@pytest.fixture(params=game_names())
def any_game(request: pytest.FixtureRequest) -> Game:
    """Every game with its default settings, one after another."""
    return find_game(request.param)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL server of our own."""
    with servers.postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty store of each kind: a file, and a database of a real server."""
    if request.param == "sqlite":
        yield str(tmp_path / "leagues.sqlite")
        return
    url = request.getfixturevalue("postgres_server")
    name = f"kibitz_{uuid.uuid4().hex}"
    yield servers.new_database(url, name)
    servers.drop_database(url, name)
