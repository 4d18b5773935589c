"""The rules of a game for a page: paragraphs that fit any width, and what to click.

Rooms write their rules for a terminal, with line breaks and with how moves are typed. Paragraphs
that begin as the room's `IN_A_TERMINAL` says are left out; `IN_A_BROWSER` takes their place.
"""

from __future__ import annotations

import html
import re

from kibitz.core.game import Game

ROW = re.compile(r"^ *(\S+(?: \S+)*?) {2,}(\S.*)$")  # a word, and what it means


def rules_markup(game: Game) -> str:
    """Return the rules of a game, as it is set, as markup."""
    words = game.words
    typed = tuple(getattr(words, "IN_A_TERMINAL", ()))
    clicked = getattr(words, "IN_A_BROWSER", "")
    paragraphs = re.split(r"\n\s*\n", game.how_to_play.strip("\n"))
    kept = [one for one in paragraphs if not (typed and one.lstrip().startswith(typed))]
    return "".join(map(_markup, [*kept, *([clicked] if clicked else [])]))


def _markup(paragraph: str) -> str:
    """Return a paragraph, whose lines may be rows of two columns."""
    text: list[str] = []
    rows: list[list[str]] = []
    for line in paragraph.splitlines():
        row = ROW.match(line)
        if row and not line.startswith("    "):
            rows.append([row[1], row[2]])
        elif rows:
            rows[-1][1] += f" {line.strip()}"
        else:
            text.append(line.strip())
    found = f"<p>{html.escape(' '.join(text))}</p>" if text else ""
    if rows:
        pairs = (f"<dt>{html.escape(a)}</dt><dd>{html.escape(b)}</dd>" for a, b in rows)
        found += f"<dl>{''.join(pairs)}</dl>"
    return found
