"""Games of kibitz as games of OpenSpiel: its own tests pass, and its algorithms agree with ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from absl import flags  # noqa: E402
from open_spiel.python.algorithms import (  # noqa: E402
    cfr,
    exploitability,
    generate_playthrough,
    ismcts,
    mcts,
    minimax,
)
from open_spiel.python.algorithms.get_all_states import get_all_states  # noqa: E402
from open_spiel.python.observation import make_observation  # noqa: E402

import kibitz  # noqa: E402
from kibitz.bridges.open_spiel import as_open_spiel  # noqa: E402
from kibitz.core.chance import Chance  # noqa: E402
from kibitz.core.errors import BadOption, Misuse  # noqa: E402
from kibitz.core.table import Table  # noqa: E402
from tests import toys  # noqa: E402
from tests.spiel import value_iteration  # noqa: E402

KIND = pyspiel.GameType
GAMES = [
    "kibitz_nim(at_end=false)", "kibitz_nim(rows=4;,misere=false)", "kibitz_nim(rows=3;4;5,k=2)",
    "kibitz_tapnswap", "kibitz_tapnswap(max_plies=30,merged=true)",
    "kibitz_hanabi", "kibitz_hanabi(players=5,bomb=pile)", "kibitz_hanabi(colours=2,deals=7)",
    "kibitz_hanabi(players=4,at_end=true)",
    "kibitz_mexican_train(hands=2)", "kibitz_mexican_train(players=2,highest=6,boneyard=5,deals=3)",
    "kibitz_carcassonne(tiles=12)", "kibitz_carcassonne(players=3,tiles=8,farmers=true)",
]  # fmt: skip


def dealt(game, seed: int = 0):
    """Give the first state in which a seat is to move."""
    state, rng = game.new_initial_state(), Chance(seed)
    while state.is_chance_node():
        state.apply_action(rng.choice(state.chance_outcomes())[0])
    return state


def walk(game, seed: int, most: int = 60):
    """Go through the states of a random game."""
    state, rng = dealt(game, seed), Chance(seed, 1)
    yield state
    for _ in range(most):
        if state.is_terminal():
            break
        state.apply_action(rng.choice(state.legal_actions()))
        yield state


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.long if "hands=2" in n else ()) for n in GAMES],
)
def test_open_spiel_writes_a_playthrough_and_repeats_it(name, tmp_path):
    text = generate_playthrough.playthrough(name, None, seed=3)
    assert f"game: {name}" in text
    assert "ObservationString(0)" in text
    assert "IsTerminal() = True" in text
    file = tmp_path / "playthrough.txt"
    file.write_text(text)
    flags.FLAGS.mark_as_parsed()  # replaying asks for one
    _, again = generate_playthrough.replay(str(file))
    assert again.splitlines() == text.splitlines()


def test_what_cannot_be_observed_apart_is_none():
    kinds = pyspiel.PrivateInfoType
    game = pyspiel.load_game("kibitz_hanabi")
    for public, private in (
        (True, kinds.NONE),
        (False, kinds.SINGLE_PLAYER),
        (True, kinds.ALL_PLAYERS),
    ):
        kind = pyspiel.IIGObservationType(
            perfect_recall=False, public_info=public, private_info=private
        )
        assert make_observation(game, kind) is None
    assert make_observation(game).tensor is not None


@pytest.mark.parametrize("name", GAMES)
def test_the_tests_of_open_spiel_itself_pass(name):
    pyspiel.random_sim_test(pyspiel.load_game(name), 1, True, False)


@pytest.mark.parametrize("name", GAMES)
def test_states_keep_their_promises(name):
    game = pyspiel.load_game(name)
    assert pyspiel.load_game(str(game)).num_distinct_actions() == game.num_distinct_actions()
    players = game.num_players()
    earned = np.zeros(players)
    for state in walk(game, 3):
        earned += state.rewards()
        assert np.allclose(earned, state.returns())
        assert min(state.returns()) >= game.min_utility()
        assert max(state.returns()) <= game.max_utility()
        if game.get_type().utility == KIND.Utility.ZERO_SUM:
            assert sum(state.returns()) == 0
        again = game.new_initial_state()
        for action in state.history():
            again.apply_action(action)
        copied = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))[
            1
        ]
        for other in (again, copied, state.clone()):
            assert str(other) == str(state)
            for seat in range(players):
                for look in ("information_state_string", "observation_string"):
                    assert getattr(other, look)(seat) == getattr(state, look)(seat)
        if state.is_terminal():
            break
        legal = state.legal_actions()
        assert np.flatnonzero(state.legal_actions_mask()).tolist() == legal
        assert len({state.action_to_string(action) for action in legal}) == len(legal)
        seat = state.current_player()
        table = Table(game.kibitz, state.cells)
        assert state.observation_tensor(seat) == table.view(seat).features().tolist()


def test_types_say_what_the_games_are():
    nim, hanabi, train = (
        pyspiel.load_game(f"kibitz_{name}") for name in ("nim", "hanabi", "mexican_train")
    )
    kinds = [game.get_type() for game in (nim, hanabi, train)]
    assert [kind.chance_mode for kind in kinds] == [
        KIND.ChanceMode.DETERMINISTIC, *[KIND.ChanceMode.EXPLICIT_STOCHASTIC] * 2,
    ]  # fmt: skip
    assert [kind.utility for kind in kinds] == [
        KIND.Utility.ZERO_SUM, KIND.Utility.IDENTICAL, KIND.Utility.GENERAL_SUM,
    ]  # fmt: skip
    assert [kind.information == KIND.Information.PERFECT_INFORMATION for kind in kinds] == [
        True, False, False,
    ]  # fmt: skip
    assert not any(kind.provides_information_state_tensor for kind in kinds)
    assert (hanabi.min_utility(), hanabi.max_utility()) == (0, 25)
    assert nim.max_chance_nodes_in_history() == 0
    assert hanabi.max_chance_nodes_in_history() == 4
    shuffled = as_open_spiel(toys.SHUFFLED, deals=5)  # nothing hidden, but the deal differs
    assert shuffled.get_type().chance_mode == KIND.ChanceMode.EXPLICIT_STOCHASTIC
    assert len(shuffled.new_initial_state().chance_outcomes()) == 5


def test_parameters_are_the_options_of_the_game():
    game = pyspiel.load_game("kibitz_nim(rows=1;3;5,misere=false)")
    assert game.kibitz == kibitz.game("nim", rows="1,3,5", misere=False)
    assert str(as_open_spiel(game.kibitz)) == str(game) == "kibitz_nim(misere=False,rows=1;3;5)"
    assert pyspiel.load_game("kibitz_hanabi(players=4)").num_players() == 4
    with pytest.raises(BadOption, match="Option 'rows' takes 1 to 16 whole numbers"):
        pyspiel.load_game("kibitz_nim(rows=1;99)")
    with pytest.raises(BadOption, match="Parameter 'deals' takes 0 to"):
        pyspiel.load_game("kibitz_hanabi(deals=-1)")
    with pytest.raises(pyspiel.SpielError, match="Unknown parameter 'sticks'"):
        pyspiel.load_game("kibitz_nim(sticks=3)")
    with pytest.raises(Misuse, match="begins with its deal"):
        game.new_initial_state("1 3 5")


# --- nothing leaks -------------------------------------------------------------------------------


def test_what_a_seat_observes_comes_from_its_view_alone():
    """Redealt worlds look the same to a seat, in every way in which OpenSpiel can look."""
    for name in ("kibitz_hanabi(players=3)", "kibitz_mexican_train(highest=6,hands=1)"):
        game = pyspiel.load_game(name)
        others = 0
        for step, state in enumerate(walk(game, 5, 30)):
            for seat in range(game.num_players()):
                world = state.resample_from_infostate(seat, Chance(step, seat).uniform)
                for look in ("information_state_string", "observation_string"):
                    assert getattr(world, look)(seat) == getattr(state, look)(seat)
                assert world.observation_tensor(seat) == state.observation_tensor(seat)
                assert world.current_player() == state.current_player()
                others += str(world) != str(state)
                assert world.history()[:4] == [0, 0, 0, 0]
        assert others


def test_information_states_remember_all_that_was_seen():
    """Two ways to one view that showed different things on the way are different."""
    game = pyspiel.load_game("kibitz_nim(rows=1;1;1)")
    one, two = game.new_initial_state(), game.new_initial_state()
    for state, rows in ((one, (0, 1)), (two, (1, 0))):
        for row in rows:
            state.apply_action(64 * row)
    assert str(one) == str(two)
    assert one.observation_string(0) == two.observation_string(0)
    assert one.information_state_string(0) != two.information_state_string(0)

    game = pyspiel.load_game("kibitz_hanabi(deals=50)")
    starts = {}
    for number in range(50):
        state = game.new_initial_state()
        state.apply_action(number)
        other = starts.setdefault(state.information_state_string(0), state)
        assert np.array_equal(other.view(0).cells, state.view(0).cells)
    assert len(starts) > 40


# --- algorithms of OpenSpiel ----------------------------------------------------------------------


@pytest.mark.parametrize("misere", [True, False])
@pytest.mark.parametrize("merged", [True, False])
def test_value_iteration_agrees_with_our_solver_everywhere(misere, merged):
    ours = kibitz.game("nim", rows="1,2,3", misere=misere)
    game = as_open_spiel(ours, merged=merged)
    values = value_iteration(game, -1, 0.01, cyclic_game=True)
    solution = kibitz.solve(ours)
    checked = 0
    for state in get_all_states(game, to_string=str, stop_if_encountered=True).values():
        if not state.is_terminal():
            sign = np.sign(solution.ask(Table(ours, state.cells)))
            assert values[str(state)] == (sign if state.current_player() == 0 else -sign)
            checked += 1
    # Positions with somebody to move, for either seat; with plies, each as often as it can be met.
    if merged:
        assert checked <= 2 * kibitz.solve(ours, folded=False).tally().positions
    else:
        assert checked > kibitz.solve(ours, folded=False).tally().positions


def test_minimax_agrees_with_our_solver_everywhere():
    ours = kibitz.game("nim", rows="2,3")
    game = as_open_spiel(ours, merged=True)
    solution = kibitz.solve(ours)
    for state in get_all_states(game, to_string=str, stop_if_encountered=True).values():
        if not state.is_terminal():
            mover = state.current_player()
            value, _ = minimax.alpha_beta_search(
                game, state=state.clone(), maximizing_player_id=mover
            )
            assert value == np.sign(solution.ask(Table(ours, state.cells)))


def test_search_of_open_spiel_finds_the_winning_move():
    ours = kibitz.game("nim", rows="1,2,3", misere=False)
    game = as_open_spiel(kibitz.game("nim", rows="1,2,4", misere=False))
    rng = np.random.RandomState(1)
    bot = mcts.MCTSBot(game, 2, 200, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)
    state = game.new_initial_state()
    assert state.action_to_string(bot.step(state)) == "take 1 from row 3"
    assert kibitz.solve(ours).verdict < 0  # what is left then is lost


def test_information_set_search_plays_by_redeals():
    game = pyspiel.load_game("kibitz_hanabi(colours=2,values=2,hand=2)")
    rng = np.random.RandomState(1)
    bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, rng), 2.0, 20, random_state=rng)
    state = dealt(game)
    assert bot.step(state) in state.legal_actions()


@pytest.fixture
def kuhn(monkeypatch):
    """A game that nobody has installed, from its rules alone."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "third_party" / "kuhn"))
    from kibitz_kuhn.rules import GAME

    return GAME


