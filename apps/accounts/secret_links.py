"""One-time links: where they lead and how their secrets are made. The console's urls.py uses these routes."""

import hashlib
import hmac
import secrets

INVITATION_ROUTE = "invitation/<str:secret>/"
PASSWORD_RESET_ROUTE = "password-reset/<user_id:user_id>/<str:secret>/"  # noqa: S105 - a path, not a password


def make_secret() -> str:
    """Make 256 random bits as 64 letters of hex."""
    return secrets.token_hex(32)


def hash_secret(secret: str) -> str:
    """Give what is stored of a random secret; 256 random bits need no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def is_secret(secret: str, stored_hash: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(hash_secret(secret), stored_hash)
