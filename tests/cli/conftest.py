"""One small night for each test, on an empty database of its own."""

from pathlib import Path

import pytest
from small_night import SmallNight


@pytest.fixture
def small_night(tmp_path: Path, database_url: str) -> SmallNight:
    made = SmallNight(tmp_path, {"PERFD_DATABASE_URL": database_url})
    made.write()
    return made
