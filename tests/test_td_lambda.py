"""TD(lambda): targets are by definition, rounds count as games, runs resume, it learns."""

from __future__ import annotations

import numpy as np
import pytest

import kibitz
from kibitz.core.compiled import JIT
from kibitz.core.errors import BadOption, KibitzError
from kibitz.learners import train
from kibitz.learners.td_lambda.agent import TD
from kibitz.learners.td_lambda.settings import Settings
from kibitz.neural.agent import Meaning, thoughts_of
from kibitz.neural.backend import module_with_jax
from kibitz.neural.boards import CHUNK
from kibitz.search.agreement import grade
from tests.lengths import first_always
from tests.networks import GAMES, SMALL, by_lot, curve_without_time, loud, positions_of, some_boards

pytestmark = pytest.mark.skipif(not JIT, reason="networks are compiled")

TRAIN = kibitz.game("mexican_train", highest=6, hands=3, players=3)


@pytest.mark.parametrize("lam", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("name", ["nim", "three"])
def test_targets_follow_each_seat_alone(name, lam):
    """Against the definition, seat by seat, from the rows that were played."""
    boards = some_boards(GAMES[name], steps=30)
    boards.roll(by_lot(boards), None, 0, 0.3, 0.0)
    boards.deviation[0] = 2.0
    rows = boards.judge(0.9, lam, by_options=True)
    target = boards.gains + boards.values
    cut = kept = 0
    for row in rows:
        t, board = divmod(int(row), boards.size)
        earned = 0.5 * boards.rewards[t, board]
        if boards.ended[t, board]:
            wanted = earned
        else:
            seat = boards.seat_of[t, board]
            later = next(
                s for s in range(t + 1, boards.steps + 1) if boards.seat_of[s, board] == seat
            )
            best = boards.values[later, board] + boards.best[later, board]
            wanted = best
            if boards.usable[later, board]:
                was_best = boards.taken[later, board] == boards.best[later, board]
                cut, kept = cut + (not was_best), kept + was_best
                if was_best:
                    wanted = (1 - lam) * best + lam * target[later, board]
            wanted = earned + 0.9 * wanted
        assert target[t, board] == pytest.approx(wanted, abs=1e-5)
    assert cut
    assert kept


def test_moves_are_by_lot_as_often_as_is_said():
    boards = some_boards(GAMES["hanabi"], boards=64)
    for epsilon in (0.0, 0.5):
        boards.roll(by_lot(boards), None, 0, epsilon, 0.0)
        best = (boards.taken == boards.best)[: boards.steps].mean()
        by_chance = (1.0 / boards.counts[: boards.steps]).mean()
        assert best == pytest.approx(1 - epsilon + epsilon * by_chance, abs=0.03 if epsilon else 0)


def test_the_option_that_was_taken_is_handed_over():
    for name in ("options", "nim", "hanabi"):
        boards = some_boards(GAMES[name], steps=12)
        boards.roll(by_lot(boards), None, 0)
        rows = boards.judge(0.99, 0.95, by_options=True)
        features, options, actions = boards.taken_options(rows)
        for place, row in enumerate(rows):
            t, board = divmod(int(row), boards.size)
            taken = boards.places[t, board]
            assert (features[place] == boards.features[t, board]).all()
            assert actions[place] == boards.legal[t, board, taken]
            if not boards.by_number:
                at = boards.begins[t, board] * CHUNK + taken
                assert (options[place] == boards.options[at]).all()


@pytest.mark.parametrize("aim", ["points", "margin", "win"])
def test_every_round_is_a_game_of_its_own(aim):
    """Rewards of a hand add up to its pips, its margin or its win, by playing the games again."""
    boards = some_boards(TRAIN, boards=6, steps=200, aim=aim, rounds=True)
    start = boards.states.copy()
    boards.roll(by_lot(boards), None, 0)
    hands = 0
    for board in range(boards.size):
        table = kibitz.Table(TRAIN, start[board].copy())
        first = 0
        held = [-pips_in_hand(table, seat) for seat in range(3)]
        for t in range(boards.steps):
            hand, before = cell(table, "hand"), [cell(table, "pips", seat) for seat in range(3)]
            table.play(int(boards.legal[t, board, boards.places[t, board]]))
            if table.over or cell(table, "hand") != hand:
                left = [-(cell(table, "pips", seat) - before[seat]) for seat in range(3)]
                for seat in range(3):
                    rows = [s for s in range(first, t + 1) if boards.seat_of[s, board] == seat]
                    assert boards.ended[rows[-1], board]
                    assert not boards.ended[rows[:-1], board].any()
                    earned = boards.rewards[rows, board].sum()
                    if aim == "win":
                        best = max(left)
                        share = (left[seat] == best) / left.count(best)
                        assert earned == pytest.approx(share - 1 / 3)
                    elif boards.seat_of[first, board] == seat:
                        # Others earn or lose before their first decision, which nobody is paid for.
                        worth = [left, held]
                        if aim == "margin":
                            worth = [
                                [of[s] - max(of[o] for o in range(3) if o != s) for s in range(3)]
                                for of in worth
                            ]
                        assert earned == pytest.approx(worth[0][seat] - worth[1][seat])
                hands += 1
                first = t + 1
                if table.over:
                    break
                held = [-pips_in_hand(table, seat) for seat in range(3)]
    assert hands >= 12


def cell(table, name, place=0):
    return int(table.cells[table.game.layout.start(name) + place])


def pips_in_hand(table, seat):
    from kibitz.games.mexican_train.tiles import HIGH, LOW

    return sum(
        int(LOW[tile] + HIGH[tile]) for tile in range(28) if cell(table, "holder", tile) == seat
    )


@pytest.mark.long
def test_playing_and_training_value_the_same():
    nets = module_with_jax("kibitz.neural.network", 2)
    loss = module_with_jax("kibitz.learners.td_lambda.loss", 2)
    for name in ("options", "hanabi", "planes"):
        game = GAMES[name]
        shape, weights = loud(game)
        agent = TD.kind(game, shape, weights, Meaning("points", 0.25, game.players))(game)
        network = nets.network_from(shape, weights)
        for view in positions_of(game):
            legal = np.array(view.legal, np.int32)
            n = len(legal)
            features = np.zeros((n, game.bound("features")), np.float32)
            game.rules.observe(view.cells, features[0])
            features[:] = features[0]
            options = np.zeros((n, game.bound("prospects")), np.float32)
            if not shape.actions:
                game.rules.describe(view.cells, legal, n, options)
            sample = loss.Sample(features, options, legal, np.zeros(n, np.float32))
            values = np.asarray(loss.values_of(network, sample)) / 0.25
            np.testing.assert_allclose(agent.values(view, view.legal), values, atol=2e-3)
            told = agent.explain(view)
            assert told.action == view.legal[int(np.argmax(values))]
            numbers, worth = thoughts_of(agent, view)
            assert f"{(worth + numbers.max()) / 0.25:+.1f} points to come" in told.reason


@pytest.mark.parametrize(
    "changed",
    first_always(
        [
            {"replay": 300},
            {"opponents": "random++self+past", "past_every": 2},
            {"temperature": 0.5, "epsilon": 0.0, "last_epsilon": 0.0},
        ]
    ),
)
def test_an_interrupted_run_goes_on_as_if_it_had_not_been(changed, tmp_path):
    game = GAMES["three"] if "temperature" in changed else GAMES["nim"]
    settings = {**SMALL, "decisions": 6 * 256, **changed}

    def stop(done, total, words):
        if done == 4:
            raise KeyboardInterrupt

    whole = train("td_lambda", game, seed=5, folder=tmp_path / "a", cores=2, **settings)
    with pytest.raises(KeyboardInterrupt):
        train("td_lambda", game, seed=5, folder=tmp_path / "b", progress=stop, cores=1, **settings)
    parts = train("td_lambda", game, seed=5, folder=tmp_path / "b", cores=1, **settings)
    assert whole.figures == parts.figures
    for file in ("model.safetensors", "last.safetensors"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert curve_without_time(tmp_path / "a") == curve_without_time(tmp_path / "b")
    model = tmp_path / "a" / "model.safetensors"
    result = kibitz.match(game, [str(model), *["random"] * (game.players - 1)], 20, seed=1)
    assert result.games >= 20


@pytest.mark.long
def test_it_learns_nim():
    game = kibitz.game("nim", rows=(1, 2, 3))
    made = train(
        "td_lambda", game, seed=1, decisions=60_000, boards=64, buffer=1024, hidden="16",
        batch=64, option_hidden="32,32", rate=3e-3, opening=3, evaluate_games=20,
    )  # fmt: skip
    assert grade(game, made.agent).agreement == 1.0


@pytest.mark.long
def test_it_learns_to_get_rid_of_pips():
    """A few seconds of training beat the greedy player, with rounds, hidden tiles and all."""
    made = train(
        "td_lambda", TRAIN, seed=1, decisions=60_000, boards=64, buffer=4096, hidden="16",
        option_hidden="32,32", rate=2e-3, rivals="greedy", evaluate_games=20,
    )  # fmt: skip
    result = kibitz.match(TRAIN, [made.agent, "greedy", "greedy"], 300, seed=2)
    assert result.agents[0].share.low > 0.5


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"epsilon": 2.0}, "epsilon"),
        ({"opponents": "self++nobody"}, "nobody"),
        ({"opponents": "self++"}, "stage"),
        ({"replay": -1}, "replay"),
    ],
)
def test_what_cannot_be_is_told(settings, words):
    with pytest.raises(KibitzError, match=words):
        train("td_lambda", GAMES["nim"], seed=1, **{**SMALL, "decisions": 1024, **settings})


def test_settings_of_both_learners_agree():
    from kibitz.learners.ppo.settings import Settings as OfPolicies
    from kibitz.neural.settings import Playing

    shared = set(Playing.__dataclass_fields__)
    for kind in (Settings, OfPolicies):
        assert shared <= set(kind.__dataclass_fields__)
    with pytest.raises(BadOption):
        kibitz.train("td_lambda", GAMES["nim"], lam=1.5)
