"""Alembic's entry: runs the migrations on the connection, and in the transaction, that it was given."""

from __future__ import annotations

from alembic import context

from segue.storage.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True)
context.run_migrations()
