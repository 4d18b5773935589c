"""Short and long: what `make test` tries every time, and what only `make test-long` tries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings


def first_always(values: Iterable[Any], always: int = 1) -> list[Any]:
    """Mark all cases but the first as long: one shows that it works, the others that all do."""
    return [
        pytest.param(value, marks=[] if place < always else pytest.mark.long)
        for place, value in enumerate(values)
    ]


def long_but(always: Iterable[Any], values: Iterable[Any]) -> list[Any]:
    """Mark all cases as long but those that are tried every time."""
    chosen = list(always)
    return [
        pytest.param(value, marks=[] if value in chosen else pytest.mark.long) for value in values
    ]


def law(examples: int, share: float = 0.25, **strategies: Any) -> Callable:
    """Try a property with some examples every time, and with all of them as a long test."""

    def decorate(check: Callable) -> Callable:
        some = max(1, round(share * examples))

        @pytest.mark.parametrize(
            "count",
            [
                pytest.param(some, id="some"),
                pytest.param(examples, id="all", marks=pytest.mark.long),
            ],
        )
        def test(count: int) -> None:
            settings(max_examples=count)(given(**strategies)(check))()

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        test.__module__ = check.__module__
        test.check = check  # type: ignore[attr-defined]  # for games that are not drawn
        return test

    return decorate
