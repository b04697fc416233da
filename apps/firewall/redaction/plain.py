"""Telling quickly that a JSON value holds nothing to mask, as most values of most calls do.

Whatever a rule finds in a text of the value it would find in the value's JSON, too, where the same letters stand
between quotes, which no rule takes for part of a word. So the JSON is looked at as one text, for what each rule needs.
The answer may err on one side only: what is called plain is left as it is by `mask_value`.
"""

import re
from typing import Any, Final

from apps.firewall.redaction import commands, formats, languages, programs, rules
from apps.firewall.redaction.masks import MASK_START
from apps.firewall.redaction.names import is_secret_name
from apps.firewall.redaction.scan import has_any
from apps.firewall.redaction.shapes import run_is_plain
from apps.firewall.redaction.text import LIMIT_CHARACTERS
from apps.firewall.redaction.values import CARD_NUMBERS_FROM, NAMING_FIELDS

NESTED_AT_MOST: Final = 32
NAMING: Final = frozenset(NAMING_FIELDS)
# The rules that look for words find nothing where none of these is.
NEEDED: Final = (
    *rules.NAMED_NEEDS,
    *rules.QUERY_NEEDS,
    *rules.WEBHOOK_NEEDS,
    *rules.SUFFIXED_NEEDS,
    *rules.SAID_NEEDS,
    *rules.PHRASE_NEEDS,
    *commands.PIPED_NEEDS,
    *programs.NEEDS,
    *formats.STATEMENT_NEEDS,
    *("bearer", "basic", "-----begin", MASK_START),
)
ESCAPES: Final = (("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ('\\"', '"'))
RUN_LETTERS: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~+/=-")
RUNS: Final = bytes(byte if byte in RUN_LETTERS else 0x20 for byte in range(256))
PROGRAM_LETTERS: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
PROGRAM_RUNS: Final = bytes(byte if byte in PROGRAM_LETTERS else 0x20 for byte in range(256))
PROGRAM_NAMES: Final = frozenset(name.encode() for name in programs.NAMES)
SHORTEST_TOKEN: Final = 11
BOT_TOKEN: Final = re.compile(r"[0-9]:[A-Za-z0-9_-]{20}")
BOT_TOKEN_LETTERS: Final = 20
DIGITS: Final = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x2E for byte in range(256))
CARD_DIGITS: Final = b"0" * 14


def is_plain_value(value: Any, depth: int = 0) -> bool:
    """Say whether no name in a value names a secret, and what it holds is text, small whole numbers, truths or null."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return True
    if kind is int:
        return bool(-CARD_NUMBERS_FROM < value < CARD_NUMBERS_FROM)
    if depth >= NESTED_AT_MOST:
        return False
    if kind is dict:
        for name, inner in value.items():
            if type(name) is not str or is_secret_name(name) or not is_plain_value(inner, depth + 1):
                return False
        return NAMING.isdisjoint(value) or not _names_secret(value)
    if kind is not list:
        return False
    for item in value:  # noqa: SIM110 - `all` over a generator takes three times as long
        if not is_plain_value(item, depth + 1) or (type(item) is str and _names_option(item)):
            return False
    return True


def _names_secret(mapping: dict[str, Any]) -> bool:
    named = (mapping.get(naming) for naming in NAMING_FIELDS)
    return any(type(name) is str and is_secret_name(name) for name in named)


def _names_option(item: str) -> bool:
    return item.startswith("-") and is_secret_name(item.lstrip("-"))


def is_plain_json(written: bytes) -> bool:
    """Say whether no text and no name in a value's JSON, as orjson writes it, holds what any rule looks for."""
    text = written.decode()
    if len(text) > LIMIT_CHARACTERS:
        return False
    if "\\" in text:
        if "\\\\" in text:  # what follows it would be read as an escape
            return False
        for escape, letter in ESCAPES:
            text = text.replace(escape, letter)
        if "\\" in text:
            return False
        written = text.encode()
    low = text.lower()
    for word in NEEDED:
        if word in low:
            return False
    if ("://" in text and "@" in text) or CARD_DIGITS in written.translate(DIGITS, b" -"):
        return False
    if not PROGRAM_NAMES.isdisjoint(written.lower().translate(PROGRAM_RUNS).split()):
        return False
    if languages.may_name(low, text) and languages.NAMED.search(low):
        return False
    if formats.has_lines(text) or formats.IBAN.search(text) or formats.may_open_wallet(low):
        return False
    for word in rules.CARD_FIELD_NEEDS:
        if word in low:
            return not _may_name_card(low) and _runs_are_plain(written, text)
    return _runs_are_plain(written, text)


def _may_name_card(low: str) -> bool:
    if rules.CARD_FIELD.search(low) is not None:
        return True
    return has_any(low, rules.CARD_NAME_NEEDS) and rules.CARD_NAME.search(low) is not None


def _runs_are_plain(written: bytes, text: str) -> bool:
    longest = 0
    for run in written.translate(RUNS).split(b" "):
        length = len(run)
        if length >= SHORTEST_TOKEN:
            if not run_is_plain(run.decode()):
                return False
            longest = max(longest, length)
    return longest < BOT_TOKEN_LETTERS or BOT_TOKEN.search(text) is None
