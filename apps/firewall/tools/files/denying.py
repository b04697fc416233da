"""Which paths below a folder nobody may use, whatever else is allowed."""

from collections.abc import Sequence
from fnmatch import fnmatchcase


def is_denied(path: str, patterns: Sequence[str]) -> bool:
    """Say whether a pattern means a path, a part of it, or a folder above it."""
    parts = [part for part in path.split("/") if part]
    above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return any(fnmatchcase(each, pattern) for pattern in patterns for each in (*parts, *above))
