"""Rules that begin at a name: what stands behind the name of a secret, in any language, and is one."""

import re
from collections.abc import Callable, Iterator

from apps.firewall.patterns import has_check_digit
from apps.firewall.redaction import formats, languages, rules
from apps.firewall.redaction.names import FOLDER, KINDS_OF_KEY
from apps.firewall.redaction.placeholders import COUNT, is_constant, is_message, is_odd, is_placeholder, looks_secret
from apps.firewall.redaction.scan import QUOTES, Scan, Span, groups

CARD_DIGITS = frozenset({14, 15, 16})
_MARK = re.compile(r"[:=]|.[ \t]{0,3}[:=]")
_QUESTION = re.compile(
    r"(?:has|is|allow|allows|enable|disable|use|uses|need|needs|require|requires|show|save|with|no|skip|can|should"
    r"|hide|include|mask|set|remember|primary|sort)(?=[_A-Z])"
)
_REST = re.compile(r"\"[^\s\"']*")
JUDGED_CHARACTERS = 128
NAME_AT_MOST = 64
_JOINTS = " _-."
_NAME_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_-. "
_NAME_LETTERS_OR_NONE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_WORD_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_PATH_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_-./~"
# Behind these names OpenClaw masks also `null` and `true`.
HOLD_CONSTANTS = ("key", "token", "secret", "pass", "credential", "jwt", "authorization")
# `sort_key: name`, `monkey: banana`
PLAIN_KINDS_OF_KEY = (
    *("sort", "primary", "foreign", "unique", "composite", "partition", "cache", "public", "map", "dict", "config"),
    *("object", "row", "index", "hash", "hot", "arrow", "mon", "don", "tur", "hoc", "joc", "any", "first", "last"),
    *("range", "group", "order", "lookup", "natural", "idempotency", "routing", "message", "host"),
)


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
        if not name["close"] and _is_quoted_pattern(scan, name):
            continue
        if _is_innocent(scan, name):
            continue
        span = _value_in_json(scan, name) if name["close"] else _value_at(scan, at, "named_value")
        if span is not None:
            # What stands in a value is masked with it; looking again would make long values slow. Only a name at its
            # end counts, whose own value stands behind it.
            at = span[1] - (NAME_AT_MOST if _MARK.match(scan.text, span[1] - 1, span[1] + 4) else 0)
            yield span if name["close"] else _as_released(scan, name, span)


def _as_released(scan: Scan, name: re.Match[str], span: Span) -> Span:
    """Widen a value to what the releases take for one."""
    first = _first_of_name(scan, name)
    if scan.text[span[1] : span[1] + 1] == '"' and scan.text[first - 1 : first] in {"?", "&"}:
        # `?TOKEN="…"&b=1`: behind a name in capitals they mask the rest of the pairs with it.
        rest = _REST.match(scan.text, span[1]) if scan.text[first : name.end()].isupper() else None
        span = (span[0], rest.end(), span[2]) if rest else span
    return _with_its_like(scan, first, span[0], span)


def _with_its_like(scan: Scan, first: int, at: int, span: Span) -> Span:
    """Begin where the name holds the same as the value's first word: the older release masks that place instead.

    Args:
        first, at: where the name and the value begin.
    """
    start, end, rule = span
    word = rules.VALUE_BEGINS.match(scan.text, at, at + NAME_AT_MOST)
    like = -1 if word is None else scan.text.find(word["word"], first, at)
    return span if like < 0 else (min(like, start), end, rule)


def _first_of_name(scan: Scan, name: re.Match[str]) -> int:
    before = scan.text[max(0, name.start() - NAME_AT_MOST) : name.start()]
    return name.start() - len(before) + len(before.rstrip(_WORD_LETTERS))


def _is_quoted_pattern(scan: Scan, name: re.Match[str]) -> bool:
    """Say whether a quote ends right behind the mark: `grep 'token:' file`."""
    quote, behind = scan.text[name.end() : name.end() + 1], scan.text[name.end() + 1 : name.end() + 2]
    if quote not in {"'", '"'} or (behind and behind not in " \n\t),;|+]}"):
        return False
    return scan.low[max(0, name.start() - 40) : name.start()].rstrip(_NAME_LETTERS).endswith(quote)


