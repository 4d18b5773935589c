"""Our games in PettingZoo: its own tests, and ours of what seats see, earn and may do."""

from __future__ import annotations

import warnings

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test
from pettingzoo.test.save_obs_test import test_save_obs as save_obs_test

import kibitz
from kibitz.bridges import pettingzoo as bridge
from kibitz.bridges.pettingzoo import env, hanabi_v1, nim_v1, sit
from kibitz.core.chance import Chance, agents_seed
from kibitz.core.errors import IllegalMove, KibitzError, Misuse
from tests.conftest import walk
from tests.lengths import first_always

VARIANTS = [
    ("nim", {}),
    ("nim", {"rows": (3, 4, 5), "misere": False, "aim": "win"}),
    ("tapnswap", {}),
    ("tapnswap", {"max_plies": 20}),
    ("mexican_train", {"players": 2, "hands": 1}),
    ("mexican_train", {"players": 4, "hands": 2, "aim": "margin"}),
    ("mexican_train", {"players": 12, "highest": 15, "hands": 1}),
    ("hanabi", {}),
    ("hanabi", {"players": 3, "colours": 3}),
    ("hanabi", {"players": 5}),
    ("carcassonne", {}),
    ("carcassonne", {"players": 3, "farmers": True}),
    ("carcassonne", {"players": 5, "tiles": 20, "encoding": "tiles"}),
    ("carcassonne", {"control": "cursor", "max_cycles": 50}),
]
# What PettingZoo says of every dict of observation and mask that is not in its own list of names.
OF_DICTS = ("Observation space for each agent probably should be", "Observation is not a NumPy")


def variant(case):
    name, settings = case
    return "-".join([name, *(f"{key}={value}" for key, value in settings.items())])


def random_game(environment, seed=1, plies=10**6):
    """Play a random game; give every agent's total reward."""
    environment.reset(seed=seed)
    rng = np.random.default_rng(seed)
    totals = dict.fromkeys(environment.possible_agents, 0.0)
    for agent in environment.agent_iter(plies):
        _, reward, terminated, truncated, info = environment.last()
        totals[agent] += reward
        if terminated or truncated:
            environment.step(None)
        else:
            environment.step(rng.choice(np.flatnonzero(info["action_mask"])))
    return totals


