"""Players of Hanabi who keep notes: hat and smart. What they note is true, shared and used."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.table import Table
from kibitz.games.hanabi import hat, notes, smart
from kibitz.games.hanabi.agents import AGENTS
from kibitz.games.hanabi.cards import cards_held
from kibitz.games.hanabi.cells import CARDS, DECK, HINT, MOST_HAND, SLOT
from kibitz.games.hanabi.notes import BOARD, NOTED

KEEPERS = ("hat", "smart")
SMALL = [
    {"colours": 1, "values": 1, "hand": 1, "notes": 1, "storms": 1},
    {"colours": 2, "values": 2, "hand": 2, "notes": 1},
    {"colours": 3, "values": 3, "hand": 1, "storms": 1},
    {"colours": 5, "values": 1},
    {"colours": 1, "values": 5, "hand": 5, "notes": 2},
]


def seated(name: str, game, seed: int = 0):
    """Make an agent for every seat, at a new table."""
    agents = [AGENTS[name](game) for _ in range(game.players)]
    for seat, agent in enumerate(agents):
        agent.begin(seat, Chance(seed, seat))
    return agents


def played(game, agents, seed: int, deal: int = 0):
    """Go through the positions of a game between agents who see every action."""
    table = game.deal(seed, deal)
    while not table.over:
        yield table
        action = agents[table.seat].choose(table.view())
        for seat, agent in enumerate(agents):
            agent.notice(table.view(seat), table.seat, action)
        table.play(action)


def true_card(table: Table, seat: int, place: int) -> int:
    return int(table.cells[DECK + table.cells[SLOT + seat * MOST_HAND + place]])


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("name", KEEPERS)
def test_all_keep_the_same_notes(name, players):
    game = kibitz.game("hanabi", players=players)
    differ = plies = 0
    for deal in range(15):
        agents = seated(name, game)
        for table in played(game, agents, 3, deal):
            for seat, agent in enumerate(agents):
                module = hat if name == "hat" else smart
                module.catch_up(table.view(seat).cells, agent.memory)
            plies += 1
            differ += any((agent.memory != agents[0].memory).any() for agent in agents)
    # hat's notes are a code, and must be the same. smart's differ once in some hundred games, and
    # we do not know why.
    assert differ <= (0 if name == "hat" else plies // 50)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_what_hat_notes_is_true(players):
    game = kibitz.game("hanabi", players=players)
    known = cards = 0
    for deal in range(20):
        agents = seated("hat", game)
        for table in played(game, agents, 4, deal):
            hat.catch_up(table.view().cells, agents[table.seat].memory)
            for seat in range(players):
                for place in range(int(cards_held(table.cells, seat))):
                    ids = int(agents[table.seat].memory[NOTED + seat * MOST_HAND + place])
                    assert ids >> true_card(table, seat, place) & 1
                    known += ids & (ids - 1) == 0
                    cards += 1
    assert known > cards / 20  # and it is worth something


def test_an_answer_is_understood_as_it_was_meant():
    game = kibitz.game("hanabi", players=4)
    board, left = np.empty(BOARD, np.int64), np.empty(CARDS, np.int64)
    answers = 0
    for deal in range(10):
        agents = seated("hat", game)
        for table in played(game, agents, 5, deal):
            view = table.view().cells
            memory = agents[table.seat].memory.copy()
            hat.catch_up(view, memory)
            notes.read_board(view, board)
            notes.public_left(view, memory, left)
            for seat in range(4):
                if seat == table.seat:
                    continue
                for capacity in (2, 3, 7, 12, 16):
                    said, heard = memory.copy(), memory.copy()
                    number = hat.converse(view, said, seat, board, left, capacity, -1)
                    assert 0 <= number < capacity
                    hat.converse(view, heard, seat, board, left, capacity, number)
                    assert (said == heard).all()
                    answers += (said != memory).any()
    assert answers > 1_000


@pytest.mark.parametrize(
    ("name", "players", "least"),
    [("hat", 3, 24.4), ("hat", 4, 24.5), ("hat", 5, 24.5), ("smart", 2, 22.0), ("smart", 3, 22.0)],
)
def test_they_are_as_strong_as_they_should_be(name, players, least):
    game = kibitz.game("hanabi", players=players)
    team = kibitz.match(game, [name], games=1200, seed=6).agents[0]
    assert team.points.mean > least
    assert team.perfect is not None
    assert team.perfect.mean > (0.15 if name == "smart" else 0.6)


@pytest.mark.parametrize("pair", list(itertools.combinations(AGENTS, 2)), ids="-".join)
def test_any_two_can_play_together(pair):
    settings = {"open": True} if "cheater" in pair else {}
    for players in (2, 5):
        game = kibitz.game("hanabi", players=players, bomb="pile", **settings)
        result = kibitz.match(game, list(pair), games=20, seed=1)
        assert result.agents[0].points.mean > 0


@pytest.mark.parametrize("settings", SMALL, ids=str)
@pytest.mark.parametrize("name", KEEPERS)
def test_they_play_small_games(name, settings):
    for players in (2, 3, 5):
        game = kibitz.game("hanabi", players=players, bomb="pile", **settings)
        assert kibitz.match(game, [name], games=40, seed=1).agents[0].points.mean >= 0


@pytest.mark.parametrize("name", KEEPERS)
def test_they_see_only_their_view(name):
    game = kibitz.game("hanabi", players=3)
    for deal in range(4):
        agents = seated(name, game)
        for table in played(game, agents, 7, deal):
            view = table.view()
            agent = agents[table.seat]
            memory = agent.memory.copy()
            world = view.redeal(Chance(deal, table.plies))  # what is hidden is otherwise there
            assert agent.tried(world.view(table.seat)) == agent.tried(view)
            assert (agent.memory == memory).all()


@pytest.mark.parametrize("name", KEEPERS)
def test_they_say_what_they_do_and_leave_no_trace(name):
    game = kibitz.game("hanabi", players=3)
    agents = seated(name, game)
    reasons = set()
    for table in played(game, agents, 8):
        agent, view = agents[table.seat], table.view()
        memory = agent.memory.copy()
        said = agent.explain(view)
        assert (agent.memory == memory).all()
        assert said.action == agent.tried(view)
        assert len(said.thoughts) == len(view.legal)
        reasons.add(said.reason)
    assert len(reasons) >= 3


@pytest.mark.parametrize("name", KEEPERS)
def test_whoever_joins_later_plays_on_by_what_hints_name(name):
    game = kibitz.game("hanabi", players=4)
    rng = Chance(9)
    for deal in range(20):
        table = game.deal(9, deal)
        for _ in range(10):
            if not table.over:
                table.play(rng.choice(table.legal))
        late = seated(name, game)
        while not table.over:
            table.play(late[table.seat].choose(table.view()))


def test_smart_saves_the_last_card_of_its_kind():
    game = kibitz.game("hanabi", players=2)
    saved = 0
    for deal in range(60):
        agents = seated("smart", game)
        for table in played(game, agents, 10, deal):
            opinion = agents[table.seat].explain(table.view())
            if opinion.reason == smart.REASONS[smart.RESCUE]:
                assert opinion.action >= HINT
                saved += 1
    assert saved > 20
