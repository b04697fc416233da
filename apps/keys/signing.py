"""Signing: Ed25519 signatures of this installation, and their check."""

import hashlib
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from apps.keys.installation import signing_key


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature and the key that made it: 16 letters of hex of the SHA-256 of the public key."""

    key_id: str
    signature: bytes


def sign(payload: bytes) -> Signature:
    """Sign bytes with the key of this installation.

    Source: RFC 8032.
    """
    key = signing_key()
    return Signature(_id_of(key.public_key()), key.sign(payload))


def verify(payload: bytes, signature: Signature, *, public_key_pem: bytes | None = None) -> bool:
    """Say whether a signature fits the bytes.

    Args:
        public_key_pem: the key to trust; without it this installation's own.
    """
    key = signing_key().public_key() if public_key_pem is None else load_pem_public_key(public_key_pem)
    if not isinstance(key, Ed25519PublicKey) or _id_of(key) != signature.key_id:
        return False
    try:
        key.verify(signature.signature, payload)
    except InvalidSignature:
        return False
    return True


def public_key_pem() -> bytes:
    """Give the public key for those who check signatures elsewhere."""
    return signing_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _id_of(key: Ed25519PublicKey) -> str:
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]
