"""Which names say that a secret follows."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from apps.firewall.redaction import languages

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
    "passcode",
    "mnemonic",
    "seedphrase",
    "recoveryphrase",
    "psk",
    "iban",
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
        "dsn",
    }
    | {
        "cvv",
        "cvv2",
        "cvc",
        "cvc2",
        "csc",
        "pan",
        "cardcode",
        "cardcvc",
        "cardcvv",
        "securitycode",
        "cardnumber",
        "cardno",
        "ccnumber",
    }
    | {"ccnum", "recoverycode", "backupcode"}
)
# Names of other things, too: their value tells.
UNSURE = frozenset({"auth", "pass", "pin", "sig", "signature", "seed", "pan", "otp", "csc"})
# They end a name behind a joint or a capital letter: `DB_PASS`, `simPin`; not `bypass`, `spin`, `expat`.
SUFFIXES = frozenset({"pass", "pin", "pat", "pwd", "pw", "psk"})
# The folder that a shell is in.
FOLDERS = frozenset({"PWD", "OLDPWD"})
SCHEMA_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
FOLDER = re.compile(r"(?:[A-Za-z]:)?[/\\~.]")
_ENDINGS = tuple(WORDS) + tuple(f"{kind}key" for kind in KINDS_OF_KEY)
_JOINTS = re.compile(r"[^a-z0-9]+")
_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    low = name.lower()
    if not low.isascii() and languages.is_secret_name(low):
        return True
    plain = _JOINTS.sub("", low)
    if plain in EXACT or plain.endswith(_ENDINGS) or languages.is_secret_name(plain):
        return True
    parts = [part for part in _JOINTS.split(_CAPITALS.sub("_", name).lower()) if part]
    return (len(parts) > 1 and parts[-1] in SUFFIXES and parts[-2] not in {"by", "gpio", "led"}) or name == "PAT"


def is_secret_name(name: str) -> bool:
    """Say whether a field of this name holds a secret: `apiKey`, `DB_PASSWORD`, `x-auth-token`, `cvv`, `密码`."""
    return len(name) <= 256 and _is_secret(name)


def is_secret_field(name: str, value: Any) -> bool:
    """Say whether a field holds a secret: its name says so, and its value is no folder, count, scheme or schema.

    A name of several meanings (`seed`, `signature`, `pass`, `pin`) is one with a value that looks like a secret.
    """
    if not is_secret_name(name):
        return False
    if name in FOLDERS:
        return not (isinstance(value, str) and FOLDER.match(value))
    if isinstance(value, Mapping):
        return not _is_schema(value)
    plain = _JOINTS.sub("", name.lower())
    if plain in UNSURE or plain.endswith("pin"):
        return _is_secret_value(plain, value)
    return True


def _is_schema(value: Mapping[Any, Any]) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and kind in SCHEMA_TYPES and not {"value", "default", "const"} & set(value)


def _is_secret_value(plain: str, value: Any) -> bool:
    if isinstance(value, int | float):
        return plain not in {"seed", "auth"} and abs(value) > 999
    if not isinstance(value, str):
        return True
    if plain == "seed":
        return len(value) >= 12
    if plain in {"signature", "sig"}:
        return len(value) >= 8 and " " not in value
    if plain == "auth":
        return value.lower() not in {
            "basic",
            "bearer",
            "digest",
            "none",
            "oauth",
            "oauth2",
            "ntlm",
            "token",
            "required",
        }
    return not (value.isdigit() and len(value) < 3) and len(value) > 2
