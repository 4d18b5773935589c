"""A real browser for the tests of pages: Chromium without a window.

Where it is not installed these tests are left out, with the reason; where CI runs they fail.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.servers import missing

NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "Chromium is not installed (Debian: apt-get install chromium)"
# Nothing but what a test asks for: no updates, no reports, no sandbox where we are root.
SWITCHES = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def chromium() -> str | None:
    """Find Chromium."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def browsers() -> Iterator[Any]:
    """Start Chromium, and end it with the block."""
    path = chromium()
    if path is None:
        missing(MISSING)
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        try:
            yield browser
        finally:
            browser.close()
