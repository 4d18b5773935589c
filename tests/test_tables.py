"""Tables and help at every width: nothing vanishes, and no name is cut."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

import kibitz
from kibitz.cli import COMMANDS
from kibitz.cli.shared import grid
from tests.terminal import walk

WIDTHS = (60, 80, 120, None)
Q = ["--games", "200", "--evaluate-every", "100", "--evaluate-games", "10", "--seed", "1"]
TABLES = [
    ["games"], ["learners"], *(["rules", name] for name in kibitz.game_names()),
    ["agents", "hanabi"], ["words", "hanabi"], ["words", "mexican_train"], ["rules-of", "hanabi"],
    ["watch", "nim", "--seats", "perfect,random", "--seed", "1", "--save", "game.json"],
    ["export", "game.json"], ["analyse", "game.json"], ["grade", "nim", "perfect", "random"],
    ["solve", "tapnswap"], ["match", "nim", "perfect", "one-from-longest", "-n", "60"],
    ["match", "hanabi", "piers", "-n", "20"],
    ["league", "nim", "add", "perfect", "long-name-of-an-agent=random", "take-one", "td", "policy",
     "--seed", "1"],
    ["league", "nim", "run", "--games", "8"], ["league", "nim", "matrix"],
    ["league", "nim", "list"], ["bench", "nim", "--seconds", "0.1"],
    ["train", "nim", "evolution", "--budget", "20", "--seed", "1"],
    ["train", "tapnswap", "q-learning", *Q],
    ["train", "tapnswap", "q-optimizer", "--preset", "quick", "--games", "200", "--seed", "1"],
    ["train", "hanabi", "classifier", "--games", "1000", "--seed", "1"],
]  # fmt: skip


def check_tables(said, width):
    """Check that a command's tables are there in full, and no wider than the terminal."""
    assert said.code == 0, said
    lines = said.out.splitlines()
    begun = [line.strip() + "  " for line in lines]
    for table in said.tables:
        for at, head in enumerate(table["columns"]):
            assert head in said.out, (said.command, head)
            for row in table["rows"]:
                if at in table["text"]:
                    for word in row[at].split():
                        assert len(word) > 24 or word in said.out, (said.command, word)
                else:
                    assert row[at] in said.out, (said.command, row[at])
        for row in table["rows"]:  # each begins a line with its names, whole
            names = [cell for cell in row[: table["keys"]] if cell]
            assert any(line.startswith(names[0] + "  ") for line in begun), names
    if width is not None and said.tables:
        commands = [line for line in lines if "kibitz " in line]
        wide = [line for line in lines if len(line) > width and line not in commands]
        assert not wide, (said.command, wide)


@pytest.mark.long
@pytest.mark.parametrize("width", WIDTHS)
def test_every_table_of_every_command_is_whole(tmp_path, width):
    found = walk(TABLES, width, tmp_path)
    for said in found:
        check_tables(said, width)
    assert sum(len(said.tables) for said in found) > 40


@pytest.mark.parametrize("width", WIDTHS)
def test_words_and_options_are_whole(tmp_path, width):
    commands = [["words", "hanabi"], ["words", "mexican_train"], ["rules", "carcassonne"]]
    for said in walk(commands, width, tmp_path):
        check_tables(said, width)
        assert ("notes <= 3" in said.out) == (said.command[-1] == "hanabi")


@pytest.mark.parametrize("width", [60, 80, None])
def test_help_is_whole(tmp_path, width):
    found = walk([[], *([name, "--help"] for name in COMMANDS)], width, tmp_path)
    for said in found:
        assert "Usage: kibitz" in said.out
        assert "…" not in said.out
        # What can be done with a league is one long word.
        words = [line for line in said.out.splitlines() if "<run|" not in line]
        assert max(map(len, words)) <= (width or 120)
    for name in COMMANDS:
        assert f"  {name}  " in found[0].out or f" {name} " in found[0].out
    league = next(said.out for said in found if said.command[:1] == ["league"])
    assert "strong=mcts:sims=500" in league


def shown(width, *arguments, **more):
    out = io.StringIO()
    Console(file=out, width=width, soft_wrap=width is None).print(grid(*arguments, **more))
    return out.getvalue().splitlines()


def test_text_is_wrapped_and_names_are_not():
    rows = [("a-very-long-name", "one two three four five six seven", "12")]
    lines = shown(40, "", ("name", "text", "number"), rows, text=(1,))
    assert lines == [
        "name              text            number",
        "a-very-long-name  one two three       12",
        "                  four five six",
        "                  seven",
    ]


def test_a_table_that_is_too_wide_is_split_and_repeats_its_names():
    rows = [("anna", "123456789", "1"), ("bob", "12", "1234567890")]
    assert shown(20, "", ("who", "first", "second"), rows) == [
        "who       first", "anna  123456789", "bob          12", "",
        "who       second", "anna           1", "bob   1234567890",
    ]  # fmt: skip


def test_text_without_room_beside_its_name_stands_below_it():
    rows = [("a-name-of-twenty-chars", "some words to read")]
    lines = shown(24, "", ("name", "text"), rows, text=(1,))
    assert lines == ["name", "    text", "a-name-of-twenty-chars", "    some words to read"]


def test_a_name_wider_than_the_terminal_goes_on_in_the_next_line():
    name = "n" * 30
    assert "".join(shown(20, "", ("name",), [(name,)])) == "name" + name
