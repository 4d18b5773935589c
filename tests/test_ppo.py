"""PPO: what is kept of the boards is right, networks play as they were trained, runs resume."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from safetensors.numpy import load_file

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.compiled import JIT
from kibitz.core.errors import BadModel, BadOption, KibitzError, Misuse
from kibitz.core.models import save_model
from kibitz.learners import train
from kibitz.learners.ppo.agent import POLICY, chances_of
from kibitz.learners.ppo.settings import Settings
from kibitz.neural import inference
from kibitz.neural.agent import Meaning, thoughts_of
from kibitz.neural.backend import module_with_jax
from kibitz.neural.boards import CHUNK, LATEST, PAST, describe_options
from kibitz.neural.shape import looks_ahead, shape_of, widened
from kibitz.search.agreement import grade
from tests.lengths import first_always
from tests.networks import (
    GAMES,
    SMALL,
    by_lot,
    curve_without_time,
    loud,
    positions_of,
    some_boards,
)

pytestmark = pytest.mark.skipif(not JIT, reason="networks are compiled")


def agent_with(game, shape, weights, temperature=0.0):
    return POLICY.kind(game, shape, weights, Meaning("margin", 0.1, game.players), temperature)(
        game
    )


def with_jax():
    """Give the modules with the network and with the loss."""
    modules = ("kibitz.neural.network", "kibitz.learners.ppo.loss")
    return [module_with_jax(module, 2) for module in modules]


def one_of(boards, rows):
    """Give one sample, not stacked."""
    return [array[0] for array in boards.samples(rows[None], 1)]


# --- networks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_playing_and_training_compute_the_same(name):

    game = GAMES[name]
    nets, _ = with_jax()
    shape, weights = loud(game)
    network = nets.network_from(shape, weights)
    agent = agent_with(game, shape, weights)
    seen = 0
    for view in positions_of(game):
        legal = np.array(view.legal, np.int32)
        n = len(legal)
        ours = np.zeros(n)
        value = inference.think(game.rules, view.cells, legal, n, agent.weights, ours)
        features = np.zeros((1, game.bound("features")), np.float32)
        game.rules.observe(view.cells, features[0])
        if shape.actions:
            numbers, worth = nets.think_by_number(network, features)
            theirs = np.asarray(numbers)[0, legal]
        else:
            chunks = -(-n // CHUNK)
            options = np.zeros((chunks * CHUNK, shape.prospects + 1), np.float32)
            describe_options(game.rules, view.cells, legal, n, shape.ahead, options[:n])
            numbers, worth = nets.think_of_options(
                network, features, options.reshape(chunks, CHUNK, -1), np.zeros(chunks, np.int32)
            )
            theirs = np.asarray(numbers).ravel()[:n]
        np.testing.assert_allclose(ours, theirs, atol=2e-4)
        assert value == pytest.approx(float(worth[0]), abs=2e-4)
        assert n == 1 or np.ptp(ours) > 0.01
        chances, _ = chances_of(agent, view)
        raised = np.exp(theirs - theirs.max())
        np.testing.assert_allclose(chances, raised / raised.sum(), atol=1e-4)
        assert agent.choose(view) == legal[np.argmax(chances)]
        seen += n > 1
    assert seen > 3


@pytest.mark.long
def test_a_batch_of_decisions_gives_what_each_gives_alone():
    """The chances kept while playing are those that learning works out again."""

    nets, loss = with_jax()
    for name in ("options", "planes", "hanabi"):
        game = GAMES[name]
        boards = some_boards(game, steps=12)
        network = nets.network_from(*loud(game))

        def thought(features, options, owner, network=network, boards=boards):
            if boards.by_number:
                return map(np.asarray, nets.think_by_number(network, features))
            return map(np.asarray, nets.think_of_options(network, features, options, owner))

        boards.roll(thought, None, 0)
        rows = boards.judge(0.99, 0.95)
        rows = np.random.default_rng(0).permutation(rows)[:32]
        zeros = np.zeros(len(rows), np.float32)
        sample = loss.Sample(*one_of(boards, rows), zeros, zeros, zeros)
        logs, entropy, value = loss.logs_of(network, sample)
        np.testing.assert_allclose(logs, boards.chances.ravel()[rows], atol=2e-4)
        np.testing.assert_allclose(value, boards.values.ravel()[rows], atol=2e-4)
        assert (np.asarray(entropy) > -1e-5).all()
        counts = boards.counts.ravel()[rows]
        assert (np.asarray(entropy) <= np.log(counts) + 1e-4).all()


def test_new_inputs_change_nothing_at_first():
    old_game = GAMES["options"].having(prospects=False)
    new_game = GAMES["options"].having(encoding="features")
    old, weights = loud(old_game)
    new = shape_of(new_game, SMALL["hidden"], SMALL["option_hidden"], SMALL["channels"])
    wider = widened(weights, old, new, "it")
    before, after = agent_with(old_game, old, weights), agent_with(new_game, new, wider)
    for view in positions_of(GAMES["options"]):
        np.testing.assert_allclose(
            thoughts_of(before, view)[0], thoughts_of(after, view)[0], atol=1e-5
        )
    with pytest.raises(
        Misuse, match=r"its features is .* Only features and prospects may be added"
    ):
        widened(wider, new, old, "it")
    other = shape_of(new_game, "8", SMALL["option_hidden"], SMALL["channels"])
    with pytest.raises(Misuse, match=r"its hidden is .* Give the layers that it has: --hidden"):
        widened(wider, new, other, "it")


def test_looking_ahead_shows_the_position_after_each_option():
    game = GAMES["nim"]
    assert looks_ahead(game)
    assert not looks_ahead(GAMES["hanabi"])
    assert not looks_ahead(GAMES["options"])
    for view in positions_of(game):
        legal = np.array(view.legal, np.int32)
        rows = np.ones((len(legal), 1 + game.bound("features")), np.float32)
        describe_options(game.rules, view.cells, legal, len(legal), True, rows)
        for action, row in zip(view.legal, rows, strict=True):
            after = view.cells.copy()
            game.rules.play(after, action)
            features = np.zeros(game.bound("features"), np.float32)
            game.rules.observe(after, features)
            assert row[0] == -1
            assert np.array_equal(row[1:], features)
    by_number = shape_of(game, "8", "8", "8", ahead="no")
    assert by_number.actions == game.bound("actions")


# --- boards --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nim", "three", "hanabi"])
def test_advantages_follow_each_seat_alone(name):
    """Against sums over the decisions of one seat in one game, in plain Python."""
    game = GAMES[name]
    boards = some_boards(game, steps=90)
    boards.roll(by_lot(boards), None, 0)
    rows = boards.judge(0.97, 0.9)
    boards.deviation[0] = 0.0  # rewards as they are
    boards._earned(0.97, 0.9, boards.values, False)
    seen = 0
    for board in range(boards.size):
        for seat in range(game.players):
            own = [t for t in range(boards.steps + 1) if boards.seat_of[t, board] == seat]
            for place, t in enumerate(own):
                total, weight = 0.0, 1.0
                for here, there in itertools.zip_longest(own[place:], own[place + 1 :]):
                    over = boards.ended[here, board]
                    if not over and there is None:
                        break  # the last one only says what the position is worth
                    ahead = 0.0 if over else 0.97 * boards.values[there, board]
                    total += weight * (
                        boards.rewards[here, board] + ahead - boards.values[here, board]
                    )
                    weight *= 0.97 * 0.9
                    if over:
                        break
                assert boards.usable[t, board] == (weight < 1.0)
                assert boards.gains[t, board] == pytest.approx(total, abs=1e-5)
                seen += boards.usable[t, board]
    assert seen > 200
    assert len(rows) == seen


def worth_of(table, seat, aim):
    points = np.array(table.points)
    if aim == "points":
        return points[seat]
    if aim == "margin":
        return points[seat] - np.delete(points, seat).max()
    if not table.over:
        return 0.0
    return (points[seat] == points.max()) / (points == points.max()).sum() - 1 / len(points)


@pytest.mark.parametrize("aim", ["win", "margin", "points"])
def test_rewards_add_up_to_what_the_game_gave(aim):
    game = GAMES["three"]
    boards = some_boards(game, steps=120, aim=aim)
    finals = set()
    boards.roll(by_lot(boards), None, 0)
    checked = 0
    for board in range(boards.size):
        table = game.deal(boards.seed, board)  # the first deal of each board
        assert boards.deals[board] > 1, "a game must have ended"
        t, before = 0, {}
        while not table.over:
            assert table.seat == boards.seat_of[t, board]
            # What came before a seat's first decision is not its doing.
            before.setdefault(table.seat, worth_of(table, table.seat, aim))
            table.play(int(boards.legal[t, board, boards.places[t, board]]))
            t += 1
        finals.add(tuple(table.points))
        for seat in range(3):
            wanted = worth_of(table, seat, aim) - before[seat]
            own = boards.seat_of[:t, board] == seat
            assert boards.rewards[:t, board][own].sum() == pytest.approx(wanted)
            checked += 1
    assert checked == 3 * boards.size
    assert len(finals) > 2


def test_events_are_paid_by_name():
    game = kibitz.game("carcassonne", tiles=6, control="cursor", encoding="vector")
    boards = some_boards(game, aim="events", rewards="step=-0.25+score=0", steps=60)
    boards.roll(by_lot(boards), None, 0)
    inner = boards.follow[:60] >= 0
    paid = boards.rewards[:60][inner]
    # A step costs a quarter, a step against the boundary and a misfit a thousandth more.
    assert set(np.round(paid, 4)) <= {-0.25, -0.251, -0.26}
    assert (np.round(paid, 4) == -0.251).any()
    with pytest.raises(Misuse, match="aim=events"):
        some_boards(game, rewards="step=1")
    with pytest.raises(Misuse, match="no events"):
        some_boards(GAMES["nim"], aim="events")


@pytest.mark.parametrize("name", ["options", "hanabi"])
def test_boards_are_the_same_on_any_number_of_cores(name):
    def rolled(cores):
        boards = some_boards(GAMES[name], cores=cores, opponents="self+random", opening=3)
        boards.roll(by_lot(boards), None, 0)
        return boards

    one, three = rolled(1), rolled(3)
    for kept in ("features", "legal", "places", "rewards", "ended", "follow", "states", "options"):
        assert np.array_equal(getattr(one, kept), getattr(three, kept)), kept


def test_named_opponents_move_by_themselves():
    game = GAMES["options"]
    boards = some_boards(game, opponents="greedy+past+self", boards=9, steps=60)
    assert boards.opponents.past_boards == 3
    think_past = by_lot(boards, 5)
    boards.roll(by_lot(boards), think_past, 3)
    mine = boards.mine[:60]
    assert boards.opponents.rivals.tolist() == [PAST] * 3 + [LATEST] * 3 + [0] * 3
    assert mine[:, 3:].all(), "alone or against greedy, every decision is the learner's"
    assert not mine[:, :3].all(), "an earlier self decides too"
    assert mine[:, :3].any()
    # Where greedy sits, all decisions asked for are the learner's, and of one seat within a game.
    against = next(b for b in range(9) if boards.opponents.rivals[b] == 0)
    seats = boards.seat_of[:60, against][mine[:, against]]
    assert mine[:, against].all()
    assert len(set(seats[:4])) == 1
    with pytest.raises(Misuse, match="at least as many boards"):
        some_boards(game, opponents="self+random", boards=1)
    with pytest.raises(KibitzError, match="nobody"):
        some_boards(game, opponents="nobody")


def test_a_policy_sees_its_own_encoding_at_any_table():
    shape, weights = loud(GAMES["options"])
    agent = agent_with(GAMES["options"], shape, weights)
    other = GAMES["options"].having(encoding="tiles", prospects=False)
    moved = agent_with(GAMES["options"], shape, weights)
    for a, b in zip(positions_of(GAMES["options"]), positions_of(other), strict=True):
        assert agent.choose(a) == moved.choose(b)


# --- training ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", first_always(["nim", "three", "hanabi", "cursor"]))
def test_training_gives_an_agent_that_plays(name, tmp_path):
    game = GAMES[name]
    learned = train("ppo", game, seed=1, folder=tmp_path, decisions=1024, **SMALL)
    assert learned.decisions == 1024
    for file in ("model.safetensors", "last.safetensors", "curve.csv", "curve.png"):
        assert (tmp_path / file).exists()
    assert list((tmp_path / "tensorboard").glob("events*"))
    agent = kibitz.agent(str(tmp_path / "model.safetensors"), game)
    kibitz.match(game, [agent], 10, seed=1)
    opinion = agent.explain(game.deal(1).view())
    assert sum(t.value for t in opinion.thoughts) == pytest.approx(1.0, abs=1e-4)
    assert "expects" in opinion.reason
    hot = kibitz.agent(f"policy:model={tmp_path / 'model.safetensors'},temperature=1", game)
    table = game.deal(1)
    hot.begin(table.seat, Chance(1))
    view = table.view(table.seat)
    assert len({hot.choose(view) for _ in range(60)}) > 1


@pytest.mark.parametrize("name", first_always(["nim", "options"]))
def test_an_interrupted_run_goes_on_as_if_it_had_not_been(name, tmp_path):
    game = GAMES[name]
    settings = {**SMALL, "decisions": 6 * 256, "opponents": "self+past", "past_every": 2}

    def stop(done, total, words):
        if done == 3:
            raise KeyboardInterrupt

    whole = train("ppo", game, seed=5, folder=tmp_path / "a", cores=2, **settings)
    with pytest.raises(KeyboardInterrupt):
        train("ppo", game, seed=5, folder=tmp_path / "b", progress=stop, cores=1, **settings)
    parts = train("ppo", game, seed=5, folder=tmp_path / "b", cores=1, **settings)
    assert whole.figures == parts.figures
    for file in ("model.safetensors", "last.safetensors"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert curve_without_time(tmp_path / "a") == curve_without_time(tmp_path / "b")
    other = train("ppo", game, seed=6, folder=tmp_path / "c", **settings)
    assert (tmp_path / "c/last.safetensors").read_bytes() != (
        tmp_path / "a/last.safetensors"
    ).read_bytes()
    assert other.updates == 6


@pytest.mark.long
def test_a_run_that_was_killed_goes_on(tmp_path):
    """Killed without warning, again and again; the end is the same."""
    flags = ["--decisions", "3072", "--boards", "16", "--buffer", "256", "--batch", "64",
             "--hidden", "16,16", "--evaluate-every", "4", "--evaluate-games", "10"]  # fmt: skip
    program = "from kibitz.cli import main; main()"
    hasty = "import kibitz.core.training as t; t.CHECKPOINT_SECONDS = 0.0\n" + program
    rest = ["train", "nim", "ppo", "--seed", "3", *flags]
    command, eager = [sys.executable, "-c", program, *rest], [sys.executable, "-c", hasty, *rest]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    subprocess.run([*command, "--out", str(whole)], check=True, capture_output=True)
    checkpoint = parts / "checkpoint.safetensors"
    killed = 0
    for delay in (0.05, 0.3):
        process = subprocess.Popen(
            [*eager, "--out", str(parts)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        since = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        while process.poll() is None:
            if checkpoint.exists() and checkpoint.stat().st_mtime_ns != since:
                time.sleep(delay)
                break
            time.sleep(0.01)
        process.kill()
        killed += process.wait() == -signal.SIGKILL
    assert killed, "it was done before it could be killed"
    subprocess.run([*command, "--out", str(parts)], check=True, capture_output=True)
    for file in ("model.safetensors", "last.safetensors"):
        assert (whole / file).read_bytes() == (parts / file).read_bytes()


@pytest.mark.long
def test_it_learns_nim(tmp_path):
    game = kibitz.game("nim", rows=(1, 2, 3))
    learned = train(
        "ppo", game, seed=2, decisions=60_000, boards=64, buffer=2048, hidden="64,64", rate=2e-3,
        opening=4, entropy=0.03, evaluate_every=30, folder=tmp_path,
    )  # fmt: skip
    assert learned.figures["share_random"] > 0.85
    assert grade(game, str(tmp_path / "last.safetensors")).agreement > 0.9


@pytest.mark.long
def test_training_goes_on_from_a_model_with_other_settings(tmp_path):
    game = GAMES["options"].having(prospects=False)
    train("ppo", game, seed=1, folder=tmp_path / "a", decisions=512, **SMALL)
    model = str(tmp_path / "a" / "last.safetensors")
    wider = GAMES["options"].having(encoding="features")
    begun = train(
        "ppo", wider, seed=2, folder=tmp_path / "b", decisions=256, begin_with=model,
        **{**SMALL, "rate": 0.0},
    )  # fmt: skip
    view = next(iter(positions_of(GAMES["options"])))
    old = kibitz.agent(model, game)
    np.testing.assert_allclose(
        thoughts_of(old, view)[0], thoughts_of(begun.agent, view)[0], atol=1e-5
    )
    with pytest.raises(Misuse, match="hidden"):
        train("ppo", wider, seed=2, decisions=256, begin_with=model, **{**SMALL, "hidden": "8"})
    model = str(tmp_path / "b" / "last.safetensors")
    with pytest.raises(Misuse, match="not a prefix"):  # features are not the beginning of planes
        train("ppo", GAMES["planes"], seed=2, decisions=256, begin_with=model, **SMALL)


def test_cooperative_games_are_measured_by_their_score(tmp_path):
    game = kibitz.game("hanabi", players=2, colours=2, values=3)
    learned = train("ppo", game, seed=1, folder=tmp_path, decisions=512, **SMALL)
    assert set(learned.figures) == {"score", "score_spread"}
    assert learned.rows()[0][0] == "score"


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"hidden": "0"}, "hidden is 1 to"),
        ({"hidden": "9,x"}, "hidden is 1 to"),
        ({"rivals": "nobody"}, "nobody"),
        ({"batch": 4096}, "larger buffer"),
        ({"begin_with": "missing.safetensors"}, "missing.safetensors"),
        ({"aim": "events"}, "no events"),
        ({"buffer": 0}, "buffer"),
    ],
)
def test_what_cannot_be_is_told(settings, words):
    with pytest.raises(KibitzError, match=words):
        train("ppo", GAMES["nim"], seed=1, **{**SMALL, "decisions": 256, **settings})


def test_threads_are_settled_once():

    module_with_jax("kibitz.neural.network", 2)
    with pytest.raises(Misuse, match="another one"):
        module_with_jax("kibitz.neural.network", 3)


def test_damaged_checkpoints_are_refused(tmp_path):
    game = GAMES["nim"]
    settings = {**SMALL, "decisions": 1024, "opponents": "self+random"}

    def stop(done, total, words):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("ppo", game, seed=1, folder=tmp_path, progress=stop, **settings)
    path = tmp_path / "checkpoint.safetensors"
    whole = load_file(path)
    impossible = whole["boards.states"].copy()
    impossible[3, 0] = 300
    overfull = whole["boards.states"].copy()
    overfull[2, game.cell("rows")] = 63
    strangers = whole["boards.who"].copy()
    strangers[0] = 7
    short = {name: array for name, array in whole.items() if name != "best.value.bias"}
    for damaged in (
        {**whole, "boards.states": impossible},
        {**whole, "boards.states": overfull},
        {**whole, "boards.who": strangers},
        {**whole, "boards.deals": -whole["boards.deals"]},
        {**whole, "best.value.bias": np.zeros(3, np.float32)},
        {**whole, "network.value.bias": np.full(1, np.nan, np.float32)},
        short,
    ):
        save_model(path, "ppo", game, damaged)
        with pytest.raises(BadModel, match="checkpoint"):
            train("ppo", game, seed=1, folder=tmp_path, **settings)
    save_model(path, "ppo", game, whole)
    assert train("ppo", game, seed=1, folder=tmp_path, **settings).updates == 4


def test_rewards_that_have_not_come_yet_set_no_scale():
    boards = some_boards(GAMES["three"], aim="win", steps=2)
    for _ in range(5):
        boards.roll(by_lot(boards), None, 0)
        boards.judge(0.99, 0.95)
        assert boards.scale == 1.0 or boards.rewards.any()
    assert boards.scale == 1.0


def test_the_loss_is_that_of_the_paper():
    """Against a few lines of NumPy."""

    nets, loss = with_jax()
    game = GAMES["three"]
    boards = some_boards(game, steps=12)
    network = nets.network_from(*loud(game))
    boards.roll(by_lot(boards), None, 0)
    rows = boards.judge(0.99, 0.95)[:40]
    rng = np.random.default_rng(1)
    old = rng.normal(-1.5, 1, len(rows)).astype(np.float32)
    gains, returns = rng.normal(size=(2, len(rows))).astype(np.float32)
    sample = loss.Sample(*one_of(boards, rows), old, gains, returns)
    total, figures = loss.loss_of(network, sample, 0.2, 0.01, 0.5)
    logs, entropy, value = map(np.asarray, loss.logs_of(network, sample))
    ratio = np.exp(logs - old)
    surrogate = np.minimum(ratio * gains, np.clip(ratio, 0.8, 1.2) * gains)
    wanted = -surrogate.mean() + 0.5 * 0.5 * ((value - returns) ** 2).mean() - 0.01 * entropy.mean()
    assert float(total) == pytest.approx(wanted, rel=1e-4)
    assert float(figures.clipped) == pytest.approx((abs(ratio - 1) > 0.2).mean())


@pytest.mark.parametrize("name", first_always(["nim", "options"]))
@pytest.mark.long
def test_steps_that_are_stacked_are_steps_one_by_one(name):

    nets, loss = with_jax()
    game = GAMES[name]
    boards = some_boards(game, steps=12)
    first = nets.network_from(*loud(game))
    boards.roll(by_lot(boards), None, 0)
    rows = np.random.default_rng(0).permutation(boards.judge(0.99, 0.95))[:24].reshape(3, 8)
    rng = np.random.default_rng(1)
    judged = rng.normal(-1.5, 1, (3, 4, 8)).astype(np.float32)  # the last of four is not used
    numbers = [np.float32(number) for number in (1e-3, 0.5, 0.2, 0.01, 0.5)]
    stacked = loss.Sample(*boards.samples(rows, 4), *judged)
    together, _, sums = loss.improve(first, nets.first_memory(first), stacked, 3, *numbers)
    network, memory, losses = first, nets.first_memory(first), 0.0
    for place, of in enumerate(rows):
        single = loss.Sample(*boards.samples(of[None], 1), *judged[:, place][:, None])
        network, memory, seen = loss.improve(network, memory, single, 1, *numbers)
        losses += float(seen.policy_loss)
    for kind, array in nets.weights_of(network).items():
        np.testing.assert_allclose(nets.weights_of(together)[kind], array, atol=2e-5)
        assert (array != nets.weights_of(first)[kind]).any()
    assert float(sums.policy_loss) == pytest.approx(losses, rel=1e-3)


def test_damaged_models_are_refused(tmp_path):
    game = GAMES["nim"]
    shape, weights = loud(game)
    layers = Settings(**SMALL).layers
    path = tmp_path / "m.safetensors"
    good = {"layers": layers, "aim": "margin", "scale": 0.1}
    save_model(path, "policy", game, weights, good)
    assert POLICY.load(path, game)[1] == shape
    for about, arrays in (
        ({}, weights),
        ({**good, "layers": {**layers, "hidden": "8"}}, weights),
        ({**good, "layers": {**layers, "depth": "8"}}, weights),
        ({**good, "layers": {**layers, "hidden": "-1"}}, weights),
        ({**good, "scale": 0}, weights),
        ({**good, "scale": "x"}, weights),
        ({"layers": layers, "scale": 1.0}, weights),
        (good, {name: a for name, a in weights.items() if name != "policy.bias"}),
        (good, {**weights, "value.bias": np.full(1, np.nan, np.float32)}),
        (good, {**weights, "value.bias": np.zeros(1)}),
    ):
        save_model(path, "policy", game, arrays, about)
        with pytest.raises(BadModel, match=r"m\.safetensors"):
            kibitz.agent(str(path), game)
    save_model(path, "policy", game, weights, good)
    with pytest.raises(BadModel):
        kibitz.agent(str(path), kibitz.game("nim", rows=(2, 2)))


def test_presets_hold_known_settings():
    from kibitz.learners.ppo import PRESETS

    for preset in PRESETS.values():
        Settings(**preset)
    with pytest.raises(BadOption):
        train("ppo", GAMES["nim"], seed=1, aim="glory")