def _is_innocent(scan: Scan, name: re.Match[str]) -> bool:
    """Say whether what stands after a name is a reference, a message, a folder or a count.

    Only the beginning of the value is looked at: what is innocent is not skipped, so it must not be read to its end.
    """
    seen = rules.VALUE.match(scan.text, name.end(), name.end() + JUDGED_CHARACTERS)
    if seen is None or seen.lastgroup is None:
        return False
    at, value = seen.start(seen.lastgroup), seen[seen.lastgroup]
    if is_placeholder(scan.text, at):
        return True
    word = name[0]
    if not name["close"] and scan.text[at - 1] not in QUOTES:
        before = scan.low[max(0, name.start() - 256) : name.start()]
        path = before[len(before.rstrip(_PATH_LETTERS)) :]
        if (is_message(scan.low, at) and not (is_constant(scan.text, at) and _masks_constants(scan, name))) or (
            scan.text[at - 1].isspace() and path.startswith(("/", "./", "../", "~/"))
        ):
            return True
    if word.startswith("key") and not word.startswith(("keym", "key_m", "key-m", "key m")):
        return _is_plain_key(scan, name, value)
    if word.startswith("pwd"):
        first = name.start() - (3 if scan.text[max(0, name.start() - 3) : name.start()] == "OLD" else 0)
        return (
            scan.text[name.start() : name.start() + 3] == "PWD"
            and scan.text[first - 1 : first] not in _NAME_LETTERS_OR_NONE
            and FOLDER.match(value) is not None
        )
    if word.startswith("pass") and not name["close"]:
        is_alone = scan.low[max(0, name.start() - 1) : name.start()] not in _NAME_LETTERS_OR_NONE
        is_test = scan.text[name.start() : name.start() + 6] == "PASS: " and value.lower().startswith("test")
        return is_alone and (is_test or COUNT.match(scan.low, at) is not None)
    return False


def _masks_constants(scan: Scan, name: re.Match[str]) -> bool:
    """Say whether `null` and `true` are masked behind a name: not where it asks a question (`hasToken`)."""
    first = _first_of_name(scan, name)
    return name["name"].startswith(HOLD_CONSTANTS) and not (
        name["name"] == "credentials" or _QUESTION.match(scan.text, first, name.end())
    )


def _is_plain_key(scan: Scan, name: re.Match[str], value: str) -> bool:
    """Say whether a key is one of a table or a map: its kind is none of a secret's, its value looks like a word."""
    if is_constant(scan.text, name.end()) and not _masks_constants(scan, name):
        return True
    before = scan.low[max(0, name.start() - 24) : name.start()]
    kind = before.rstrip(_JOINTS)
    if kind.endswith(KINDS_OF_KEY):
        return False
    if scan.text[name.start() : name.start() + 3] == "KEY":
        is_variable = before[-1:] in {"_", "-"} or name.end() - name.start() == len("KEY=")
        return not is_variable and not is_odd(value)
    is_joined = before[-1:] in {"_", "-", "."} or before[-1:].isalpha()
    if is_joined and not kind.endswith(PLAIN_KINDS_OF_KEY):
        return False
    return not is_odd(value) or (is_joined and is_constant(scan.text, name.end()) and before[-1:] in {"_", "-", "."})


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
            if span is not None and not is_placeholder(scan.text, span[0]):
                yield span


def _headers(scan: Scan) -> Iterator[Span]:
    if not scan.is_joined:
        return
    if scan.has(("authorization", "cookie")):
        for match in rules.HEADER.finditer(scan.low):
            start, end = match.span("value")
            if is_placeholder(scan.text, start) or (is_message(scan.low, start) and not is_constant(scan.text, start)):
                continue
            scheme = rules.SCHEME.match(scan.low, start, end)
            at = scheme.end() if scheme else start
            span = (at if _shows_scheme(scan, match) else start, end, "header")
            yield _with_its_like(scan, match.start(), at, span)
    if "authorization" in scan.low:
        yield from groups(rules.DIGEST, scan.low, "header", group="value")