@pytest.mark.parametrize("case", VARIANTS, ids=variant)
def test_the_tests_of_pettingzoo_pass(case, capsys, tmp_path, monkeypatch):
    """With masks in infos there is no warning; with dicts, only what any dict is told."""
    monkeypatch.chdir(tmp_path)
    name, settings = case
    for mask in ("infos", "observation"):

        def make(mask=mask, **more):
            return env(name, mask=mask, **settings, **more)

        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            api_test(make(), num_cycles=60)
            seed_test(make, num_cycles=30)
            save_obs_test(make())
        told = {str(one.message) for one in heard}
        if settings.get("misere") is False:  # the table that ends normal Nim is bare
            told -= {"Observation numpy array is all zeros."}
        if mask == "observation":
            told = {one for one in told if not one.startswith(OF_DICTS)}
        assert told == set()
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize("case", VARIANTS[::3], ids=variant)
def test_the_render_tests_of_pettingzoo_pass(case, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # no screen
    monkeypatch.setattr("kibitz.bridges.rendering.FRAMES", 1000)
    name, settings = case
    render_test(
        lambda **how: env(name, **settings, **how),
        {"rgb_array": lambda picture: picture.shape[1] == 720 and 140 < picture.mean() < 250},
    )


@pytest.mark.parametrize("name", first_always(kibitz.game_names()))  # takes five seconds each
def test_the_performance_benchmark_of_pettingzoo_runs(name, capsys):
    performance_benchmark(env(name))
    said = capsys.readouterr().out
    assert "Finished performance benchmark" in said


def test_environments_have_names_and_versions():
    for name in kibitz.game_names():
        called = f"{name}_v{kibitz.game(name).version}"
        made = getattr(bridge, called).env()
        assert str(made) == called
        assert called in dir(bridge)
        assert f"kibitz/{called[::-1].replace('_', '-', 1)[::-1]}" in pettingzoo.aec_registry
    made = pettingzoo.make("aec", "kibitz/hanabi-v1", players=3)
    assert made.possible_agents == ["seat_0", "seat_1", "seat_2"]
    with pytest.raises(ImportError, match="hanabi_v9"):
        from kibitz.bridges.pettingzoo import hanabi_v9  # noqa: F401
    with pytest.raises(AttributeError, match=r"There are: .*nim_v1"):
        bridge.chess_v1  # noqa: B018


@pytest.mark.parametrize("case", VARIANTS[:-1], ids=variant)
def test_a_game_is_that_of_a_table(case):
    """The same deal, views, masks and points as at a table, for every seat at every ply."""
    name, settings = case
    settings = {key: value for key, value in settings.items() if key != "aim"}
    environment = env(name, **settings)
    game = environment.game
    played = walk(game, 5)
    environment.reset(seed=5)
    table = game.deal(5)
    start = table.points
    totals = np.zeros(game.players)
    for action in played.actions[:150]:
        assert environment.agent_selection == f"seat_{table.seat}"
        for seat, agent in enumerate(environment.agents):
            seen = environment.observe(agent)
            view = table.view(seat)
            assert np.array_equal(seen["observation"], view.features())
            legal = np.flatnonzero(seen["action_mask"]).tolist()
            assert legal == (table.legal if seat == table.seat else [])
            assert environment.view(agent) == view
        environment.step(action)
        table.play(action)
        totals += [environment.rewards[agent] for agent in environment.possible_agents]
        assert totals == pytest.approx(np.subtract(table.points, start))
    assert environment.record().table() == table


@pytest.mark.parametrize("aim", ["points", "margin", "win"])
def test_rewards_add_up(aim):
    made = env("carcassonne", players=3, tiles=10, aim=aim)
    for seed in range(5):
        totals = random_game(made, seed)
        points = made.record().table().points
        for seat, agent in enumerate(made.possible_agents):
            others = max(points[:seat] + points[seat + 1 :])
            first = points[seat] >= others
            share = 1 / points.count(points[seat]) if first else 0.0
            wanted = {"points": points[seat], "margin": points[seat] - others, "win": share - 1 / 3}
            assert totals[agent] == pytest.approx(wanted[aim])


def test_what_a_seat_may_not_know_is_not_observed():
    """Two worlds that seat 0 cannot tell apart look the same to it, and not to seat 1."""
    game = kibitz.game("hanabi")
    made = env(game)
    made.reset(seed=1)
    world = made.view("seat_0").redeal(Chance(3))
    before = made.observe("seat_0"), made.observe("seat_1")
    made.board._state[:] = world.cells
    assert np.array_equal(made.observe("seat_0")["observation"], before[0]["observation"])
    assert not np.array_equal(made.observe("seat_1")["observation"], before[1]["observation"])


def test_an_illegal_action_raises_and_changes_nothing():
    made = nim_v1.env()
    made.reset(seed=1)
    seen = made.observe("seat_0")
    seen["action_mask"][:] = 1  # whoever writes on a mask does not change what is legal
    for action in (255, -1, 10**6, "take", None, 0.5, float("inf"), True):
        with pytest.raises(IllegalMove, match="not legal for seat 0"):
            made.step(action)
    assert made.agent_selection == "seat_0"
    assert made.record().actions == ()
    made.step(np.int32(0))
    assert made.agent_selection == "seat_1"


def test_what_is_out_of_order_says_what_to_do():
    made = nim_v1.env()
    for ask in (made.last, made.agent_iter, lambda: made.step(0), lambda: made.observe("seat_0")):
        with pytest.raises(Misuse, match=r"call env.reset\(\) first"):
            ask()
    random_game(made)
    with pytest.raises(Misuse, match="over for everybody"):
        made.step(0)
    with pytest.raises(Misuse, match="render_mode"):
        made.render()
    with pytest.raises(Misuse, match="No render mode is called 'gif'"):
        nim_v1.env(render_mode="gif")
    with pytest.raises(Misuse, match="place of the mask"):
        nim_v1.env(mask="nowhere")
    with pytest.raises(Misuse, match=r"No option of nim is called 'row'\. Did you mean 'rows'"):
        nim_v1.env(row=3)
    with pytest.raises(Misuse, match="max_cycles"):
        nim_v1.env(max_cycles=0)


def test_a_game_may_be_cut_off():
    made = env("carcassonne", control="cursor", max_cycles=4)
    totals = random_game(made)
    assert set(totals) == {"seat_0", "seat_1"}
    assert len(made.record().actions) == 8
    assert made.agents == []


def test_further_games_of_a_seed_differ_and_repeat():
    made = hanabi_v1.env()
    runs = []
    for _ in range(2):
        made.reset(seed=7)
        seen = [made.observe("seat_0")["observation"]]
        for _ in range(3):
            made.reset()
            seen.append(made.observe("seat_0")["observation"])
        runs.append(np.array(seen))
    assert np.array_equal(runs[0], runs[1])
    assert len(np.unique(runs[0], axis=0)) == 4
    assert kibitz.game("hanabi").deal(7, 3).view(0).features().tolist() == runs[0][3].tolist()


def test_a_kibitz_agent_sits_in_an_environment():
    """`smart` follows what others do: with three of it the game is that of a match."""
    made = hanabi_v1.env(players=3)
    game = made.game
    sitters = {agent: sit(made, agent, "smart") for agent in made.possible_agents}
    points = []
    made.reset(seed=3)
    for _ in range(21):
        for agent in made.agent_iter():
            _, _, terminated, _, _ = made.last()
            made.step(None if terminated else sitters[agent]())
        points.append(made.record().table().points[0])
        made.reset()
    told = kibitz.match(game, ["smart"] * 3, games=21, seed=3, duplicate=False)
    assert np.mean(points) == pytest.approx(told.agents[0].points.mean)

    # Somebody who sits down in the middle of a game has seen it all the same.
    late = sit(made, "seat_0", "smart")
    early = sitters["seat_0"]
    assert late is not early
    made.step(late())
    with pytest.raises(Misuse, match="seat_0 is not to move; seat_1 is"):
        late()


def test_whoever_sits_is_shown_a_view_and_told_of_every_action():
    seen, views = [], []

    class Watcher(kibitz.Agent):
        """Remember what is shown."""

        name = "watcher"

        def choose(self, view):
            seen.append(("choose", view.seat, view.plies))
            return view.legal[0]

        def notice(self, view, actor, action):
            seen.append(("notice", view.seat, actor, action))
            views.append(view)

    made = hanabi_v1.env()
    watcher = sit(made, "seat_1", Watcher)
    made.reset(seed=1)
    made.step(0)
    made.step(watcher(made.last()[0]))
    assert [one[:2] for one in seen] == [("notice", 1), ("choose", 1), ("notice", 1)]
    assert seen[0][2:] == (0, 0)
    table = made.game.deal(1)
    assert views[0] == table.view(1) != table.view(0)
    assert views[1] == table.play(0).view(1)


def test_infos_tell_no_points_that_a_view_hides():
    """Hands of Mexican train are hidden, and points so far count them."""
    made = env("mexican_train", players=2, max_cycles=1)
    random_game(made, plies=2)
    whole = made.record().table()
    for seat, agent in enumerate(made.possible_agents):
        assert made.infos[agent]["points"] == whole.view(seat).points != whole.points


def test_one_object_does_not_sit_at_two_seats():
    made = nim_v1.env()
    agent = kibitz.agent("random", made.game)
    sit(made, "seat_0", agent)
    with pytest.raises(Misuse, match="cannot sit at two seats"):
        sit(made, "seat_1", agent)
    sit(made, "seat_0", agent)


def test_seats_and_environments_that_are_not_there():
    made = nim_v1.env()
    with pytest.raises(KibitzError, match="No seat of nim is called 'player_0'"):
        sit(made, "player_0", "perfect")
    with pytest.raises(Misuse, match="no environment of a kibitz game"):
        sit(pettingzoo.AECEnv(), "seat_0", "perfect")
    with pytest.raises(KibitzError, match="No agent for nim is called 'perfct'"):
        sit(made, "seat_0", "perfct")


def test_agents_of_kibitz_have_chance_of_their_own_in_every_deal():
    made = nim_v1.env()
    sitter = sit(made, "seat_0", "random")
    made.reset(seed=9)
    chances = []
    for _ in range(3):
        chances.append(sitter.agent.rng.words.tolist())
        made.reset()
    assert chances[0] != chances[1] != chances[2]
    assert Chance(agents_seed(9), 0, 1).words.tolist() == chances[0]


@pytest.mark.parametrize("name", ["open_spiel:tic_tac_toe", "open_spiel:kuhn_poker"])
def test_games_of_open_spiel_are_environments_too(name):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Observation numpy array is all zeros")  # an empty board
        api_test(env(name, mask="infos"), num_cycles=50)
        seed_test(lambda: env(name), num_cycles=20)


def test_moves_that_are_secret_are_not_told():
    told = []

    class Listener(kibitz.Agent):
        """Listen."""

        def notice(self, view, actor, action):
            told.append(action)

    made = env("open_spiel:phantom_ttt")
    sit(made, "seat_1", Listener)
    made.reset(seed=1)
    made.step(made.action_space("seat_0").sample())
    assert told == []
