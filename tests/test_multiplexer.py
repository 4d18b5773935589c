"""The multiplexer of the benchmarks: its rules, its language, and that a population learns it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import kibitz
from bench.classifier import SETTINGS
from bench.multiplexer import ANSWERS, GAME
from kibitz.core.chance import Chance
from kibitz.core.compiled import pointer
from kibitz.core.errors import IllegalMove
from kibitz.core.matching import ROW
from kibitz.core.table import Table
from kibitz.learners.classifier import Settings, words_for
from kibitz.learners.classifier.agent import kind_of
from kibitz.learners.classifier.breeding import new_rule
from kibitz.learners.classifier.lexicon import GENE

SIZES = {2: 6, 3: 11, 4: 20}  # bits by address bits


def named(bits: list[int], address: int) -> int:
    """Read the address as a number, and give the data bit there."""
    return bits[address + int("".join(map(str, bits[:address])), 2)]


def tables(address: int):
    """Give every table of a small game, or many of a large one."""
    game = GAME.having(address=address)
    n = SIZES[address]
    every = itertools.product((0, 1), repeat=n)
    if n > 11:
        rng = np.random.default_rng(1)
        every = map(tuple, rng.integers(0, 2, (500, n)).tolist())
    for bits in every:
        state = game.blank()
        state[game.cell("bits")][:n] = bits
        yield Table(game, state), list(bits)


def perfect(address: int) -> list[str]:
    """Write the rules that are always right: two for every number the address can make."""
    rules = []
    for number, value in itertools.product(range(1 << address), (0, 1)):
        signs = f"{number:0{address}b}"
        tests = [f"{'not ' * (sign == '0')}a{i}" for i, sign in enumerate(signs)]
        data = f"{'not ' * (value == 0)}d{number}"
        rules.append(f"when {data}: say {value} [{', '.join(tests)}]")
    return rules


# --- the game ------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", SIZES)
def test_the_right_answer_is_the_named_bit(address):
    for table, bits in tables(address):
        right = named(bits, address)
        for answer in range(ANSWERS):
            assert table.legal == [0, 1]
            after = table.copy().play(answer)
            assert after.over
            assert after.legal == []
            assert after.points == [float(answer == right)]
            assert GAME.language.judge(table.cells, answer) == (answer == right)


@pytest.mark.parametrize("address", SIZES)
def test_bits_are_dealt_evenly_and_seen_whole(address):
    game = GAME.having(address=address)
    dealt = np.array([game.deal(3, deal)["bits"] for deal in range(2000)])
    n = SIZES[address]
    assert np.abs(dealt[:, :n].mean(axis=0) - 0.5).max() < 0.06  # five standard errors
    assert not dealt[:, n:].any()
    table = game.deal(seed=3)
    view = table.view()
    assert view["bits"].tolist() == table["bits"].tolist()
    assert view.features().tolist() == table["bits"][:n].tolist()
    assert view.redeal(Chance(1)).view(0) == view


def test_one_answer_is_all():
    table = GAME.deal(seed=1).play(0)
    with pytest.raises(IllegalMove, match="over"):
        table.play(1)


# --- the language --------------------------------------------------------------------------------


@pytest.mark.parametrize("address", SIZES)
def test_rules_are_written_as_they_are_read(address):
    language = GAME.having(address=address).language
    for text in perfect(address):
        assert language.write(language.read(text)) == text
    lexicon = words_for(language, Settings())
    rng = Chance(5).words
    gene = np.zeros(GENE, np.float32)
    for _ in range(300):
        new_rule(rng, lexicon, gene)
        assert np.array_equal(language.read(language.write(gene[:ROW])), gene[:ROW])


@pytest.mark.parametrize("address", SIZES)
def test_facts_are_the_bits_and_both_answers(address):
    language = GAME.having(address=address).language
    for table, bits in itertools.islice(tables(address), 100):
        facts = np.full(language.facts, np.nan, np.float32)
        pointer(language.see)(table.view().cells, facts, 1)
        assert facts.tolist() == [1, *bits, 0, 1]


@pytest.mark.parametrize("address", SIZES)
def test_the_perfect_list_is_always_right(address):
    game = GAME.having(address=address)
    agent = kind_of(game, game.language.read_all(perfect(address)))(game)
    for table, bits in tables(address):
        assert agent.choose(table.view()) == named(bits, address)


# --- learning ------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_population_learns_six_bits():
    """Guessing is right half of the time; the settings are those of the benchmark."""
    learned = kibitz.train(
        "classifier", GAME, seed=1, games=30_000, population=100, lane_games=50, tested_on=2000,
        compacted_on=200, **SETTINGS,
    )  # fmt: skip
    assert learned.whole >= 0.95
    assert learned.score >= 0.95
    assert len(learned.rules) <= 40
