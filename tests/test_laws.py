"""The laws: what holds for every game, with any settings, compiled or not. No exceptions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import strategies as st

from kibitz.core.chance import Chance
from kibitz.core.compiled import JIT, Rules, in_python
from kibitz.core.game import HEADER, HIDDEN, OVER, SEAT, VIEWER, Game
from kibitz.core.record import Record
from kibitz.core.table import Table
from kibitz.play.batch import Batch
from tests.conftest import games, positions, walk
from tests.lengths import law

MANY = 3000  # random games of every game with its default settings; a tenth for a start
# Where games are long, as many as take so many plies, and each is followed only so far. Rules as
# plain Python are some hundred times slower: then a long game is followed less far, and looked at
# closely only now and then.
STEPS = 60_000 if JIT else 20_000
PLIES = 300 if JIT else 100
LOOKS = PLIES if JIT else 10
seeds = st.integers(0, 2**63 - 1)


def looked_at(game: Game, seed: int, rng: Chance) -> Iterator[Table]:
    """Go through positions of a random game: the first ones and the last, between them by lot."""
    for table, _ in zip(positions(game, seed), range(PLIES), strict=False):
        if table.over or table.plies < LOOKS // 2 or rng.below(PLIES) < LOOKS:
            yield table


def in_range(table: Table) -> bool:
    """Tell whether all cells hold values that the layout declares."""
    layout = table.game.layout
    return all(
        cells.low <= value <= cells.high
        for name, cells in layout.cells.items()
        for value in table.cells[layout.own[name]]
    )


@pytest.mark.parametrize(
    "share", [pytest.param(0.1, id="some"), pytest.param(1.0, id="all", marks=pytest.mark.long)]
)
def test_thousands_of_random_games_end_within_their_bound(any_game, share):
    bound, most_legal = any_game.bound("most_plies"), any_game.bound("most_legal")
    actions = any_game.bound("actions")
    steps = 0
    for deal in range(int(share * MANY)):
        if steps > share * STEPS:
            break
        table = any_game.deal(7, deal)
        rng = Chance(7, deal, 1)
        while not table.over:
            legal = table.legal
            assert 0 < len(legal) <= most_legal
            assert all(a < b for a, b in itertools.pairwise(legal))
            assert legal[0] >= 0
            assert legal[-1] < actions
            plies = table.plies
            table.play(rng.choice(legal))
            assert table.plies == plies + 1
            assert any_game.flaw(table) is None
        steps += table.plies
        assert table.legal == []
        assert table.plies <= bound
        assert in_range(table)


@law(150, game=games(), seed=seeds)
def test_someone_can_move_until_the_game_ends(game, seed):
    table = walk(game, seed)
    assert table.plies <= game.bound("most_plies")
    assert table.legal == []
    for table, _ in zip(positions(game, seed), range(PLIES), strict=False):
        assert bool(table.legal) != table.over
        assert len(table.legal) <= game.bound("most_legal")
        assert in_range(table)
        assert game.flaw(table) is None
        assert len(table.points) == game.players
        assert np.isfinite(table.points).all()


@law(60 if JIT else 30, game=games(), seed=seeds)
def test_the_same_deal_and_actions_give_the_same_game(game, seed):
    table = walk(game, seed)
    again = game.deal(seed)
    for action in table.actions:
        again.play(action)
    assert again == table
    assert Record.from_json(table.record().to_json()).table() == table


@law(100, game=games(), seed=seeds)
def test_a_view_shows_what_can_be_done_and_leaks_nothing(game, seed):
    rng = Chance(seed, 0, 5)
    hidden = 0
    for table in looked_at(game, seed, rng):
        # Where there are many, whoever moves and two by lot: all of twelve would take too long.
        lot = {rng.below(game.players) for _ in range(2)}
        for seat in range(game.players) if game.players <= 4 else {max(table.seat, 0), *lot}:
            view = table.view(seat)
            assert view.seat == seat
            assert view.mover == table.seat
            assert view.over == table.over
            if seat == table.seat:
                assert view.legal == table.legal
            blanked = view.cells != table.cells
            assert not blanked[:VIEWER].any()
            assert not blanked[HEADER : HEADER + _option_cells(game)].any()
            assert (view.cells[HEADER:][blanked[HEADER:]] == HIDDEN).all()
            hidden += int(blanked[HEADER:].sum())

            world = view.redeal(rng)
            assert world["viewer"] == HIDDEN
            assert world.view(seat) == view
            assert world.legal == table.legal or seat != table.seat
            assert in_range(world)
            assert game.flaw(world) is None
            assert np.array_equal(world.view(seat).features(), view.features())
            low, high = game.feature_range
            assert ((low <= view.features()) & (view.features() <= high)).all()
    if not game.hides:
        assert hidden == 0


def test_a_game_that_hides_does_hide(any_game):
    blanked = sum(
        int((table.view(seat).cells[HEADER:] == HIDDEN).sum())
        for table in positions(any_game, 3)
        for seat in range(any_game.players)
        if (table.view(seat).cells[HEADER:] != table.cells[HEADER:]).any()
    )
    assert bool(blanked) == any_game.hides


def _option_cells(game: Game) -> int:
    return sum(option.cells for option in game.options)


@pytest.mark.skipif(not JIT, reason="nothing is compiled")
@law(40, game=games(), seed=seeds)
def test_compiled_rules_and_plain_python_play_the_same_game(game, seed):
    plain = Rules(*(in_python(getattr(rule, "function", rule)) for rule in game.rules))
    rules = game.rules
    rng, same_rng = Chance(seed), Chance(seed)
    ours, theirs = game.blank(), game.blank()
    rules.deal(ours, rng.words)
    plain.deal(theirs, same_rng.words)
    assert np.array_equal(ours, theirs)
    bounds = [game.bound(name) for name in ("most_legal", "features", "prospects")]
    for ply in range(PLIES):
        for rule in ("strip", "fold"):
            one, two = ours.copy(), ours.copy()
            getattr(rules, rule)(one)
            getattr(plain, rule)(two)
            assert np.array_equal(one, two), rule
        points = np.zeros((2, game.players))
        rules.score(ours, points[0])
        plain.score(ours.copy(), points[1])
        assert np.array_equal(*points)
        if ours[SEAT] == OVER:
            break
        for seat in (int(ours[SEAT]), ply % game.players):
            views = np.empty((2, len(ours)), np.int16)
            rules.look(ours, seat, views[0])
            plain.look(ours, seat, views[1])
            assert np.array_equal(*views)
            features = np.zeros((2, bounds[1]), np.float32)
            rules.observe(views[0], features[0])
            plain.observe(views[1], features[1])
            assert np.array_equal(*features)
            if seat == ours[SEAT] and bounds[2] and ply % 24 == 0:  # as Python it takes long
                options = np.zeros(bounds[0], np.int32)
                n = rules.legal(views[0], options)
                prospects = np.zeros((2, bounds[0], bounds[2]), np.float32)
                rules.describe(views[0], options, n, prospects[0])
                plain.describe(views[1], options, n, prospects[1])
                # Sums of float32 and float64 are rounded in another order.
                assert np.allclose(*prospects, rtol=1e-5, atol=1e-6)
            rules.redeal(views[0], rng.words)
            plain.redeal(views[1], same_rng.words)
            assert np.array_equal(*views)
        legal = np.zeros((2, bounds[0]), np.int32)
        n = rules.legal(ours, legal[0])
        assert plain.legal(theirs, legal[1]) == n
        assert np.array_equal(*legal)
        action = int(legal[0, rng.below(n)])
        assert same_rng.below(n) >= 0  # keep the two streams in step
        rules.play(ours, action)
        plain.play(theirs, action)
        assert np.array_equal(ours, theirs)


@law(40, game=games(), seed=seeds)
def test_strip_and_fold_keep_what_is_to_come(game, seed):
    """The positions that follow a stripped and folded one are those that follow the original."""
    rules = game.rules

    def key(state: np.ndarray) -> bytes:
        state = state.copy()
        rules.strip(state)
        rules.fold(state)
        once = state.copy()
        rules.strip(state)
        rules.fold(state)
        assert np.array_equal(once, state)
        return state.tobytes()

    def followers(state: np.ndarray) -> set[tuple[bytes, tuple[float, ...]]]:
        found = set()
        seat = int(state[SEAT])
        for action in Table(game, state).legal:
            child = Table(game, state.copy())
            child.play(action)
            points = child.points if child.over else [0.0] * game.players
            relative = tuple(points[(seat + i) % game.players] for i in range(game.players))
            found.add((key(child.cells), relative))
        return found

    for table, _ in zip(positions(game, seed), range(40), strict=False):
        if table.over or table.plies + 1 >= game.bound("most_plies"):
            break  # a guard on the length is not part of a position
        stripped = table.cells.copy()
        rules.strip(stripped)  # alone, it keeps even the names of the actions
        assert Table(game, stripped).legal == table.legal
        folded = np.frombuffer(key(table.cells), np.int16).copy()
        assert followers(folded) == followers(table.cells)


@law(80, game=games(), seed=seeds)
def test_words_mean_what_they_say(game, seed):
    for table, _ in zip(positions(game, seed), range(60), strict=False):
        view = table.view()
        said = {action: view.say(action) for action in table.legal}
        assert len(set(said.values())) == len(said)
        for seat in range(game.players):  # whoever watches can say what is played
            assert all(table.view(seat).say(action) for action in said)
        for action, words in said.items():
            assert table.read(words) == action
            assert table.read(f"  {words.upper()} ") == action
        assert "\n" not in view.brief()
        assert str(view)


def test_boards_fit_a_terminal(any_game):
    for table in positions(any_game, 5):
        lines = str(table).splitlines()
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80


@law(25, game=games(), seed=seeds, cores=st.integers(1, 3))
def test_a_batch_plays_the_same_games_as_tables(game, seed, cores):
    size = 3
    batch = Batch(game, size, seed % 2**63, cores=cores)
    tables = [game.deal(batch.seed, place) for place in range(size)]
    dealt = [1] * size
    rng = Chance(seed, 0, 3)
    for _ in range(60):
        chosen = []
        for place, table in enumerate(tables):
            view = table.view()
            legal = table.legal
            assert batch.seat[place] == table.seat
            assert batch.legal[place, : batch.counts[place]].tolist() == legal
            assert np.flatnonzero(batch.masks[place]).tolist() == legal
            assert np.array_equal(batch.views[place], view.cells)
            assert np.array_equal(batch.features[place], view.features())
            chosen.append(rng.choice(legal))
        batch.step(np.array(chosen))
        for place, table in enumerate(tables):
            before = np.array(table.points)
            table.play(chosen[place])
            after = np.array(table.points)
            assert np.array_equal(batch.rewards[place], (after - before).astype(np.float32))
            assert batch.done[place] == table.over
            if table.over:
                assert np.array_equal(batch.final[place], after)
                tables[place] = game.deal(batch.seed, dealt[place] * size + place)
                dealt[place] += 1


@pytest.mark.parametrize("seed", range(3))
def test_seats_take_turns_from_the_first(any_game, seed):
    """A dealt table names a seat that exists, and nobody has moved."""
    table = any_game.deal(seed)
    assert 0 <= table.seat < any_game.players
    assert table.plies == 0
    assert table.actions == []
