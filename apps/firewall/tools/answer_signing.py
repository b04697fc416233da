"""Signatures of answers, where an answer decides something: it proves who gave it, and to which request.

The rule is written for authors of servers in docs/hooks.md, "Webhooks"; both must say the same.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass, field
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from apps.firewall.errors import FirewallError
from apps.firewall.tools.signing import Signing

RULE: Final = "openclaw-hook-answer-v1"
_RAW_KEY: Final = re.compile(r"[0-9A-Fa-f]{64}")


class AnswerUnprovenError(FirewallError):
    """An answer whose signature is missing or wrong."""

    code = "answer_unproven"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedAnswer:
    """What the signature of an answer covers.

    Args:
        call_id, timestamp: as the headers of the request had them.
        request, answer: the bodies.
    """

    call_id: str
    timestamp: str
    status: int
    request: bytes = field(repr=False)
    answer: bytes = field(repr=False)


def answer_text(signing: Signing, signed: SignedAnswer) -> bytes:
    """Give the bytes that are signed: eight lines, without one after the last."""
    lines = (
        RULE,
        signing.algorithm,
        signing.key_id,
        signed.call_id,
        signed.timestamp,
        hashlib.sha256(signed.request).hexdigest(),
        str(signed.status),
        hashlib.sha256(signed.answer).hexdigest(),
    )
    return "\n".join(lines).encode("ascii")


def check_answer(signing: Signing, signed: SignedAnswer, signature: str, *, answer_key: str = "") -> None:
    """Hold an answer's signature against what came back.

    Args:
        signing: with what the request was signed; an answer to `hmac-sha256` is signed with the same key.
        signature: as the header `OpenClaw-Signature` has it, `<algorithm>=<hex>`.
        answer_key: of `ed25519` the server's public key: PEM, or its bytes as 64 letters of hex.
    Raises:
        AnswerUnprovenError.
    Source: RFC 2104, RFC 8032.
    """
    algorithm, _, written = signature.partition("=")
    if not signature:
        raise AnswerUnprovenError("its answer is not signed")
    try:
        given = bytes.fromhex(written)
    except ValueError:
        given = b""
    text = answer_text(signing, signed)
    if algorithm != signing.algorithm or not _fits(signing, text, given, answer_key):
        raise AnswerUnprovenError("the signature of its answer is wrong")


def answer_key_problem(key: str) -> str | None:
    """Say why a key cannot prove answers."""
    if _public(key) is None:
        return "the key is neither an Ed25519 public key in PEM nor 64 letters of hex"
    return None


def _fits(signing: Signing, text: bytes, given: bytes, answer_key: str) -> bool:
    if signing.algorithm == "hmac-sha256":
        key = signing.key.encode("utf-8", "surrogatepass")
        return hmac.compare_digest(hmac.digest(key, text, hashlib.sha256), given)
    public = _public(answer_key)
    if public is None:
        return False
    try:
        public.verify(given, text)
    except InvalidSignature:
        return False
    return True


def _public(key: str) -> Ed25519PublicKey | None:
    try:
        if _RAW_KEY.fullmatch(key):
            return Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        found = load_pem_public_key(key.encode("utf-8", "replace"))
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    return found if isinstance(found, Ed25519PublicKey) else None
