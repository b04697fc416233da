"""The patterns of an installation, where it replaces the built-in rules by its own."""

from collections.abc import Iterator

from apps.firewall.patterns import PatternError, compile_pattern, search_bounded

LIMIT_S = 0.5


def pattern_spans(text: str, patterns: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
    """Say what the patterns mask: the last group that matched, else the whole match.

    Patterns that cannot be used are skipped. When time runs out, the rest of the text is masked whole.
    """
    for number, written in enumerate(patterns):
        try:
            pattern = compile_pattern(written)
        except PatternError:
            continue
        for match in search_bounded(pattern, text, limit_s=LIMIT_S):
            if isinstance(match, int):
                yield match, len(text), "out_of_time"
                break
            groups = [index for index in range(1, pattern.groups + 1) if match[index]]
            yield (*match.span(groups[-1] if groups else 0), f"pattern_{number}")
