"""Review: what every move cost, the game as a curve, and lessons from one's own mistakes."""

from __future__ import annotations

import asyncio
import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import ui

from kibitz.core.errors import KibitzError
from kibitz.core.svg import seat_colour
from kibitz.web.frame import button, raw, tell, words
from kibitz.web.sitting import Judgement, Refused
from kibitz.web.status import SPIN, bar_of
from kibitz.web.thinking import THINKS, Stage

if TYPE_CHECKING:
    from kibitz.web.table import TablePage

WIN = "of a win"
FORCED = "the only move"  # what an analysis notes of moves that it has no value for
GRADES = (0.3, 0.1)  # of a win: a blunder, a mistake
PARTS = (2 / 3, 1 / 3)  # of the dearest move, where points are counted


@dataclass(slots=True)
class Lesson:
    """One mistake after another, to be done better."""

    seat: int
    plies: list[int]
    place: int = 0
    said: str = ""
    solved: bool = False

    @property
    def ply(self) -> int:
        """The move in question."""
        return self.plies[self.place]


class ReviewPanel:
    """The panel: judge the game, look at the curve, learn."""

    def __init__(self, page: TablePage) -> None:
        self.page = page
        self.lesson: Lesson | None = None
        self.judged: dict[int, dict[str, Any]] = {}  # by ply
        self.actions: tuple[int, ...] = ()  # of the game that was judged
        self.unit = self.how = ""
        self.task: asyncio.Task[Any] | None = None
        self.stage = THINKS
        self.area = ui.element("div").classes("kb-stack")
        self.shown_for: Any = None
        page.client.on_delete(self.stop)

    # --- judging -------------------------------------------------------------------------------

    @property
    def is_current(self) -> bool:
        """Whether what was judged is the game as it is."""
        return bool(self.judged) and tuple(self.page.sitting.table.actions) == self.actions

    def start(self) -> None:
        """Judge all moves so far."""
        sitting = self.page.sitting
        if not sitting.may_explore:
            raise Refused("A game can be judged when it is over, where help is not allowed.")
        if not sitting.table.actions:
            raise Refused("There are no moves to judge yet.")
        self.lesson = None
        self.judged, self.actions = {}, tuple(sitting.table.actions)
        self.unit = self.how = ""
        self.task = asyncio.create_task(self.run())
        self.refresh()

    async def run(self) -> None:
        """Ask for the cost of every move, and show each as it comes."""
        page = self.page

        def heard(move: dict[str, Any]) -> None:
            self.judged[move["ply"]] = move
            self.refresh()

        def told(stage: Stage) -> None:
            self.stage = stage
            self.refresh()

        try:
            said = await page.hall.analyse(page.sitting.table, heard, told=told)
            self.unit, self.how = said["unit"], said["how"]
            if self.is_current:
                moves = [self.judged[ply] for ply in sorted(self.judged)]
                kept = Judgement(list(self.actions), moves, self.unit, self.how)
                page.sitting.judgement = kept
                page.sitting.changed()
        except KibitzError as error:
            with page.client:
                tell(str(error), bad=True)
        finally:
            self.task = None
            self.refresh()
            page.show_moves()

    def stop(self) -> None:
        """Stop judging."""
        if self.task is not None:
            self.task.cancel()

    def costs(self) -> dict[int, dict[str, Any]]:
        """Give what is written beside moves in their list."""
        if tuple(self.page.sitting.table.actions)[: len(self.actions)] != self.actions:
            return {}
        most = max((move["cost"] for move in self.judged.values()), default=0.0)
        return {
            ply: {
                "cost": f"−{move['cost']:.2f}",
                "grade": self.grade(move["cost"], most),
                "better": f"better: {self.named(move['best_words'])}",
            }
            for ply, move in self.judged.items()
            if move["cost"] > 0.0
        }

    def named(self, text: str) -> str:
        """Return words about the game with names for seats."""
        return self.page.sitting.in_names(text, self.page.person)

    def grade(self, cost: float, most: float) -> int:
        """Say how bad a move was: 3 a blunder, 2 a mistake, 1 not quite the best."""
        high, low = GRADES if self.unit == WIN else (PARTS[0] * most, PARTS[1] * most)
        return 3 if cost >= high else 2 if cost >= low else 1

    # --- showing -------------------------------------------------------------------------------

    def take_up(self) -> None:
        """Take what was judged before, on this page or another one."""
        kept = self.page.sitting.judgement
        if kept is None or self.task is not None or self.is_current:
            return
        if kept.fits(self.page.sitting.table.actions) and self.page.sitting.may_explore:
            self.judged = {move["ply"]: move for move in kept.moves}
            self.actions, self.unit, self.how = tuple(kept.actions), kept.unit, kept.how

    def refresh(self) -> None:
        """Show how far it is, or what was found."""
        self.take_up()
        state = (self.is_current, len(self.judged), self.task is None, self.page.sitting.over,
                 len(self.page.sitting.table.actions), self.page.at, self.stage)  # fmt: skip
        if state == self.shown_for:
            return
        self.shown_for = state
        self.area.clear()
        with self.area:
            if self.task is not None:
                self.show_progress()
            elif self.is_current:
                self.show_found()
            else:
                self.show_offer()

    def show_offer(self) -> None:
        """Say what can be had here."""
        sitting = self.page.sitting
        if not sitting.may_explore:
            words("When the game is over: what every move cost, and what was better.", "kb-quiet")
            return
        words("What every move cost, what was better, and how the game turned.", "kb-quiet")
        button("Judge this game", self.start, "main")
        if sitting.game.hides:
            words("Each move is judged by what its player could see.", "kb-quiet kb-small")

    def show_progress(self) -> None:
        """Show a bar."""
        done, total = len(self.judged), len(self.actions)
        if self.stage.is_preparing or self.stage.waits:
            far = f": {self.stage.counted()}" if self.stage.is_preparing else ""
            raw(f"{SPIN} The judge {self.stage.words()}{far}")
            raw(bar_of(self.stage) if self.stage.is_preparing else "")
            button("Stop", self.stop)
            return
        words(f"Judging move {min(done + 1, total)} of {total} …")
        raw(
            f'<div class="kb-bar"><div style="width:{100 * done / max(total, 1):.0f}%"></div></div>'
        )
        button("Stop", self.stop)

    def show_found(self) -> None:
        """Show the curve, the sums, and the way to learn."""
        page, sitting = self.page, self.page.sitting
        self.show_curve()
        seats = range(sitting.game.players)
        rows = []
        for seat in seats:
            own = [move for move in self.judged.values() if move["seat"] == seat]
            cost = sum(move["cost"] for move in own)
            right = sum(move["cost"] == 0.0 for move in own) / len(own) if own else 1.0
            rows.append((sitting.name_of(seat, page.person), f"{cost:.2f}", f"{right:.0%}"))
        table_of(("", f"cost, {self.unit or 'in all'}", "moves right"), rows)
        mistaken = {seat: self.mistakes(seat) for seat in seats}
        mine = [seat for seat in sitting.seats_of(page.person) if mistaken[seat]]
        offered = mine or [seat for seat in seats if mistaken[seat]]
        with ui.element("div").classes("kb-row"):
            for seat in offered[:4]:
                whose = (
                    "your" if mine and len(mine) == 1 else f"{sitting.name_of(seat, page.person)}'s"
                )
                button(
                    f"Learn from {whose} mistakes ({len(mistaken[seat])})",
                    partial(self.learn, seat), "main" if seat == offered[0] else "",
                )  # fmt: skip
        if not offered:
            words("No move cost anything that could be told from chance.", "kb-good")
        how = "by exact play" if self.how == "exact" else f"by {self.how}"
        words(f"Judged {how}.", "kb-quiet kb-small")

    def show_curve(self) -> None:
        """Draw how good things looked for each seat when it moved."""
        sitting = self.page.sitting
        two = sitting.game.players == 2 and not sitting.game.cooperative and self.unit == WIN
        telling = {ply: m for ply, m in sorted(self.judged.items()) if m["note"] != FORCED}
        series: list[dict[str, Any]] = []
        if two:  # one curve: the first seat's chance
            points = [
                [ply + 1, round(m["value"] if m["seat"] == 0 else 1 - m["value"], 3)]
                for ply, m in telling.items()
            ]
            series.append(line(f"chance of {sitting.name_of(0, self.page.person)}", points, 0))
        else:
            for seat in range(sitting.game.players):
                points = [
                    [ply + 1, round(m["value"], 3)]
                    for ply, m in telling.items()
                    if m["seat"] == seat
                ]
                if points:
                    series.append(line(sitting.name_of(seat, self.page.person), points, seat))
        if series:
            series[0]["markLine"] = {
                "silent": True, "symbol": "none", "label": {"show": False},
                "lineStyle": {"color": "#E9B50B", "width": 2},
                "data": [{"xAxis": self.page.at}],
            }  # fmt: skip
        chart = ui.echart(
            {
                "animation": False, "textStyle": {"fontFamily": "inherit"},
                "grid": {"left": 44, "right": 12, "top": 12, "bottom": 40},
                "tooltip": {"trigger": "axis"},
                "xAxis": {"type": "value", "name": "move", "nameLocation": "middle", "nameGap": 24,
                          "min": 1, "max": max(len(self.actions), 2), "minInterval": 1},
                "yAxis": {"type": "value", "scale": not two, **({"max": 1} if two else {}),
                          "splitLine": {"lineStyle": {"opacity": 0.3}}},
                "series": series,
            },
            on_point_click=lambda event: self.page.go_checked(int(event.value[0])),
            renderer="svg",
        ).classes("kb-chart")  # fmt: skip
        chart.props('aria-label="how the game turned"')

    # --- lessons -------------------------------------------------------------------------------

    def mistakes(self, seat: int) -> list[int]:
        """List the moves of a seat that cost something."""
        return [p for p, m in sorted(self.judged.items()) if m["seat"] == seat and m["cost"] > 0.0]

    def learn(self, seat: int) -> None:
        """Begin with the first mistake of a seat."""
        plies = self.mistakes(seat)
        if not plies or not self.page.sitting.may_explore:
            raise Refused("There is nothing to learn from here.")
        self.lesson = Lesson(seat, plies)
        self.page.go(self.lesson.ply)

    def leave_lesson(self) -> None:
        """End the lesson."""
        self.lesson = None

    def attempt(self, action: int) -> None:
        """Try another move where one went wrong."""
        lesson = self.lesson
        assert lesson is not None
        move = self.judged[lesson.ply]
        if action == move["action"]:
            lesson.said = f"That is what was played. It cost {move['cost']:.2f}. Try another."
        elif action == move["best"]:
            lesson.said, lesson.solved = f"Yes: {self.named(move['best_words'])}.", True
        else:
            lesson.said = "Thinking about it …"
            self.page.start_soon(self.weigh(lesson, action))
        self.page.board.release()
        self.page.refresh()

    async def weigh(self, lesson: Lesson, action: int) -> None:
        """Find out what a move that was tried would have cost."""
        page, ply = self.page, lesson.ply
        table = page.sitting.at(ply)
        said = self.named(table.view().say(action))
        table.play(action)
        found: list[dict[str, Any]] = []
        await page.hall.analyse(table, found.append, first=ply)
        if self.lesson is not lesson or lesson.ply != ply or not found:
            return
        cost = found[-1]["cost"]
        if cost == 0.0:
            lesson.said, lesson.solved = f"Yes, {said} is as good as the best.", True
        elif cost < self.judged[ply]["cost"]:
            lesson.said = f"Better: {said} would cost {cost:.2f}. There is something better still."
        else:
            lesson.said = f"No: {said} would cost {cost:.2f}. Try again."
        page.refresh()

    def banner(self) -> None:
        """Show the lesson above the board."""
        lesson = self.lesson
        if lesson is None:
            return
        move = self.judged[lesson.ply]
        with ui.element("div").classes("kb-banner"):
            asks = (
                f"Mistake {lesson.place + 1} of {len(lesson.plies)}: "
                f"{self.named(move['words'])} cost "
                f"{move['cost']:.2f}. Find something better."
            )
            words(lesson.said or asks, "kb-good" if lesson.solved else "")
            if not lesson.solved:
                button("Show it", self.reveal, "small")
            last = lesson.place + 1 == len(lesson.plies)
            button(
                "Done" if last else "Next", self.next, "small main" if lesson.solved else "small"
            )

    def reveal(self) -> None:
        """Show what was best."""
        lesson = self.lesson
        assert lesson is not None
        move = self.judged[lesson.ply]
        lesson.said, lesson.solved = f"Best was: {self.named(move['best_words'])}.", True
        self.page.opinion = {move["best"]: 1.0}
        self.page.refresh()

    def next(self) -> None:
        """Go on to the next mistake."""
        lesson = self.lesson
        assert lesson is not None
        if lesson.place + 1 == len(lesson.plies):
            self.lesson = None
            self.page.go(None)
            return
        lesson.place, lesson.said, lesson.solved = lesson.place + 1, "", False
        self.page.go(lesson.ply)


def line(name: str, points: list[list[float]], seat: int) -> dict[str, Any]:
    """Make a curve in a seat's colour."""
    return {
        "name": name, "type": "line", "data": points, "symbolSize": 5, "color": seat_colour(seat),
        "lineStyle": {"width": 2},
    }  # fmt: skip


def table_of(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show figures in rows, words left and numbers right."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    raw(f'<table class="kb-figures"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')
