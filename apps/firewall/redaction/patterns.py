"""The patterns of an installation, where it replaces the built-in rules by its own."""

import re
from collections.abc import Iterator
from functools import lru_cache

from apps.firewall.patterns import PatternError, compile_pattern, counts, search_bounded

LIMIT_S = 0.5
_WITH_FLAGS = re.compile(r"\s*/.+/[a-z]*\s*", re.DOTALL)


@lru_cache(maxsize=64)
def usable(patterns: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Take the patterns that can be used; None where none can, so that the built-in rules hold."""
    return tuple(written for written in patterns or () if _is_usable(written)) or None


def _is_usable(written: str) -> bool:
    try:
        _compiled(written)
    except PatternError:
        return False
    return True


def _compiled(written: str) -> re.Pattern[str]:
    """Make an expression that ignores case where it is written without flags, as OpenClaw takes it."""
    is_plain = bool(written.strip()) and not _WITH_FLAGS.fullmatch(written)
    return compile_pattern(f"/{written}/i" if is_plain else written)


def pattern_spans(text: str, patterns: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
    """Say what the patterns mask: the last group that matched, else the whole match.

    Patterns that cannot be used are skipped. When time runs out, the rest of the text is masked whole.
    """
    for number, written in enumerate(patterns):
        try:
            pattern = _compiled(written)
        except PatternError:
            continue
        for match in search_bounded(pattern, text, limit_s=LIMIT_S):
            if isinstance(match, int):
                yield match, len(text), "out_of_time"
                break
            if not counts(match):
                continue
            groups = [index for index in range(1, pattern.groups + 1) if match[index]]
            yield (*match.span(groups[-1] if groups else 0), f"pattern_{number}")