def test_regret_minimisation_nears_an_equilibrium_of_a_game_with_hidden_cards(kuhn):
    game = as_open_spiel(kuhn, deals=24)
    assert game.get_type().short_name == "kibitz_kuhn"
    solver = cfr.CFRSolver(game)
    found = []
    for rounds in (2, 40):
        for _ in range(rounds):
            solver.evaluate_and_update_policy()
        found.append(exploitability.exploitability(game, solver.average_policy()))
    assert found[1] < 0.03 < found[0]


def test_the_process_ends_cleanly():
    """OpenSpiel frees what was registered after Python has ended."""
    code = "import pyspiel, kibitz.bridges.open_spiel; pyspiel.load_game('kibitz_nim')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")


def test_without_open_spiel_the_remedy_is_named(tmp_path):
    (tmp_path / "pyspiel.py").write_text("raise ImportError('not here')")
    code = "import kibitz; kibitz.game('open_spiel:chess')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert "pip install 'kibitz[bridges]'" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("action", [10**6, 10**9, -2, 255])
def test_an_illegal_action_never_reaches_the_rules(action):
    """OpenSpiel does not check what it is told to play."""
    state = pyspiel.load_game("kibitz_nim").new_initial_state()
    before = str(state)
    with pytest.raises(Exception, match="not legal here"):
        state.apply_action(action)
    assert str(state) == before
    dealt = pyspiel.load_game("kibitz_hanabi(deals=3)").new_initial_state()
    with pytest.raises(Exception, match="chance cannot draw"):
        dealt.apply_action(action)


def test_information_states_tell_open_deals_apart():
    """Nothing is hidden, but what was dealt is part of what everybody has seen."""
    game = as_open_spiel(toys.SHUFFLED, deals=5)
    told = {}
    for outcome, _ in game.new_initial_state().chance_outcomes():
        state = game.new_initial_state()
        state.apply_action(outcome)
        legal = tuple(state.legal_actions())
        assert told.setdefault(state.information_state_string(0), legal) == legal
    assert len(set(told.values())) > 1


def test_a_resampled_world_says_who_made_its_moves():
    game = pyspiel.load_game("kibitz_hanabi")
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(3)
    for _ in range(3):
        state.apply_action(state.legal_actions()[0])
    world = state.resample_from_infostate(1, lambda: 0.5)
    moves = [(step.player, step.action) for step in state.full_history()][4:]
    assert [(step.player, step.action) for step in world.full_history()][4:] == moves
    assert [mover for mover, _ in moves] == [0, 1, 0]
    assert world.current_player() == state.current_player()
