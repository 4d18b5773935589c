"""HTML as text that is escaped unless it was made here, so that a name can never be markup."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape as escape_all

VOID = {"img", "input"}  # elements that have no inside and no end


def escape(text: str) -> str:
    """Escape text that stands between tags."""
    return escape_all(text, quote=False)


def quoteattr(value: str) -> str:
    """Escape and quote the value of an attribute."""
    # xml.sax.saxutils has both, and takes 30 ms to import.
    value = escape(value).replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;")
    if '"' not in value:
        return f'"{value}"'
    return f"'{value}'" if "'" not in value else '"' + value.replace('"', "&quot;") + '"'


class Markup(str):
    """Text that is HTML or SVG already."""

    __slots__ = ()


def element(name: str, *inside: str, **attributes: str | float | bool | None) -> Markup:
    """Make an element. Plain text inside and all attributes are escaped; markup stays as it is.

    `class_` means class, `data_film` data-film; False and None are left out, True has no value.
    """
    pairs = "".join(
        f" {key.strip('_').replace('_', '-')}"
        + ("" if value is True else f'="{escape_all(f"{value}")}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID:
        return Markup(f"<{name}{pairs}>")
    return Markup(f"<{name}{pairs}>{joined(*inside)}</{name}>")


def joined(*parts: str) -> Markup:
    """Put markup and text, which is escaped, one after another."""
    return Markup("".join(part if isinstance(part, Markup) else escape_all(part) for part in parts))


def table(columns: Sequence[str], rows: Sequence[Markup], class_: str | None = None) -> Markup:
    """Make a table from the heads of its columns, words or elements, and its rows."""
    heads = [
        column if isinstance(column, Markup) else element("th", column, scope="col")
        for column in columns
    ]
    return element(
        "table",
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
        class_=class_,
    )
