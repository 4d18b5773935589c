"""Languages: the words in which rules about a game are written, and their text form.

A room that offers a language has a module `language` with `LANGUAGE`, and in it a compiled `see`,
which writes what a view shows into facts (see matching.py). Rules are written like this:

  when notes <= 3 and 2+ own [hinted, playable >= 50%]: discard [dead >= 80%, most old]

`2+ own [..]` asks for at least two such things, `under 3 own [..]` for fewer than three, `no own
[..]` for none, `own [..]` for one at least. A group of which there is only one thing, such as the
game itself, needs no brackets. Behind the colon stands what to do, and in brackets at what to aim;
of several things the first word that differs decides, `most` and `least` do nothing else.

People may also write `notes < 4` for `notes <= 3`, `colour red` or `red` for `colour = red`, and
`+1` for `onward = 1` where a word has such a sign: `fellow +1 [red, value 3]`.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kibitz.core.errors import BadOption, BrokenRules, UnknownName, unknown
from kibitz.core.matching import (
    AT_LEAST,
    AT_MOST,
    CONDITION,
    CONDITION_TESTS,
    CONDITIONS,
    DEED,
    FIRST_CONDITION,
    GROUP,
    IS,
    IS_NOT,
    LEAST,
    LEAST_COUNT,
    MOST,
    ROW,
    TARGET,
    TARGET_TESTS,
    TEST,
    TESTS,
    UNUSED,
    empty_row,
)
from kibitz.core.rewards import Event

MOST_THINGS = 63  # of a group: they are bits of one number when rules are matched

FLAG, CHANCE, COUNT, NAME = "flag", "chance", "count", "name"
SIGNS = {AT_LEAST: ">=", AT_MOST: "<=", IS: "=", IS_NOT: "!="}
SENSES = {sign: sense for sense, sign in SIGNS.items()}
STRICT = {"<": ("<=", -1), ">": (">=", 1)}  # of counts, and how far the bound moves
SPELLINGS = {"==": "=", "≥": ">=", "≤": "<=", "≠": "!="}
SIGNED = r"(?:([^\w\s\[\]]\d+)\s*)?"  # such as +1 behind a name
ORDERS = {"most": MOST, "least": LEAST}
# Which senses a test on each kind of word may have.
ALLOWED = {
    FLAG: (AT_LEAST, AT_MOST),
    CHANCE: (AT_LEAST, AT_MOST, MOST, LEAST),
    COUNT: (AT_LEAST, AT_MOST, IS, IS_NOT, MOST, LEAST),
    NAME: (IS, IS_NOT),
}


@dataclass(frozen=True, slots=True)
class Word:
    """One thing that can be said: a flag, a chance, a count from low to high, or one of names.

    `topic` says what kind of knowledge it is, so that a learner can do without some. `sign` may
    stand for the word and an equals sign before a number: `+1`.
    """

    name: str
    kind: str
    help: str
    topic: str = ""
    low: float = 0.0
    high: float = 1.0
    names: tuple[str, ...] = ()
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Things of one sort, at most so many, and the words for them."""

    name: str
    most: int
    help: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Deed:
    """Something to do, and the group of things at which it is aimed."""

    name: str
    group: str
    help: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Language:
    """The words for one game.

    see       compiled with SEE: writes the facts of a view
    choose    compiled with CHOOSE: follows the list of rules in its weights
    judge     compiled with JUDGE: which event comes of an action, by its place; see `events`
    thank     compiled with THANK: the earlier ply that made an action possible, or -1
    easier    settings of the game under which the first lessons are easier
    vocabularies   what each leaves out: topics, groups, words (`own red`) and deeds; `usual` is
                   what learners take unless told otherwise
    example   a rule, to show how rules are written
    """

    groups: tuple[Group, ...]
    deeds: tuple[Deed, ...]
    see: Any
    choose: Any
    judge: Any = None
    thank: Any = None
    events: tuple[Event, ...] = ()
    easier: Mapping[str, Any] = field(default_factory=dict)
    vocabularies: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"usual": ()})
    example: str = ""

    def __post_init__(self) -> None:
        for group in self.groups:
            if not 1 <= group.most <= MOST_THINGS:
                raise BrokenRules(
                    f"The group '{group.name}' has {group.most} things; 1 to {MOST_THINGS} can be."
                )

    # --- layout --------------------------------------------------------------------------------

    @functools.cached_property
    def group_table(self) -> np.ndarray:
        """Where each group starts and how many things it may have. [groups, 2]"""
        return group_table(self.groups, self.deeds)

    @functools.cached_property
    def deed_table(self) -> np.ndarray:
        """The group of each deed, and the fact that holds its action. [deeds, 2]"""
        return deed_table(self.groups, self.deeds)

    @functools.cached_property
    def facts(self) -> int:
        """How many facts there are."""
        return facts_of(self.groups, self.deeds)

    def names(self) -> set[str]:
        """Give the names of all topics, groups, words (`own red`) and deeds."""
        words = [(group.name, word) for group in self.groups for word in group.words]
        return {
            *(group.name for group in self.groups), *(deed.name for deed in self.deeds),
            *(word.topic for _, word in words), *(f"{name} {word.name}" for name, word in words),
        }  # fmt: skip

    # --- text ----------------------------------------------------------------------------------

    def write(self, row: np.ndarray) -> str:
        """Write a rule as `read` reads it."""
        deed = self.deeds[int(row[DEED])]
        group = self._group(deed.group)
        tests = self._write_tests(row, TARGET, TARGET_TESTS, group)
        text = f"{deed.name} [{tests}]" if tests else deed.name
        conditions = [
            self._write_condition(row, FIRST_CONDITION + CONDITION * i)
            for i in range(CONDITIONS)
            if row[FIRST_CONDITION + CONDITION * i + GROUP]
        ]
        return f"when {' and '.join(conditions)}: {text}" if conditions else text

    def _write_condition(self, row: np.ndarray, at: int) -> str:
        group = self.groups[int(row[at + GROUP]) - 1]
        least = int(row[at + LEAST_COUNT])
        tests = self._write_tests(row, at + TESTS, CONDITION_TESTS, group)
        if group.most == 1:
            return tests if least > 0 else f"not ({tests})"
        count = {1: "", -1: "no "}.get(least, f"{least}+ " if least > 0 else f"under {-least} ")
        return f"{count}{group.name} [{tests}]" if tests else f"{count}{group.name}"

    def _write_tests(self, row: np.ndarray, at: int, most: int, group: Group) -> str:
        found = []
        for first in range(at, at + TEST * most, TEST):
            sense, place, bound = int(row[first]), int(row[first + 1]), float(row[first + 2])
            if sense == UNUSED:
                break
            word = group.words[place]
            if sense in ORDERS.values():
                found.append(f"{'most' if sense == MOST else 'least'} {word.name}")
            elif word.kind == FLAG:
                found.append(word.name if sense == AT_LEAST else f"not {word.name}")
            else:
                found.append(f"{word.name} {SIGNS[sense]} {_say(word, bound)}")
        return ", ".join(found)

    def read(self, text: str) -> np.ndarray:
        """Read a rule; what cannot be read raises BadOption, with the words that there are."""
        row = empty_row()
        head, colon, tail = text.strip().partition(":")
        if not colon:
            head, tail = "", head
        elif not head.startswith("when "):
            raise BadOption(f"Cannot read '{text}': a rule with a colon begins with 'when'.")
        match = re.fullmatch(rf"\s*([\w -]+?)\s*{SIGNED}(?:\[(.*)\])?\s*", tail)
        names = [deed.name for deed in self.deeds]
        if match is None or match[1] not in names:
            raise unknown("deed", tail.partition("[")[0].strip(), names)
        row[DEED] = names.index(match[1])
        group = self._group(self.deeds[names.index(match[1])].group)
        self._read_tests(row, TARGET, TARGET_TESTS, group, _joined(match[2], match[3]))
        conditions = _split(head.removeprefix("when "), " and ") if head else []
        if len(conditions) > CONDITIONS:
            raise BadOption(f"A rule has at most {CONDITIONS} conditions; '{text}' has more.")
        for i, condition in enumerate(conditions):
            self._read_condition(row, FIRST_CONDITION + CONDITION * i, condition.strip())
        return row

    def _read_condition(self, row: np.ndarray, at: int, text: str) -> None:
        form = rf"(?:(\d+)\+ |under (\d+) |(no) )?([\w -]+?)\s*{SIGNED}(?:\[(.*)\])?"
        match = re.fullmatch(form, text)
        many = {group.name: group for group in self.groups if group.most > 1}
        if match is not None and match[4] in many:
            group = many[match[4]]
            least = int(match[1] or 1) if not (match[2] or match[3]) else -int(match[2] or 1)
            tests = _joined(match[5], match[6])
        else:
            inner = re.fullmatch(r"not \((.*)\)", text)
            tests, least = (inner[1], -1) if inner else (text, 1)
            group = self._alone(tests)
        if not 1 <= abs(least) <= group.most:
            raise BadOption(f"'{text}': there are at most {group.most} of '{group.name}'.")
        row[at + GROUP] = self.groups.index(group) + 1
        row[at + LEAST_COUNT] = least
        self._read_tests(row, at + TESTS, CONDITION_TESTS, group, tests)

    def _alone(self, tests: str) -> Group:
        """Find the group of one thing whose word a bare test begins with: the longest such word."""
        begun = [
            (len(word.name), -place)
            for place, group in enumerate(self.groups)
            if group.most == 1
            for word in group.words
            if _begins(tests, word.name)
        ]
        if begun:
            return self.groups[-max(begun)[1]]
        known = [group.name for group in self.groups if group.most > 1]
        known += [word.name for group in self.groups if group.most == 1 for word in group.words]
        raise unknown("word", re.split(r"[\[<>=!]", tests)[0].strip(), known)

    def _read_tests(self, row: np.ndarray, at: int, most: int, group: Group, text: str) -> None:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if len(parts) > most:
            raise BadOption(f"At most {most} tests fit here; '{text}' has {len(parts)}.")
        for i, part in enumerate(parts):
            row[at + TEST * i : at + TEST * (i + 1)] = _read_test(part, group)

    def _group(self, name: str) -> Group:
        return next(group for group in self.groups if group.name == name)

    def read_all(self, text: str | Iterable[str], source: str = "") -> np.ndarray:
        """Read a list of rules, one a line; empty lines and lines with # are passed over.

        Errors name the line, and the source if it is given.
        """
        rows = []
        for number, line in enumerate(text.splitlines() if isinstance(text, str) else text, 1):
            if line.strip() and line.strip()[0] != "#":
                try:
                    rows.append(self.read(line))
                except (BadOption, UnknownName) as error:
                    where = f"{source}, line {number}" if source else f"Line {number}"
                    raise type(error)(f"{where}: {error}") from error
        return np.stack(rows) if rows else np.zeros((0, ROW), np.float32)

    def write_all(self, rows: np.ndarray) -> list[str]:
        """Write every rule of a list."""
        return [self.write(row) for row in rows]


