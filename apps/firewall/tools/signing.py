"""Signatures of requests to tool servers, so that a server knows who calls it, with what, and when.

The rule is written for authors of servers in docs/tools.md, "Tool servers"; both must say the same.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from apps.firewall.errors import FirewallError

Algorithm: TypeAlias = Literal["hmac-sha256", "ed25519"]
ALGORITHMS: Final[tuple[str, ...]] = get_args(Algorithm)

RULE: Final = "openclaw-tool-request-v1"
SHORTEST_KEY: Final = 16
_SEED: Final = re.compile(r"[0-9A-Fa-f]{64}")


class SigningKeyError(FirewallError):
    """A key that cannot sign."""

    code = "signing_key_invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """With what requests are signed.

    Args:
        key: of `hmac-sha256` the shared text, of `ed25519` the private key: PEM, or its seed as 64 letters of hex.
        key_id: tells the server which key it is.
    """

    algorithm: Algorithm
    key: str = field(repr=False)
    key_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """What a signature covers.

    Args:
        host: as the header `Host` has it.
        path: with the query, as the first line of the request has it.
        timestamp: seconds since the epoch.
    """

    method: str
    host: str
    path: str
    timestamp: int
    call_id: str
    body: bytes = field(repr=False)


def signature_headers(signing: Signing, signed: Signed) -> dict[str, str]:
    """Sign a request.

    Returns:
        The headers that carry the signature and what it covers.
    Raises:
        SigningKeyError: the key cannot sign.
    Source: RFC 2104, RFC 8032.
    """
    signature = _SIGNERS[signing.algorithm](signing.key, signed_text(signing, signed))
    return {
        "OpenClaw-Call-Id": signed.call_id,
        "OpenClaw-Timestamp": str(signed.timestamp),
        "OpenClaw-Key-Id": signing.key_id,
        "OpenClaw-Signature": f"{signing.algorithm}={signature.hex()}",
    }


def signed_text(signing: Signing, signed: Signed) -> bytes:
    """Give the bytes that are signed: nine lines, without one after the last."""
    lines = (
        RULE,
        signing.algorithm,
        signing.key_id,
        signed.method,
        signed.host,
        signed.path,
        str(signed.timestamp),
        signed.call_id,
        hashlib.sha256(signed.body).hexdigest(),
    )
    return "\n".join(lines).encode("ascii")


def signing_problem(signing: Signing) -> str | None:
    """Say why a key cannot sign, without telling the key."""
    if not signing.key_id.isascii() or not signing.key_id.isprintable():
        return "the id of the key must be printable ASCII"
    try:
        _SIGNERS[signing.algorithm](signing.key, b"")
    except SigningKeyError as exc:
        return exc.message
    return None


def _hmac(key: str, text: bytes) -> bytes:
    if len(key) < SHORTEST_KEY:
        raise SigningKeyError(f"the shared key needs at least {SHORTEST_KEY} characters")
    return hmac.digest(key.encode("utf-8", "surrogatepass"), text, hashlib.sha256)


def _ed25519(key: str, text: bytes) -> bytes:
    if _SEED.fullmatch(key):
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(key)).sign(text)
    try:
        private = load_pem_private_key(key.encode("utf-8", "replace"), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise SigningKeyError("the key is neither an Ed25519 private key in PEM nor 64 letters of hex") from None
    return private.sign(text)


_SIGNERS: Final = {"hmac-sha256": _hmac, "ed25519": _ed25519}
