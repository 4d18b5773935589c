"""A teacher of PPO: it is asked where it should be, followed, forgotten, and refused if unfit."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import kibitz
from kibitz.core.compiled import JIT
from kibitz.core.errors import KibitzError, Misuse
from kibitz.games.carcassonne.buttons import AT_BEST
from kibitz.learners import train
from kibitz.neural.boards import CHUNK
from tests.networks import GAMES, SMALL, by_lot, curve_without_time, positions_of, some_boards

pytestmark = pytest.mark.skipif(not JIT, reason="networks are compiled")

NIM = kibitz.game("nim", rows=(1, 2, 3))
QUICK = {
    "boards": 32, "buffer": 1024, "batch": 128, "hidden": "32", "option_hidden": "32",
    "rate": 3e-3, "evaluate_every": 1000, "evaluate_games": 2,
}  # fmt: skip


def curve(folder):
    with (folder / "curve.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_it_is_asked_about_the_decision_that_is_due():
    boards = some_boards(GAMES["buttons"], teacher="reckoner", opponents="self+greedy")
    boards.roll(by_lot(boards), None, 0)
    asked = 0
    for t, board in np.argwhere(boards.mine[:-1]):
        place = boards.teacher.advised[t, board]
        row = boards.options[boards.begins[t, board] * CHUNK + place]
        # Of a meeple that can stand nowhere no button is the best: it goes back.
        assert row[AT_BEST] == 1.0 or boards.legal[t, board, place] == 5
        asked += 1
    assert asked > 100
    # What it advised, as the loss counts it.
    rows = np.flatnonzero(boards.mine[:-1])[None, :64]
    *_, chosen = boards.samples(rows, 1)
    advised = boards.advised(rows, chosen)
    assert (chosen - advised == (boards.places - boards.teacher.advised).ravel()[rows]).all()


def test_by_number_it_names_actions():
    boards = some_boards(NIM, teacher="expert", ahead=False)
    boards.roll(by_lot(boards), None, 0)
    rows = np.flatnonzero(boards.mine[:-1])[None, :16]
    *_, chosen = boards.samples(rows, 1)
    at = np.unravel_index(rows[0], boards.mine.shape)
    wanted = boards.legal[(*at, boards.teacher.advised[at])]
    assert (boards.advised(rows, chosen)[0] == wanted).all()


@pytest.mark.long
def test_a_network_comes_to_do_what_its_teacher_does(tmp_path):
    # Always one stick: no reward would teach that.
    learned = train(
        "ppo", NIM, seed=1, folder=tmp_path, decisions=20 * 1024, teacher="take-one", lessons=1.0,
        **{**QUICK, "evaluate_every": 1},
    )  # fmt: skip
    assert float(curve(tmp_path)[1]["follows"]) < 0.45
    seen = list(positions_of(NIM, 60))
    assert len(seen) > 20
    moves = [view.say(learned.agent.choose(view)) for view in seen]
    assert sum(move.startswith("take 1 ") for move in moves) > 0.9 * len(moves)


@pytest.mark.long
def test_buttons_of_a_cursor_can_be_learned(tmp_path):
    game = GAMES["buttons"]
    train(
        "ppo", game, seed=1, folder=tmp_path, decisions=60 * 1024, teacher="reckoner",
        **{**QUICK, "evaluate_every": 10},
    )  # fmt: skip
    assert max(float(row["follows"]) for row in curve(tmp_path)) > 0.9
    result = kibitz.match(game, [str(tmp_path / "model.safetensors"), "random"], 60, seed=1)
    assert result.agents[0].share.low > 0.5


@pytest.mark.long
def test_the_cursor_network_that_comes_with_kibitz_beats_greedy():
    game = kibitz.game("carcassonne", control="cursor")
    mine = kibitz.match(game, ["policy", "greedy"], 600, seed=20_261_116).agents[0]
    assert mine.share.low > 0.5


@pytest.mark.long
@pytest.mark.parametrize(("settings", "fair"), [({"players": 5}, 0.2), ({"farmers": True}, 0.9)])
def test_the_networks_for_five_seats_and_for_farmers_beat_greedy(settings, fair):
    game = kibitz.game("carcassonne", **settings)
    lineup = ["policy", *["greedy"] * (game.players - 1)]
    assert kibitz.match(game, lineup, 1_000, seed=20_261_118).agents[0].share.low > fair


def test_after_the_lessons_it_learns_alone(tmp_path):
    # With nothing of the training left for lessons, there is no pull towards the teacher.
    for teacher in ("take-one", "longest"):
        train("ppo", NIM, seed=1, folder=tmp_path / teacher, decisions=4 * 256, teacher=teacher,
              lessons=0.001, **SMALL)  # fmt: skip
    first, second = (curve_without_time(tmp_path / name) for name in ("take-one", "longest"))
    assert first[0][-1] == second[0][-1]
    # The first update is a lesson; both differ from there on.
    assert first[2] != second[2]


@pytest.mark.long
def test_an_interrupted_run_goes_on_as_if_it_had_not_been(tmp_path):
    settings = {**SMALL, "decisions": 4 * 256, "teacher": "settler", "lessons": 1.0}
    game = GAMES["buttons"]

    def stop(done, total, words):
        if done == 2:
            raise KeyboardInterrupt

    train("ppo", game, seed=5, folder=tmp_path / "a", cores=2, **settings)
    with pytest.raises(KeyboardInterrupt):
        train("ppo", game, seed=5, folder=tmp_path / "b", progress=stop, cores=1, **settings)
    train("ppo", game, seed=5, folder=tmp_path / "b", cores=1, **settings)
    first, second = ((tmp_path / name / "last.safetensors").read_bytes() for name in "ab")
    assert first == second


@pytest.mark.long
def test_a_run_that_is_older_than_a_setting_goes_on(tmp_path):
    settings = {**SMALL, "decisions": 4 * 256}

    def stop(done, total, words):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("ppo", NIM, seed=5, folder=tmp_path, progress=stop, **settings)
    about = json.loads((tmp_path / "run.json").read_text())
    del about["settings"]["teacher"], about["settings"]["lessons"]
    (tmp_path / "run.json").write_text(json.dumps(about))
    with pytest.raises(Misuse, match="differs in its settings"):
        train("ppo", NIM, seed=5, folder=tmp_path, teacher="expert", **settings)
    assert train("ppo", NIM, seed=5, folder=tmp_path, **settings).updates == 4


@pytest.mark.parametrize(
    ("game", "teacher", "words"),
    [
        (NIM, "nobody", "nobody"),
        (kibitz.game("hanabi", players=2), "smart", "judges by the view alone"),
        (NIM, "mcts", "compiled"),
    ],
)
def test_unfit_teachers_are_refused(game, teacher, words):
    with pytest.raises(KibitzError, match=words):
        train("ppo", game, seed=1, decisions=256, teacher=teacher, **SMALL)
