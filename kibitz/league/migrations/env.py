"""Alembic runs this file: the steps go over the connection that the store holds."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
