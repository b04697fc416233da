"""What `verify_audit.py` has of its own, the hashes and the signature, agrees with what writes the ledger."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

import verify_audit
from apps.audit import chain, statements
from apps.firewall.identifiers import show_id

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(chain.storable_text)
LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | TEXT
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=6
).map(chain.storable)
INSTANTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds
VERSIONS = st.sampled_from(sorted(chain.FORMATS))


@st.composite
def entries(draw: st.DrawFn) -> dict[str, Any]:
    row: dict[str, Any] = {name: draw(TEXT) for name in chain.TOLD_COLUMNS}
    row |= {"at": draw(INSTANTS), "id": draw(st.uuids()), "format": draw(VERSIONS)}
    row |= {name: draw(st.none() | st.uuids()) for name in ("call_id", "approval_id")}
    row |= {name: draw(VALUES) for name in ("phases", "changes")}
    row["duration_ms"] = draw(st.none() | st.integers(0, 2**62))
    row["content_commitment"] = draw(st.none() | st.binary(min_size=32, max_size=32))
    return row


@given(row=entries(), seq=st.integers(1, 2**62), prev=st.binary(min_size=32, max_size=32), chain_id=st.uuids())
@settings(max_examples=60)
def test_an_entry_hashes_alike(row: dict[str, Any], seq: int, prev: bytes, chain_id: UUID) -> None:
    body = chain.body_digest(row)
    ours = chain.entry_hash(chain_id=chain_id, seq=seq, prev=prev, body=body, version=row["format"])
    told = row | {"at": chain.instant_text(row["at"]), "id": str(row["id"])}
    told |= {name: row[name] and str(row[name]) for name in ("call_id", "approval_id")}
    told["content_commitment"] = row["content_commitment"] and row["content_commitment"].hex()
    told |= {"chain_id": str(chain_id), "seq": seq, "prev_hash": prev.hex()}
    assert verify_audit.entry_hash(told) == ours


@given(
    content=st.fixed_dictionaries(dict.fromkeys(chain.content_columns(), VALUES)), version=VERSIONS, salt=st.binary()
)
@settings(max_examples=60)
def test_a_content_is_bound_alike(content: dict[str, Any], version: int, salt: bytes) -> None:
    ours = chain.content_commitment(salt, content, version=version)
    assert verify_audit.commitment(content | {"salt": salt.hex()}, version) == ours


@given(number=st.integers(1, 2**62), at=INSTANTS, kind=TEXT, body=TEXT, prev=st.binary(max_size=32), key=st.binary())
def test_a_statement_hashes_alike(number: int, at: datetime, kind: str, body: str, prev: bytes, key: bytes) -> None:
    ours = statements.statement_hash(number=number, at=at, kind=kind, body=body, prev=prev, public_key=key)
    made = statements.Statement(number, at, kind, body, prev, ours, b"", key)
    assert verify_audit.statement_hash(made.document()) == ours


@given(seed=st.binary(min_size=32, max_size=32), payload=st.binary(), place=st.integers(0, 63), bit=st.integers(0, 7))
@settings(max_examples=15)
def test_a_signature_is_judged_alike(seed: bytes, payload: bytes, place: int, bit: int) -> None:
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public, signature = key.public_key().public_bytes_raw(), bytearray(key.sign(payload))
    assert verify_audit.signature_fits(public, bytes(signature), payload)
    assert not verify_audit.signature_fits(public, bytes(signature), payload + b"x")
    signature[place] ^= 1 << bit
    assert not verify_audit.signature_fits(public, bytes(signature), payload)


def test_it_knows_the_vectors_of_the_standard() -> None:
    """Source: RFC 8032, section 7.1, TEST 2; and a scalar that is not below the order is no signature."""
    public = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
    signature = bytes.fromhex(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    assert verify_audit.signature_fits(public, signature, b"\x72")
    larger = int.from_bytes(signature[32:], "little") + verify_audit.ORDER
    assert not verify_audit.signature_fits(public, signature[:32] + larger.to_bytes(32, "little"), b"\x72")
    assert not verify_audit.signature_fits(b"\xff" * 32, signature, b"\x72")
    assert not verify_audit.signature_fits(public, signature[:-1], b"\x72")


@given(at=INSTANTS, zone=st.sampled_from(["+00", "+05:30", "-08"]))
def test_an_instant_of_a_dump_is_read_alike(at: datetime, zone: str) -> None:
    moved = {"+00": "+00:00", "+05:30": "+05:30", "-08": "-08:00"}[zone]
    local = at.astimezone(datetime.fromisoformat(f"2000-01-01T00:00:00{moved}").tzinfo)
    text = local.strftime("%Y-%m-%d %H:%M:%S.%f").rstrip("0").rstrip(".") if at.microsecond else f"{local:%F %T}"
    assert verify_audit.instant(text + zone) == chain.instant_text(at)


@given(identifier=st.uuids())
def test_an_identifier_is_read_alike(identifier: UUID) -> None:
    assert verify_audit.shown_uuid(show_id("aud", identifier), "aud") == str(identifier)
    assert verify_audit.shown_uuid(str(identifier), "aud") == str(identifier)
