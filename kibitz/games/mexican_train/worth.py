"""What a line is worth: its pips now or later, less what is left in the hand.

turns    A double gives another turn at once, so a line costs a turn for every tile that is no
         double, and one more if it ends with a double. Tile i is played in turn t(i) = how many
         tiles before it are no doubles, counted from 0; the line takes T = t(last) + 1 turns, and
         an empty line none.
value    sum over the line of pips * in_discount ** t(i), less the pips of all other tiles of the
         hand * off_discount ** T; 0 ** 0 is 1. A longer line is never worth less than what it
         begins with, for both discounts lie from 0 to 1.
"""

from __future__ import annotations

from kibitz.core.compiled import compiled
from kibitz.games.mexican_train.tiles import IS_DOUBLE, PIPS, pips_of

VALUE, BOUND, NODES, EXACT, RESULTS = 0, 1, 2, 3, 4  # what is known of the best line


@compiled()
def turns_of(line, length):
    """Count the turns that a line takes."""
    turns = 0
    for i in range(length):
        turns += not IS_DOUBLE[line[i]]
    return turns + (length > 0 and IS_DOUBLE[line[length - 1]])


@compiled()
def line_value(line, length, tiles, n, in_discount, off_discount):
    """Give the value of a line of a hand, as the module describes it."""
    value = 0.0
    factor = 1.0
    for i in range(length):
        value += PIPS[line[i]] * factor
        if not IS_DOUBLE[line[i]]:
            factor *= in_discount
    left = pips_of(tiles, n) - pips_of(line, length)
    return value - left * float(off_discount) ** turns_of(line, length)


@compiled()
def line_values(lines, lengths, count, tiles, n, in_discount, off_discount, values):
    """Write the value of each of many lines of a hand; values [most lines]."""
    for i in range(count):
        values[i] = line_value(lines[i], lengths[i], tiles, n, in_discount, off_discount)