def group_table(groups: Sequence[Group], deeds: Sequence[Deed]) -> np.ndarray:
    """Give where each group starts and how many things it may have. [groups, 2]"""
    rows, at = [], 0
    for group in groups:
        rows.append((at, group.most))
        at += 1 + group.most * _facts_of_thing(group, deeds)
    return np.array(rows, np.int64)


def _facts_of_thing(group: Group, deeds: Sequence[Deed]) -> int:
    return len(group.words) + sum(deed.group == group.name for deed in deeds)


def deed_table(groups: Sequence[Group], deeds: Sequence[Deed]) -> np.ndarray:
    """Give the group of each deed and the fact that holds its action. [deeds, 2]"""
    names = [group.name for group in groups]
    used = [len(group.words) for group in groups]
    rows = []
    for deed in deeds:
        group = names.index(deed.group)
        rows.append((group, used[group]))
        used[group] += 1
    return np.array(rows, np.int64)


def facts_of(groups: Sequence[Group], deeds: Sequence[Deed]) -> int:
    """Count the facts."""
    start, most = group_table(groups, deeds)[-1]
    return int(start + 1 + most * _facts_of_thing(groups[-1], deeds))


def _say(word: Word, bound: float) -> str:
    if word.kind == NAME:
        return word.names[int(bound)]
    if word.kind == CHANCE:
        return f"{100 * bound:.6g}%"
    return f"{bound:g}"


