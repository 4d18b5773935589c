"""Games of OpenSpiel as games of kibitz: they keep our laws, and both agree on their values."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")


import kibitz  # noqa: E402
from kibitz import cli  # noqa: E402
from kibitz.bridges.open_spiel.known import MERGED, PUBLIC  # noqa: E402
from kibitz.bridges.open_spiel.rules import position_of  # noqa: E402
from kibitz.core.chance import Chance  # noqa: E402
from kibitz.core.errors import BadRecord, KibitzError, Misuse, UnknownName  # noqa: E402
from kibitz.core.film import film  # noqa: E402
from kibitz.core.game import HIDDEN  # noqa: E402
from kibitz.core.record import Record  # noqa: E402
from kibitz.core.registry import find_listed_game  # noqa: E402
from kibitz.core.table import Table  # noqa: E402
from kibitz.play.match import Runner, seated  # noqa: E402
from kibitz.play.workers import in_workers  # noqa: E402
from tests import test_drawings as drawings  # noqa: E402
from tests import test_laws as laws  # noqa: E402
from tests.conftest import positions  # noqa: E402
from tests.spiel import value_iteration  # noqa: E402

SMALL_HANABI = (
    "hanabi(players=2,colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)"
)
GOOFSPIEL = "turn_based_simultaneous_game(game=goofspiel(num_cards=3,imp_info=True))"
GAMES = [
    "tic_tac_toe", "connect_four", "nim(pile_sizes=1;3;5)", "pig(winscore=15)", "kuhn_poker",
    "kuhn_poker(players=3)", "leduc_poker", "liars_dice", SMALL_HANABI, "phantom_ttt", GOOFSPIEL,
    "kibitz_nim(rows=1;2;3)",
]  # fmt: skip


def spiel(name: str) -> kibitz.Game:
    return kibitz.game(f"open_spiel:{name}")


# --- the laws ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    "law",
    [
        laws.test_someone_can_move_until_the_game_ends,
        laws.test_the_same_deal_and_actions_give_the_same_game,
        laws.test_a_view_shows_what_can_be_done_and_leaks_nothing,
        laws.test_strip_and_fold_keep_what_is_to_come,
        laws.test_words_mean_what_they_say,
    ],
    ids=lambda law: law.__name__,
)
def test_the_laws_hold(name, law):
    for seed in range(3):
        law.check(spiel(name), seed)


@pytest.mark.parametrize("name", GAMES)
def test_the_other_laws_hold_too(name, monkeypatch):
    monkeypatch.setattr(laws, "STEPS", 60)
    monkeypatch.setattr(drawings, "LOOKS", 6)
    game = spiel(name)
    laws.test_thousands_of_random_games_end_within_their_bound(game, 1.0)
    laws.test_a_game_that_hides_does_hide(game)
    laws.test_boards_fit_a_terminal(game)
    laws.test_seats_take_turns_from_the_first(game, 1)
    laws.test_a_batch_plays_the_same_games_as_tables.check(game, 5, 2)
    drawings.test_a_drawing_offers_the_legal_actions_and_nothing_else(game.name, 1)
    drawings.test_drawing_changes_nothing_and_repeats(game.name)
    drawings.test_a_finished_game_says_so_to_every_seat(game.name)


def test_a_long_game_keeps_them_as_far_as_one_looks():
    table, rng = spiel("backgammon").deal(7), Chance(8)
    for _ in range(40):
        view = table.view()
        assert view.legal == table.legal
        assert table.view(1 - table.seat).say(1) in (table.say(1), "action 1")
        assert (view["chance"] == HIDDEN).all()
        world = view.redeal(rng)
        assert world.view(table.seat) == view
        assert not np.array_equal(world["chance"], table["chance"])
        assert view.features().shape == (table.game.bound("features"),)
        table.play(rng.choice(table.legal))
    assert table.game.flaw(table) is None


@pytest.mark.parametrize("name", ["chess", "go", "dark_chess", "gin_rummy", "universal_poker"])
def test_large_games_can_be_dealt_and_played(name):
    table, rng = spiel(name).deal(2), Chance(2)
    while not table.over and table.plies < 12:
        view = table.view()
        assert view.legal == table.legal
        table.play(view.say(rng.choice(view.legal)))
    assert table.svg(0)
    assert table.over or table.plies == 12


def test_every_game_of_open_spiel_is_played_or_refused_in_a_sentence():
    played, refused = [], []
    for name in sorted({*pyspiel.registered_names(), "python_tic_tac_toe"}):
        if name.startswith(("kibitz_", "python_m", "chat")):
            continue
        try:
            game = spiel(name)
        except Misuse as error:
            refused.append(str(error))
            continue
        table, rng = game.deal(1), Chance(2)
        while not table.over and table.plies < 3:
            view = table.view()
            assert view.legal == table.legal
            assert str(view)
            table.play(view.say(rng.choice(view.legal)))
        assert game.flaw(table) is None
        played.append(name)
    assert len(played) >= 80
    assert all(said.endswith(".") for said in refused)
    assert {"chess", "backgammon", "bridge", "dark_chess", "python_tic_tac_toe"} <= set(played)


# --- what OpenSpiel plays ------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_it_is_the_same_game(name):
    """Tables follow OpenSpiel's own states: mover, legal actions, words, points and tensors."""
    game = spiel(name)
    theirs = game.book.theirs
    for table in positions(game, 4):
        state = theirs.new_initial_state()
        for action in game.book.history(table.cells):
            assert action in state.legal_actions()
            state.apply_action(action)
        assert table.over == state.is_terminal()
        assert table.points == state.returns()
        for seat in range(game.players):
            if game.book.tensor:
                tensor = np.array(getattr(state, game.book.tensor)(seat), np.float32)
                assert np.array_equal(table.view(seat).features(), tensor)
        if not table.over:
            assert table.seat == state.current_player()
            assert table.legal == state.legal_actions()


