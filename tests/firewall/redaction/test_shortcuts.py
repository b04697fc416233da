"""What the masker looks for first, because it is found fast, is never less than what its expressions find."""

import re

from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.redaction import rules
from apps.firewall.redaction.scan import scan_of
from apps.firewall.redaction.text import RULES, RULES_OF_NAMES, TOO_PLAIN

PIECES = (
    *("pass", "key", "token", "secret", "passecret", "pwd", "_auth", "authorization", "jwt", "cookies", "compass"),
    *("4111111111111111", "3714 4963 5398 431", "6011-1111-1111-1117", "550", "card number", "pan", "cvc"),
    *("session=", "sid=abc", "code=", "x-goog-signature=", "pin=12", "&", "?", ";", "=", ":", "%3a", "=>"),
    *(" ", "\n", '"', "'", "\\", "-", ".", "/", "x", "7", "A1"),
)
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text)]


@given(texts)
def test_names_are_found_where_their_first_letters_are(text: str) -> None:
    low, found, at = text.lower(), [], 0
    for start in rules.NAMED_START.finditer(low):
        name = rules.NAMED.match(low, start.start()) if start.start() >= at else None
        if name is not None:
            found.append(name.span())
            at = name.end()

    assert found == spans(rules.NAMED, low)


@given(texts)
def test_what_is_looked_for_first_is_in_every_match(text: str) -> None:
    low = text.lower()
    assert any(word in low for word in rules.QUERY_NEEDS) or not spans(rules.QUERY, low)
    assert rules.CARD_FIELD_VALUE.search(low) or not spans(rules.CARD_FIELD, low)


@given(texts)
def test_cards_and_runs_begin_where_nothing_of_them_stands_before(text: str) -> None:
    cards = r"(?<![0-9A-Za-z.-])(?:[245][0-9]|3[47]|6[05])[0-9](?:[ -]?[0-9]){11,13}(?![0-9A-Za-z])"
    runs = r"(?<![A-Za-z0-9_.~+/=-])[A-Za-z0-9_.~+/=-]{10,}"
    assert spans(rules.CARD, text) == spans(re.compile(cards), text)
    assert spans(rules.RUN, text) == spans(re.compile(runs), text)


@given(texts)
def test_names_and_their_values_are_joined_by_a_mark(text: str) -> None:
    low = text.lower()
    joined = any(mark in text for mark in ("=", ":", "%3"))
    named = any(word in low for word in rules.NAMED_NEEDS)
    for pattern in (rules.NAMED, rules.HEADER, rules.DIGEST):
        assert (joined and named) or not spans(pattern, low)
    assert named or not spans(rules.ELEMENT, low)
    assert joined or not spans(rules.CARD_FIELD, low)


BEGINNINGS = (
    "sk-",
    "sk_",
    "gsk_",
    "fo1_",
    "hf_",
    "r8_",
    "1//",
    "eyJ",
    "fm1_",
    "hvs.",
    "key",
    "SK",
    "AC",
    "4111",
    "Aa1+",
)
short = st.tuples(st.sampled_from(BEGINNINGS), st.text("aZ09_.~+/%", max_size=10)).map("".join)


@given(short)
def test_no_rule_finds_anything_in_what_is_too_plain_to_look_at(text: str) -> None:
    if TOO_PLAIN.fullmatch(text):
        assert not [span for rule in (*RULES, *RULES_OF_NAMES) for span in rule(scan_of(text))]
