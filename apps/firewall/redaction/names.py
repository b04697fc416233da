"""Which names say that a secret follows."""

import re
from functools import lru_cache

# A name that ends in one of these words holds a secret, whatever stands before them.
WORDS = (
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "credential",
    "credentials",
    "authorization",
    "jwt",
    "cookie",
    "keymaterial",
    "privatekeypem",
    "connectionstring",
)
# `key` alone names half of the world's map entries; these kinds of keys are secrets.
KINDS_OF_KEY = (
    "access",
    "account",
    "admin",
    "api",
    "app",
    "auth",
    "client",
    "consumer",
    "decryption",
    "deploy",
    "encryption",
    "hmac",
    "jwt",
    "license",
    "master",
    "private",
    "secret",
    "service",
    "shared",
    "sign",
    "signing",
    "ssh",
    "storage",
    "subscription",
    "webhook",
    "wrapping",
)
# Whole names, not endings.
EXACT = frozenset(
    {
        "auth",
        "bearer",
        "pass",
        "userpass",
        "dbpass",
        "pin",
        "otp",
        "totp",
        "sig",
        "signature",
        "seed",
        "mnemonic",
        "dsn",
    }
    | {"cvv", "cvv2", "cvc", "cvc2", "csc", "pan", "cardcode", "securitycode", "cardnumber", "cardno", "ccnumber"}
    | {"ccnum", "recoverycode", "backupcode", "sid"}
)
_ENDINGS = tuple(WORDS) + tuple(f"{kind}key" for kind in KINDS_OF_KEY)
_JOINTS = re.compile(r"[^a-z0-9]+")


@lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    plain = _JOINTS.sub("", name.lower())
    if plain in EXACT or plain.endswith(_ENDINGS):
        return True
    # `db_pass` and `DB_PASS`, not `bypass` and `compass`.
    parts = _JOINTS.split(name.lower())
    return len(parts) > 1 and parts[-1] == "pass"


def is_secret_name(name: str) -> bool:
    """Say whether a field of this name holds a secret: `apiKey`, `DB_PASSWORD`, `x-auth-token`, `cvv`."""
    return len(name) <= 256 and _is_secret(name)
