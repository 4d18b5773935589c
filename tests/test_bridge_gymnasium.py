"""Our games in Gymnasium: its own checker, and ours of opponents, seats, masks and many games."""

from __future__ import annotations

import copy

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import kibitz
from kibitz.bridges import gymnasium as bridge
from kibitz.core.errors import AgentFailed, IllegalMove, KibitzError, Misuse
from kibitz.play.sparring import Sparring
from tests.test_sparring import OTHERS, by_features

VARIANTS = [
    ("nim", {}),
    ("nim", {"rows": (3, 4, 5), "opponents": "expert", "seat": 1, "aim": "win"}),
    ("tapnswap", {"opponents": ["tapper"], "aim": "win"}),
    ("mexican_train", {"players": 4, "hands": 1, "opponents": ["greedy", "double"]}),
    ("hanabi", {"players": 3, "opponents": ["smart", "piers"]}),
    ("hanabi", {"players": 5, "opponents": "self"}),
    ("carcassonne", {"players": 3, "tiles": 12, "opponents": "greedy", "aim": "margin"}),
    ("carcassonne", {"control": "cursor", "tiles": 4}),
]


def variant(case):
    name, settings = case
    return "-".join([name, *(f"{key}={value}" for key, value in settings.items())])


def id_of(name):
    return f"kibitz/{name}-v{kibitz.game(name).version}"


