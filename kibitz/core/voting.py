"""Voting: several strategies wish, each with a weight, and the move with the greatest sum wins.

A strategy is a small compiled function `one(view, actions, n, wanted)` that writes the places of
the legal actions it would take, one as soon as another, and gives how many there are, at least one.
It may look at what `strip` keeps of a view, and at nothing else. A room offers strategies by giving
in its `agents.py` these:

WISHES = {"one": one, "two": two}  # in the order of their weights
VOTERS = tuple(WISHES.values())

@compiled(WISH)
def wish(which, view, actions, n, wanted):
    wishes = 0
    place = 0
    for voter in literal_unroll(VOTERS):
        if place == which:
            wishes = voter(view, actions, n, wanted)
        place += 1
    return wishes

@compiled(CHOOSE)
def ballot(rules, view, actions, n, weights, memory, rng):
    votes = np.zeros(n)
    wanted = np.empty(n, np.int32)
    for which in range(len(weights)):
        if weights[which] > 0:
            wishes = wish(which, view, actions, n, wanted)
            votes[wanted[below(rng, wishes) if wishes > 1 else 0]] += weights[which]
    return actions[np.argmax(votes)]

STRATEGIES = strategy_kinds(WISHES)

`literal_unroll` is from `kibitz.core.compiled`.

Further strategies join a vote from outside (`voters_of`): compiled ones of the same form, or plain
functions from a view to an action or to several of them. One that is not compiled makes the vote
run as Python.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz.core import own_code
from kibitz.core.agent import CompiledAgent, Kind, Opinion, callable_in, first_line, opinion
from kibitz.core.chance import Chance, below
from kibitz.core.compiled import CHOOSE, WISH, compiled, is_compiled
from kibitz.core.errors import AgentFailed, Misuse
from kibitz.core.game import Game
from kibitz.core.options import Functions
from kibitz.core.table import View


@compiled()
def place_of(action, actions, n):
    """Find an action among the legal ones, which ascend; -1 where it is not."""
    low = 0
    high = n
    while low < high:
        middle = (low + high) // 2
        if actions[middle] < action:
            low = middle + 1
        else:
            high = middle
    if low < n and actions[low] == action:
        return low
    return -1


def shifted(weights: np.ndarray) -> np.ndarray:
    """Shift weights so that none is negative, as votes must be."""
    return (weights - min(0.0, float(weights.min()))).astype(np.float32)


def strategy_kinds(wishes: Mapping[str, Any]) -> dict[str, Kind]:
    """Make the kinds of agents that play each what one strategy wishes."""

    def kind(place: int, name: str) -> Kind:
        own = np.array([place], np.float32)  # what it plays by, for those who compare agents
        about = first_line(wishes[name].__doc__)
        choose = _strategy(wishes[name])
        return Kind(choose=choose, weights=lambda *_: own, name=name, about=about)

    return {name: kind(place, name) for place, name in enumerate(wishes)}


def _strategy(one: Any) -> Any:
    """Return the choice of an agent that follows one strategy, so that no other is compiled."""

    def strategy(rules, view, actions, n, weights, memory, rng):
        wanted = np.empty(n, np.int32)
        wishes = one(view, actions, n, wanted)
        return actions[wanted[below(rng, wishes) if wishes > 1 else 0]]

    return _belonging_to(one, "strategy", strategy, CHOOSE if hasattr(one, "compiled") else None)


def _belonging_to(one: Any, name: str, function: Any, signature: Any) -> Any:
    """Compile a function, if a signature is given, as one of the module that has a strategy."""
    made = function if signature is None else compiled(signature)(function)
    made.__module__, made.__qualname__ = one.__module__, name
    return made


# --- strategies from outside -------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Voters:
    """Everybody who votes in a game: the room's strategies, then those from outside."""

    names: tuple[str, ...]
    kinds: Mapping[str, Kind]  # agents that play what one of them wishes
    wish: Any  # with the signature WISH, compiled or not
    ballot: Any  # with the signature CHOOSE

    def kind(self, weights: np.ndarray) -> Kind:
        """Make the kind of agent that plays what they vote for, with these weights."""

        def why(agent: CompiledAgent, view: View) -> Opinion:
            return explain(self, agent, view)

        return Kind(choose=self.ballot, weights=lambda *_: weights, explain=why)


def voters_of(game: Game, own: Mapping[str, Any] | None = None) -> Voters:
    """Return who votes in a game; `own` are strategies from outside, by name."""
    room = Voters(
        names=tuple(game.strategies), kinds=game.strategies, wish=game.wish, ballot=game.ballot
    )
    if not own:
        return room
    if room.wish is None:
        raise Misuse(f"The strategies of {game.name} do not vote, so none can join them.")
    both = [name for name in own if name in room.names]
    if both:
        raise Misuse(f"{game.name} has a strategy called '{both[0]}' already. Rename yours.")
    can_compile = game.is_compiled and all(is_compiled(one) for one in own.values())
    wishes = {
        name: one if hasattr(one, "compiled") else _wish_of(name, one, game)
        for name, one in own.items()
    }
    wish = room.wish if can_compile else callable_in(game, room.wish)
    for place, one in enumerate(wishes.values(), len(room.names)):
        wish = _joined(wish, place, one, can_compile)
    return Voters(
        names=(*room.names, *own), kinds={**room.kinds, **strategy_kinds(wishes)}, wish=wish,
        ballot=_ballot(wish, one, can_compile),
    )  # fmt: skip