def test_chance_is_drawn_as_often_as_openspiel_says():
    dice = spiel("pig(winscore=15)")
    drawn = [dice.deal(seed).play("roll") for seed in range(1200)]
    counts = np.bincount([table.game.book.history(table.cells)[1] for table in drawn])
    assert len(counts) == 6
    assert np.sum((counts - 200) ** 2 / 200) < 20.5  # one in a thousand exceeds it
    cards = [tuple(spiel("kuhn_poker").deal(seed)["history"][:2]) for seed in range(1200)]
    assert len(set(cards)) == 6
    assert all(abs(cards.count(pair) - 200) < 60 for pair in set(cards))


# --- nothing leaks -------------------------------------------------------------------------------


def dealt(game: kibitz.Game, *history: int) -> Table:
    """Set up a table after a history."""
    return Table(game, game.book.written(history, game.deal(1).cells))


def test_a_view_of_kuhn_poker_has_nothing_of_the_other_card():
    game = spiel("kuhn_poker")
    for played in ((), (0,), (1,), (0, 1)):
        one, two = dealt(game, 0, 2, *played), dealt(game, 1, 2, *played)
        assert one.view(1) == two.view(1)
        assert one.view(0) != two.view(0)
    shown, other = dealt(game, 0, 2, 1, 1), dealt(game, 1, 2, 1, 1)  # both pay: cards are compared
    assert shown.over
    assert shown.view(0) != other.view(0)


def test_redeals_of_poker_are_exact():
    game, rng = spiel("leduc_poker"), Chance(3)
    table = dealt(game, 0, 2, 1, 1, 3)  # a jack and a queen, both call, the other queen is shown
    cards = [tuple(table.view(0).redeal(rng)["history"][:2]) for _ in range(900)]
    # The other holds any of the four cards that are left, each equally likely.
    assert {first for first, _ in cards} == {0}
    counts = [cards.count((0, card)) for card in (1, 2, 4, 5)]
    assert sum(counts) == 900
    assert all(abs(count - 225) < 60 for count in counts)


