"""The key with which callbacks are signed: derived, so that it signs nothing else and needs no file of its own."""

import hashlib
import hmac

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from apps.keys.installation import signing_key


def callback_seed() -> bytes:
    """Give the 32 bytes from which the Ed25519 key of callbacks is made. Source: RFC 8032."""
    return hmac.digest(signing_key().private_bytes_raw(), b"openclaw-admin callbacks", hashlib.sha256)


def callback_public_key() -> bytes:
    """Give the public key in PEM, for those who check callbacks."""
    public = Ed25519PrivateKey.from_private_bytes(callback_seed()).public_key()
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def callback_key_id() -> str:
    """Name the public key: 16 letters of hex of its SHA-256."""
    public = Ed25519PrivateKey.from_private_bytes(callback_seed()).public_key()
    return hashlib.sha256(public.public_bytes_raw()).hexdigest()[:16]
