import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from receivers import Hooked, Mailbox, hooked, mailbox, new_certificate

for beside in ("store", "stages", "site"):
    sys.path.append(str(Path(__file__).parents[1] / beside))  # store_world, told_world and site_history serve here too


@pytest.fixture
def webhook() -> Iterator[Hooked]:
    with hooked() as receiver:
        yield receiver


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_certificate(tmp_path_factory.mktemp("tls") / "mail.pem")


@pytest.fixture
def mail(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mailbox]:
    """A mail server that takes nothing before STARTTLS, whose certificate this machine trusts."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with mailbox(certificate) as server:
        yield server
