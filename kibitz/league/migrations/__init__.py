"""How a store's tables come to be what they are, one step after another (Alembic)."""
