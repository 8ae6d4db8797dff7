"""What Alembic runs for every migration: on the connection that perfd/store/migrate.py hands it.

New migration: `python db/revise.py "add a column"` (it starts a Postgres of its own, upgrades it, and writes the difference).
"""

from alembic import context
from sqlalchemy import Connection

from perfd.store.migrate import is_ours
from perfd.store.tables import METADATA

connection: Connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=METADATA,
    include_object=is_ours,
    compare_type=True,
    compare_server_default=True,
    transaction_per_migration=False,  # all of an upgrade or nothing: Postgres can roll back CREATE TABLE
)
with context.begin_transaction():
    context.run_migrations()
