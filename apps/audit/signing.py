"""The key that signs what this installation says of its ledger: Ed25519, a file of mode 0600 beside the other keys.

It signs statements and the manifests of exports, nothing else, so that it can be rotated without touching snapshots.
Auditors pin its public key; a new one is trusted because the old one signed the statement that names it.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings

from apps.audit.errors import AuditKeyError
from apps.keys.errors import KeyUnusableError
from apps.keys.installation import named_key

KEY_FILE = "audit_key"
NEXT_FILE = "audit_key.next"
VARIABLE = "OPENCLAW_ADMIN_AUDIT_KEY"
PUBLIC_BYTES = 32


@dataclass(frozen=True, slots=True)
class AuditKey:
    """One signing key, public half and the power to sign."""

    private: Ed25519PrivateKey

    @property
    def public(self) -> bytes:
        return self.private.public_key().public_bytes_raw()

    def sign(self, payload: bytes) -> bytes:
        """Sign bytes. Source: RFC 8032."""
        return self.private.sign(payload)


def audit_key() -> AuditKey:
    """Give the key that signs now, making it at first need.

    Raises:
        AuditKeyError: the file or the variable holds no usable key.
    """
    return _read(settings.AUDIT_KEY, settings.KEYS_DIR / KEY_FILE)


def next_key() -> AuditKey:
    """Give the key that follows, made at first need; a rotation names it and then puts it in place.

    Raises:
        AuditKeyError: the key comes from a variable, or the file cannot be used.
    """
    if settings.AUDIT_KEY:
        raise AuditKeyError(f"the audit key is given by {VARIABLE}: it cannot be rotated here")
    return _read("", settings.KEYS_DIR / NEXT_FILE)


def next_key_promote() -> AuditKey:
    """Put the key that follows in the place of the one that signs; the old private key is gone then.

    Raises:
        AuditKeyError: the files cannot be changed.
    """
    try:
        (settings.KEYS_DIR / NEXT_FILE).replace(settings.KEYS_DIR / KEY_FILE)
    except OSError as exc:
        raise AuditKeyError(f"cannot put the new audit key in place: {exc.strerror}") from exc
    return audit_key()


def has_next_key() -> bool:
    """Say whether a rotation has begun that did not end."""
    return not settings.AUDIT_KEY and (settings.KEYS_DIR / NEXT_FILE).exists()


def key_id(public: bytes) -> str:
    """Name a public key: the whole SHA-256 of its 32 bytes as hex, which is what auditors compare."""
    return hashlib.sha256(public).hexdigest()


def public_pem(public: bytes) -> str:
    """Write a public key as PEM, for other tools."""
    key = Ed25519PublicKey.from_public_bytes(public)
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def signature_fits(public: bytes, signature: bytes, payload: bytes) -> bool:
    """Say whether a signature over bytes is of this key."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, payload)
    except (InvalidSignature, ValueError):
        return False
    return True


def _read(given: str, path: Path) -> AuditKey:
    try:
        return AuditKey(Ed25519PrivateKey.from_private_bytes(named_key(given, path, VARIABLE)))
    except KeyUnusableError as exc:
        raise AuditKeyError(str(exc)) from exc
