"""What all pages share: the frame around them, small elements, and how errors are shown."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from nicegui import app, ui

from kibitz.core.errors import KibitzError

MARK = (  # the brand: somebody looks over a shoulder
    '<svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="9" cy="9" r="5" fill="#0072B2"/>'
    '<rect x="12.5" y="11.5" width="9" height="9" rx="1.5" fill="#D55E00"/>'
    '<circle cx="10.6" cy="8" r="1.5" fill="#fff"/><circle cx="11" cy="8.2" r=".7" fill="#1F2328"/>'
    "</svg>"
)
PLACES = (("/", "Play"), ("/league", "League"), ("/train", "Train"))
ICONS = {  # drawn, since not every font has them
    "first": '<path d="M2 2h2v12H2zM14 2v12L5 8z"/>',
    "back": '<path d="M12 2v12L3 8z"/>',
    "on": '<path d="M4 2v12l9-6z"/>',
    "last": '<path d="M12 2h2v12h-2zM2 2v12l9-6z"/>',
}
THEME = "kibitz-theme"  # what a browser keeps: dark, light or nothing
APPLY_THEME = f"""<script>
(function () {{
  document.documentElement.lang = "en";
  const kept = localStorage.getItem("{THEME}");
  const dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  window.kibitzTheme = dark ? "dark" : "light";
}})();
</script>"""
TOGGLE_THEME = f"""() => {{
  const dark = !document.body.classList.contains("body--dark");
  window.kibitzTheme = dark ? "dark" : "light";  // which may be applied only after this click
  localStorage.setItem("{THEME}", window.kibitzTheme);
  Quasar.Dark.set(dark);
}}"""


def person() -> str:
    """Give the key of the person whose browser asks."""
    return str(app.storage.browser["id"])


@contextmanager
def frame(title: str, here: str = "/", wide: bool = False) -> Iterator[None]:
    """Build a page: the top with the way to other pages, then what the block adds."""
    ui.page_title(f"{title} · kibitz")
    ui.add_head_html(APPLY_THEME)
    ui.run_javascript("Quasar.Dark.set(window.kibitzTheme === 'dark')")
    with ui.element("header").classes("kb-top"):
        raw(f'<a class="kb-brand" href="/">{MARK}kibitz</a>')
        links = "".join(
            f'<a href="{link}"{" class=here aria-current=page" if link == here else ""}>{word}</a>'
            for link, word in PLACES
        )
        raw(f'<nav class="kb-nav" aria-label="pages">{links}</nav>').style("flex: 1")
        theme = ui.element("button").classes("kb-button plain")
        theme.props('type="button" aria-label="light or dark" title="Light or dark"')
        theme.on("click", js_handler=TOGGLE_THEME)
        with theme:
            raw("◐", tag="span")
    # The layout around all pages is a main element already.
    with ui.element("div").classes("" if wide else "kb-page"):
        yield


def raw(text: str, tag: str = "div") -> ui.html:
    """Show markup that we have written; whatever comes from elsewhere must be escaped before."""
    return ui.html(text, sanitize=False, tag=tag)


def words(text: str, classes: str = "", tag: str = "div") -> ui.html:
    """Show plain words."""
    return raw(html.escape(text), tag).classes(classes)


def button(
    label: str, work: Callable[[], Any] | None = None, classes: str = "", title: str = ""
) -> ui.element:
    """Make a button; what goes wrong when it is pressed is told."""
    made = ui.element("button").classes(f"kb-button {classes}").props('type="button"')
    if title:
        made.props["title"] = title
        if label in ICONS or label.lower() in title.lower():
            made.props["aria-label"] = title  # else it is called what it shows
    if work is not None:
        made.on("click", telling(work))
    with made:
        if label in ICONS:
            raw(f'<svg class="kb-icon" viewBox="0 0 16 16" aria-hidden="true">{ICONS[label]}</svg>')
        else:
            words(label, tag="span")
    return made


def link(label: str, to: str, classes: str = "") -> ui.html:
    """Make a link that looks like a button."""
    return raw(
        f'<a class="kb-button {classes}" href="{html.escape(to)}">{html.escape(label)}</a>', "span"
    )


def telling(work: Callable[..., Any]) -> Callable[..., Any]:
    """Let errors that are meant for people reach them as a message; others go to the log."""

    async def told() -> None:
        try:
            result = work()
            if hasattr(result, "__await__"):
                await result
        except KibitzError as error:
            tell(str(error), bad=True)

    return told


def tell(message: str, bad: bool = False) -> None:
    """Show a message for some seconds."""
    ui.notify(
        message, position="top", timeout=6000, close_button="OK", multi_line=True,
        classes=f"kb-toast{' bad' if bad else ''}",
    )  # fmt: skip


def problem(title: str, message: str, way: str = "To the games", to: str = "/") -> None:
    """Show a page that says what went wrong and how to go on."""
    with frame(title), ui.element("div").classes("kb-stack"):
        words(title, tag="h1")
        words(message, tag="p")
        with ui.element("div").classes("kb-row"):
            link(way, to, "main")
