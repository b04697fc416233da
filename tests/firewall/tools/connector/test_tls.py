"""Over TLS the other side proves the name in the URL, though the socket goes to an address."""

import asyncio
import datetime
import os
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from apps.firewall.tools.connector import ConnectorError
from apps.firewall.tools.connector.errors import TlsFailedError
from tests.firewall.tools.connector.loopback import OK, connector, saying, serving

Certified = Callable[[str], tuple[ssl.SSLContext, str]]


@pytest.fixture
def certified(tmp_path: Path) -> Certified:
    """Make a server's side of TLS for a name, and the certificate to trust, in PEM."""

    def make(name: str) -> tuple[ssl.SSLContext, str]:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        day = datetime.timedelta(days=1)
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - day)
            .not_valid_after(now + day)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        pem = certificate.public_bytes(serialization.Encoding.PEM)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        both = tmp_path / f"{name}.pem"
        both.write_bytes(pem + private)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(both)
        return context, pem.decode()

    return make


async def test_the_name_is_proven_while_the_socket_goes_to_the_checked_address(certified: Certified) -> None:
    context, ca = certified("tools.test")
    asked: list[str | None] = []
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    async with serving(saying(OK), tls=context) as server:
        answer = await connector(server, ca=ca).get(server.url(scheme="https"))
    assert answer.body == b"ok"
    assert asked == ["tools.test"]


async def test_a_certificate_of_another_name_is_refused(certified: Certified) -> None:
    context, ca = certified("other.test")
    async with serving(saying(OK), tls=context) as server:
        with pytest.raises(TlsFailedError, match=r"tools\.test") as caught:
            await connector(server, ca=ca).post(server.url(scheme="https"), b"{}")
    assert not caught.value.was_sent
    assert server.requests == []


async def test_a_certificate_that_nobody_vouches_for_is_refused(certified: Certified) -> None:
    context, _ = certified("tools.test")
    async with serving(saying(OK), tls=context) as server:
        with pytest.raises(TlsFailedError):
            await connector(server).get(server.url(scheme="https"))
    assert server.requests == []


async def test_a_redirect_from_https_to_http_is_refused(certified: Certified) -> None:
    context, ca = certified("tools.test")
    async with serving(saying(OK)) as plain:
        moved = f"HTTP/1.1 301 Moved\r\nLocation: {plain.url()}\r\nContent-Length: 0\r\n\r\n".encode()
        async with serving(saying(moved), tls=context) as server:
            guarded = connector(ca=ca, ports=(server.port, plain.port))
            with pytest.raises(Exception, match="without it"):
                await guarded.get(server.url(scheme="https"))
    assert plain.connections == 0


async def test_a_peer_that_breaks_tls_midway_is_an_error_of_the_connector(certified: Certified) -> None:
    async def breaking(request: bytes, writer: asyncio.StreamWriter) -> None:
        os.write(writer.get_extra_info("socket").fileno(), b"\x17\x03\x03\x00\x20" + b"rubbish!" * 4)
        await asyncio.sleep(1)

    context, ca = certified("tools.test")
    async with serving(breaking, tls=context) as server:
        with pytest.raises(ConnectorError) as caught:
            await connector(server, ca=ca).post(server.url(scheme="https"), b"{}")
    assert caught.value.was_sent


async def test_what_is_no_certificate_is_told_so() -> None:
    with pytest.raises(TlsFailedError, match="PEM"):
        await connector(ca="-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----").get("https://a.test/")
