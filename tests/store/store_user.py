"""A process that uses the embedded Postgres of a state folder, prints the server's process id, and leaves when it is told.

python store_user.py STATE        leaves at the end of its standard input
"""

import sys
from pathlib import Path

from perfd.store.embedded import EmbeddedPostgres, running_postmaster

with EmbeddedPostgres(Path(sys.argv[1]), settings={"fsync": "off"}) as server:
    print(running_postmaster(server.places.data), flush=True)  # noqa: T201  # its answer
    sys.stdin.read()
