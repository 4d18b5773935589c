"""Who sits where, and asking them to move: what every face needs for games played move by move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from kibitz.core.agent import Agent
from kibitz.core.chance import Chance, agents_seed, checked_seed
from kibitz.core.errors import AgentFailed, KibitzError, Misuse
from kibitz.core.game import Game
from kibitz.core.registry import find_agent
from kibitz.core.table import Table

HUMAN = "human"
YOU = "you"  # what a person is called who plays alone against agents
T = TypeVar("T")


def who_sits(game: Game, text: str) -> list[str]:
    """Read `human,perfect`; a part with an equals sign continues the settings before it."""
    names: list[str] = []
    for part in text.split(","):
        if names and "=" in part and ":" not in part.partition("=")[0]:
            names[-1] += f",{part.strip()}"
        else:
            names.append(part.strip())
    if len(names) > game.players:
        raise Misuse(f"{game.described()} has {game.players} seats; {len(names)} are too many.")
    return [names[seat % len(names)] for seat in range(game.players)]


def at_seats(game: Game, names: Sequence[str], table: Table) -> list[Agent | None]:
    """Make the agents, each with its own chance; None where a person sits."""
    agents = [None if name == HUMAN else find_agent(name, game) for name in names]
    begin(agents, table)
    return agents


def begin(agents: Sequence[Agent | None], table: Table) -> None:
    """Let the agents take their seats."""
    for seat, agent in enumerate(agents):
        if agent is not None:
            join(agent, table, seat)


def join(agent: Agent, table: Table, seat: int) -> None:
    """Let an agent take a seat with its own chance, as in a match's first game.

    In the middle of a game it is shown all that was played, as its seat has seen it; in a game
    whose moves are secret, its view alone.
    """
    seed = agents_seed(checked_seed(table.seed))
    guarded(agent, agent.begin, seat, Chance(seed, 0, 1 + seat))
    for earlier, action in () if table.game.secret else table.record().steps():
        guarded(agent, agent.notice, earlier.view(seat), earlier.seat, action)


def ask(agent: Agent, table: Table) -> int:
    """Let an agent choose, and check its answer."""
    return guarded(agent, lambda: table.read(agent.choose(table.view())))


def guarded(agent: Agent, work: Callable[..., T], *arguments: Any) -> T:
    """Let an agent do something, and name it if it fails."""
    try:
        return work(*arguments)
    except KibitzError as error:
        raise AgentFailed(f"{agent.name} failed: {error}") from error
    except Exception as error:
        raise AgentFailed(f"{agent.name} raised {error!r}.") from error


def announce(agents: Sequence[Agent | None], table: Table, action: int) -> None:
    """Let every agent see an action that is about to be played, unless moves are secret."""
    if table.game.secret:
        return
    for seat, agent in enumerate(agents):
        if agent is not None:
            guarded(agent, agent.notice, table.view(seat), table.seat, action)


def check_apart(agents: Sequence[Agent | None]) -> None:
    """Refuse one object at several seats: it would be shown the views of all of them."""
    objects = [id(agent) for agent in agents if agent is not None]
    if len(set(objects)) < len(objects):
        raise Misuse(
            "One agent object cannot sit at two seats: give its class, a function or a name, "
            "and every seat gets its own."
        )


def winners(table: Table) -> list[int]:
    """List the seats with most points; none in a draw."""
    points = table.points
    best = [seat for seat, value in enumerate(points) if value == max(points)]
    return [] if len(best) == len(points) else best


def outcome(table: Table, names: Sequence[str], labels: Sequence[str] = ()) -> str:
    """Say how the game ended; `labels` are what the winners are shown as, if not their names."""
    points = table.points
    if table.game.players == 1:
        who = "You have" if names[0] == YOU else f"{(labels or names)[0]} has"
        return f"{who} {points[0]:g} points."
    if table.game.has("words") and hasattr(table.game.words, "ending"):
        return table.game.words.ending(table.view(0))
    if table.game.cooperative:
        return f"Together you have {points[0]:g} points."
    listed = ", ".join(f"{value:g}" for value in points)
    best = winners(table)
    if not best:
        return f"A draw. Points: {listed}."
    named = " and ".join((labels or names)[seat] for seat in best)
    if len(best) > 1:
        verb = "share the win"
    else:
        verb = "win" if names[best[0]] == YOU else "wins"
    return f"{named} {verb}. Points: {listed}."
