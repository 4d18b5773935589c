"""Voting games on numbered positions: what each strategy wishes is worked out once a position.

A game between a vote of strategies and a single one then only follows edges, draws the lots of
those who wish several moves, and adds weights: some fifty times faster than asking every strategy
at every turn, with the same chances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kibitz.core.chance import below, sow
from kibitz.core.compiled import compiled, compiled_loop, in_python, is_compiled, pointer
from kibitz.core.errors import NotSolvable
from kibitz.core.game import Game
from kibitz.core.voting import Voters
from kibitz.play.graph import DREW, WON, Graph, chart

MOST_POSITIONS = 100_000
MOST_BYTES = 64 << 20

UNKNOWN, OPEN = -2, -1  # of a position: not looked at yet; the lots decide


@compiled_loop
def tabulate(rules, wish, states, finished, strategies, actions, wanted, begin, places):
    """Count the wishes of every strategy in every position; write them where there is room.

    begin [positions * strategies + 1], places [wishes]: where the wished moves stand among the
    legal ones. Gives how many wishes there are.
    """
    count = 0
    for index in range(len(states)):
        n = 0 if finished[index] else rules.legal(states[index], actions)
        for which in range(strategies):
            begin[index * strategies + which] = count
            wishes = 0 if n == 0 else wish(which, states[index], actions, n, wanted)
            for i in range(wishes):
                if count + i < len(places):
                    places[count + i] = wanted[i]
            count += wishes
    begin[len(states) * strategies] = count
    return count


@compiled()
def prepare(index, votes_of, first, begin, places, settled, decided, lots, lots_count):
    """Add up, for one genome and position, the votes of those who wish just one move.

    Where no lot can change the outcome it is decided once and for all.
    """
    strategies = len(votes_of)
    n = first[index + 1] - first[index]
    for i in range(n):
        settled[index, i] = 0.0
    waiting = 0
    loose = 0.0
    for which in range(strategies):
        at = index * strategies + which
        if votes_of[which] <= 0:
            continue
        if begin[at + 1] - begin[at] == 1:
            settled[index, places[begin[at]]] += votes_of[which]
        else:
            lots[index, waiting] = which
            waiting += 1
            loose += votes_of[which]
    lots_count[index] = waiting
    best = 0
    for i in range(1, n):
        if settled[index, i] > settled[index, best]:
            best = i
    decided[index] = best
    for i in range(n):
        if i != best and settled[index, i] + loose >= settled[index, best]:
            decided[index] = best if waiting == 0 else OPEN


@compiled_loop
def play_votes(
    first, children, flips, begin, places, most_legal, most_plies, genomes, rival, seed, stream,
    games, shares,
):  # fmt: skip
    """Play so many games with each genome against one strategy; write the shares won.

    genomes [genomes, strategies], none negative; shares [genomes]. Seats alternate. Genome g has
    the stream of chance `stream + g`. A game that is not over after most_plies is a draw.
    """
    positions = len(first) - 1
    strategies = genomes.shape[1]
    settled = np.empty((positions, most_legal))
    lots = np.empty((positions, strategies), np.int16)
    lots_count = np.empty(positions, np.int16)
    decided = np.empty(positions, np.int32)
    votes = np.empty(most_legal)
    rng = np.zeros(4, np.int64)
    for genome in range(len(genomes)):
        weights = genomes[genome]
        decided[:] = UNKNOWN
        sow(rng, seed, stream + genome, 1)
        points = 0.0
        for game in range(games):
            ours = game & 1 == 0
            index = 0
            gain = 0.5
            for _ in range(most_plies):
                if ours:
                    if decided[index] == UNKNOWN:
                        prepare(
                            index, weights, first, begin, places, settled, decided, lots,
                            lots_count,
                        )  # fmt: skip
                    place = decided[index]
                    if place == OPEN:
                        n = first[index + 1] - first[index]
                        for i in range(n):
                            votes[i] = settled[index, i]
                        for lot in range(lots_count[index]):
                            which = lots[index, lot]
                            at = begin[index * strategies + which]
                            wishes = begin[index * strategies + which + 1] - at
                            votes[places[at + below(rng, wishes)]] += weights[which]
                        place = 0
                        for i in range(1, n):
                            if votes[i] > votes[place]:
                                place = i
                else:
                    at = begin[index * strategies + rival]
                    wishes = begin[index * strategies + rival + 1] - at
                    place = places[at + (below(rng, wishes) if wishes > 1 else 0)]
                edge = first[index] + place
                index = children[edge]
                if index < 0:
                    if index != DREW:
                        gain = 1.0 if (index == WON) == ours else 0.0
                    break
                ours = ours != flips[edge]
            points += gain
        shares[genome] = points / games


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What every strategy of a game wishes in every position that can be reached."""

    graph: Graph
    begin: np.ndarray  # [positions * strategies + 1]
    places: np.ndarray  # [wishes]

    def play(
        self, genomes: np.ndarray, rival: int, seed: int, stream: int, games: int
    ) -> np.ndarray:
        """Play genomes ([genomes, strategies]) against a strategy; give the shares they won."""
        graph = self.graph
        shares = np.zeros(len(genomes))
        game = graph.positions.game
        loop = play_votes if game.is_compiled else in_python(play_votes)
        loop(
            graph.first, graph.children, graph.flips, self.begin, self.places,
            game.bound("most_legal"), game.bound("most_plies"), genomes, rival, seed, stream,
            games, shares,
        )  # fmt: skip
        return shares


def wishes_of(game: Game, voters: Voters) -> Wishes | None:
    """Number a game's positions and ask all strategies; None where that cannot be done quickly."""
    if voters.wish is None or not voters.names:
        return None
    try:
        graph = chart(game, folded=False, most=MOST_POSITIONS, most_bytes=MOST_BYTES)
    except NotSolvable:
        return None
    strategies, most = len(voters.names), game.bound("most_legal")
    begin = np.zeros(len(graph.positions) * strategies + 1, np.int64)
    actions, wanted = np.empty(most, np.int32), np.empty(most, np.int32)
    places = np.empty(0, np.int32)
    compiled_all = game.is_compiled and is_compiled(voters.wish)
    run = tabulate if compiled_all else in_python(tabulate)
    for _ in range(2):  # count, then write
        count = run(
            game.rules, pointer(voters.wish), graph.positions.states, graph.finished, strategies,
            actions, wanted, begin, places,
        )  # fmt: skip
        if len(places) < count:
            places = np.empty(count, np.int32)
    return Wishes(graph=graph, begin=begin, places=places)