def test_where_moves_are_secret_nobody_is_told_of_them():
    told = []

    class Listener(kibitz.Agent):
        def notice(self, view, actor, action):
            told.append(action)

    for name, secret in (("phantom_ttt", True), ("kuhn_poker", False), ("tic_tac_toe", False)):
        game = spiel(name)
        assert game.secret == secret
        told.clear()
        kibitz.match(game, [Listener, "random"], 2, seed=1)
        assert bool(told) != secret
        table = game.deal(1)
        table.play(table.legal[0])
        assert (table.view(0).say(4) == "a move that you cannot see") == (name == "phantom_ttt")


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_moves_that_are_called_public_are_seen_by_all_and_said_alike(name):
    game = spiel(name)
    for seed in range(6):
        for table in positions(game, seed):
            if table.over:
                break
            node, mover = game.book.node(table.cells), table.seat
            for seat in set(range(game.players)) - {mover}:
                view = table.view(seat)
                texts = {game.book.text_of(node.child(action), seat) for action in table.legal}
                ends = any(node.child(action).is_terminal() for action in table.legal)
                assert len(texts) == len(table.legal) or ends
                for action in table.legal:
                    assert view.say(action) == table.say(action)


def test_a_search_that_cannot_redeal_says_so(monkeypatch):
    from kibitz.bridges.open_spiel import worlds

    monkeypatch.setattr(worlds, "ALL", 3)
    worlds._found.clear()
    table = spiel("leduc_poker").deal(1)
    assert table.view().redeal(Chance(1)).view(0) == table.view(0)  # in random order
    monkeypatch.setattr(worlds, "SOME", 3)
    with pytest.raises(KibitzError, match="no world was found in 3 steps that fits what seat 0"):
        table.view().redeal(Chance(1))


# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("tic_tac_toe", 5478),
        ("nim(pile_sizes=1;3;5)", None),
        ("nim(pile_sizes=2;3,is_misere=False)", None),
    ],
)
def test_our_solver_agrees_with_value_iteration_everywhere(name, count):
    game = spiel(name)
    solution = kibitz.solve(game)
    values = value_iteration(game.book.theirs, -1, 0.01, cyclic_game=True)
    if count:
        assert len(solution.positions) == len(values) == count
    for state, verdict, over in zip(
        solution.states, solution.verdicts, solution.finished, strict=True
    ):
        node = game.book.node(state)
        value = values[str(node)]
        if over:
            assert value == node.returns()[0]
        else:
            assert np.sign(verdict) == (value if node.current_player() == 0 else -value)


