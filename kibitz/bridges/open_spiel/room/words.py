"""Games of OpenSpiel in words: what OpenSpiel itself writes, made fit for a terminal."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import Any

from kibitz.bridges.open_spiel.cells import read_text
from kibitz.bridges.open_spiel.rules import Rulebook, plain_words
from kibitz.core.errors import AmbiguousMove
from kibitz.core.game import OVER
from kibitz.core.reading import SHOWN, read_by_saying, unreadable
from kibitz.core.table import View

WIDEST = 80
SHORT = 60  # letters that fit in a line with other things


def book_of(view: View) -> Rulebook:
    """Give the rules of the game that is viewed."""
    return view.game.book  # type: ignore[attr-defined]


def explained(game: Any) -> str:
    """Say what OpenSpiel tells about a game: no rules, but what it is and how it is set."""
    theirs = game.book.theirs
    kind = theirs.get_type()
    # Parameters may be games again, which have no text of their own.
    given = {name: str(value) for name, value in theirs.get_parameters().items()}
    usual = {name: str(value) for name, value in kind.parameter_specification.items()}
    lines = [
        f"{kind.long_name}, from OpenSpiel. OpenSpiel comes with no rules in words; its page on "
        "games names sources for most.",
        "",
        f"Seats: {theirs.num_players()}. Actions: {theirs.num_distinct_actions()}. "
        f"Moves in a game: {theirs.max_game_length()} at most. "
        f"Points of a seat: {theirs.min_utility():g} to {theirs.max_utility():g}.",
        f"Chance: {'drawn as it is met' if game.book.by_chance else 'none'}. "
        f"Hidden: {'something' if game.book.hides else 'nothing'}.",
        "",
    ]
    if usual:
        lines.append("Parameters, which are set in the name, as in open_spiel:nim(pile_sizes=1;3):")
        lines += [f"  {name}  {given.get(name, value)}" for name, value in sorted(usual.items())]
    else:
        lines.append("It has no parameters.")
    table = game.deal(seed=0)
    moves = ", ".join(f"'{table.say(action)}'" for action in table.legal[:3])
    lines += ["", f"Type a move in OpenSpiel's words, as in {moves}, or its beginning."]
    return "\n".join(lines) + "\n"


def said(view: View) -> dict[int, str]:
    """Put all legal actions into words that differ; those of the latest view are remembered."""
    book = book_of(view)
    key = view.cells.tobytes()
    if book.said[0] != key:
        book.said = key, _said(view, book)
    return book.said[1]


def _said(view: View, book: Rulebook) -> dict[int, str]:
    legal = view.legal
    if not book.hides:
        node = book.node(view.cells)
        words = [plain_words(node, view.mover, action) for action in legal]
    else:
        words = book.words_in(view.cells) or [f"action {action}" for action in legal]
    twice = Counter(words)
    return {
        action: f"{word} [{action}]" if twice[word] > 1 else word
        for action, word in zip(legal, words, strict=True)
    }


def say(view: View, action: int) -> str:
    """Put an action into words; those of others only if everybody sees what is played."""
    known = said(view)
    if action in known:
        return known[action]
    mover = view.mover
    if mover in (view.seat, OVER) or not book_of(view).hides:
        return f"action {action}"
    if view.game.secret:
        return "a move that you cannot see"
    return plain_words(book_of(view).first_node(), mover, action)


def read(view: View, text: str) -> int:
    """Find the action that words mean: OpenSpiel's own, their beginning, or the number."""
    wanted = " ".join(text.split())
    known = said(view)
    for same in (str, str.lower):  # chess tells b from B
        found = [action for action, words in known.items() if same(words) == same(wanted)]
        if len(found) == 1:
            return found[0]
        if found and same is str.lower:
            raise _ambiguous(view, wanted, [known[action] for action in found])
    for prefix in ("", "action "):
        number = wanted.lower().removeprefix(prefix)
        if number.isascii() and number.isdecimal() and int(number[:9]) in known:
            return int(number[:9])
    begins = [
        a for a, words in known.items() if wanted and words.lower().startswith(wanted.lower())
    ]
    if len(begins) == 1:
        return begins[0]
    if begins:
        raise _ambiguous(view, wanted, [known[action] for action in begins])
    if not known:
        raise unreadable(view, text)
    return read_by_saying(view, text, lambda view, action: known[action])


def _ambiguous(view: View, text: str, fitting: list[str]) -> AmbiguousMove:
    names = ", ".join(f"'{words}'" for words in fitting[:SHOWN])
    more = f" and {len(fitting) - SHOWN} more" if len(fitting) > SHOWN else ""
    return AmbiguousMove(f"{view.game.name}: '{text}' could mean {names}{more}. Say which.")


def board_of(view: View) -> list[str]:
    """Give the lines that OpenSpiel writes about a position, as far as the viewer may know."""
    book = book_of(view)
    if book.hides:
        text = read_text(book.part(view.cells, view.seat, "text"))
    else:
        text = str(book.node(view.cells))
    # A terminal must not be commanded, nor a drawing broken, by what a game writes.
    lines = ("".join(filter(str.isprintable, line)) for line in text.expandtabs().splitlines())
    return [line.rstrip() for line in lines]


def brief(view: View) -> str:
    """Say in one short line how the game stands, if OpenSpiel has words for it that are short."""
    words = " | ".join(line.strip() for line in board_of(view) if line.strip())
    return words if 0 < len(words) <= SHORT else f"{view.plies} moves played"


def show(view: View) -> str:
    """Write OpenSpiel's board, broken where lines are long."""
    lines: list[str] = []
    for line in board_of(view):
        lines += textwrap.wrap(line, WIDEST, drop_whitespace=False) or [""]
    return "\n".join(lines).strip("\n") or f"{view.plies} moves played"
