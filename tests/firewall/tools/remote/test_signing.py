"""Signatures are those that the documentation describes, so that a server in any language can check them."""

import hashlib
import hmac
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.tools.connections import ConnectionInvalidError, read_connection
from apps.firewall.tools.signing import Signed, Signing, signature_headers, signed_text

SEED = bytes(range(32))
SIGNED = Signed(
    method="POST",
    host="tools.example:8443",
    path="/tools/text_count?v=1",
    timestamp=1_800_000_000,
    call_id="call_01j9",
    body=b'{"params":{}}',
)
TEXT = (
    "openclaw-tool-request-v1\n{algorithm}\nk1\nPOST\ntools.example:8443\n/tools/text_count?v=1\n1800000000\ncall_01j9\n"
    + hashlib.sha256(b'{"params":{}}').hexdigest()
)


def test_a_shared_key_signs_nine_lines() -> None:
    signing = Signing(algorithm="hmac-sha256", key="a-key-of-both-sides", key_id="k1")
    wanted = hmac.new(b"a-key-of-both-sides", TEXT.format(algorithm="hmac-sha256").encode(), "sha256").hexdigest()
    assert signature_headers(signing, SIGNED) == {
        "OpenClaw-Call-Id": "call_01j9",
        "OpenClaw-Timestamp": "1800000000",
        "OpenClaw-Key-Id": "k1",
        "OpenClaw-Signature": f"hmac-sha256={wanted}",
    }


def test_a_private_key_signs_the_same_as_seed_and_as_pem() -> None:
    private = Ed25519PrivateKey.from_private_bytes(SEED)
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    headers = [
        signature_headers(Signing(algorithm="ed25519", key=key, key_id="k1"), SIGNED) for key in (SEED.hex(), pem)
    ]
    assert headers[0] == headers[1]
    algorithm, _, signature = headers[0]["OpenClaw-Signature"].partition("=")
    private.public_key().verify(bytes.fromhex(signature), TEXT.format(algorithm=algorithm).encode())


def test_a_key_that_cannot_sign_is_found_when_it_is_entered_and_not_told() -> None:
    other = ec.generate_private_key(ec.SECP256R1())
    pem = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    for algorithm, key in (("hmac-sha256", "short"), ("ed25519", "nonsense-key"), ("ed25519", pem)):
        with pytest.raises(ConnectionInvalidError) as caught:
            read_connection(
                source="a", kind="remote", settings={"signing": {"algorithm": algorithm, "key": key}}, secrets={}
            )
        assert [each["path"] for each in caught.value.details] == ["signing"]
        assert key not in str(caught.value.details)


@settings(deadline=None)
@given(st.binary(max_size=50), st.binary(max_size=50))
def test_another_body_has_another_signature(body: bytes, other: bytes) -> None:
    signing = Signing(algorithm="hmac-sha256", key="a-key-of-both-sides")

    def signature(of: bytes) -> str:
        signed = Signed(method="POST", host="a", path="/", timestamp=1, call_id="c", body=of)
        return signature_headers(signing, signed)["OpenClaw-Signature"]

    assert (signature(body) == signature(other)) == (body == other)


def test_the_documentation_s_example_is_signed_as_it_says() -> None:
    page = (Path(__file__).parents[4] / "docs" / "tools.md").read_text()
    section = page[page.index("## Tool servers") :]
    document, shown, lines = re.findall(r"```(?:json|text)\n(.*?)\n```", section, flags=re.DOTALL)[:3]
    body = json.dumps(json.loads(document), separators=(",", ":")).encode()
    signed = replace(SIGNED, call_id=json.loads(document)["call_id"], body=body)
    key = re.search(r"above: `([^`]+)`", section)
    assert key is not None
    signing = Signing(algorithm="hmac-sha256", key=key[1], key_id="k1")
    assert signed_text(signing, signed).decode() == lines
    assert "\n".join(f"{name}: {value}" for name, value in signature_headers(signing, signed).items()) == shown
