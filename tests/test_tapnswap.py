"""TapnSwap against an independent brute force, written from the rules alone."""

from __future__ import annotations

import functools
import io
import itertools

import numpy as np
import pytest

import kibitz
from kibitz.cli import run
from kibitz.core.errors import AmbiguousMove, IllegalMove, UnreadableMove
from kibitz.core.game import SEAT
from kibitz.core.table import Table

Pair = tuple[int, int]
Position = tuple[Pair, Pair]  # the hands of the seat to move, then the other's
START: Position = ((1, 1), (1, 1))


def swaps(hands: Pair) -> dict[int, Pair]:
    """Find the swaps on offer by listing all and keeping the smallest of each outcome."""
    best: dict[tuple[int, ...], tuple[int, int, int, Pair]] = {}
    for giver, fingers in itertools.product((0, 1), (1, 2, 3, 4)):
        after = list(hands)
        after[giver] -= fingers
        after[1 - giver] += fingers
        outcome = tuple(sorted(after))
        if min(after) < 0 or max(after) > 4 or outcome == tuple(sorted(hands)):
            continue
        found = (fingers, giver, 4 + 2 * giver + fingers - 1, (after[0], after[1]))
        best[outcome] = min(best.get(outcome, found), found)
    return {action: pair for _, _, action, pair in best.values()}


def moves(position: Position) -> dict[int, Position]:
    """Give for each action what the other then faces."""
    own, other = position
    found = {}
    for tapping, tapped in itertools.product((0, 1), (0, 1)):
        if own[tapping] and other[tapped]:
            hands = list(other)
            hands[tapped] += own[tapping]
            if hands[tapped] > 4:
                hands[tapped] = 0
            found[2 * tapping + tapped] = ((hands[0], hands[1]), own)
    for action, pair in swaps(own).items():
        found[action] = (other, pair)
    return found


@functools.cache
def solved() -> dict[Position, int]:
    """Find all reachable positions, then the verdicts, by repeated passes until nothing changes."""
    reached, waiting = {START}, [START]
    while waiting:
        position = waiting.pop()
        if any(position[0]):
            for child in moves(position).values():
                if child not in reached:
                    reached.add(child)
                    waiting.append(child)
    verdicts: dict[Position, int] = {}
    for plies in range(1, 200):
        new = {}
        for position in reached - verdicts.keys():
            if not any(position[0]):
                continue  # over: whoever is to move has lost
            children = moves(position).values()
            known = [0 if not any(child[0]) else verdicts.get(child) for child in children]
            ended = [not any(child[0]) for child in children]
            losing = [e or (v is not None and v < 0) for v, e in zip(known, ended, strict=True)]
            if any(losing):
                new[position] = plies
            elif all(v is not None and v > 0 for v in known):
                new[position] = -plies
        verdicts.update(new)
    for position in reached:
        if any(position[0]):
            verdicts.setdefault(position, 0)
    return verdicts


def table_at(position: Position, seat: int = 0) -> Table:
    game = kibitz.game("tapnswap")
    state = game.deal(0).cells
    own, other = position
    state[game.cell("hands")] = [*own, *other] if seat == 0 else [*other, *own]
    state[SEAT] = seat
    return Table(game, state)


@pytest.mark.parametrize("seat", [0, 1])
def test_legal_moves_and_their_outcomes_agree_with_brute_force(seat):
    for position in solved():
        table = table_at(position, seat)
        expected = moves(position)
        assert table.legal == sorted(expected)
        for action, (theirs, own) in expected.items():
            after = table.copy().play(action)["hands"].tolist()
            both = [*own, *theirs] if seat == 0 else [*theirs, *own]
            assert after == both


@pytest.mark.parametrize("folded", [True, False])
def test_the_solution_agrees_with_brute_force_on_every_position(folded):
    solution = kibitz.solve(kibitz.game("tapnswap"), folded=folded)
    verdicts = solved()
    for position, verdict in verdicts.items():
        for seat in (0, 1):
            assert solution.ask(table_at(position, seat)) == verdict
    kinds = {
        tuple(tuple(sorted(pair)) for pair in position) if folded else position: verdict
        for position, verdict in verdicts.items()
    }
    counted = np.sign(list(kinds.values()))
    tally = solution.tally()
    assert (tally.won, tally.drawn, tally.lost) == tuple((counted == s).sum() for s in (1, 0, -1))
    assert solution.verdict == verdicts[START]


def test_what_is_known_of_the_game():
    """The figures that documents quote."""
    solution = kibitz.solve(kibitz.game("tapnswap"))
    assert solution.verdict == -26
    tally = solution.tally()
    assert (tally.positions, tally.won, tally.drawn, tally.lost) == (177, 120, 10, 47)
    tally = kibitz.solve(kibitz.game("tapnswap"), folded=False).tally()
    assert (tally.positions, tally.won, tally.drawn, tally.lost) == (526, 368, 25, 133)


def test_the_examples_of_the_rules():
    assert table_at(((3, 1), (2, 4))).play("tap left on left")["hands"].tolist() == [3, 1, 0, 4]
    assert table_at(((3, 1), (2, 4))).play("swap 1 from left")["hands"].tolist() == [2, 2, 2, 4]
    assert table_at(((3, 1), (2, 4))).play("swap 1 from right")["hands"].tolist() == [4, 0, 2, 4]
    assert table_at(((2, 0), (2, 1))).play("swap 1 from left")["hands"].tolist() == [1, 1, 2, 1]
    # From 3-2 to 1-4 is offered as its mirror image, which moves one finger.
    assert [a for a in table_at(((3, 2), (1, 1))).legal if a >= 4] == [6]


