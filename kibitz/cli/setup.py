"""Setting up for a person: whether to explain the rules, who plays, how hard, who starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape

from kibitz.cli.shared import prose
from kibitz.core.agent import Agent
from kibitz.core.chance import Chance, agents_seed
from kibitz.core.errors import Misuse, unknown
from kibitz.core.game import Game
from kibitz.play.seats import HUMAN, YOU
from kibitz.search.opponents import playable_levels, strongest, why_not

LETTERS = "ABCDEFGHIJKL"  # as many as a game can have seats
ALONE, TOGETHER = "one", "two"
FIRST, SECOND, BY_LOT = YOU, "the other", "by lot"


class Left(Exception):
    """The person has left the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """Somebody who plays game after game, at one seat or another."""

    who: str  # human, or an agent with its settings
    called: str  # at the table and in the score
    agent: Agent | None = None  # where it is there already


# --- who plays ---------------------------------------------------------------------------------


def at_level(game: Game, level: str) -> list[Player]:
    """Seat you first, and agents of a level everywhere else."""
    if not game.levels:
        raise Misuse(f"{game.name} has no levels. Choose who plays: --seats {HUMAN},AGENT.")
    level = level.strip().lower()
    if level not in game.levels:
        raise unknown(f"level of {game.name}", level, game.levels)
    error = why_not(game.levels[level], game)
    if error is not None:
        others = ", ".join(playable_levels(game, strongest(game))) or "none"
        raise Misuse(f"{error} Levels that can play it: {others}.") from error
    other = Player(who=game.levels[level], called=level)
    return told_apart([Player(who=HUMAN, called=YOU), *[other] * (game.players - 1)])


def told_apart(players: Sequence[Player]) -> list[Player]:
    """Add a letter to those who are called the same."""
    names = [player.called for player in players]
    letters = {name: iter(LETTERS) for name in names}
    return [
        Player(who=player.who, called=f"{player.called} {next(letters[player.called])}")
        if names.count(player.called) > 1
        else player
        for player in players
    ]


# --- questions ---------------------------------------------------------------------------------


def ask_who_plays(game: Game, levels: Mapping[str, str], seed: int, out: Console) -> list[Player]:
    """Ask what a person should be asked before a game for two; whoever starts comes first."""
    out.print(f"[bold]{escape(game.title)}[/]\n{escape(game.summary)}")
    if agrees(out, "Shall I explain the rules?"):
        out.print("\n" + escape(prose(out, game.how_to_play.rstrip())))
    people = {ALONE: "you against the computer", TOGETHER: "people at this keyboard"}
    if choose(out, "How many players?", people, ALONE) == TOGETHER:
        return told_apart([Player(who=HUMAN, called="player")] * 2)
    level = choose(out, "How hard shall it be?", levels, middle(levels))
    players = at_level(game, level)
    starts = choose(out, "Who starts?", {FIRST: "", SECOND: level, BY_LOT: ""}, FIRST)
    if starts == BY_LOT:
        starts = lot(seed)
    return players if starts == FIRST else players[::-1]


def middle(levels: Mapping[str, str]) -> str:
    """Name the level in the middle, or just below: a newcomer can win there, and need not."""
    return list(levels)[(len(levels) - 1) // 2]


def lot(seed: int) -> str:
    """Draw who starts; the same seed draws the same."""
    return Chance(agents_seed(seed)).choice((FIRST, SECOND))  # lane 0: seats have the others


def choose(out: Console, question: str, options: Mapping[str, str], default: str) -> str:
    """Ask until the answer is an option: its number, its name or a beginning, or just Enter.

    Options come with a note, which may be empty.
    """
    width = max(map(len, options))
    numbers = "1 or 2" if len(options) == 2 else f"1 to {len(options)}"
    out.print(f"\n{escape(question)}")
    for place, (option, note) in enumerate(options.items(), start=1):
        line = f"  {place}. {option:<{width}}  {f'({note})' if note else ''}"
        out.print(escape(line.rstrip()))
    while True:
        text = answer(out, f"{numbers}, or Enter for {default}: ")
        meant = [default] if not text else meant_by(text, list(options))
        if len(meant) == 1:
            return meant[0]
        out.print(escape(f"Type {numbers}, or a name: {', '.join(options)}. Or quit."))


def meant_by(text: str, options: Sequence[str]) -> list[str]:
    """Give the options that a number, a name, or the beginning of one of its words may mean."""
    if text.isdecimal():
        return [option for place, option in enumerate(options, start=1) if str(place) == text]
    if text in options:
        return [text]
    return [
        option
        for option in options
        if any(words.startswith(text) for words in (option, *option.split()))
    ]


def agrees(out: Console, question: str) -> bool:
    """Ask for yes or no; Enter means no."""
    while True:
        text = answer(out, f"\n{question} [y/N] ")
        if "no".startswith(text):  # as does nothing at all
            return False
        if "yes".startswith(text):
            return True
        out.print("Type y for yes, n or Enter for no. Or quit.")


def answer(out: Console, prompt: str) -> str:
    """Ask once; whoever says quit, or says nothing more, has left."""
    try:
        text = " ".join(read_line(out, escape(prompt)).lower().split())
    except EOFError as error:
        out.print()  # nobody has pressed Enter after the prompt
        raise Left from error
    if text == "quit":
        raise Left
    return text


def read_line(out: Console, prompt: str) -> str:
    """Read what a person types; EOFError means that nothing more will come."""
    try:
        return out.input(prompt)
    except UnicodeDecodeError:
        return "\ufffd"  # not text; whoever reads it will say so
    except RuntimeError as error:  # standard input is closed
        raise EOFError from error
