"""The keys of this installation: a file each of mode 0600 in KEYS_DIR, or given by a variable.

Every process of an installation needs the same keys: with several machines, give them by the variables
OPENCLAW_ADMIN_SEAL_KEY (64 letters of hex) and OPENCLAW_ADMIN_SIGNING_KEY (the same, an Ed25519 seed).
"""

import hashlib
import hmac
import os
from functools import lru_cache
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings

from apps.keys.errors import KeyUnusableError
from apps.keys.files import secret_bytes

KEY_BYTES = 32
SEAL_FILE = "seal_key"
SIGNING_FILE = "signing_key"


def seal_key() -> bytes:
    """Give the 32 bytes with which values are sealed.

    Raises:
        KeyUnusableError: the file or the variable holds no key.
    """
    return _key(settings.SEAL_KEY, settings.KEYS_DIR, SEAL_FILE, "OPENCLAW_ADMIN_SEAL_KEY")


def mask_key() -> bytes:
    """Give the key of the short hashes that masking leaves; derived, so that it needs no file of its own."""
    return _derived(seal_key(), b"openclaw-admin mask")


def loop_key() -> bytes:
    """Give the key of the digests in the histories of loop detection; derived as well."""
    return _derived(seal_key(), b"openclaw-admin loops")


@lru_cache(maxsize=8)
def _derived(key: bytes, purpose: bytes) -> bytes:
    return hmac.digest(key, purpose, hashlib.sha256)


def signing_key() -> Ed25519PrivateKey:
    """Give the Ed25519 key that signs snapshots.

    Raises:
        KeyUnusableError: the file or the variable holds no key.
    """
    seed = _key(settings.SIGNING_KEY, settings.KEYS_DIR, SIGNING_FILE, "OPENCLAW_ADMIN_SIGNING_KEY")
    return Ed25519PrivateKey.from_private_bytes(seed)


@lru_cache(maxsize=8)
def _key(given: str, folder: Path, name: str, variable: str) -> bytes:
    return named_key(given, folder / name, variable)


def named_key(given: str, path: Path, variable: str) -> bytes:
    """Give the 32 bytes of a key as they stand now: what a variable gave, or else its file, made at first need.

    Raises:
        KeyUnusableError: the file or the variable holds no key.
    """
    if given:
        return _from_hex(given, variable)
    try:
        text = secret_bytes(path, lambda: os.urandom(KEY_BYTES).hex().encode())
    except OSError as exc:
        raise KeyUnusableError(f"cannot use the key file `{path}`: {exc.strerror}") from exc
    if path.stat().st_mode & 0o077:
        raise KeyUnusableError(f"the key file `{path}` may be read by others: set its mode to 0600")
    return _from_hex(text.decode("ascii", "replace").strip(), f"`{path}`")


def _from_hex(text: str, place: str) -> bytes:
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise KeyUnusableError(f"{place} must hold {KEY_BYTES * 2} letters of hex")
    return key
