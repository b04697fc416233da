"""Identifiers: made in order, shown as prefix and base32, read back."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.identifiers import new_id, read_id, show_id

PREFIXES = st.sampled_from(["call", "ap", "usr", "tok", "env", "agt", "pub", "aud"])


@given(prefix=PREFIXES, identifier=st.uuids())
def test_what_is_shown_can_be_read_back(prefix: str, identifier: uuid.UUID) -> None:
    assert read_id(prefix, show_id(prefix, identifier)) == identifier


@given(one=st.uuids(), other=st.uuids())
def test_shown_identifiers_sort_like_their_values(one: uuid.UUID, other: uuid.UUID) -> None:
    assert (show_id("ap", one) < show_id("ap", other)) == (one.int < other.int)


@given(text=st.text(max_size=40))
def test_anything_else_is_refused(text: str) -> None:
    try:
        identifier = read_id("call", text)
    except ValueError:
        return
    assert show_id("call", identifier) == text


def test_another_kind_is_refused() -> None:
    shown = show_id("ap", new_id())
    with pytest.raises(ValueError, match="`call`"):
        read_id("call", shown)


def test_a_value_of_more_than_128_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="not an identifier"):
        read_id("call", "call_" + "z" * 26)


def test_new_identifiers_are_of_version_seven_and_unique() -> None:
    identifiers = [new_id() for _ in range(1000)]
    assert {identifier.version for identifier in identifiers} == {7}
    assert {identifier.variant for identifier in identifiers} == {uuid.RFC_4122}
    assert len(set(identifiers)) == 1000


def test_later_identifiers_sort_after_earlier_ones() -> None:
    identifiers = [new_id() for _ in range(1000)]
    times = [identifier.int >> 80 for identifier in identifiers]
    assert times == sorted(times)