def test_tic_tac_toe_is_a_draw_and_a_saved_solution_says_so(tmp_path):
    game = spiel("tic_tac_toe")
    solution = kibitz.solve(game)
    assert solution.verdict == 0
    saved = solution.save(tmp_path / "table.safetensors")
    code = (
        "import kibitz\n"
        "game = kibitz.game('open_spiel:tic_tac_toe')\n"
        f"agent = kibitz.agent('perfect:model={saved}', game)\n"
        "table = game.deal(1).play('x(1,1)')\n"
        "print(agent.explain(table.view()).reason)\n"
        "print(agent.choose(table.view()) in (0, 2, 6, 8))\n"
        "from kibitz.search.solve import Solution\n"
        f"solution = Solution.load({str(saved)!r}, game)\n"
        "print(len(kibitz.Table(game, solution.states[77]).legal))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    said = done.stdout.splitlines()
    assert said[:2] == ["This draws against the best play.", "True"]
    assert int(said[2]) == len(Table(game, solution.states[77]).legal)


@pytest.mark.parametrize("name", sorted(MERGED))
def test_positions_with_equal_strings_have_the_same_to_come(name):
    """Of histories by lot, those that end alike allow the same, pay the same and go on alike."""
    small = {"hex": "hex(board_size=3)", "mnk": "mnk(m=3,n=3,k=3)", "y": "y(board_size=3)",
             "connect_four": "connect_four(rows=4,columns=4)", "othello": "othello",
             "breakthrough": "breakthrough(rows=4,columns=3)",
             "clobber": "clobber(rows=3,columns=3)",
             "dots_and_boxes": "dots_and_boxes(num_rows=1,num_cols=2)",
             "nim": "nim(pile_sizes=2;3;2)"}  # fmt: skip
    theirs = spiel(small.get(name, name)).book.theirs
    seen: dict[bytes, object] = {}
    met_again = 0
    for walk in range(80):
        node, rng = theirs.new_initial_state(), Chance(walk)
        for _ in range(16):
            key = position_of(node)
            legal = [] if node.is_terminal() else node.legal_actions()
            children = [position_of(node.child(action)) for action in legal[:20]]
            facts = legal, children, node.returns() if node.is_terminal() else None
            met_again += key in seen
            assert seen.setdefault(key, facts) == facts
            if not legal:
                break
            node = node.child(rng.choice(legal))
    assert met_again > 70


# --- names, records, leagues, commands -----------------------------------------------------------


def test_names_are_found_once_and_errors_name_the_remedy():
    assert spiel("tic_tac_toe") is spiel("tic_tac_toe()")
    assert kibitz.game("open-spiel:nim(pile_sizes=1;3)").name == "open_spiel:nim(pile_sizes=1;3)"
    assert spiel("nim(pile_sizes=1;3)").typed() == "'open_spiel:nim(pile_sizes=1;3)'"
    for name, kind, words in (
        ("tictactoe", UnknownName, "Did you mean tic_tac_toe"),
        ("", UnknownName, "No game of OpenSpiel is called ''"),
        ("nim(sticks=3)", Misuse, "Unknown parameter 'sticks'. Available parameters are"),
        ("nim(pile_sizes=1;3", Misuse, "Missing closing bracket"),
        ("nfg_game", Misuse, "OpenSpiel cannot load 'nfg_game'"),
        ("goofspiel", Misuse, r"turn_based_simultaneous_game\(game=goofspiel\(\)\)"),
        ("mfg_garnet", Misuse, "is a mean-field game"),
        ("negotiation", Misuse, "draws its chance inside OpenSpiel"),
        ("cursor_go", Misuse, "may last 72,922 moves"),
    ):
        with pytest.raises(kind, match=words):
            spiel(name)
    with pytest.raises(UnknownName, match="Did you mean 'open_spiel'"):
        kibitz.game("openspiel:chess")
    assert spiel("turn_based_simultaneous_game(game=goofspiel())").players == 2


@pytest.mark.parametrize("name", ["tic_tac_toe", "leduc_poker", "pig(winscore=15)", SMALL_HANABI])
def test_records_are_kept_and_damage_is_noticed(name, tmp_path):
    *_, table = positions(spiel(name), 6)
    path = table.record(("a", "b")).save(tmp_path / "game.json")
    assert kibitz.load(path).table() == table
    content = json.loads(path.read_text())
    content["dealt"][-1] += 1
    with pytest.raises(KibitzError):
        Record.from_json(json.dumps(content))


def test_moves_are_read_by_words_beginnings_and_numbers():
    view = spiel("tic_tac_toe").deal(1).view()
    assert [view.read(text) for text in ("x(1,1)", "X(1,1)", "4", "action 4")] == [4] * 4
    with pytest.raises(KibitzError, match=r"'x\(0' could mean 'x\(0,0\)', 'x\(0,1\)'"):
        view.read("x(0")
    with pytest.raises(KibitzError, match=r"cannot read 'z' as a move. Write it like 'x\(0,0\)'"):
        view.read("z")
    chess = spiel("chess").deal(1)
    assert chess.read("e4") == chess.legal[[chess.say(a) for a in chess.legal].index("e4")]


def test_open_spiels_search_plays_and_explains_itself():
    game = spiel("tic_tac_toe")
    table = game.deal(1).play("x(0,0)").play("o(1,0)").play("x(0,1)").play("o(2,0)")
    agent = kibitz.agent("open-spiel-mcts:sims=200", game)
    assert table.say(agent.choose(table.view())) == "x(0,2)"
    opinion = agent.explain(table.view())
    assert opinion.words == "x(0,2)"
    assert "points" in opinion.reason
    result = kibitz.match(game, ["open-spiel-mcts:sims=50", "random"], 20, seed=1)
    again = kibitz.match(game, ["open-spiel-mcts:sims=50", "random"], 20, seed=1)
    assert again.agents == result.agents
    assert result.agents[0].points.mean > 0.5
    dice = spiel("pig(winscore=15)")
    assert kibitz.agent("open-spiel-mcts:sims=20", dice).choose(dice.deal(1).view()) in (0, 1)
    with pytest.raises(Misuse, match="it needs a game in which nothing is hidden"):
        kibitz.agent("open-spiel-mcts", spiel("kuhn_poker"))
    with pytest.raises(Misuse, match="its rules are not compiled"):
        kibitz.agent("mcts", game)


def test_worker_processes_play_the_same_games():
    game, names = spiel("leduc_poker"), ["random", "random"]
    runner = Runner(game, seated(game, names), 3, True)
    own = np.zeros((6, 2)), np.zeros(6, np.int32)
    runner.play(0, *own)
    theirs = np.zeros((6, 2)), np.zeros(6, np.int32)
    in_workers(game, names, 3, True, 0, *theirs, 1, None)
    assert np.array_equal(own[0], theirs[0])
    assert np.array_equal(own[1], theirs[1])


def test_a_league_over_a_game_of_open_spiel(tmp_path):
    game = spiel("nim(pile_sizes=1;2;4)")
    league = kibitz.open_league(game, store=tmp_path / "leagues.sqlite", seed=1)
    league.add("perfect", "random", "open-spiel-mcts:sims=5")
    ladder = league.run(games=24, cores=1)  # in a process of its own
    assert ladder.rungs[0].name == "perfect"
    assert ladder.game == "open_spiel:nim(pile_sizes=1;2;4)"


def test_the_command_line_takes_their_names(tmp_path, capsys, monkeypatch):
    def said(*arguments: str, code: int = 0) -> str:
        assert cli.run(list(arguments)) == code
        return "".join(capsys.readouterr())

    record = str(tmp_path / "game.json")
    name = "open_spiel:nim(pile_sizes=1;3;5)"
    assert "perfect" in said("match", name, "random", "perfect", "--games", "4")
    assert "wins in 6 plies" in said("solve", name)
    seated = ("--seats", "perfect,random")
    assert "pile:3, take:3;" in said("watch", name, *seated, "--save", record, "--seed", "1")
    assert f"{name}, version 1" in said("replay", record)
    assert "open-spiel-mcts" in said("agents", name)
    assert "pile_sizes" in said("rules", name)
    assert "open_spiel:NAME" in said("games")
    assert "Did you mean chess" in said("rules", "open_spiel:ches", code=2)
    monkeypatch.setattr("sys.stdin", io.StringIO("Pass\nPass\n"))
    poker = said("play", "open_spiel:kuhn_poker", "--seats", "human,random", "--plain")
    assert "seat 1 random: Pass" in poker or "seat 1 random: Bet" in poker


def test_games_from_files_are_refused(tmp_path):
    file = tmp_path / "secret.efg"
    file.write_text("nobody's business")
    turns = f"turn_based_simultaneous_game(game=nfg_game(filename={file}))"
    for name in (f"efg_game(filename={file})", turns):
        with pytest.raises(Misuse, match="read from files") as raised:
            kibitz.game(f"open_spiel:{name}")
        assert "business" not in str(raised.value)


def test_strangers_name_no_games_of_a_catalogue():
    assert find_listed_game("nim") == kibitz.game("nim")
    with pytest.raises(UnknownName, match=r"There are: .*nim"):
        find_listed_game("open_spiel:tic_tac_toe")


def test_a_record_without_its_history_is_refused_at_once():
    table = kibitz.game("open_spiel:connect_four").deal(1)
    content = json.loads(table.record().to_json())
    cells = table.game.layout.own["length"]
    content["dealt"][cells.start] = -1
    with pytest.raises(BadRecord, match="history is missing"):
        Record.from_json(json.dumps(content))


def test_what_is_played_in_secret_is_on_no_page_of_another_seat():
    table = kibitz.game("open_spiel:phantom_ttt").deal(1)
    words = table.say(table.legal[4])
    table.play(table.legal[4])
    record = table.record()
    assert film(record, seat=0).moves == ((0, words),)
    assert film(record, seat=1).moves[0][1] != words
    assert words in record.to_html(seat=0)
    assert words not in record.to_html(seat=1)
    assert words not in table._repr_html_()  # seat 1 is to move
    assert table.last_move(1) is None
    assert table.last_move(0).words == words
