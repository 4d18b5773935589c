"""The numbers of the games that are played for each purpose.

Every purpose has its own, so that nothing is judged on deals from which it learned.
"""

from __future__ import annotations

MILLION = 1_000_000
MOST_GAMES = 200 * MILLION  # of a run; no range below is then used up
MOST_COLONIES, MOST_ISLANDS = 16, 32

COLONY_DEALS, ISLAND_DEALS = 100 * MILLION, 25 * MILLION  # of each
COLONIES = 0
ISLANDS = COLONIES + MOST_COLONIES * COLONY_DEALS
SCOUTING = ISLANDS + MOST_ISLANDS * ISLAND_DEALS  # random lists
COMPARING = SCOUTING + 100 * MILLION  # islands, or what colonies have found
CHOOSING = COMPARING + 100 * MILLION  # which island to show
LOOKING = CHOOSING + 100 * MILLION  # how it goes
HANDING_OVER = LOOKING + 100 * MILLION  # lists of colonies are made smaller
COMPACTING = HANDING_OVER + 100 * MILLION  # the last list is
POLISHING = COMPACTING + 100 * MILLION  # by CMA-ES
POLISHED = POLISHING + 300 * MILLION  # whether that was better
TESTING = POLISHED + 100 * MILLION  # how good the last list is
COUNTING = TESTING + 100 * MILLION  # how often its rules act
END = COUNTING + 100 * MILLION
assert END <= 1 << 32  # streams have so many numbers
