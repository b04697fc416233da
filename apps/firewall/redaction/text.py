"""Masking a text: every rule says which spans are secret, then all spans become masks at once."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from apps.firewall.redaction import rules
from apps.firewall.redaction.entropy import LENGTH_AT_LEAST, is_mixed, looks_random
from apps.firewall.redaction.masks import MASK, MASK_START, MODE_OFF, MaskNote, MaskOptions, mask_of
from apps.firewall.redaction.names import KINDS_OF_KEY
from apps.firewall.redaction.patterns import pattern_spans

LIMIT_CHARACTERS = 2_000_000
DEFAULT_OPTIONS = MaskOptions()
# Shorter than any token and without the marks that join a name and its value: most values in most calls.
TOO_PLAIN = re.compile(r"[^=:>@&\s-]{0,11}")
QUOTES = frozenset("\"'`\\")
_JOINTS = " _-."

Span = tuple[int, int, str]


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


@dataclass(frozen=True, slots=True)
class Scan:
    """A text as the rules read it: `low` is its lower-case copy of the same length.

    Args:
        is_joined: it holds a mark that joins a name and its value.
        names_secrets: it holds a word that names a secret.
    """

    text: str
    low: str
    is_joined: bool
    names_secrets: bool

    def has(self, words: Iterable[str]) -> bool:
        """Say whether any of the words occurs: far cheaper than an expression that then finds nothing."""
        return _has(self.low, words)


def _has(low: str, words: Iterable[str]) -> bool:
    for word in words:  # noqa: SIM110 - `any` over a generator takes three times as long
        if word in low:
            return True
    return False


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
    if options.mode == MODE_OFF or (options.patterns is None and TOO_PLAIN.fullmatch(text)):
        return MaskedText(text, ())
    rest: list[Span] = [(limit_characters, len(text), "too_long")] if len(text) > limit_characters else []
    head = text[:limit_characters]
    masks = [match.span() for match in MASK.finditer(head)] if MASK_START in head else []
    scan = scan_of(_hidden(head, masks))
    if options.patterns is None:
        found = [span for rule in RULES for span in rule(scan)]
        if scan.names_secrets:
            found += [span for rule in RULES_OF_NAMES for span in rule(scan)]
    else:
        found = list(pattern_spans(scan.text, options.patterns))
    if not found and not rest:
        return MaskedText(text, ())
    spans = [part for span in _merged(found) for part in _without(span, masks)]
    return _replace(text, [*spans, *rest], key=key, path=path)


def scan_of(text: str) -> Scan:
    """Read a text once for all rules."""
    low = text.lower()
    if len(low) != len(text):  # a few letters grow: positions must stay the same
        low = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    is_joined = "=" in text or ":" in text or "%3" in text
    return Scan(text, low, is_joined, _has(low, rules.NAMED_NEEDS))


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


# --- the rules ---


def _private_keys(scan: Scan) -> Iterator[Span]:
    at = 0
    while (begin := rules.PEM_BEGIN.search(scan.text, at)) is not None:
        end = rules.PEM_END.search(scan.text, begin.end())
        # Without an end everything that follows may be the key.
        at = len(scan.text) if end is None else end.end()
        yield begin.start(), at, "private_key"


def _named_values(scan: Scan) -> Iterator[Span]:
    if not scan.is_joined:
        return
    at = 0
    for start in rules.NAMED_START.finditer(scan.low):
        name = rules.NAMED.match(scan.low, start.start()) if start.start() >= at else None
        if name is None:
            continue
        at = name.end()
        if (
            name[0].startswith(("authorization", "cookie"))
            and not name["close"]
            and scan.text[at : at + 1] not in QUOTES
        ):
            continue  # a header, whose scheme may stay
        span = _value_in_json(scan, name) if name["close"] else _value_at(scan, at, "named_value")
        if span is not None:
            # What stands in a value is masked with it; looking again would make long values slow.
            at = span[1]
            yield span


def _value_at(scan: Scan, at: int, rule: str) -> Span | None:
    value = rules.VALUE.match(scan.text, at)
    if value is None or value.lastgroup is None:
        return None
    start, end = value.span(value.lastgroup)
    return (start, end, rule) if start < end else None


def _value_in_json(scan: Scan, name: re.Match[str]) -> Span | None:
    if name[0].startswith("key") and not name[0].startswith(("keym", "key_m", "key-m", "key m")):
        before = scan.low[max(0, name.start() - 16) : name.start()].rstrip(_JOINTS)
        if not before.endswith(KINDS_OF_KEY):
            return None
    if scan.text[name.end() : name.end() + 1] in QUOTES:
        return _value_at(scan, name.end(), "named_value")
    value = rules.BARE_IN_JSON.match(scan.text, name.end())
    if value is None or value[0].lower() in rules.NO_SECRETS_IN_JSON:
        return None
    return value.start(), value.end(), "named_value"


def _options(scan: Scan) -> Iterator[Span]:
    if "-" not in scan.low:
        return
    for option in rules.OPTION.finditer(scan.low):
        if option["name"].endswith(rules.OPTION_ENDINGS):
            span = _value_at(scan, option.end(), "option")
            if span is not None:
                yield span


def _headers(scan: Scan) -> Iterator[Span]:
    if not scan.is_joined:
        return
    if scan.has(("authorization", "cookie")):
        for match in rules.HEADER.finditer(scan.low):
            start, end = match.span("value")
            scheme = rules.SCHEME.match(scan.low, start, end) if ":" in match[0][: start - match.start()] else None
            yield (scheme.end() if scheme else start), end, "header"
    if "authorization" in scan.low:
        yield from _groups(rules.DIGEST, scan.low, "header", group="value")


def _bearers(scan: Scan) -> Iterator[Span]:
    if "bearer" in scan.low:
        yield from _groups(rules.BEARER, scan.low, "bearer")
    if "basic" in scan.low:
        yield from _groups(rules.BASIC, scan.low, "basic_credentials")


def _queries(scan: Scan) -> Iterator[Span]:
    if "=" in scan.text and scan.has(rules.QUERY_NEEDS):
        yield from _groups(rules.QUERY, scan.low, "query")


def _elements(scan: Scan) -> Iterator[Span]:
    if "</" in scan.low:
        for match in rules.ELEMENT.finditer(scan.low):
            if match["end"]:
                yield (*match.span("secret"), "element")


def _addresses(scan: Scan) -> Iterator[Span]:
    if "://" in scan.text and "@" in scan.text:
        yield from _groups(rules.URL_PASSWORD, scan.text, "url_password")
        yield from _groups(rules.URL_USER, scan.text, "url_password")
    if scan.has(rules.WEBHOOK_NEEDS):
        yield from _groups(rules.WEBHOOK, scan.text, "webhook")


def _vendor_tokens(scan: Scan) -> Iterator[Span]:
    for run in rules.RUN.finditer(scan.text):
        yield from _tokens_of_run(scan.text, *run.span())


def _tokens_of_run(text: str, start: int, end: int) -> list[Span]:
    tokens = [(*match.span(), "vendor_token") for match in rules.VENDOR.finditer(text, start, end)]
    tokens += _web_tokens(text, start, end)
    if end - start >= rules.AWS_SECRET_LETTERS:
        found = rules.AWS_SECRET.finditer(text, start, end)
        tokens += [(*match.span(), "aws_secret") for match in found if is_mixed(match[0])]
    if not tokens and end - start >= LENGTH_AT_LEAST and looks_random(text[start:end]):
        tokens = [(start, end, "random")]
    return tokens


def run_is_plain(run: str) -> bool:
    """Say whether a run of letters that tokens are made of holds none; it stands alone in its text."""
    if len(run) < LENGTH_AT_LEAST and "eyJ" not in run:
        return rules.VENDOR.search(run) is None
    return not _tokens_of_run(run, 0, len(run))


def _web_tokens(text: str, start: int, end: int) -> list[Span]:
    if text.find("eyJ", start, end) < 0:
        return []
    found = rules.JSON_WEB_TOKEN.finditer(text, start, end)
    return [(*match.span(), "web_token") for match in found if match["more"]]


def _bot_tokens(scan: Scan) -> Iterator[Span]:
    if ":" not in scan.text:
        return
    for tail in rules.BOT_TOKEN_TAIL.finditer(scan.text):
        head = scan.text[max(0, tail.start() - 32) : tail.start()]
        digits = len(head) - len(head.rstrip("0123456789"))
        if digits >= 5:
            yield tail.start() - digits, tail.end(), "bot_token"


def _cards(scan: Scan) -> Iterator[Span]:
    if scan.is_joined and scan.has(rules.CARD_FIELD_NEEDS) and rules.CARD_FIELD_VALUE.search(scan.low):
        yield from _groups(rules.CARD_FIELD, scan.low, "payment_card")
    for match in rules.CARD.finditer(scan.text):
        if _is_card_number(match[0]):
            yield (*match.span(), "payment_card")


def _is_card_number(shown: str) -> bool:
    """Check the last digit.

    Source: ISO/IEC 7812-1, annex B.
    """
    digits = [int(letter) for letter in reversed(shown) if letter.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return len(digits) in {14, 15, 16} and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _groups(pattern: re.Pattern[str], text: str, rule: str, *, group: str = "secret") -> Iterator[Span]:
    for match in pattern.finditer(text):
        yield (*match.span(group), rule)


RULES: tuple[Callable[[Scan], Iterator[Span]], ...] = (
    _private_keys,
    _bearers,
    _queries,
    _addresses,
    _vendor_tokens,
    _bot_tokens,
    _cards,
)
# What each of them looks for holds a word that names a secret.
RULES_OF_NAMES: tuple[Callable[[Scan], Iterator[Span]], ...] = (_headers, _named_values, _options, _elements)
