"""Fifty shapes in which secrets occur: a text as people and programs write it, and its part that nobody may read."""

import hashlib
import string
from dataclasses import dataclass

MIXED = string.ascii_letters + string.digits
HEX, UPPER, DIGITS = "0123456789abcdef", string.ascii_uppercase + string.digits, string.digits

# Each has `{}` where its secret stands, which has so many characters of an alphabet.
SHAPES: tuple[tuple[str, int, str], ...] = (
    ("sk-proj-{}", 40, MIXED),
    ("sk-ant-api03-{}", 48, MIXED),
    ("sk_live_{}", 24, MIXED),
    ("rk_test_{}", 24, MIXED),
    ("whsec_{}", 32, MIXED),
    ("ghp_{}", 36, MIXED),
    ("github_pat_{}", 50, MIXED),
    ("glpat-{}", 20, MIXED),
    ("xoxb-{}", 40, MIXED),
    ("xapp-1-{}", 40, MIXED),
    ("AIza{}", 35, MIXED),
    ("ya29.{}", 60, MIXED),
    ("GOCSPX-{}", 28, MIXED),
    ("npm_{}", 36, MIXED),
    ("hf_{}", 34, MIXED),
    ("SG.abcdefghijk.{}", 43, MIXED),
    ("dop_v1_{}", 64, HEX),
    ("dckr_pat_{}", 27, MIXED),
    ("glsa_{}", 32, MIXED),
    ("shpat_{}", 32, HEX),
    ("lin_api_{}", 40, MIXED),
    ("AKIA{}", 16, UPPER),
    ("aws_secret_access_key={}", 40, MIXED),
    ("LTAI{}", 20, MIXED),
    ("hvs.{}", 40, MIXED),
    ("AGE-SECRET-KEY-1{}", 58, UPPER),
    ("gsk_{}", 52, MIXED),
    ("pypi-{}", 60, MIXED),
    ("123456789:{}", 35, MIXED),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{}", 43, MIXED),
    ("Authorization: Bearer {}", 40, MIXED),
    ("Authorization: Basic {}", 32, MIXED),
    ("Cookie: sid={}", 32, HEX),
    ("curl -u admin --password {} https://a.example", 18, MIXED),
    ("--api-key={}", 30, HEX),
    ("password: {}", 14, MIXED),
    ("PGPASSWORD={} psql", 16, MIXED),
    ("DB_PASS={}", 12, MIXED),
    ("client_secret={}&grant_type=x", 32, MIXED),
    ("https://user:{}@host.example/x", 20, MIXED),
    ("postgres://app:{}@db.example/x", 24, HEX),
    ("https://hooks.slack.com/services/T0001/B0001/{}", 24, MIXED),
    ("https://a.example/cb?code={}&state=1", 30, MIXED),
    ("https://a.example/?X-Amz-Signature={}", 64, HEX),
    ('{{"token": "{}"}}', 20, MIXED),
    ('{{"refresh_token":"{}"}}', 24, HEX),
    ("<password>{}</password>", 14, MIXED),
    ("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", 64, MIXED),
    ("cvv: {}", 3, DIGITS),
    ("{}", 48, MIXED + "+"),
)
TOO_SHORT_TO_SCAN = 8


@dataclass(frozen=True, slots=True)
class Canary:
    """One secret: the whole text, and the part that must not be found."""

    number: int
    text: str
    secret: str


def canaries(where: str) -> list[Canary]:
    """Make one secret of each shape for one way through the product; the same ones each time."""
    made = []
    for number, (shape, length, alphabet) in enumerate(SHAPES):
        draws = hashlib.shake_256(f"canary {where} {number}".encode()).digest(length)
        secret = "".join(alphabet[each % len(alphabet)] for each in draws)
        made.append(Canary(number, shape.format(secret), secret))
    return made


def found_in(held: bytes, every: list[Canary]) -> list[str]:
    """Name the shapes whose secret stands somewhere, whole or in half: also in hex, as dumps write bytes, and in small
    letters, as the index of words has it."""
    low = held.lower()
    names = []
    for canary in every:
        if len(canary.secret) < TOO_SHORT_TO_SCAN:
            continue
        whole, half = canary.secret.encode(), canary.secret[: len(canary.secret) // 2 + 4].lower().encode()
        if half in low or whole.hex().encode() in low:
            names.append(SHAPES[canary.number][0])
    return names
