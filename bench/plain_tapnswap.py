"""Q-learning of TapnSwap in plain Python, as one would write it without a compiler.

The same algorithm as kibitz's, mirror images apart: both seats learn, moves at random, the value
of a move goes to minus the best value of the position it leads to, games begin in any position. A
position is ((own left, own right), (other's left, other's right)), the table a list of rows.
"""

from __future__ import annotations

import random

Hands = tuple[int, int]
Position = tuple[Hands, Hands]
MOST_PLIES = 200


def legal(position: Position) -> list[int]:
    own, other = position
    moves = [
        2 * hand + target for hand in (0, 1) for target in (0, 1) if own[hand] and other[target]
    ]
    seen = {tuple(sorted(own))}
    for fingers in (1, 2):
        for giver in (0, 1):
            left = own[giver] - fingers
            right = own[1 - giver] + fingers
            pair = (left, right) if left < right else (right, left)
            if left >= 0 and right <= 4 and pair not in seen:
                seen.add(pair)
                moves.append(4 + 2 * giver + fingers - 1)
    return moves


def play(position: Position, move: int) -> tuple[Position, bool]:
    """Give the position for the other to move, and whether the game is over."""
    own, other = list(position[0]), list(position[1])
    if move < 4:
        other[move % 2] += own[move // 2]
        if other[move % 2] > 4:
            other[move % 2] = 0
    else:
        giver, spare = divmod(move - 4, 2)
        own[giver] -= spare + 1
        own[1 - giver] += spare + 1
    return ((other[0], other[1]), (own[0], own[1])), not any(other)


def row_of(position: Position) -> int:
    (a, b), (c, d) = position
    return 125 * a + 25 * b + 5 * c + d


class Learner:
    def __init__(self, epsilon: float, rate: float, gamma: float, seed: int) -> None:
        self.epsilon, self.rate, self.gamma = epsilon, rate, gamma
        self.rng = random.Random(seed)
        self.values = [[0.0] * 8 for _ in range(625)]
        self.visits = [[0] * 8 for _ in range(625)]
        self.starts = reachable()

    def choose(self, position: Position) -> int:
        moves = legal(position)
        if self.rng.random() < self.epsilon:
            return self.rng.choice(moves)
        values = self.values[row_of(position)]
        best = max(values[move] for move in moves)
        return self.rng.choice([move for move in moves if values[move] == best])

    def game(self) -> int:
        """Play and learn from one game; give the updates made."""
        position = self.rng.choice(self.starts)
        for ply in range(MOST_PLIES):
            move = self.choose(position)
            after, over = play(position, move)
            if over:
                target = 1.0
            else:
                ahead = self.values[row_of(after)]
                target = -self.gamma * max(ahead[answer] for answer in legal(after))
            row = row_of(position)
            self.visits[row][move] += 1
            self.values[row][move] += self.rate * (target - self.values[row][move])
            if over:
                return ply + 1
            position = after
        return MOST_PLIES


def reachable() -> list[Position]:
    found: list[Position] = [((1, 1), (1, 1))]
    for position in found:
        for move in legal(position):
            after, over = play(position, move)
            if not over and after not in found:
                found.append(after)
    return found