def _shows_scheme(scan: Scan, header: re.Match[str]) -> bool:
    """Say whether a header's scheme may stay. Of a setting named `authorization` the first word is secret, too."""
    before = scan.text[max(0, header.start() - 1) : header.start()]
    is_setting = scan.text.startswith("authorization", header.start()) and (
        before in {"", ",", "{"} or before.isspace()
    )
    return not is_setting and ":" in header[0][: header.start("value") - header.start()]


def _elements(scan: Scan) -> Iterator[Span]:
    if "</" in scan.low:
        for match in rules.ELEMENT.finditer(scan.low):
            if match["end"]:
                yield (*match.span("secret"), "element")


def _files(scan: Scan) -> Iterator[Span]:
    for span in formats.file_spans(scan.low):
        if not is_placeholder(scan.text, span[0]):
            yield span


def _foreign_names(scan: Scan) -> Iterator[Span]:
    if not languages.may_name(scan.low, scan.text):
        return
    for name in languages.NAMED.finditer(scan.low):
        span = _value_in_json(scan, name) if name["close"] else _value_at(scan, name.end(), "named_value")
        if span is None or is_placeholder(scan.text, span[0]):
            continue
        if is_message(scan.low, span[0]):
            continue
        if name["says"] and not looks_secret(scan.text[span[0] : span[1]]):
            continue
        yield span


def _suffixed_names(scan: Scan) -> Iterator[Span]:
    if not scan.is_joined or not scan.has(rules.SUFFIXED_NEEDS):
        return
    for match in rules.SUFFIXED.finditer(scan.low):
        value = match["secret"]
        is_digits = value.isdigit()
        if match["name"].startswith("pin"):
            if not is_digits or len(value) < 4:
                continue
        elif len(value) < 6 or is_message(scan.low, match.start("secret")):
            continue
        if not is_placeholder(scan.text, match.start("secret")):
            yield (*match.span("secret"), "named_value")


def _said_names(scan: Scan) -> Iterator[Span]:
    if not scan.has(rules.SAID_NEEDS):
        return
    for match in rules.SAID.finditer(scan.low):
        value = scan.text[slice(*match.span("secret"))]
        is_code = match["name"].startswith(("passcode", "pin", "code", "otp"))
        if looks_secret(value) and (is_code or not value.strip(".,;:!").isdigit()):
            yield (*match.span("secret"), "named_value")


def _cards(scan: Scan) -> Iterator[Span]:
    if scan.has(rules.CARD_FIELD_NEEDS):
        if scan.has(rules.CARD_NAME_NEEDS):
            yield from _card_fields(scan)
        if scan.is_joined and rules.CARD_FIELD_VALUE.search(scan.low):
            yield from groups(rules.CARD_FIELD, scan.low, "payment_card")
    for match in rules.CARD.finditer(scan.text):
        if sum(map(str.isdigit, match[0])) in CARD_DIGITS and has_check_digit(match[0]):
            yield (*match.span(), "payment_card")


def _card_fields(scan: Scan) -> Iterator[Span]:
    """Mask what stands behind the name of a card's number or code, whatever it is."""
    for name in rules.CARD_NAME.finditer(scan.low):
        is_option = scan.low[max(0, name.start() - 2) : name.start()] == "--"
        if name["joint"].isspace() and not is_option:
            continue
        span = _value_in_json(scan, name) if name["close"] else _value_at(scan, name.end(), "payment_card")
        if span is None or is_placeholder(scan.text, span[0]):
            continue
        is_text = is_message(scan.low, span[0]) and not is_constant(scan.text, span[0])
        if is_text and not is_option and not name["close"]:
            continue
        yield _as_released(scan, name, (span[0], span[1], "payment_card"))


def _phrases(scan: Scan) -> Iterator[Span]:
    if scan.has(rules.PHRASE_NEEDS):
        yield from groups(rules.PHRASE, scan.low, "wallet_words")


RULES: tuple[Callable[[Scan], Iterator[Span]], ...] = (_foreign_names, _suffixed_names, _said_names, _cards, _phrases)
# What each of these looks for holds a word that names a secret.
RULES_OF_NAMES: tuple[Callable[[Scan], Iterator[Span]], ...] = (_headers, _named_values, _options, _elements, _files)
