"""Write the next migration: the difference between db/versions and perfd/store/tables, found on a real Postgres.

python db/revise.py "Add the owner of a device"
"""

import sys
import tempfile
from pathlib import Path

from alembic import command
from sqlalchemy import create_engine

from perfd.store import migrate
from perfd.store.embedded import EmbeddedPostgres


def main() -> None:
    """A file more lies in db/versions, to be read and corrected by a person."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # where the server's user can enter
        Path(folder).chmod(0o755)
        with EmbeddedPostgres(Path(folder)) as server:
            if any((migrate.SCRIPTS / "versions").glob("0*.py")):
                migrate.upgrade(server.url)
            engine = create_engine(server.url)
            with engine.begin() as connection:
                number = len(list((migrate.SCRIPTS / "versions").glob("0*.py"))) + 1
                command.revision(migrate.config(connection), message=sys.argv[1], autogenerate=True, rev_id=f"{number:04d}")
            engine.dispose()


if __name__ == "__main__":
    main()
