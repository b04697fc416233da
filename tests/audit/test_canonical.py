"""The one form of JSON that hashes cover: the standard library's, however it is written."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.audit.chain import (
    FORMAT,
    body_columns,
    body_digest,
    canonical,
    commitment_of_texts,
    content_commitment,
    content_texts,
    entry_hash,
    storable,
)
from apps.audit.masking import Masker

TEXTS = st.text(st.characters(exclude_categories=[]), max_size=12)
NUMBERS = st.one_of(st.integers(), st.floats(), st.floats(-0.001, 0.001))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


def plain(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


@given(VALUES)
def test_it_writes_the_bytes_of_the_standard_library(value: Any) -> None:
    assert canonical(storable(value)) == plain(storable(value))


@pytest.mark.parametrize(
    "value",
    [
        *(1e-5, -1e-7, 0.00001, 0.0001, [5e-324], {"a": 1.5e-9, "b": "e-5"}, 2**70, -(2**63) - 1, 0.1 + 0.2),
        *("\x7f\x1f\u2028\b\f", {"é": 1, "z": 2, "\U0001f600": 3, "\uffff": 4}, [[[{}]]], {}, [], ""),
    ],
)
def test_it_writes_what_is_odd_as_the_standard_library_does(value: Any) -> None:
    assert canonical(value) == plain(value)


def test_it_writes_what_is_nested_deeply() -> None:
    value: Any = 1
    for _ in range(400):
        value = {"in": [value]}
    assert canonical(value) == plain(value)


@given(params=VALUES, result=VALUES, reason=TEXTS)
def test_a_commitment_covers_the_whole_content_as_one_value(params: Any, result: Any, reason: str) -> None:
    content = {"params": storable(params), "result": storable(result), "decision_reason": storable(reason)}
    whole = {"changes": None, "error": None, "masked": None} | content
    salt = b"s" * 16
    assert content_commitment(salt, content) == hashlib.sha256(salt + plain(whole)).digest()
    assert commitment_of_texts(salt, content_texts(content)) == content_commitment(salt, content)


@given(phases=VALUES, tool=TEXTS)
def test_a_body_is_digested_as_one_value(phases: Any, tool: str) -> None:
    at, entry, columns = datetime(2026, 11, 1, 12, tzinfo=UTC), UUID(int=3), dict.fromkeys(body_columns())
    columns |= {"at": at, "id": entry, "format": FORMAT, "tool": storable(tool), "content_commitment": b"c" * 32}
    columns["phases"] = storable(phases)
    written = columns | {"at": "2026-11-01T12:00:00.000000Z", "id": str(entry), "content_commitment": "63" * 32}
    assert body_digest(columns) == hashlib.sha256(plain(written)).digest()


def test_a_link_is_canonical_json_of_its_five_values() -> None:
    chain, prev, body = UUID(int=7), b"p" * 32, b"b" * 32
    link = {"body": body.hex(), "chain": str(chain), "format": 2, "prev": prev.hex(), "seq": 12}
    assert entry_hash(chain_id=chain, seq=12, prev=prev, body=body, version=2) == hashlib.sha256(plain(link)).digest()


@given(VALUES)
def test_what_is_masked_and_written_at_once_is_what_is_masked_and_then_written(value: Any) -> None:
    assert Masker().written("params", value) == canonical(Masker().value("params", value))
