"""Reading moves that people type: what the rooms' `read` functions share."""

from __future__ import annotations

from collections.abc import Callable

from kibitz.core.errors import AmbiguousMove, UnreadableMove
from kibitz.core.table import View

SHOWN = 4  # how many moves an error lists


def read_by_saying(view: View, text: str, say: Callable[[View, int], str]) -> int:
    """Find the legal move whose words are, or alone begin with, or alone contain these words."""
    wanted = text.lower().split()
    said = {action: say(view, action).lower().split() for action in view.legal}
    for fits in (_same, _begins, _contains):
        found = [action for action, words in said.items() if wanted and fits(words, wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            names = [f"'{say(view, action)}'" for action in found[:SHOWN]]
            more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
            raise AmbiguousMove(
                f"{view.game.name}: '{text}' could mean {', '.join(names)}{more}. Say which."
            )
    raise unreadable(view, text)


def unreadable(view: View, text: str) -> UnreadableMove:
    """Build the error for words that mean no move, with an example of words that do."""
    legal = view.legal
    example = f" Write it like '{view.say(legal[0])}'." if legal else ""
    return UnreadableMove(f"{view.game.name}: cannot read '{text}' as a move.{example}")


def _same(words: list[str], wanted: list[str]) -> bool:
    return words == wanted


def _begins(words: list[str], wanted: list[str]) -> bool:
    return words[: len(wanted)] == wanted


def _contains(words: list[str], wanted: list[str]) -> bool:
    return all(word in words for word in wanted)
