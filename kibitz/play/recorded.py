"""Any game of a match, move by move."""

from __future__ import annotations

from kibitz.core.chance import Chance
from kibitz.core.errors import AgentFailed, KibitzError
from kibitz.core.record import Record
from kibitz.play.match import Runner


def recorded(runner: Runner, number: int) -> Record:
    """Play one game of a match again, at a table, and give its record.

    It is the same game, as long as the agents draw on no other chance than their own.
    """
    game, seats = runner.game, runner.game.players
    table = game.deal(runner.seed, number // seats if runner.duplicate else number)
    places = [(seat - number) % seats for seat in range(seats)]
    ask = runner.asking
    for seat, place in enumerate(places):
        rng = Chance(runner.agents_seed, number, 1 + seat)
        ask(place, runner.agents[place].begin, seat, rng)
    while not table.over:
        mover = table.seat
        agent = runner.agents[places[mover]]
        action = ask(places[mover], agent.choose, table.view())
        for seat, place in () if game.secret else enumerate(places):
            ask(place, runner.agents[place].notice, table.view(seat), mover, action)
        try:
            table.play(action)
        except KibitzError as error:
            raise AgentFailed(f"{agent.name}: {error}").of(places[mover]) from error
    return table.record(tuple(runner.agents[place].name for place in places))
