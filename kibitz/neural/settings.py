"""What can be set about every learner that trains a network by playing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from kibitz.core.options import AGENTS, MODEL
from kibitz.neural.shape import TRANSFORMER


@dataclass(frozen=True, slots=True, kw_only=True)
class Playing:
    """How much is played, by whom, for what, and with which layers."""

    decisions: Annotated[int, "decisions to learn from, over all boards", 1, 10**11] = 2_000_000
    boards: Annotated[int, "games that are played at once", 1, 65_536] = 256
    buffer: Annotated[int, "decisions between two updates of the network", 1, 10**7] = 16_384
    batch: Annotated[int, "decisions in one step of learning", 1, 65_536] = 256
    epochs: Annotated[int, "times that each decision is learned from", 1, 100] = 3
    rate: Annotated[float, "learning rate at first; it falls evenly to 0", 0.0, 1.0] = 3e-4
    gamma: Annotated[float, "what a reward is worth one decision earlier", 0.0, 1.0] = 0.99
    lam: Annotated[float, "how far what happened counts, rather than the value learned",
                   0.0, 1.0] = 0.95  # fmt: skip
    max_norm: Annotated[float, "the greatest length of a gradient", 1e-6, 1e6] = 0.5
    hidden: Annotated[str, "sizes of the layers of the trunk"] = "256,256"
    option_hidden: Annotated[str, "sizes of the layers that weigh an option by its prospects"] = (
        "64,64"
    )
    network: Annotated[
        Literal["dense", "transformer"],
        "layers over all features, with convolutions where these hold planes; or attention over "
        "tokens, where the game names them",
    ] = "dense"
    width: Annotated[int, "transformer: numbers in a token", 1, 256] = 32
    heads: Annotated[int, "transformer: heads of attention, which share the width", 1, 32] = 4
    blocks: Annotated[int, "transformer: blocks, each attention and two layers", 1, 8] = 1
    channels: Annotated[str, "channels of the convolutions, where features hold planes"] = "32,32"
    ahead: Annotated[bool, "weigh options by the position after them, where nothing is hidden"] = (
        True
    )
    aim: Annotated[
        Literal["win", "margin", "points", "events"],
        "what is rewarded: the win, points ahead, points, or the room's events",
    ] = "margin"
    rewards: Annotated[str, "aim=events: what events are paid, as in score=1+step=-0.01"] = ""
    rounds: Annotated[
        bool, "learn every round of a game as a game of its own, if it has rounds"
    ] = True
    opponents: Annotated[
        str,
        "who shares the boards: self, past (earlier selves), agents, with + between them; "
        "++ between stages",
        AGENTS,
    ] = ""
    opening: Annotated[int, "random moves before a game begins, at most", 0, 10_000] = 0
    window: Annotated[int, "how many earlier selves are kept", 1, 1000] = 8
    past_every: Annotated[int, "updates between two of them", 1, 10**6] = 8
    rivals: Annotated[str, "whom it is measured against, with + between them", AGENTS] = "random"
    evaluate_every: Annotated[int, "updates between two evaluations", 1, 10**9] = 20
    evaluate_games: Annotated[int, "games against each rival, and against the best so far",
                              2, 10**7] = 200  # fmt: skip
    begin_with: Annotated[str, "go on from this model", MODEL] = ""
    threads: Annotated[int, "threads of the network's arithmetic; part of the result", 1, 256] = 2
    cores: Annotated[int, "cores for playing; 0 for all", 0, 1024] = 0

    @property
    def layers(self) -> dict[str, str]:
        """What `shape_of` must know of the network; noted in models."""
        found = {
            "hidden": self.hidden, "option_hidden": self.option_hidden, "channels": self.channels,
            "ahead": "yes" if self.ahead else "no",
        }  # fmt: skip
        if self.network == TRANSFORMER:
            sizes = {name: str(getattr(self, name)) for name in ("width", "heads", "blocks")}
            found |= {"network": self.network, **sizes}
        return found

    @property
    def steps(self) -> int:
        """Decisions on each board between two updates."""
        return max(1, self.buffer // self.boards)

    @property
    def stages(self) -> list[str]:
        """Who shares the boards, one stage of the training after the other."""
        return [stage.strip() for stage in self.opponents.split("++")]
