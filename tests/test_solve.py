"""The solver beyond its two games: files, refusals, games with other shapes."""

from __future__ import annotations

import numpy as np
import pytest

import kibitz
from kibitz.core.errors import BadModel, Misuse, NotSolvable
from kibitz.search.solve import in_words
from tests import toys


def test_a_saved_table_answers_as_before(tmp_path):
    game = kibitz.game("tapnswap")
    solution = kibitz.solve(game)
    path = solution.save(tmp_path / "t.safetensors")
    loaded = kibitz.Solution.load(path, game)
    assert np.array_equal(loaded.states, solution.states)
    assert np.array_equal(loaded.verdicts, solution.verdicts)
    table = game.deal(1)
    assert loaded.options(table) == solution.options(table)
    by_file = kibitz.agent(path, game)
    assert by_file.explain(table.view()) == kibitz.agent("perfect", game).explain(table.view())
    result = kibitz.match(game, [str(path), "random"], 100, seed=1)
    assert result.agents[0].wins == 100


def test_a_table_of_another_game_or_none_is_refused(tmp_path):
    path = kibitz.solve(kibitz.game("nim")).save(tmp_path / "nim.safetensors")
    with pytest.raises(BadModel, match="for nim version 1, not of perfect for tapnswap"):
        kibitz.Solution.load(path, kibitz.game("tapnswap"))
    with pytest.raises(BadModel, match="made for nim, not for nim rows=3,4,5"):
        kibitz.agent(path, kibitz.game("nim", rows="3,4,5"))
    with pytest.raises(BadModel, match="Cannot read"):
        kibitz.agent(tmp_path / "no.safetensors", kibitz.game("nim"))
    (tmp_path / "junk.safetensors").write_bytes(b"junk" * 100)
    with pytest.raises(BadModel, match="Cannot read"):
        kibitz.agent(tmp_path / "junk.safetensors", kibitz.game("nim"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    with pytest.raises(BadModel):
        kibitz.agent(path, kibitz.game("nim"))


def test_positions_that_cannot_be_are_refused():
    solution = kibitz.solve(kibitz.game("nim"))
    with pytest.raises(Misuse, match="not of tapnswap"):
        solution.ask(kibitz.game("tapnswap").deal(1))
    table = kibitz.game("nim", rows="1").deal(1).play("1 1")
    with pytest.raises(Misuse, match="over"):
        kibitz.solve(table.game).ask(table)


def test_games_that_are_too_large_or_of_chance_are_refused():
    with pytest.raises(NotSolvable, match="more than 1,000 positions"):
        kibitz.solve(kibitz.game("nim", rows="9,9,9,9,9,9"), most=1000)
    with pytest.raises(NotSolvable, match="left to chance"):
        kibitz.solve(toys.SHUFFLED)
    with pytest.raises(NotSolvable, match="two seats"):
        kibitz.solve(toys.RING.having(players=3))


def test_a_seat_may_move_twice_and_play_may_go_round_in_circles():
    """Who moves next is read from the state, and a position one can always return to is a draw."""
    solution = kibitz.solve(toys.RING)
    verdicts = toys.ring_by_hand()
    for place, seat in verdicts:
        assert solution.ask(toys.ring_at(place, seat)) == verdicts[place, seat]
    assert set(np.sign(list(verdicts.values()))) == {-1, 0, 1}


@pytest.mark.parametrize("folded", [True, False])
def test_growing_arrays_lose_nothing(folded):
    """A game that outgrows the first arrays many times over has every position exactly once."""
    game = kibitz.game("nim", rows="5,6,7,8", misere=False)
    tally = kibitz.solve(game, folded=folded).tally()
    everything = np.stack(np.meshgrid(*(np.arange(r + 1) for r in (5, 6, 7, 8)))).reshape(4, -1).T
    if folded:
        everything = np.unique(np.sort(everything, axis=1), axis=0)
    assert tally.positions == len(everything) - 1
    lost = np.bitwise_xor.reduce(everything, axis=1) == 0
    assert tally.lost == lost.sum() - 1


def test_verdicts_in_words():
    assert [in_words(v) for v in (5, 0, -4)] == ["wins in 5", "draws", "loses in 4"]


def test_progress_is_told():
    told = []
    kibitz.solve(kibitz.game("nim", rows="7,8,9,9"), progress=lambda *at: told.append(at))
    assert told[-1][0] == told[-1][1]
    assert len(told) > 1


def test_a_long_win_is_won_all_the_same():
    """Thousands of plies from the end, nearer is still better."""
    assert kibitz.solve(toys.LONG).verdict == 2999
    result = kibitz.match(toys.LONG, ["perfect", "random"], 2, seed=1)
    at_the_start = result.agents[0].seats[0]
    assert at_the_start.points.mean == 1
    assert result.moves == 2999 + 10_000  # at the other seat random never gets there


def test_a_near_guard_is_part_of_the_game():
    """Where a game is cut off early, the solution knows: nobody can win in five plies."""
    for limit, verdict in ((5, 0), (25, 0), (26, -26), (99, -26), (100, -26), (200, -26)):
        assert kibitz.solve(kibitz.game("tapnswap", max_plies=limit)).verdict == verdict
    result = kibitz.match(kibitz.game("tapnswap", max_plies=5), ["perfect"], 20, seed=1)
    assert result.agents[0].draws == 20


def test_no_win_comes_near_the_guard():
    """What the rules of TapnSwap say of the guard."""
    verdicts = kibitz.solve(kibitz.game("tapnswap"), folded=False).verdicts
    assert np.abs(verdicts).max() < 50


def test_a_position_that_cannot_be_reached_is_refused():
    game = kibitz.game("nim")
    state = game.deal(1).cells
    state[game.cell("rows")] = [9] * 16
    with pytest.raises(Misuse, match="cannot be reached"):
        kibitz.solve(game).ask(kibitz.Table(game, state))


def test_memory_is_bounded():
    with pytest.raises(NotSolvable, match=r"moves\. Choose smaller settings"):
        kibitz.solve(kibitz.game("nim", rows="63,63,63,63"), most_bytes=1 << 22)


def test_crafted_tables_are_refused(tmp_path):
    from kibitz.core.models import save_model

    game = kibitz.game("nim")
    good = kibitz.solve(game)
    path = tmp_path / "t.safetensors"
    empty = {
        "states": good.states[:0],
        "finished": good.finished[:0],
        "verdicts": good.verdicts[:0],
    }
    wrong = {"states": good.states, "finished": good.finished[:-1], "verdicts": good.verdicts}
    typed = {"states": good.states, "finished": good.finished, "verdicts": good.verdicts * 1.0}
    for arrays in (empty, wrong, typed, {}):
        save_model(path, "perfect", game, arrays, {"folded": True})
        with pytest.raises(BadModel, match="damaged"):
            kibitz.Solution.load(path, game)
    part = {"states": good.states[:1], "finished": good.finished[:1], "verdicts": good.verdicts[:1]}
    save_model(path, "perfect", game, part, {"folded": True})
    with pytest.raises(BadModel, match="lacks positions"):
        kibitz.Solution.load(path, game).options(game.deal(1))
    assert kibitz.match(game, [str(path), "random"], 4, seed=1).games == 4  # plays, if badly