def _begins(text: str, name: str) -> bool:
    bare = re.sub(r"^(not|most|least) ", "", text.strip())
    return re.match(rf"{re.escape(name)}(?![\w-])", bare) is not None


def _split(text: str, between: str) -> list[str]:
    """Split at a word, but not inside brackets."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign in "[(") - (sign in "])")
        if depth == 0 and text.startswith(between, at):
            parts.append(text[start:at])
            start = at + len(between)
    return [*parts, text[start:]]


def _joined(signed: str | None, tests: str | None) -> str:
    """Put what stands before the brackets in front of the tests in them."""
    return ", ".join(filter(None, (signed, tests)))


def _in_full(text: str, group: Group) -> str:
    """Write a test in full: `colour red`, `red`, `value 3` and `+1` have an equals sign."""
    text = re.sub("|".join(SPELLINGS), lambda found: SPELLINGS[found[0]], text)
    if re.search(r"[<>=!]", text):
        return text
    bare = text.removeprefix("not ").strip()
    sign = "=" if bare == text else "!="
    names = [word.name for word in group.words]
    if bare in names:
        return text
    for word in group.words:
        if word.sign and re.fullmatch(rf"{re.escape(word.sign)}\d+", bare):
            return f"{word.name} {sign} {bare.removeprefix(word.sign)}"
        if bare in word.names:
            return f"{word.name} {sign} {bare}"
        rest = bare.removeprefix(f"{word.name} ")
        if rest != bare and (rest in word.names or (word.kind == COUNT and rest.isdecimal())):
            return f"{word.name} {sign} {rest}"
    return text


def _read_test(text: str, group: Group) -> tuple[float, float, float]:
    names = [word.name for word in group.words]
    text = _in_full(text, group)
    order, _, rest = text.partition(" ")
    if order in ORDERS and rest.strip() in names:
        place = names.index(rest.strip())
        if ORDERS[order] not in ALLOWED[group.words[place].kind]:
            raise BadOption(f"'{text}': '{rest.strip()}' is yes or no; there is no most of it.")
        return ORDERS[order], place, 0.0
    match = re.fullmatch(r"(.+?)\s*(>=|<=|!=|=|<|>)\s*(.+)", text)
    if match is None:
        bare = text.removeprefix("not ").strip()
        if bare not in names:
            raise unknown(f"word for '{group.name}'", bare, names)
        if group.words[names.index(bare)].kind != FLAG:
            word = group.words[names.index(bare)]
            example = f"= {word.names[0]}" if word.names else f">= {_say(word, word.high)}"
            raise BadOption(f"'{text}' needs a comparison, as in '{bare} {example}'.")
        is_not = text.startswith("not ")
        return (AT_MOST, names.index(bare), 0.0) if is_not else (AT_LEAST, names.index(bare), 1.0)
    name, sign, value = match.groups()
    if name not in names:
        raise unknown(f"word for '{group.name}'", name, names)
    word = group.words[names.index(name)]
    if word.kind == FLAG:
        raise BadOption(
            f"'{text}': '{name}' is yes or no and cannot be compared; write '{name}' or "
            f"'not {name}'."
        )
    if sign in STRICT and word.kind == COUNT:
        sign, past = STRICT[sign]
        with suppress(ValueError, OverflowError):  # what is no number is refused below
            number = float(value)  # counts are whole: below 4 is at most 3
            value = str((math.floor(number) if past > 0 else math.ceil(number)) + past)
    if sign not in SENSES or SENSES[sign] not in ALLOWED[word.kind]:
        able = [SIGNS[sense] for sense in ALLOWED[word.kind] if sense in SIGNS]
        raise BadOption(
            f"'{text}': '{name}' cannot be compared with '{sign}'; write {' or '.join(able)}."
        )
    return SENSES[sign], names.index(name), _read_bound(value, word, text)


def _read_bound(value: str, word: Word, text: str) -> float:
    if word.kind == NAME:
        if value not in word.names:
            raise unknown(f"value of '{word.name}'", value, word.names)
        return float(word.names.index(value))
    try:
        number = float(value.removesuffix("%")) / (100.0 if value.endswith("%") else 1.0)
    except ValueError:
        number = np.nan
    if not word.low <= number <= word.high:
        raise BadOption(
            f"'{text}': '{word.name}' lies between {_say(word, word.low)} and "
            f"{_say(word, word.high)}."
        )
    return number
