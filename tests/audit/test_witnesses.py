"""Witnesses keep what was signed: told in order, again after a failure, and a time-stamp counts once it verifies."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.errors import PermissionDeniedError
from apps.audit.checkpoints import checkpoints_make
from apps.audit.errors import WitnessInvalidError
from apps.audit.models import Witness
from apps.audit.services import entry_record
from apps.audit.statements import statements, statements_newest
from apps.audit.witnesses import (
    receipt_token,
    token_verified,
    witness_add,
    witness_remove,
    witness_retry,
    witness_tell,
    witnesses,
    witnesses_due,
)
from tests.audit.authority import Authority
from tests.audit.drafts import intent
from tests.receiver import Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger", "fresh_writer")]


@pytest.fixture(autouse=True)
def keys(settings: Any, tmp_path: Path) -> Path:
    settings.KEYS_DIR, settings.AUDIT_KEY = tmp_path / "keys", ""
    settings.WITNESS_DIR = tmp_path / "witnesses"
    return tmp_path / "witnesses"


@pytest.fixture(scope="module")
def authority() -> Iterator[Authority]:
    made = Authority()
    yield made
    made.close()


@pytest.fixture
def stamping(authority: Authority, settings: Any) -> Authority:
    settings.CALLBACK_NETWORKS, settings.CALLBACK_PORTS = ["127.0.0.0/8"], [authority.port]
    authority.spoils = False
    return authority


def checkpoint() -> None:
    entry_record(intent())
    checkpoints_make()


def tell(witness: Witness, at: datetime | None = None) -> Witness:
    witness_tell(witness.pk, at=at or timezone.now())
    witness.refresh_from_db()
    return witness


def test_a_file_gets_a_line_for_each_statement(admin: Any, keys: Path) -> None:
    checkpoint()
    witness = witness_add(admin, name="disk", kind="file", target="ledger.jsonl")
    tell(witness)
    checkpoint()
    assert witnesses_due(timezone.now()) == [witness.pk]
    assert tell(witness).last_number == 2 and witnesses_due(timezone.now()) == []
    lines = (keys / "ledger.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [each.document() for each in statements()]


def test_a_file_that_is_a_link_elsewhere_is_not_written(admin: Any, keys: Path, tmp_path: Path) -> None:
    checkpoint()
    keys.mkdir()
    (keys / "ledger.jsonl").symlink_to(tmp_path / "elsewhere")
    witness = tell(witness_add(admin, name="disk", kind="file", target="ledger.jsonl"))
    assert (witness.error_code, witness.last_number) == ("file", 0) and not (tmp_path / "elsewhere").exists()


def test_a_program_is_told_by_a_signed_post(admin: Any, receiver: Receiver) -> None:
    checkpoint()
    witness = tell(witness_add(admin, name="vault", kind="http", target=receiver.url))
    (_, headers, body), told = receiver.heard[0], statements_newest(limit=1)[0]
    assert json.loads(body) == {"witness": "vault", "statements": [told.document()]}
    assert any("signature" in name for name in headers) and witness.last_number == 1


def test_what_failed_is_visible_and_tried_again_later(admin: Any, receiver: Receiver) -> None:
    checkpoint()
    receiver.statuses = [500, 500]
    witness, at = witness_add(admin, name="vault", kind="http", target=receiver.url), timezone.now()
    tell(witness, at)
    assert (witness.error_code, witness.attempts, witness.last_number) == ("refused", 1, 0)
    assert witnesses_due(at) == [] and witnesses_due(at + timedelta(seconds=11)) == [witness.pk]
    tell(witness, at)
    assert witnesses_due(at + timedelta(seconds=11)) == []  # waits longer after each failure
    witness_retry(admin, witness)
    assert witnesses_due(at) == [witness.pk]
    assert tell(witness).last_number == 1 and (witness.error, witness.attempts) == ("", 0)


def test_a_time_stamp_is_kept_and_verifies(admin: Any, stamping: Authority) -> None:
    checkpoint()
    checkpoint()
    given = {"kind": "rfc3161", "target": stamping.url, "roots_pem": stamping.roots_pem}
    witness = tell(witness_add(admin, name="tsa", **given))
    assert (witness.last_number, witness.error) == (2, "")
    newest = statements_newest(limit=1)[0]
    at = token_verified(witness, newest, receipt_token(witness, 2))
    assert abs((datetime.now(UTC) - at).total_seconds()) < 600
    with pytest.raises(WitnessInvalidError, match="does not verify"):
        token_verified(witness, statements_newest(before=2, limit=1)[0], receipt_token(witness, 2))


@pytest.mark.parametrize("fault", ["another message", "another authority"])
def test_a_time_stamp_that_does_not_verify_is_refused(admin: Any, stamping: Authority, fault: str) -> None:
    checkpoint()
    stamping.spoils = fault == "another message"
    other = Authority() if fault == "another authority" else stamping
    given = {"kind": "rfc3161", "target": stamping.url, "roots_pem": other.roots_pem}
    witness = tell(witness_add(admin, name="tsa", **given))
    assert (witness.error_code, witness.last_number) == ("token_refused", 0)
    if other is not stamping:
        other.close()


def test_an_answer_that_is_no_time_stamp_is_refused(admin: Any, receiver: Receiver, authority: Authority) -> None:
    checkpoint()
    given = {"kind": "rfc3161", "target": receiver.url, "roots_pem": authority.roots_pem}
    assert tell(witness_add(admin, name="tsa", **given)).error_code == "token_unreadable"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"name": "A b"}, "name"),
        ({"kind": "rumour"}, "kind"),
        ({"target": "../outside"}, "target"),
        ({"target": ".hidden"}, "target"),
        ({"kind": "http", "target": "http://10.0.0.1/"}, "target"),
        ({"kind": "http", "target": "file:///etc/passwd"}, "target"),
        ({"kind": "rfc3161", "target": "https://tsa.example/"}, "roots_pem"),
    ],
)
def test_a_witness_that_cannot_be_is_refused(admin: Any, given: dict[str, str], path: str) -> None:
    with pytest.raises(WitnessInvalidError) as caught:
        witness_add(admin, **{"name": "disk", "kind": "file", "target": "ledger.jsonl"} | given)
    assert [detail["path"] for detail in caught.value.details] == [path]


def test_two_witnesses_never_share_a_name(admin: Any) -> None:
    witness_add(admin, name="disk", kind="file", target="a")
    with pytest.raises(WitnessInvalidError, match="another witness"):
        witness_add(admin, name="disk", kind="file", target="b")


def test_only_who_manages_the_ledger_changes_witnesses(admin: Any, auditor: Any) -> None:
    with pytest.raises(PermissionDeniedError):
        witness_add(auditor, name="disk", kind="file", target="a")
    witness = witness_add(admin, name="disk", kind="file", target="a")
    with pytest.raises(PermissionDeniedError):
        witness_remove(auditor, witness)
    witness_remove(admin, witness)
    assert witnesses() == []
