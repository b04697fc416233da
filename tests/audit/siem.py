"""Real systems on loopback that take a stream of the ledger: syslog with and without TLS, HTTP, an object store."""

import hashlib
import hmac
import re
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

KEY, SECRET, REGION = "AKIATEST", "test-secret", "eu-test-1"


class Certificates:
    """An authority of its own, and a server that it vouches for."""

    def __init__(self, folder: Path) -> None:
        key, name = ec.generate_private_key(ec.SECP256R1()), self._name("test authority")
        self._authority, self._authority_key = self._issued(name, key, name, key, is_authority=True), key
        server = ec.generate_private_key(ec.SECP256R1())
        certificate = self._issued(self._name("localhost"), server, name, key, is_authority=False)
        self.ca = self._authority.public_bytes(serialization.Encoding.PEM).decode()
        self.path = folder / "server.pem"
        private = server.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        self.path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + private)

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path)
        return context

    @staticmethod
    def _name(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    @staticmethod
    def _issued(name: x509.Name, key: Any, issuer: x509.Name, by: Any, *, is_authority: bool) -> x509.Certificate:
        at = datetime.now(UTC)
        built = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(at - timedelta(days=1))
            .not_valid_after(at + timedelta(days=30))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(by.public_key()), critical=False)
        )
        if not is_authority:
            built = built.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        return built.sign(by, hashes.SHA256())


class SyslogServer(socketserver.ThreadingTCPServer):
    """Counts octets as RFC 6587 has them; `messages` holds what came whole."""

    daemon_threads = True

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self.messages: list[bytes] = []
        self.context = context
        super().__init__(("127.0.0.1", 0), _Syslog)


class _Syslog(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server = cast(SyslogServer, self.server)
        line = self.request if server.context is None else server.context.wrap_socket(self.request, server_side=True)
        with line, line.makefile("rb") as file:
            while length := self._length(file):
                server.messages.append(file.read(length))

    @staticmethod
    def _length(file: Any) -> int:
        digits = b""
        while (letter := file.read(1)) not in {b"", b" "}:
            digits += letter
        return int(digits or 0)


class HttpServer(ThreadingHTTPServer):
    """Keeps each request; answers with the next of `answers`, then with 200.

    A slow one is never done with a body of more than `slow_bytes`. `taken` is called with each request that it keeps.
    """

    def __init__(self) -> None:
        self.slow_bytes = 0
        self.taken: Callable[[], None] = lambda: None
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.answers: list[tuple[int, bytes]] = []
        self.refused = b"never in a body"
        super().__init__(("127.0.0.1", 0), _Http)


class _Http(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        server = cast(HttpServer, self.server)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if 0 < server.slow_bytes < len(body):
            self.rfile.read(1)  # until its client has waited long enough
            return
        server.asked.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        server.taken()
        status, text = server.answers.pop(0) if server.answers else (200, b"{}")
        if server.refused in body:
            status, text = 400, b"{}"
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_POST = _answer  # noqa: N815 - a name of the standard library
    do_PUT = _answer  # noqa: N815

    def log_message(self, *_given: Any) -> None:
        pass


class ObjectStore(HttpServer):
    """Takes objects whose request is signed with its key (Signature Version 4), and no others."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, bytes] = {}
        self.RequestHandlerClass = _Store


class _Store(_Http):
    def do_PUT(self) -> None:
        server = cast(ObjectStore, self.server)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_signed = self._is_signed(body)
        if is_signed:
            server.objects[self.path] = body
        self.send_response(200 if is_signed else 403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _is_signed(self, body: bytes) -> bool:
        """Source: AWS, "Signature Version 4", written here a second time so that the library is held to it."""
        pattern = r"AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]+)"
        found = re.fullmatch(pattern, self.headers.get("Authorization", ""))
        digest = hashlib.sha256(body).hexdigest()
        if found is None or self.headers.get("X-Amz-Content-SHA256") != digest:
            return False
        scope, names, signature = found.groups()
        lines = "".join(f"{name}:{self.headers[name].strip()}\n" for name in names.split(";"))
        canonical = "\n".join((self.command, self.path, "", lines, names, digest))
        key, date, *rest = scope.split("/")
        said = hashlib.sha256(canonical.encode()).hexdigest()
        text = "\n".join(("AWS4-HMAC-SHA256", self.headers["X-Amz-Date"], "/".join((date, *rest)), said))
        seal = f"AWS4{SECRET}".encode()
        for part in (date, *rest):
            seal = hmac.digest(seal, part.encode(), "sha256")
        return key == KEY and hmac.new(seal, text.encode(), "sha256").hexdigest() == signature


@contextmanager
def served(server: Any) -> Iterator[Any]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)
