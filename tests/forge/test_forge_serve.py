"""`perfd serve` as people start it, between a database and an emulated GitHub."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from emulated import REPOSITORY, Emulator
from fault_server import APP, PEM
from forge_hook import SECRET

FIRST_WORD_S = 30.0
CONFIG = """
[github]
url = "{url}"
[[github.repositories]]
name = "{repository}"
engine = "llamacpp"
authors = ["alice"]
"""


def test_the_service_says_its_first_word_within_half_a_minute(tmp_path: Path, database_url: str, emulator: Emulator) -> None:
    (tmp_path / "app.pem").write_text(PEM, encoding="ascii")
    (tmp_path / "perfd.toml").write_text(CONFIG.format(url=emulator.url, repository=REPOSITORY), encoding="utf-8")
    given = {
        "PERFD_DATABASE_URL": database_url,
        "PERFD_STATE": str(tmp_path / "state"),
        "PERFD_GITHUB_APP_ID": APP,
        "PERFD_GITHUB_PRIVATE_KEY_FILE": str(tmp_path / "app.pem"),
        "PERFD_GITHUB_WEBHOOK_SECRET": SECRET,
    }
    words = ["serve", "--no-clock", "--no-worker", "--json", "--port", str(emulator.hook_port)]
    with subprocess.Popen(
        [sys.executable, "-m", "perfd", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **given},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as service:
        assert service.stdout is not None
        assert service.stderr is not None
        lines = iter(service.stdout.readline, "")  # until its end, where it cannot start
        assert "}\n" in lines, service.stderr.read()  # from here on the port is its own
        head = emulator.pull(emulator.branch(), "bob-token")["head"]["sha"]
        began = time.monotonic()
        while not (checks := emulator.checks(head)) and time.monotonic() - began < FIRST_WORD_S:
            time.sleep(0.1)
        service.send_signal(signal.SIGINT)
        said = service.communicate(timeout=60)[1]

    assert ["action_required"] == [check["conclusion"] for check in checks], said
    assert "is waiting" in said
    assert SECRET not in said
    assert PEM.splitlines()[1] not in said
