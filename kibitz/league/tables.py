"""The tables of a store. What is changed here needs a migration in `migrations/versions`."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData()

PLANNED, CLAIMED, PLAYED, VOID = "planned", "claimed", "played", "void"  # states of a match

# One game as it is set, rated together. Results of another version of it never come in here.
LEAGUES = Table(
    "leagues", METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("game", String(80), nullable=False),
    Column("version", Integer, nullable=False),
    Column("settings", Text, nullable=False),  # JSON
    Column("seed", String(20), nullable=False),  # as text: up to 2**63 - 1
    Column("kibitz", String(40), nullable=False),
    Column("made_at", Double, nullable=False),  # seconds since 1970, as all times here
)  # fmt: skip

# Who plays. The fingerprint is of all that makes the agent play as it does.
MEMBERS = Table(
    "members", METADATA,
    Column("id", Integer, primary_key=True),
    Column("league", ForeignKey("leagues.id"), nullable=False),
    Column("name", String(200), nullable=False),
    Column("who", Text),  # as one types it; none for an object of one process
    Column("settings", Text, nullable=False),  # JSON
    Column("fingerprint", String(64), nullable=False),
    Column("kibitz", String(40), nullable=False),
    Column("added_at", Double, nullable=False),
    Column("suspended", Text),  # why, or null
    UniqueConstraint("league", "name"),
)  # fmt: skip

# Matches are planned a round at a time; the next round waits until all of this one are over.
ROUNDS = Table(
    "rounds", METADATA,
    Column("id", Integer, primary_key=True),
    Column("league", ForeignKey("leagues.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("pairing", String(40), nullable=False),
    Column("rated_at", Double),  # when it was over, or null
    UniqueConstraint("league", "number"),
)  # fmt: skip

# A match: planned, claimed by a worker who plays it, then played, or void. State is a word.
MATCHES = Table(
    "matches", METADATA,
    Column("id", Integer, primary_key=True),
    Column("round", ForeignKey("rounds.id"), nullable=False, index=True),
    Column("number", Integer, nullable=False),
    Column("seed", String(20), nullable=False),
    Column("games", Integer, nullable=False),
    Column("sampled", Integer, nullable=False),  # so many of them are kept move by move
    Column("state", String(10), nullable=False, index=True),
    Column("worker", String(64)),  # who has claimed it
    UniqueConstraint("round", "number"),
)  # fmt: skip

SEATING = Table(
    "seating", METADATA,
    Column("match", ForeignKey("matches.id"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("member", ForeignKey("members.id"), nullable=False, index=True),
)  # fmt: skip

# At most one for each match: whatever happens, no match counts twice.
RESULTS = Table(
    "results", METADATA,
    Column("match", ForeignKey("matches.id"), primary_key=True),
    Column("points", LargeBinary, nullable=False),  # see played.py
    Column("moves", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("kibitz", String(40), nullable=False),
    Column("played_at", Double, nullable=False),
)  # fmt: skip

# The ladder after every round.
RATINGS = Table(
    "ratings", METADATA,
    Column("round", ForeignKey("rounds.id"), primary_key=True),
    Column("member", ForeignKey("members.id"), primary_key=True),
    Column("games", Integer, nullable=False),
    Column("elo", Double, nullable=False),
    Column("skill", Double, nullable=False),
    Column("spread", Double, nullable=False),
    Column("strength", Double, nullable=False),  # or points, where all play together
    Column("low", Double, nullable=False),
    Column("high", Double, nullable=False),
)  # fmt: skip

# Some games, move by move.
RECORDS = Table(
    "records", METADATA,
    Column("match", ForeignKey("matches.id"), primary_key=True),
    Column("game", Integer, primary_key=True),
    Column("record", Text, nullable=False),  # JSON, as `Record.to_json` writes it
)  # fmt: skip

# Processes that play, so that the claims of one that is gone can be given to others.
WORKERS = Table(
    "workers", METADATA,
    Column("name", String(64), primary_key=True),
    Column("host", String(200), nullable=False),
    Column("process", Integer, nullable=False),
    Column("seen_at", Double, nullable=False),
)  # fmt: skip
