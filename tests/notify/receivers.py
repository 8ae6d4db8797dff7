"""Who takes messages: a webhook that answers as it is told, and a real SMTP server with a certificate of its own."""

import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@dataclass
class Hooked:
    """A webhook, and what came in."""

    url: str = ""
    taken: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """What it answers next, in order; then 200."""


@contextmanager
def hooked() -> Iterator[Hooked]:
    found = Hooked()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # http.server's name
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, headers = found.answers.pop(0) if found.answers else (200, {})
            if status == 200:
                found.taken.append(json.loads(body))
            found.keys.append(self.headers["Idempotency-Key"])
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_port}/services/T0/B0/very-secret"
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Mailbox:
    """A mail server, and what came in."""

    port: int = 0
    letters: list[EmailMessage] = field(default_factory=list)
    answer: str = "250 OK"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802  # aiosmtpd's name
        if self.answer.startswith("250"):
            content = cast("bytes", envelope.content)
            self.letters.append(cast("EmailMessage", message_from_bytes(content, policy=policy.default)))
        return self.answer


@contextmanager
def mailbox(certificate: Path) -> Iterator[Mailbox]:
    found = Mailbox()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    found.port = free_port()
    controller = Controller(found, hostname="127.0.0.1", port=found.port, tls_context=tls, require_starttls=True)
    controller.start()
    try:
        yield found
    finally:
        controller.stop()


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def new_certificate(file: Path) -> Path:
    """The file holds a key and a certificate of 127.0.0.1 that it signed itself."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file
