"""The first tables: leagues, members, rounds, matches, results, ratings, records, workers."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "leagues",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("game", sa.String(length=80), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("seed", sa.String(length=20), nullable=False),
        sa.Column("kibitz", sa.String(length=40), nullable=False),
        sa.Column("made_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "workers",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("host", sa.String(length=200), nullable=False),
        sa.Column("process", sa.Integer(), nullable=False),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "members",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("league", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("who", sa.Text(), nullable=True),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("kibitz", sa.String(length=40), nullable=False),
        sa.Column("added_at", sa.Double(), nullable=False),
        sa.Column("suspended", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["league"],
            ["leagues.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("league", "name"),
    )
    op.create_table(
        "rounds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("league", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("pairing", sa.String(length=40), nullable=False),
        sa.Column("rated_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["league"],
            ["leagues.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("league", "number"),
    )
    op.create_table(
        "matches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("seed", sa.String(length=20), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("sampled", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("worker", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["round"],
            ["rounds.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("round", "number"),
    )
    op.create_index(op.f("ix_matches_round"), "matches", ["round"], unique=False)
    op.create_index(op.f("ix_matches_state"), "matches", ["state"], unique=False)
    op.create_table(
        "ratings",
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("member", sa.Integer(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("elo", sa.Double(), nullable=False),
        sa.Column("skill", sa.Double(), nullable=False),
        sa.Column("spread", sa.Double(), nullable=False),
        sa.Column("strength", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=False),
        sa.Column("high", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["member"],
            ["members.id"],
        ),
        sa.ForeignKeyConstraint(
            ["round"],
            ["rounds.id"],
        ),
        sa.PrimaryKeyConstraint("round", "member"),
    )
    op.create_table(
        "records",
        sa.Column("match", sa.Integer(), nullable=False),
        sa.Column("game", sa.Integer(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["match"],
            ["matches.id"],
        ),
        sa.PrimaryKeyConstraint("match", "game"),
    )
    op.create_table(
        "results",
        sa.Column("match", sa.Integer(), nullable=False),
        sa.Column("points", sa.LargeBinary(), nullable=False),
        sa.Column("moves", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("kibitz", sa.String(length=40), nullable=False),
        sa.Column("played_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["match"],
            ["matches.id"],
        ),
        sa.PrimaryKeyConstraint("match"),
    )
    op.create_table(
        "seating",
        sa.Column("match", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("member", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["match"],
            ["matches.id"],
        ),
        sa.ForeignKeyConstraint(
            ["member"],
            ["members.id"],
        ),
        sa.PrimaryKeyConstraint("match", "place"),
    )
    op.create_index(op.f("ix_seating_member"), "seating", ["member"], unique=False)
