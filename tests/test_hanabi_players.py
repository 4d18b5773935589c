"""Players of Hanabi who keep notes: hat and smart. What they note is true, shared and used."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.table import Table
from kibitz.games.hanabi import conventions, hat, notes, smart
from kibitz.games.hanabi.agents import AGENTS
from kibitz.games.hanabi.cards import cards_held
from kibitz.games.hanabi.cells import CARDS, DECK, HINT, MOST_CARDS, MOST_HAND, SLOT, VALUES
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
    for deal in range(25):
        agents = seated(name, game)
        for _ in played(game, agents, 3, deal):
            assert all((agent.memory == agents[0].memory).all() for agent in agents)


def test_what_follows_from_notes_is_noted_to_the_end():
    """One card is known, so the next one is, and so on: looking again finds nothing more."""
    game = kibitz.game("hanabi", players=2)
    view = game.deal(1).view().cells
    memory, left = np.zeros(notes.NOTES_END, np.int64), np.empty(CARDS, np.int64)
    notes.begin_notes(view, memory)
    fives = [1 << (colour * VALUES + VALUES - 1) for colour in range(5)]
    memory[NOTED] = fives[0]
    for place in range(1, 5):
        memory[NOTED + place] = fives[place - 1] | fives[place]
    notes.refine(view, memory, left)
    assert memory[NOTED : NOTED + 5].tolist() == fives


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
        theirs, chance = (
            kibitz.match(game, [who], games=200, seed=1).agents[0].points.mean
            for who in (name, "random")
        )
        best = settings["colours"] * settings["values"]
        assert theirs > chance or theirs == chance == best


@pytest.mark.parametrize("name", AGENTS)
def test_players_answer_alike_in_worlds_that_look_alike(name):
    """Go through the same game in a world where all is different that the seat has not seen."""
    for players, deal in itertools.product((2, 3, 5), range(2)):
        game = kibitz.game("hanabi", players=players, open=name == "cheater")
        agents = seated(name, game)
        rng = Chance(9, deal)
        for table in played(game, agents, 7, deal):
            if table.plies % 4:
                continue
            seat, view = table.seat, table.view()
            dealt = table.dealt.copy()
            dealt[DECK : DECK + MOST_CARDS] = view.redeal(rng)["deck"]
            world = Table(game, dealt)
            other = AGENTS[name](game)
            other.begin(seat, Chance.over(agents[seat].rng.words.copy()))
            for action in table.actions:
                other.notice(world.view(seat), world.seat, action)
                world.play(action)
            assert world.view(seat) == view
            assert other.explain(world.view(seat)) == agents[seat].explain(view)
            assert other.tried(world.view(seat)) == agents[seat].tried(view)


@pytest.mark.parametrize("name", [name for name in AGENTS if name != "cheater"])
def test_nobody_is_worse_for_seeing_its_own_cards(name):
    for players in (2, 3, 5):
        closed, seen = (
            kibitz.match(
                kibitz.game("hanabi", players=players, open=is_open, bomb="pile"),
                [name], games=200, seed=1, duplicate=False,
            ).agents[0].points.mean
            for is_open in (False, True)
        )  # fmt: skip
        assert seen >= closed


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
    for deal in range(20):
        agents = seated("smart", game)
        for table in played(game, agents, 10, deal):
            opinion = agents[table.seat].explain(table.view())
            if opinion.reason == smart.REASONS[smart.RESCUE]:
                assert opinion.action >= HINT
                saved += 1
    assert saved > 7


# --- reasons -------------------------------------------------------------------------------------


def told(name: str, deals: int, seed: int = 11, **settings):
    """Go through games between copies of a player: the table, its notes there, and its opinion."""
    game = kibitz.game("hanabi", **settings)
    for deal in range(deals):
        agents = seated(name, game)
        for table in played(game, agents, seed, deal):
            agent, view = agents[table.seat], table.view()
            memory = agent.memory.copy()
            (hat if name == "hat" else smart).catch_up(view.cells, memory)
            yield table, memory, agent.explain(view)


def board_of(view):
    """Give what the notes of a view are judged by: the board, and the cards that weigh."""
    board, unseen = np.empty(BOARD, np.int64), np.empty(CARDS, np.int64)
    notes.read_board(view, board)
    notes.count_not_elsewhere(view, unseen)
    return board, unseen


def test_hat_calls_likely_what_is_likely():
    reasons = Counter()
    for players in (2, 5):
        for table, memory, said in told("hat", 25, players=players):
            if said.reason not in (hat.REASONS[hat.LIKELY], hat.REASONS[hat.LAST_CHANCE]):
                continue
            view = table.view().cells
            board, unseen = board_of(view)
            ids = notes.own_ids(view, memory, unseen, said.action)
            chance = notes.chance_in(ids, board[notes.PLAYABLE], unseen)
            assert chance > (0 if table["last"] else hat.RISK)
            assert (said.reason == hat.REASONS[hat.LAST_CHANCE]) == (table["last"] > 0)
            reasons[said.reason] += 1
    assert len(reasons) == 2


@pytest.mark.long
def test_smart_calls_likely_what_is_likely_and_owns_that_a_hint_does_harm():
    reasons = Counter()
    for table, memory, said in told("smart", 60, players=2, notes=3):
        view = table.view().cells
        board, unseen = board_of(view)
        reasons[said.reason] += 1
        if said.reason in (smart.REASONS[smart.PLAY], smart.REASONS[smart.LAST_CHANCE]):
            ids = notes.own_ids(view, memory, unseen, said.action)
            touched = memory[conventions.TOUCHED + table.seat * MOST_HAND + said.action]
            promised = conventions.promised_ids(view, memory)
            chance = conventions.play_chance(ids, touched, promised, board, unseen)
            dares = bool(conventions.dares(view, chance))
            assert dares == (said.reason == smart.REASONS[smart.PLAY])
            assert dares or table["last"] > 0
        if said.reason in (smart.REASONS[smart.STALL], smart.REASONS[smart.MISLEADS]):
            left = np.empty(CARDS, np.int64)
            notes.public_left(view, memory, left)
            _, rating = smart.best_hint(view, memory, board, left)
            assert (rating < 0) == (said.reason == smart.REASONS[smart.MISLEADS])
    wanted = (smart.PLAY, smart.LAST_CHANCE, smart.STALL, smart.MISLEADS)
    assert all(reasons[smart.REASONS[why]] for why in wanted)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("hat", {"players": 2, "colours": 2, "hand": 2, "storms": 1}),
        pytest.param("hat", {"players": 5, "storms": 1}, marks=pytest.mark.long),
        pytest.param("smart", {"players": 2, "notes": 1, "storms": 1}, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_no_card_is_played_in_the_dark_where_a_storm_would_be_the_last(name, settings):
    module = hat if name == "hat" else smart
    misled = 0
    for table, _, said in told(name, 150, **settings):
        if said.reason == module.REASONS[module.CORNERED]:
            assert not any(action >= HINT for action in table.legal)
        if said.reason == module.REASONS[module.MISLEADS]:
            assert said.action >= HINT
            assert table["notes"] == table.game.settings["notes"]
            misled += 1
    assert misled
