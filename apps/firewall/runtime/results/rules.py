"""What an installation says about results."""

import os
from dataclasses import dataclass, field
from typing import Final

LIMIT: Final = 10_000
LIMIT_MAXIMUM: Final = 1_000_000
KEPT_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRules:
    """What an installation says about results.

    Args:
        key: for the hashes in masks and of whole results; without it nobody can try texts until a hash fits.
        limit: characters of a result that callers get, where its tool says nothing else.
        kept_bytes: of a result that the record keeps.
    """

    key: bytes = field(default_factory=lambda: os.urandom(32), repr=False)
    limit: int = LIMIT
    kept_bytes: int = KEPT_BYTES

    def limit_for(self, stated: int | None) -> int:
        """Give the limit of a tool that states one, or does not."""
        return min(stated or self.limit, LIMIT_MAXIMUM)
