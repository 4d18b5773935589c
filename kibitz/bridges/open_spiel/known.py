"""What is known about OpenSpiel's games that OpenSpiel does not say. Tests check these lists."""

from __future__ import annotations

# Nothing is hidden or drawn, and equal strings of states with the same seat to move mean that the
# same is to come. Where that is so, the exact solver meets a position once.
MERGED = {
    "breakthrough", "clobber", "connect_four", "dots_and_boxes", "hex", "mnk", "nim", "othello",
    "pentago", "tic_tac_toe", "y",
}  # fmt: skip

# Some cards are hidden, but everybody sees what is played, and its words do not depend on cards.
PUBLIC = {"kuhn_poker", "leduc_poker", "liars_dice", "tiny_hanabi"}
