"""Secrets as people see them: how long, and a short hash that tells two apart."""

import hashlib
import hmac
from typing import TypedDict

from apps.keys.installation import mask_key


class SecretNote(TypedDict):
    """`length` in characters, `hash` 8 letters of hex keyed by the installation."""

    length: int
    hash: str


def secret_note(value: str) -> SecretNote:
    """Describe a secret without telling it; the hash is keyed, so that a short secret cannot be guessed from it."""
    digest = hmac.digest(mask_key(), value.encode("utf-8", "surrogatepass"), hashlib.sha256)
    return {"length": len(value), "hash": digest.hex()[:8]}