@pytest.mark.parametrize("case", VARIANTS, ids=variant)
def test_the_checker_of_gymnasium_is_content(case, monkeypatch):
    """Warnings are errors here."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("kibitz.bridges.rendering.FRAMES", 1000)
    name, settings = case
    check_env(gymnasium.make(id_of(name), **settings).unwrapped)


def test_ids_are_registered():
    for name in kibitz.game_names():
        assert id_of(name) in gymnasium.registry
        assert id_of(name) in bridge.register()
    made = gymnasium.make("kibitz.bridges.gymnasium:kibitz/nim-v1", rows=(3, 4, 5))
    assert made.unwrapped.game == kibitz.game("nim", rows=(3, 4, 5))
    assert made.spec.id == "kibitz/nim-v1"


def play(env, seed, choose, games=1):
    """Play games; give the rewards of each step, and the records."""
    rewards, records = [], []
    for game in range(games):
        _, info = env.reset(seed=seed) if game == 0 else env.reset()
        over = False
        while not over:
            action = choose(env.unwrapped, info)
            _, reward, over, cut, info = env.step(action)
            assert not cut
            rewards.append(reward)
        records.append(env.unwrapped.record())
        assert info["points"] == records[-1].table().points
    return rewards, records


def seen_by(env, info):
    return by_features(env.board.view(info["seat"]))


@pytest.mark.parametrize("name", OTHERS)
def test_one_game_is_the_same_as_one_of_many(name):
    """Agents here are objects that are asked; there they are compiled into the loop."""
    env = gymnasium.make(id_of(name), opponents=list(OTHERS[name]), aim="points")
    rewards, _ = play(env, 4, seen_by, games=3)
    sparring = Sparring(kibitz.game(name), 1, 4, opponents=OTHERS[name])
    told, games = [], 0
    while games < 3:
        sparring.step(np.array([by_features(kibitz.View(sparring.game, sparring.views[0].copy()))]))
        told.append(float(sparring.rewards[0]))
        games += bool(sparring.done[0])
    assert rewards == pytest.approx(told)


def test_opponents_play_as_well_as_they_do_elsewhere():
    """A perfect player at the other seat is never beaten where it moves second at TapnSwap."""
    env = gymnasium.make("kibitz/tapnswap-v1", opponents="perfect", seat=0, aim="win")
    for seed in range(5):
        rewards, _ = play(env, seed, lambda env, info: env.action_space.sample())
        assert sum(rewards) == -0.5


def test_opponents_may_be_functions_classes_and_searches():
    def first(view):
        """Take the first."""
        return view.legal[0]

    class Last(kibitz.Agent):
        """Take the last."""

        name = "last"

        def choose(self, view):
            return view.legal[-1]

    game = kibitz.game("mexican_train", players=4, hands=1)
    env = bridge.make(game, opponents=[first, Last, "mcts:sims=2"], seat=0)
    _, records = play(env, 1, seen_by)
    assert records[0].agents == ("learner", "first", "last", "mcts:sims=2")
    for table, action in records[0].steps():
        if table.seat == 1:
            assert action == table.legal[0]
        elif table.seat == 2:
            assert action == table.legal[-1]


def test_an_opponent_that_fails_is_named():
    def cheat(view):
        return -1

    def crash(view):
        raise ValueError("no idea")

    with pytest.raises(AgentFailed, match="cheat failed: nim: action -1 is not legal"):
        bridge.make("nim", opponents=[cheat], seat=1).reset(seed=1)
    with pytest.raises(AgentFailed, match=r"crash raised ValueError\('no idea'\)"):
        bridge.make("nim", opponents=[crash], seat=1).reset(seed=1)


@pytest.mark.parametrize("answer", [1.5, None, True, "3"])
def test_an_opponent_that_answers_with_no_number_is_named(answer):
    def odd(view):
        return answer

    with pytest.raises(AgentFailed, match="odd failed"):
        bridge.make("nim", opponents=[odd], seat=1).reset(seed=1)


def test_a_step_that_was_left_halfway_is_not_gone_on_with():
    """The mask of before must not let anything through to the rules."""
    moves = []

    def fails(view):
        moves.append(view.plies)
        if len(moves) == 2:
            raise KeyboardInterrupt
        return view.legal[0]

    env = bridge.make("nim", opponents=[fails], seat=0, illegal="raise")
    _, info = env.reset(seed=1)
    _, _, _, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    action = int(np.flatnonzero(info["action_mask"])[0])
    with pytest.raises(KeyboardInterrupt):
        env.step(action)
    for ask in (lambda: env.step(action), env.action_masks, env.render):
        with pytest.raises(Misuse):
            ask()
    env.reset(seed=1)
    assert env.action_masks().any()


def test_one_object_does_not_sit_at_two_seats():
    game = kibitz.game("mexican_train", players=4)
    for who in ("random", "mcts:sims=2"):
        agent = kibitz.agent(who, game)
        with pytest.raises(Misuse, match="cannot sit at two seats"):
            bridge.make(game, opponents=[agent])


@pytest.mark.parametrize("action", [None, "x", float("nan"), float("inf"), 2.7, "3", True, [1]])
def test_only_whole_numbers_are_actions(action):
    env = bridge.make("nim", seat=0)
    env.reset(seed=1)
    with pytest.raises(IllegalMove, match="is not legal"):
        env.step(action)
    assert env.record().actions == ()
    many = gymnasium.make_vec("kibitz/nim-v1", num_envs=1)
    many.reset(seed=1)
    with pytest.raises(KibitzError):
        many.step([action])


def test_before_the_deal_there_is_nothing():
    env = bridge.make("nim", render_mode="ansi")
    for ask in (env.render, env.action_masks, env.record):
        with pytest.raises(Misuse, match="Nothing is dealt yet"):
            ask()


def test_spaces_can_be_copied():
    many = gymnasium.make_vec("kibitz/nim-v1", num_envs=3, cores=2)
    assert copy.deepcopy(many.action_space) == many.action_space
    one = gymnasium.make("kibitz/nim-v1")
    assert copy.deepcopy(one.action_space) == one.action_space


def test_samples_are_legal():
    env = gymnasium.make("kibitz/carcassonne-v1", tiles=8, illegal="raise")
    for seed in range(3):
        play(env, seed, lambda env, info: env.action_space.sample())


def test_an_illegal_action_is_played_by_lot_or_raises():
    env = gymnasium.make("kibitz/nim-v1", seat=0).unwrapped
    _, info = env.reset(seed=1)
    assert not info["action_mask"][255]
    _, _, _, _, info = env.step(255)
    assert info["illegal"] is True
    again = gymnasium.make("kibitz/nim-v1", seat=0).unwrapped
    again.reset(seed=1)
    again.step(255)
    assert again.record().actions == env.record().actions
    with pytest.raises(IllegalMove):
        env.step(256)  # that is no action at all
    strict = gymnasium.make("kibitz/nim-v1", seat=0, illegal="raise").unwrapped
    _, info = strict.reset(seed=1)
    with pytest.raises(IllegalMove, match="action 255 is not legal for seat 0"):
        strict.step(255)
    info["action_mask"][:] = 1
    with pytest.raises(IllegalMove):
        strict.step(255)


def test_masks_as_sb3_contrib_asks_for_them():
    env = gymnasium.make("kibitz/tapnswap-v1")
    _, info = env.reset(seed=1)
    masks = env.unwrapped.action_masks()
    assert masks.dtype == bool
    assert np.array_equal(masks, info["action_mask"])


@pytest.mark.parametrize("aim", ["points", "margin", "win"])
def test_rewards_add_up(aim):
    env = bridge.make("carcassonne", tiles=8, players=3, aim=aim)
    for seed in range(4):
        rewards, (record,) = play(env, seed, seen_by)
        points, mine = record.table().points, record.agents.index("learner")
        others = max(points[:mine] + points[mine + 1 :])
        share = 1 / points.count(points[mine]) if points[mine] >= others else 0.0
        wanted = {"points": points[mine], "margin": points[mine] - others, "win": share - 1 / 3}
        assert sum(rewards) == pytest.approx(wanted[aim])


def test_wrong_requests_say_what_is_right():
    for how, said in (
        ({"opponents": "self"}, "win together"),
        ({"opponents": ["random", "random"]}, "1 other seats"),
        ({"opponents": "perfct"}, "Did you mean 'perfect'"),
        ({"seat": 2}, "no seat 2"),
        ({"aim": "fun"}, "There are: events, margin, points, win"),
        ({"illegal": "lose"}, "There are: raise, random"),
        ({"render_mode": "gif"}, "There are: ansi, human, rgb_array"),
        ({"rows": ()}, "Option 'rows' takes"),
        ({"row": 3}, "Did you mean 'rows'"),
    ):
        with pytest.raises(KibitzError, match=said):
            bridge.make("nim", **how)
    env = bridge.make("nim")
    with pytest.raises(Misuse, match=r"call env\.reset"):
        env.step(0)
    with pytest.raises(Misuse, match="nothing to decide"):
        bridge.make("nim", rows=(1,), seat=1).reset()


# --- many games ----------------------------------------------------------------------------------


def test_many_games_follow_the_contract_of_vector_environments():
    many = gymnasium.make_vec("kibitz/hanabi-v1", num_envs=6, players=3, opponents="iggi")
    assert many.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    seen, infos = many.reset(seed=5)
    assert seen in many.observation_space
    assert seen.shape == (6, *many.single_observation_space.shape)
    ended = 0
    for _ in range(120):
        actions = many.action_space.sample()
        assert actions in many.action_space
        assert infos["action_mask"][np.arange(6), actions].all()
        kept = seen.copy()
        following, rewards, over, cut, infos = many.step(actions)
        assert np.array_equal(kept, seen)  # what was given is not overwritten
        assert rewards.dtype == np.float64
        assert not cut.any()
        for board in np.flatnonzero(over):
            assert infos["final_obs"][board] in many.single_observation_space
            assert infos["_final_obs"][board]
            assert infos["final_info"]["points"][board, 0] >= 0
            ended += 1
        seen = following
    assert ended > 6
    many.close()


def test_many_games_repeat_with_a_seed_and_not_without():
    def run(seed):
        many = gymnasium.make_vec("kibitz/hanabi-v1", num_envs=4, cores=2)
        many.action_space.seed(1)
        many.reset(seed=seed)
        return [many.step(many.action_space.sample())[0].copy() for _ in range(30)]

    assert np.array_equal(run(1), run(1))
    assert not np.array_equal(run(1), run(2))
    assert not np.array_equal(run(None), run(None))


def test_many_games_take_illegal_actions_as_one_does():
    many = gymnasium.make_vec("kibitz/nim-v1", num_envs=3, seat=0)
    _, infos = many.reset(seed=1)
    legal = many.action_space.sample()
    legal[1] = 255
    infos = many.step(legal)[4]
    assert infos["illegal"].tolist() == [False, True, False]
    strict = gymnasium.make_vec("kibitz/nim-v1", num_envs=3, seat=0, illegal="raise")
    strict.reset(seed=1)
    with pytest.raises(IllegalMove, match="action 255 is not legal in game 1"):
        strict.step(legal)
    with pytest.raises(IllegalMove):
        many.step(np.array([0, 256, 0]))


def test_the_wrappers_of_gymnasium_work():
    many = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        gymnasium.make_vec("kibitz/tapnswap-v1", num_envs=8, aim="win")
    )
    many.reset(seed=1)
    returns = []
    for _ in range(400):
        _, _, over, _, infos = many.step(many.action_space.sample())
        if over.any():
            returns += infos["episode"]["r"][infos["_episode"]].tolist()
    assert set(returns) <= {-0.5, 0.0, 0.5}
    assert len(returns) > 10
