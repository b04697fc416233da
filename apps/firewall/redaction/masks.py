"""What stands where a secret stood."""

import hashlib
import hmac
import re
from dataclasses import asdict, dataclass

HASH_LETTERS = 8
MASK = re.compile(r"\[masked [0-9]{1,10} characters, [0-9a-f]{8}\]")
MASK_START = "[masked "
MODE_OFF = "off"


@dataclass(frozen=True, slots=True)
class MaskNote:
    """One thing that was masked: where (a path such as `params.env[0]`), by which rule, how long, its keyed hash."""

    path: str
    rule: str
    length: int
    hash: str

    def to_json(self) -> dict[str, str | int]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class MaskOptions:
    """What an installation chose.

    Args:
        mode: `off` masks nothing; any other word is `tools`, the full masker.
        patterns: expressions that replace the built-in rules, `/…/flags` or plain; None keeps the built-in ones.
            Their last group that matched is masked, else the whole match; ones that cannot be used are skipped.
    """

    mode: str = "tools"
    patterns: tuple[str, ...] | None = None


def mask_of(secret: str, *, key: bytes) -> tuple[str, str]:
    """Make the mask of a secret.

    Args:
        key: of the installation; whoever lacks it cannot test guesses against the hash.
    Returns:
        The mask and its hash.
    """
    digest = hmac.digest(key, secret.encode("utf-8", "surrogatepass"), hashlib.sha256).hex()[:HASH_LETTERS]
    return f"{MASK_START}{len(secret)} characters, {digest}]", digest
