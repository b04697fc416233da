"""A time-stamping authority on loopback: real certificates, real tokens. Source: RFC 3161, RFC 5652."""

import hashlib
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from asn1crypto import algos, cms, core, tsp  # type: ignore[import-untyped]  # it has no types
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

KEY_BITS = 2048
POLICY = "1.3.6.1.4.1.99999.1"


class Authority:
    """Stamps what is posted to `url`; `spoils` changes the imprint, so that the token is of something else."""

    def __init__(self) -> None:
        self.root_key, self.key = _key(), _key()
        self.root = _certificate("Test Root", self.root_key, "Test Root", self.root_key, is_authority=True)
        self.certificate = _certificate("Test TSA", self.key, "Test Root", self.root_key, is_authority=False)
        self.spoils = False
        authority = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = authority.stamp(self.rfile.read(int(self.headers["content-length"])))
                self.send_response(200)
                self.send_header("content-type", "application/timestamp-reply")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.port = int(self._server.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}/tsa"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def roots_pem(self) -> str:
        return self.root.public_bytes(Encoding.PEM).decode()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def stamp(self, query: bytes) -> bytes:
        """Answer a query with a signed token."""
        asked = tsp.TimeStampReq.load(query)
        imprint = asked["message_imprint"].copy()
        if self.spoils:
            imprint["hashed_message"] = hashlib.sha256(b"something else").digest()
        told = {
            "version": 1,
            "policy": POLICY,
            "message_imprint": imprint,
            "serial_number": 1,
            "gen_time": datetime.now(UTC).replace(microsecond=0),
        }
        if asked["nonce"].native is not None:
            told["nonce"] = asked["nonce"].native
        token = self._signed(tsp.TSTInfo(told).dump())
        return bytes(tsp.TimeStampResp({"status": {"status": "granted"}, "time_stamp_token": token}).dump())

    def _signed(self, told: bytes) -> cms.ContentInfo:
        own = asn1_x509.Certificate.load(self.certificate.public_bytes(Encoding.DER))
        binding = tsp.SigningCertificateV2({"certs": [{"cert_hash": hashlib.sha256(own.dump()).digest()}]})
        attributes = cms.CMSAttributes(
            [
                {"type": "content_type", "values": ["tst_info"]},
                {"type": "message_digest", "values": [hashlib.sha256(told).digest()]},
                {"type": "signing_certificate_v2", "values": [binding]},
            ]
        )
        sha256 = algos.DigestAlgorithm({"algorithm": "sha256"})
        signer = {
            "version": "v1",
            "sid": cms.SignerIdentifier(
                "issuer_and_serial_number", {"issuer": own.issuer, "serial_number": own.serial_number}
            ),
            "digest_algorithm": sha256,
            "signed_attrs": attributes,
            "signature_algorithm": {"algorithm": "sha256_rsa"},
            "signature": self.key.sign(attributes.dump(), padding.PKCS1v15(), hashes.SHA256()),
        }
        whole = {
            "version": "v3",
            "digest_algorithms": [sha256],
            "encap_content_info": {"content_type": "tst_info", "content": core.ParsableOctetString(told)},
            "certificates": [own],
            "signer_infos": [signer],
        }
        return cms.ContentInfo({"content_type": "signed_data", "content": cms.SignedData(whole)})


def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, KEY_BITS)


def _certificate(
    name: str, key: rsa.RSAPrivateKey, issuer: str, signer: rsa.RSAPrivateKey, *, is_authority: bool
) -> x509.Certificate:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if not is_authority:
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING])
        builder = builder.add_extension(usage, critical=True)
    return builder.sign(signer, hashes.SHA256())
