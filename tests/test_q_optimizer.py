"""Round robins, and the search for the best way to learn a table."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import kibitz
from kibitz.core.errors import BadOption, Misuse, UnknownName
from kibitz.core.training import ABOUT
from kibitz.play.tournament import round_robin

SMALL = {
    "epsilons": "0.2,1", "games": 300, "pair_games": 20, "rounds": 2, "most_kept": 2, "longer": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def game():
    return kibitz.game("tapnswap")


def test_a_round_robin_is_its_matches(game):
    agents = {"a": "perfect", "b": "tapper", "c": "random"}
    asked = []
    result = round_robin(game, agents, 40, 3, lambda done, total: asked.append((done, total)))
    assert asked == [(1, 3), (2, 3), (3, 3)]
    for i, one in enumerate(agents):
        for j, two in enumerate(agents):
            if i == j:
                assert np.isnan(result.shares[i, j])
            else:
                assert result.shares[i, j] == pytest.approx(1 - result.shares[j, i])
            if i > j:
                pair = kibitz.match(game, [agents[one], agents[two]], 40, seed=3)
                assert result.shares[i, j] == pair.agents[0].share.mean
    assert list(result.scores) == ["a", "b", "c"]
    assert result.scores["a"] == pytest.approx(np.nanmean(result.shares[0]))


def test_pairs_that_met_before_do_not_play_again(game):
    known = {("b", "a"): (0.25, 0.75), ("a", "b"): (0.75, 0.25)}
    result = round_robin(game, {"a": "random", "b": "perfect"}, 40, 3, known=known)
    assert result.scores == {"a": 0.75, "b": 0.25}
    round_robin(game, {"a": "random", "b": "perfect", "c": "tapper"}, 40, 3, known=known)
    assert {("c", "a"), ("a", "c"), ("c", "b"), ("b", "c")} < set(known)


def test_a_round_robin_needs_two_of_everything(game):
    with pytest.raises(Misuse, match="two agents"):
        round_robin(game, {"a": "random"}, 10, 1)


def test_the_search_goes_through_grid_switch_tournament_and_rounds(game, tmp_path):
    found = kibitz.train("q-optimizer", game, seed=2, folder=tmp_path / "a", **SMALL)
    names = [entry.name for entry in found.entries]
    grid = [f"greedy_{e}_vs{o}" for o in ("Random", "Self") for e in ("0_2", "1")]
    switched = [
        f"greedy_{e}_{o}" for o in ("vsRandomvsSelf", "vsSelfvsRandom") for e in ("0_2", "1")
    ]
    assert names[:8] == grid + switched
    by_name = {entry.name: entry for entry in found.entries}
    assert by_name["greedy_1_vsRandomvsSelf"].games == 600  # 300 more on top of the 300
    longer = [entry for entry in found.entries if entry.round == 1]
    assert 1 <= len(longer) <= 2
    for entry in longer:
        former = by_name[entry.name.removesuffix("_1")]
        assert entry.games == former.games + 900
        assert entry.opponents == former.opponents
        table = [kibitz.learners.find_learner("q_learning").read_table(e.path, game)
                 for e in (former, entry)]  # fmt: skip
        assert table[1].visits.sum() > table[0].visits.sum()
        assert (table[1].visits >= table[0].visits).all()
        assert (entry.name in found.discarded) == (entry.against_former < 0.5)
    assert found.best.name == next(iter(found.tournament.scores))
    assert found.best.name not in found.discarded
    assert set(found.discarded).isdisjoint(found.tournament.names)
    for name in found.tournament.names:  # whoever was trained longer has taken its former place
        assert f"{name}_1" not in found.tournament.names
    with open(tmp_path / "a" / "curve.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["agent"] for row in rows] == names
    for entry in found.entries:  # every table has its opponents in its name, longer training or not
        chain = "".join(f"vs{name.capitalize()}" for name in entry.opponents.split("+"))
        [file] = (entry.path.parent / "Models").glob("*.csv")
        assert file.stem == f"greedy_{entry.epsilon:g}_{chain}".replace(".", "_")
    [file] = (tmp_path / "a" / "Models").glob("*.csv")
    assert found.best.name.startswith(file.stem)
    assert (tmp_path / "a" / "curve.png").read_bytes().startswith(b"\x89PNG")
    table = (tmp_path / "a" / "tournament.csv").read_text().splitlines()
    assert len(table) == len(found.tournament.names) + 1
    best = kibitz.agent(found.path, game)
    assert best.weights.tobytes() == found.agent.weights.tobytes()
    assert json.dumps(found.to_dict())
    assert found.best.name in found.summary()
    assert found.rows()[0][0] == found.best.name


def test_the_search_repeats_and_resumes(game, tmp_path):
    whole = kibitz.train("q-optimizer", game, seed=2, folder=tmp_path / "a", **SMALL)

    class Stopped(Exception):
        pass

    def stop(done, total, words):
        assert 0 <= done <= total
        stop.calls += 1
        if stop.calls == 6:
            raise Stopped

    stop.calls = 0
    with pytest.raises(Stopped):
        kibitz.train("q-optimizer", game, seed=2, folder=tmp_path / "b", progress=stop, **SMALL)
    about = json.loads((tmp_path / "b" / ABOUT).read_text())
    about["settings"]["preset"] = about["settings"].pop("base")  # as it was called before
    (tmp_path / "b" / ABOUT).write_text(json.dumps(about))
    kibitz.train("q-optimizer", game, seed=2, folder=tmp_path / "b", **SMALL)
    for name in ("curve.csv", "tournament.csv", "model.safetensors"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    without_folder = kibitz.train("q-optimizer", game, seed=2, **SMALL)
    assert without_folder.path is None
    assert without_folder.tournament.scores == whole.tournament.scores


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"epsilons": "0.1,x"}, "not 'x'"),
        ({"epsilons": "2"}, "not '2'"),
        ({"epsilons": "0.5", "opponents": "self"}, "at least two"),
        ({"epsilons": "0.5,0.50"}, "epsilons one is there twice"),
        ({"opponents": "self, self"}, "opponents one is there twice"),
        ({"games": 10**9, "longer": 9}, "choose less"),
    ],
)
def test_bad_searches_are_refused(game, settings, complaint):
    with pytest.raises(BadOption, match=complaint):
        kibitz.train("q-optimizer", game, seed=1, **settings)


def test_unknown_opponents_are_found_before_anything_is_trained(game, tmp_path):
    with pytest.raises(UnknownName):
        kibitz.train("q-optimizer", game, seed=1, folder=tmp_path, opponents="self,nobody")
    assert list(tmp_path.iterdir()) == []


def test_three_opponents_are_all_switched_and_the_last_seed_will_do(game):
    told = []
    found = kibitz.train(
        "q-optimizer", game, seed=2**63 - 1,
        progress=lambda done, total, _: told.append((done, total)),
        **{**SMALL, "epsilons": "1", "opponents": "random,self,tapper", "rounds": 0, "games": 50},
    )  # fmt: skip
    assert len(found.entries) == 3 + 6
    assert told[-1] == (9, 9)
    assert all(done <= total for done, total in told)