def test_a_long_game_is_a_draw():
    table = kibitz.game("tapnswap", max_plies=3).deal(1)
    for words in ("swap 1 from left", "swap 1 from left", "swap 1 from right"):
        assert not table.over
        table.play(words)
    assert table.over
    assert table.points == [0, 0]


def test_words_in_short_and_ambiguous():
    table = kibitz.game("tapnswap").deal(1)
    assert table.read("lr") == table.read("Tap left on right") == 1
    assert table.read("l1") == table.read("swap") == 4
    with pytest.raises(AmbiguousMove, match="'tap left on left', 'tap left on right'"):
        table.read("tap left")
    with pytest.raises(UnreadableMove, match="Write it like 'tap left on left'"):
        table.read("slap")
    with pytest.raises(UnreadableMove):
        table.read("")


def test_tapper_kills_the_larger_hand():
    game = kibitz.game("tapnswap")
    table = table_at(((4, 1), (3, 4)))
    assert table.say(kibitz.agent("tapper", game).choose(table.view())) == "tap left on right"


def test_features_show_own_hands_first():
    table = table_at(((3, 1), (2, 0)))
    for seat, hands in ((0, (3, 1, 2, 0)), (1, (2, 0, 3, 1))):
        features = table.view(seat).features()
        assert features[:20].reshape(4, 5).argmax(axis=1).tolist() == list(hands)
        assert features[:20].sum() == 4


@pytest.mark.parametrize(
    ("own", "words", "after"),
    [
        ((3, 2), "swap from 3-2 to 1-4", (4, 1)),
        ((3, 2), "a swap from 3-2 to 1-4 is a valid swap", (4, 1)),
        ((2, 3), "swap from 3-2 to 1-4", (1, 4)),
        ((3, 2), "swap to 4-1", (4, 1)),
        ((3, 2), "swap 2 from left", (4, 1)),
        ((3, 2), "exchanging 2 fingers from the left to the right", (4, 1)),
        ((3, 2), "[1, 0, 2]", (4, 1)),
        ((3, 2), "l2", (4, 1)),
        ((1, 1), "swap 1 from right", (0, 2)),
        ((1, 1), "swap to 2-0", (0, 2)),
        ((2, 2), "r1", (1, 3)),
        ((2, 2), "swap 1 finger", (1, 3)),
        ((3, 1), "2-2", (2, 2)),
        ((3, 1), "swap from 3-1 to 4-0", (4, 0)),
        ((2, 0), "exchanging 1 finger from the left to the right", (1, 1)),
        ((4, 0), "swap 3 from left", (3, 1)),
    ],
)
def test_every_swap_of_the_rules_can_be_typed(own, words, after):
    for seat in (0, 1):
        table = table_at((own, (2, 4)), seat).play(words)
        assert tuple(table["hands"].tolist()[2 * seat : 2 * seat + 2]) == after


@pytest.mark.parametrize(
    ("words", "after"),
    [("tap 3 on 2", (0, 4)), ("tapping with 3 on 4", (2, 0)), ("tap with 1 on 2", (3, 4)),
     ("[0, 1, 0]", (3, 4))],
)  # fmt: skip
def test_taps_can_be_typed_by_fingers(words, after):
    table = table_at(((3, 1), (2, 4))).play(words)
    assert tuple(table["hands"].tolist()[2:]) == after


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("swap from 3-1 to 1-3", "no swap from 3-1 to 1-3: .*mirror"),
        ("swap 2 from left", "mirror"),
        ("swap from 3-2 to 1-4", "your hands are 3-1, not 3-2"),
        ("swap to 3-2", "you have 4 fingers"),
        ("swap 2 from right", "not so many fingers|at most 4"),
        ("tap 2 on 2", "no tap with 2 on 2: your hands are 3-1, the other's 2-4"),
    ],
)
def test_what_may_not_be_done_is_explained(words, complaint):
    with pytest.raises(IllegalMove, match=complaint):
        table_at(((3, 1), (2, 4))).play(words)


def test_one_finger_from_either_hand_is_asked_back():
    with pytest.raises(AmbiguousMove, match=r"to 2-2.* or .*to 4-0"):
        table_at(((3, 1), (2, 4))).read("swap 1 finger")


def test_every_swap_from_every_position_means_what_it_leads_to():
    for own, other in solved():
        table = table_at((own, other))
        for giver, side in enumerate(("left", "right")):
            for fingers in range(1, own[giver] + 1):
                after = list(own)
                after[giver] -= fingers
                after[1 - giver] += fingers
                words = f"swap {fingers} from {side}"
                if max(after) > 4 or sorted(after) == sorted(own):
                    with pytest.raises(IllegalMove):
                        table.read(words)
                else:
                    found = table.copy().play(words)["hands"].tolist()[:2]
                    assert sorted(found) == sorted(after)


def test_a_person_is_told_about_the_mirror_image(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("swap 1 from right\nquit\n\n"))
    assert run(["play", "tapnswap", "--seats", "human,random", "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert "Hands have no sides: 2-0 is 0-2, so this is 'swap 1 from left'." in out
    assert "human: swap 1 from left" in out