def own_strategies(text: str) -> dict[str, Any]:
    """Find the strategies that a setting names, `FILE.py:NAME` with + between them, by name."""
    given = text.found if isinstance(text, Functions) else {}
    found: dict[str, Any] = {}
    for part in filter(None, text.split("+")):
        named = own_code.parse(part)
        if part not in given and named is None:
            raise Misuse(f"'{part}' is no strategy of your own: name a function, as FILE.py:NAME.")
        name = part if part in given or named is None else named.name
        one = given[part] if part in given or named is None else own_code.load(named, "take_two")
        if name in found:
            raise Misuse(f"Two strategies are called '{name}'. Rename one of them.")
        _check_strategy(part, one)
        found[name] = one
    return found


def _check_strategy(name: str, one: Any) -> None:
    """Refuse what cannot vote."""
    arguments = (None,) * (4 if hasattr(one, "compiled") else 1)
    try:
        inspect.signature(one).bind(*arguments)
    except TypeError:
        raise Misuse(
            f"'{name}' is no strategy: a function that takes a view and returns an action, or a "
            "list of them; or a compiled one that takes view, actions, n, wanted."
        ) from None


def _wish_of(name: str, function: Any, game: Game) -> Any:
    """Return a plain function from a view to actions in the form of a strategy."""

    def one(view, actions, n, wanted):
        try:
            answer = function(View(game, view.copy()))
        except Exception as error:
            raise AgentFailed(f"The strategy {name} raised {error!r}.") from error
        several = answer if isinstance(answer, list | tuple | set | np.ndarray) else [answer]
        legal = actions[:n].tolist()
        places = sorted({legal.index(action) for action in several if action in legal})
        if not places or len(places) < len(set(several)):
            raise AgentFailed(
                f"The strategy {name} answered {answer!r}; it must return a legal action, or a "
                "list of them: see view.legal."
            )
        wanted[: len(places)] = places
        return len(places)

    one.__doc__, one.__module__ = function.__doc__, function.__module__
    return one


def _joined(wish: Any, place: int, one: Any, can_compile: bool) -> Any:
    """Return what strategies wish, with one more of them."""

    def more(which, view, actions, n, wanted):
        if which == place:
            return one(view, actions, n, wanted)
        return wish(which, view, actions, n, wanted)

    return _belonging_to(one, "wish", more, WISH if can_compile else None)


def _ballot(wish: Any, last: Any, can_compile: bool) -> Any:
    """Return the vote of strategies, which belongs to the last of them."""

    def ballot(rules, view, actions, n, weights, memory, rng):
        votes = np.zeros(n)
        wanted = np.empty(n, np.int32)
        for which in range(len(weights)):
            if weights[which] > 0:
                wishes = wish(which, view, actions, n, wanted)
                votes[wanted[below(rng, wishes) if wishes > 1 else 0]] += weights[which]
        return actions[np.argmax(votes)]

    return _belonging_to(last, "ballot", ballot, CHOOSE if can_compile else None)


def explain(voters: Voters, agent: CompiledAgent, view: View) -> Opinion:
    """Say who votes for what, with the random numbers that the next choice will draw."""
    names: Sequence[str] = voters.names
    if voters.wish is None:  # a room that does not tell what its strategies wish
        return opinion(view, agent.tried(view), "The strategies vote for it.")
    actions = np.array(view.legal, np.int32)
    wanted = np.empty(len(actions), np.int32)
    wish, rng = callable_in(agent.game, voters.wish), Chance.over(agent.rng.words.copy())
    votes = np.zeros(len(actions))
    supporters: dict[int, list[str]] = {}
    for which, weight in enumerate(agent.weights):
        if weight > 0:
            wishes = int(wish(which, view.cells, actions, len(actions), wanted))
            place = int(wanted[rng.below(wishes) if wishes > 1 else 0])
            votes[place] += weight
            supporters.setdefault(int(actions[place]), []).append(names[which])
    best = int(np.argmax(votes))
    shares = votes / (votes.sum() or 1.0)
    who = ", ".join(supporters.get(int(actions[best]), [])) or "nobody votes"
    return opinion(
        view, int(actions[best]), f"{shares[best]:.0%} of the votes: {who}.",
        dict(zip(actions.tolist(), shares.tolist(), strict=True)),
        {action: ", ".join(listed) for action, listed in supporters.items()},
    )  # fmt: skip
