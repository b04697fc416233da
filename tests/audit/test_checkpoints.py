"""A checkpoint vouches for the heads that moved; a manifest for the rows of an export."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from apps.audit.chain import canonical
from apps.audit.checkpoints import chains_newest, checkpoint_make, checkpoints_make
from apps.audit.manifests import DOMAIN, RowFacts, manifest_sign
from apps.audit.sealing import seal_entry
from apps.audit.services import entry_record
from apps.audit.signing import audit_key, signature_fits
from apps.audit.statements import key_rotate, statement_is_sound, statement_sign, statements
from apps.audit.writer import Writer
from tests.audit.drafts import intent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger", "fresh_writer")]


@pytest.fixture(autouse=True)
def keys(settings: Any, tmp_path: Path) -> None:
    settings.KEYS_DIR, settings.AUDIT_KEY = tmp_path / "keys", ""


def test_a_checkpoint_names_the_heads_that_moved() -> None:
    receipt = entry_record(intent())
    made = checkpoint_make()
    assert made is not None and statement_is_sound(made)
    assert made.told == {"heads": [{"chain": str(receipt.chain_id), "seq": 1, "hash": receipt.hash.hex()}]}


def test_nothing_moved_nothing_signed() -> None:
    entry_record(intent())
    assert len(checkpoints_make()) == 1 and checkpoints_make() == []
    entry_record(intent())
    assert [each.number for each in checkpoints_make()] == [2]


def test_only_the_chain_that_moved_is_in_the_next_one(another_process: Writer) -> None:
    entry_record(intent())
    checkpoint_make()
    (moved,) = another_process.submit(seal_entry(intent())).result(timeout=30)
    made = checkpoint_make()
    assert made is not None and [head["chain"] for head in made.told["heads"]] == [str(moved.chain_id)]
    assert {(chain.seq, chain.covered, chain.open_entries) for chain in chains_newest()} == {(1, 1, 0)}


def test_a_manifest_says_what_the_file_holds(tmp_path: Path) -> None:
    receipts = [entry_record(intent(params={"n": number})) for number in range(3)]
    key_rotate(by="user:admin")
    gone = {"chain": str(receipts[0].chain_id), "first": 2, "last": 2}
    statement_sign("erasure", {"reason": "asked", "ranges": [gone]})
    statement_sign("erasure", {"reason": "asked", "ranges": [gone | {"chain": "another"}]})
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"rows\n")
    facts = RowFacts()
    facts.add_rows((each.chain_id, each.seq, each.hash) for each in receipts[:2])
    facts = RowFacts.from_json(json.loads(json.dumps(facts.to_json())))
    facts.add_rows((each.chain_id, each.seq, each.hash) for each in receipts[2:])
    document = json.loads(manifest_sign({"format": "jsonl"}, path=path, name="rows.jsonl", facts=facts))
    signature = bytes.fromhex(document.pop("signature"))
    assert signature_fits(audit_key().public, signature, DOMAIN + hashlib.sha256(canonical(document)).digest())
    chain = {"chain": str(receipts[0].chain_id), "first": 1, "last": 3, "count": 3}
    assert document["rows"] == {"count": 3, "digest": facts.digest.hex(), "chains": [chain]}
    assert document["trailer"] == {"chain": chain["chain"], "seq": 3, "hash": receipts[2].hash.hex()}
    assert document["file"] == {"name": "rows.jsonl", "bytes": 5, "sha256": hashlib.sha256(b"rows\n").hexdigest()}
    assert [each["kind"] for each in document["statements"]] == ["key", "erasure", "checkpoint"]
    assert [each.kind for each in statements()] == ["key", "erasure", "erasure", "checkpoint"]


def test_the_manifest_of_no_rows_is_signed_as_well(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"")
    document = json.loads(manifest_sign({}, path=path, name="rows.csv", facts=RowFacts()))
    assert document["rows"]["count"] == 0 and document["trailer"] is None and document["statements"] == []
