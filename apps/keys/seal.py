"""Sealing: values that must come back later are kept as AES-GCM envelopes; the key stays outside the database.

Envelope: one byte of format, eight of key id, twelve of nonce, then ciphertext with its tag.
"""

import hashlib
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from apps.keys.errors import UnsealError
from apps.keys.installation import seal_key

FORMAT = 1
KEY_ID_BYTES = 8
NONCE_BYTES = 12
HEAD_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES


def key_id_of(key: bytes) -> bytes:
    """Name a key without telling it."""
    return hashlib.sha256(b"openclaw-admin key id\0" + key).digest()[:KEY_ID_BYTES]


def seal(plain: bytes, *, purpose: str) -> bytes:
    """Encrypt and bind a value to its purpose.

    Args:
        purpose: for example `approval.action`; the same word opens it, another one does not.
    Source: NIST SP 800-38D.
    """
    key = seal_key()
    nonce = os.urandom(NONCE_BYTES)
    head = bytes([FORMAT]) + key_id_of(key)
    return head + nonce + AESGCM(key).encrypt(nonce, plain, head + purpose.encode())


def unseal(sealed: bytes, *, purpose: str) -> bytes:
    """Open what `seal` made for the same purpose.

    Raises:
        UnsealError: another key, another purpose, or bytes that were changed.
    """
    sealed = bytes(sealed)
    if len(sealed) < HEAD_BYTES or sealed[0] != FORMAT:
        raise UnsealError("the sealed value has an unknown format")
    key = seal_key()
    head, nonce, body = sealed[: 1 + KEY_ID_BYTES], sealed[1 + KEY_ID_BYTES : HEAD_BYTES], sealed[HEAD_BYTES:]
    if head[1:] != key_id_of(key):
        raise UnsealError("the value was sealed with another key")
    try:
        return AESGCM(key).decrypt(nonce, body, head + purpose.encode())
    except InvalidTag as exc:
        raise UnsealError("the sealed value was changed, or belongs to another purpose") from exc
