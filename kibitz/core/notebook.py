"""How things show themselves in a notebook: as a card, which suits light and dark, or as text.

A card is HTML without scripts and ids, whose style concerns nothing around it. A notebook that its
reader does not trust takes styles, drawings and frames away and leaves words, tables and images:
so boards are images, and everything that matters stands in words.
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from kibitz.core.markup import Markup, element, joined, table
from kibitz.core.pages import DARKER, asset, colours, seat_sign, seat_style
from kibitz.core.svg import FONT, number, only_seen

if TYPE_CHECKING:
    from kibitz.core.record import Record
    from kibitz.core.table import Move, View

ROOT = "kibitz-shown"
# What notebooks say about themselves: JupyterLab, Visual Studio Code, Colab.
LIGHT = ("[data-jp-theme-light=true]", ".vscode-light", "[theme=light]")
DARK = ("[data-jp-theme-light=false]", ".vscode-dark", "[theme=dark]")


class Shown:
    """Something that shows itself in a notebook; its text stays what `str` gives."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        raise NotImplementedError

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        html = self._repr_html_()
        return {} if html is None else {"text/html": html, "text/plain": str(self)}


@functools.cache
def _style() -> str:
    light = f"{colours(False)};color-scheme:light;--frame:0px"
    dark = f"{colours(True)};color-scheme:dark;--frame:{DARKER}px"

    def below(marks: Iterable[str]) -> str:
        return ",".join(f"{mark} .{ROOT}" for mark in marks)

    return (
        f".{ROOT}{{{light};--font:{FONT}}}\n"
        f"@media (prefers-color-scheme:dark){{.{ROOT}{{{dark}}}}}\n"
        f"{below(LIGHT)}{{{light}}}\n{below(DARK)}{{{dark}}}\n"
        f"{seat_style('.' + ROOT)}\n{asset('notebook.css')}"
    )


def card(*parts: str, class_: str = "") -> Markup:
    """Put parts on a card."""
    style = element("style", Markup(_style()))
    return element("div", style, *parts, class_=f"{ROOT} {class_}".strip())


def heading(words: str, about: str = "") -> Markup:
    """Write what a card shows, and in a few words more about it."""
    more = [" ", element("span", about, class_="quiet")] if about else []
    return element("p", element("b", words), *more)


def note(*words: str) -> Markup:
    """Write words that step back."""
    return element("p", *words, class_="quiet")


def listing(
    columns: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[int] = (0,)
) -> Markup:
    """Make a table of rows; `words` says which columns hold words, the others hold figures."""

    def cells(kind: str, row: Sequence[str], **more: str) -> list[Markup]:
        return [
            element(kind, cell, **more, class_="words" if at in words else None)
            for at, cell in enumerate(row)
        ]

    return table(
        cells("th", columns, scope="col"), [element("tr", *cells("td", row)) for row in rows]
    )


def who(seat: int, name: str = "") -> Markup:
    """Write a seat with its mark."""
    return joined(seat_sign(seat), name or f"seat {seat}")


def image(drawing: str, words: str) -> Markup:
    """Show a drawing as an image; `words` are for those who do not see it."""
    data = base64.b64encode(only_seen(drawing).encode()).decode("ascii")
    return element("img", src=f"data:image/svg+xml;base64,{data}", alt=words)


def board_card(view: View, last: Move | None = None, about: str = "") -> Markup | None:
    """Show the board as a seat sees it, and below it who moves, the points, and the last move.

    A game without words shows nothing; one without a drawing shows its words.
    """
    game = view.game
    if not game.has("words"):
        return None
    if game.has("drawing"):
        shown = image(view.svg(last=last), f"{game.title}: {view.brief()}")
    else:
        shown = element("pre", str(view))
    points = view.points
    each = points[:1] if game.cooperative else points
    said = [joined("over") if view.over else joined(who(view.mover), " moves")]
    said.append(joined("points ", " : ".join(map(number, each))))
    if last is not None:
        said.append(joined("last ", who(last.seat), ": ", last.words))
    if about:
        said.append(joined(about))
    return card(shown, element("p", *_with(" · ", said)), class_="narrow")


def _with(between: str, parts: Sequence[Markup]) -> list[str]:
    return [one for part in parts for one in (between, part)][1:]


def record_card(record: Record) -> Markup | None:
    """Show a record in the player, as seat 0 sees it.

    The player has a frame of its own, so that neither it nor its keys can disturb the notebook.
    Where frames are taken away the style is too, and with it what hides the last board's image.
    """
    from kibitz.core.player import page

    game = record.game
    if not (game.has("words") and game.has("drawing")):
        return None
    title = f"{game.title}: {', '.join(record.name_of(seat) for seat in range(game.players))}"
    end = record.table()
    still = image(end.svg(seat=0), f"{title}. {end.view(0).brief()}")
    frame = element(
        "iframe", srcdoc=page(record, framed=True), sandbox="allow-scripts", title=title, height=560
    )
    return card(frame, element("div", still, note(title), class_="still"), class_="film")
