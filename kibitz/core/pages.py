"""Pages that are whole in themselves: what they are made of, their colours, and what may run.

Nothing is loaded from anywhere, and of scripts only the page's own may run.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from kibitz.core.markup import Markup, element
from kibitz.core.svg import FONT, PALETTE, SEAT_COLOURS, SEAT_SIGNS

DARKER = 32  # how much higher the frame of a page is on a dark card


def asset(name: str, package: str = "kibitz.core") -> str:
    """Read a file that lies beside the sources of a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def colours(dark: bool) -> str:
    """Write the palette as declarations of a style."""
    return ";".join(f"--{name}:{pair[dark]}" for name, pair in PALETTE.items())


def seat_style(root: str) -> str:
    """Write the colours of the seats' marks, `.seat0` and so on, below a class."""
    return "".join(f"{root} .seat{at}{{color:{one}}}" for at, one in enumerate(SEAT_COLOURS))


def seat_sign(seat: int) -> Markup:
    """Write a seat's shape in its colour, to stand before a name; beyond six it has a ring."""
    at = seat % len(SEAT_COLOURS)
    ring = " ring" if seat >= len(SEAT_COLOURS) else ""
    return element("span", SEAT_SIGNS[at], class_=f"mark seat{at}{ring}", aria_hidden="true")


def page_style() -> str:
    """Write what all pages share: colours, light or dark as the reader likes, and the font."""
    return (
        f":root{{color-scheme:light dark;{colours(False)};--font:{FONT};--corner:8px;"
        "--quiet:color-mix(in srgb,var(--ink) 70%,var(--paper));"
        "--faint:color-mix(in srgb,var(--ink) 5%,var(--paper))}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{colours(True)}}}}}\n"
        "*{box-sizing:border-box}\n"
        "html{-webkit-text-size-adjust:100%;text-size-adjust:100%}\n"
        "body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 var(--font);"
        "font-variant-numeric:tabular-nums}\n"
        "@media (prefers-reduced-motion:reduce)"
        "{*{transition:none!important;animation:none!important}}\n"
    )


def frame_style() -> str:
    """Write the colours of a page in a frame on a card, which are those of the card.

    A frame that is locked up is told of nothing around it but its size. So on a dark card it is a
    little higher, by which the page knows.
    """
    tall = "".join(
        f"@media screen and ({width}) and (min-height:{height + DARKER // 2}px)"
        f"{{:root{{{colours(True)};color-scheme:dark}}}}\n"
        for width, height in (("min-width:720.02px", 560), ("max-width:720px", 720))
    )
    return f":root{{{colours(False)};color-scheme:light}}\n{tall}"


def policy(script: str) -> str:
    """Write the policy of a page in which this script may run and nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
