"""What kibitz needs of other packages, for each extra, and whether a version is within bounds.

Packages are only asked for their version, never imported.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from importlib.metadata import requires as requirements_of
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"  # there in a clone alone


def requirements(extra: str) -> Iterator[tuple[str, str]]:
    """Yield what kibitz needs for an extra, or without one: names and bounds."""
    for line in _declared(extra):
        found = re.match(r"\s*([\w.-]+)\s*(?:\[([\w,.\s-]+)\])?\s*\(?([^)]*)\)?", line)
        assert found is not None
        name, inner, bounds = found[1], found[2], found[3].strip()
        if name.lower() == "kibitz":
            for one in (inner or "").split(","):
                yield from requirements(one.strip())
        else:
            yield name, bounds


def _declared(extra: str) -> list[str]:
    """List the requirements as the project states them; in a clone, as it states them today."""
    if PROJECT.is_file():
        project = tomllib.loads(PROJECT.read_text(encoding="utf-8")).get("project", {})
        if project.get("name") == "kibitz":
            extras = project.get("optional-dependencies", {})
            return extras.get(extra, []) if extra else project.get("dependencies", [])
    found = []
    with contextlib.suppress(PackageNotFoundError):
        for line in requirements_of("kibitz") or []:
            wanted, _, condition = line.partition(";")
            named = re.search(r"extra\s*==\s*['\"]([\w.-]+)['\"]", condition)
            if (named[1] if named else "") == extra:
                found.append(wanted)
    return found


def fits(has: str, wanted: str) -> bool:
    """Whether a version lies within bounds such as `>=0.68,<0.69`."""
    own = _numbers(has)
    for part in filter(None, (one.strip() for one in wanted.split(","))):
        found = re.match(r"(>=|<=|==|<|>|!=|~=)\s*([\w.]+)", part)
        if found is None:
            continue
        bound = _numbers(found[2])
        size = max(len(own), len(bound))
        mine, its = (one + (0,) * (size - len(one)) for one in (own, bound))
        good = {
            ">=": mine >= its, "<=": mine <= its, "==": mine == its, "<": mine < its,
            ">": mine > its, "!=": mine != its, "~=": mine >= its,
        }  # fmt: skip
        if not good[found[1]]:
            return False
    return True


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", re.split(r"[a-z+]", text)[0]))
