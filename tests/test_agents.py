"""Agents: what they are given, how they are named, and what they say."""

from __future__ import annotations

import numpy as np
import pytest

import kibitz
from kibitz.core.agent import Agent, Kind
from kibitz.core.chance import Chance
from kibitz.core.compiled import CHOOSE, VALUE, compiled
from kibitz.core.errors import BadOption, Misuse, UnknownName
from kibitz.core.options import Choice, Flag, Real, Text, Whole, Wholes, settle, split
from tests import toys


class Heavy(Agent):
    """Take many sticks."""

    options = (
        Real(name="greed", default=1.0, help="how much more is better", low=-2, high=2),
        Whole(name="row", default=0, help="the row it likes best", low=0, high=15),
    )
    games = ("nim",)

    def values(self, view, options):
        liked = self.settings["row"]
        return [self.settings["greed"] * (a % 64) + 100 * (a // 64 == liked) for a in options]


@compiled(VALUE)
def high_value(rules, view, actions, n, weights, memory, out):
    for i in range(n):
        out[i] = actions[i] * weights[0]


@compiled(CHOOSE)
def high(rules, view, actions, n, weights, memory, rng):
    """Like high numbers."""
    memory[0] += 1
    values = np.empty(n)
    high_value(rules, view, actions, n, weights, memory, values)
    return actions[np.argmax(values)]


HIGH = Kind(
    choose=high,
    value=high_value,
    memory=1,
    options=(Real(name="sign", default=1.0, help="which way", low=-1, high=1),),
    weights=lambda game, settings: np.array([settings["sign"]]),
    reason=lambda view, action: f"{action} is the best number",
)


QUICKLY = {"mcts": "mcts:sims=20"}  # who would take as long as they are given


def test_every_agent_of_every_game_answers_a_view_and_explains_itself(any_game):
    for known in kibitz.agent_names(any_game):
        name = QUICKLY.get(known, known)
        agent = kibitz.agent(name, any_game, seed=3)
        table = any_game.deal(3)
        while not table.over:
            view = table.view()
            before = view.cells.copy()
            opinion = agent.explain(view)
            assert opinion.action in view.legal
            assert opinion.words == view.say(opinion.action)
            assert opinion.reason
            action = agent.choose(view)
            assert np.array_equal(view.cells, before)
            table.play(action)
        again = any_game.deal(3)
        agent = kibitz.agent(name, any_game, seed=3)
        for action in table.actions:
            assert agent.choose(again.view()) == action
            again.play(action)


# Agents whose settings bring random numbers into play, beside all those with their defaults.
AT_RANDOM = {
    "carcassonne": (({}, "policy:temperature=1"),),
    "hanabi": (({"open": True}, "cheater"), ({"players": 4}, "mcts:sims=20,rollout=piers")),
    "mexican_train": (
        ({}, "best-line:line_temperature=5"), ({}, "persistent-line:line_temperature=5"),
        ({}, "td:temperature=1"), ({"boneyard": 7}, "planner"),
    ),
    "nim": (
        ({"rows": "2,3,4,5", "k": 2}, "evolved"), ({}, "policy:temperature=1"),
        ({"misere": False}, "perfect"), ({}, "mcts:sims=20,reuse=yes"), ({}, "td:temperature=1"),
    ),
    "tapnswap": (({}, "q-table:model=early"), ({}, "mcts:sims=20,trees=2")),
}  # fmt: skip
ASKED, DEALS = 40, 12  # positions and deals for each agent


def test_what_an_agent_explains_is_what_it_plays(any_game):
    """With the same random numbers, whatever it is asked before: also in ties and drawn moves."""
    named = [({}, QUICKLY.get(name, name)) for name in kibitz.agent_names(any_game)]
    for settings, who in (*named, *AT_RANDOM.get(any_game.name, ())):
        game = any_game.having(**settings)
        agent = kibitz.agent(who, game)
        asked = 0
        for deal in range(DEALS):
            table, rng = game.deal(deal), Chance(deal, 0, 9)
            agent.begin(0, Chance(deal, 0, 1))
            while not table.over and asked < ASKED:
                if table.seat == 0:
                    said = agent.explain(table.view()).action
                    again = agent.explain(table.view()).action
                    assert said == again == agent.choose(table.view()), (game.described(), who)
                    asked += 1
                action = rng.choice(table.legal)
                agent.notice(table.view(0), table.seat, action)
                table.play(action)
        assert asked > 20, (game.described(), who)


def test_values_pick_and_settings_of_a_python_agent():
    game = kibitz.game("nim")
    view = game.deal(1).view()
    assert view.say(Heavy(game).choose(view)) == "take 1 from row 1"
    agent = Heavy(game, row="3", greed="-0.5")
    assert view.say(agent.choose(view)) == "take 1 from row 4"
    opinion = agent.explain(view)
    assert opinion.reason == "Take many sticks."
    assert opinion.thoughts[0].words == "take 1 from row 4"
    assert [t.value for t in opinion.thoughts] == sorted(
        (t.value for t in opinion.thoughts), reverse=True
    )
    with pytest.raises(UnknownName, match="No option of Heavy is called 'row_'"):
        Heavy(game, row_=1)
    with pytest.raises(BadOption, match="a number from -2 to 2"):
        Heavy(game, greed=3)
    with pytest.raises(Misuse, match="it plays nim only"):
        kibitz.match(kibitz.game("tapnswap"), [Heavy], 2)


def test_ties_are_broken_by_the_agents_own_chance():
    game = kibitz.game("nim")
    view = game.deal(1).view()
    chosen = {kibitz.agent(Agent, game, seed=seed).choose(view) for seed in range(60)}
    assert len(chosen) > 10
    assert kibitz.agent(Agent, game, seed=4).choose(view) == kibitz.agent(
        Agent, game, seed=4
    ).choose(view)


def test_a_compiled_agent_with_values_settings_and_memory():
    game = kibitz.game("nim")
    view = game.deal(1).view()
    agent = HIGH(game)
    assert view.say(agent.choose(view)) == "take 7 from row 4"
    assert agent.memory.tolist() == [1]
    assert agent.explain(view).reason == "198 is the best number"
    assert agent.memory.tolist() == [1]  # asking for an opinion is not remembered
    assert view.say(HIGH(game, sign=-1).choose(view)) == "take 1 from row 1"
    assert list(agent.values(view, view.legal)) == view.legal
    result = kibitz.match(game, [HIGH, "random"], 100, seed=1)
    assert result.agents[0].name == "high"


def test_perfect_only_plays_what_can_be_solved():
    assert "perfect" not in kibitz.agent_names(toys.RING.having(players=3))
    with pytest.raises(Misuse, match="the solver needs two seats, and this has 3"):
        kibitz.agent("perfect", toys.RING.having(players=3))


def test_settings_are_read_from_text():
    assert split("a=1,b=2,3,c=x") == {"a": "1", "b": "2,3", "c": "x"}
    assert split("some-name=1") == {"some_name": "1"}
    for bad in ("", "1,2", "=3", "a"):
        with pytest.raises(BadOption):
            split(bad)


def test_options_of_every_type():
    options = (
        Whole(name="w", default=1, help="", low=0, high=9),
        Wholes(name="ws", default=(1,), help="", cells=3, low=0, high=9),
        Flag(name="f", default=False, help=""),
        Choice(name="c", default="a", help="", names=("a", "b")),
        Real(name="r", default=0.5, help="", low=0, high=1),
        Text(name="t", default="", help=""),
    )
    given = {"w": "3", "ws": "1,2", "f": "yes", "c": "b", "r": "0.25", "t": 7}
    expected = {"w": 3, "ws": (1, 2), "f": True, "c": "b", "r": 0.25, "t": "7"}
    assert settle(options, given, "test") == expected
    for option in options:
        assert option.parse(option.say(expected[option.name])) == expected[option.name]
        assert option.takes()
    for bad in ({"w": 10}, {"ws": "1,2,3,4"}, {"f": "maybe"}, {"c": "z"}, {"r": "nan"}, {"r": 2}):
        with pytest.raises(BadOption):
            settle(options, bad, "test")
