"""Masking a text: every rule says which spans are secret, then all spans become masks at once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from apps.firewall.redaction import named, shapes
from apps.firewall.redaction.masks import MASK, MASK_START, MODE_OFF, MaskNote, MaskOptions, mask_of
from apps.firewall.redaction.patterns import pattern_spans, usable
from apps.firewall.redaction.scan import Span, scan_of

LIMIT_CHARACTERS = 2_000_000
DEFAULT_OPTIONS = MaskOptions()
# Shorter than any token and without the marks that join a name and its value: most values in most calls.
TOO_PLAIN = re.compile(r"[^=:>@&\s-]{0,11}")
RULES = (*shapes.RULES, *named.RULES)
RULES_OF_NAMES = named.RULES_OF_NAMES


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text without its secrets, and what was taken out.

    Args:
        spans: where it was taken from, in order: start and end in the text as it was, and the length of the mask.
    """

    text: str
    notes: tuple[MaskNote, ...]
    spans: tuple[tuple[int, int, int], ...] = ()

    def place(self, at: int, *, is_end: bool = False) -> int:
        """Say where a place of the text as it was stands in this one; a place in a secret is an edge of its mask."""
        shift = 0
        for start, end, length in self.spans:
            if at <= start:
                break
            if at < end:
                return start + shift + (length if is_end else 0)
            shift += length - (end - start)
        return at + shift


def mask_text(
    text: str,
    *,
    key: bytes,
    options: MaskOptions = DEFAULT_OPTIONS,
    path: str = "",
    limit_characters: int = LIMIT_CHARACTERS,
) -> MaskedText:
    """Take the secrets out of a text, in time linear in its length.

    Args:
        key: of the installation, for the hashes in the masks.
        path: where the text stands, for the notes.
        limit_characters: what lies beyond is masked whole.
    Source: README, "What is masked".
    """
    patterns = usable(options.patterns)
    if options.mode == MODE_OFF or (patterns is None and TOO_PLAIN.fullmatch(text)):
        return MaskedText(text, ())
    rest: list[Span] = [(limit_characters, len(text), "too_long")] if len(text) > limit_characters else []
    head = text[:limit_characters]
    masks = [match.span() for match in MASK.finditer(head)] if MASK_START in head else []
    scan = scan_of(_hidden(head, masks))
    if patterns is None:
        found = [span for rule in RULES for span in rule(scan)]
        if scan.names_secrets:
            found += [span for rule in RULES_OF_NAMES for span in rule(scan)]
    else:
        found = list(pattern_spans(scan.text, patterns))
        found += [span for rule in shapes.ALWAYS for span in rule(scan)]
    if not found and not rest:
        return MaskedText(text, ())
    spans = [part for span in _merged(found) for part in _without(span, masks)]
    return _replace(text, [*spans, *rest], key=key, path=path)


def _hidden(text: str, masks: list[tuple[int, int]]) -> str:
    """Blank out masks that stand there already, as one run that any value may hold."""
    if not masks:
        return text
    pieces, at = [], 0
    for start, end in masks:
        pieces += [text[at:start], "\0" * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def _merged(spans: list[Span]) -> Iterator[Span]:
    """Join spans that overlap; the first rule that began gives its name."""
    current: Span | None = None
    for start, end, rule in sorted(spans):
        if start >= end:
            continue
        if current is not None and start < current[1]:
            current = (current[0], max(current[1], end), current[2])
            continue
        if current is not None:
            yield current
        current = (start, end, rule)
    if current is not None:
        yield current


def _without(span: Span, masks: list[tuple[int, int]]) -> Iterator[Span]:
    start, end, rule = span
    for mask_start, mask_end in masks:
        if mask_end <= start:
            continue
        if mask_start >= end:
            break
        if start < mask_start:
            yield start, mask_start, rule
        start = mask_end
    if start < end:
        yield start, end, rule


def _replace(text: str, spans: list[Span], *, key: bytes, path: str) -> MaskedText:
    if not spans:
        return MaskedText(text, ())
    pieces, notes, places, at = [], [], [], 0
    for start, end, rule in spans:
        mask, digest = mask_of(text[start:end], key=key)
        pieces += [text[at:start], mask]
        notes.append(MaskNote(path, rule, end - start, digest))
        places.append((start, end, len(mask)))
        at = end
    return MaskedText("".join([*pieces, text[at:]]), tuple(notes), tuple(places))
