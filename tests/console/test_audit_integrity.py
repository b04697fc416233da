"""The page about the ledger itself: what is signed, who keeps it, and a walk that anybody who reads may ask for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from django.test import Client
from django.utils import timezone, translation

import verify_audit
from apps.audit.checkpoints import checkpoints_make
from apps.audit.models import VerificationRun, Witness
from apps.audit.problems import SENTENCES, Kind, code_of, told_in_english, told_to_people
from apps.audit.services import entry_record
from apps.audit.signing import audit_key, key_id
from apps.audit.verification_runs import verification_request, verification_run
from tests.audit.conftest import fresh_writer, owner_sql  # noqa: F401 - fixtures
from tests.audit.drafts import intent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger", "fresh_writer", "environment")]

ClientOf = Callable[..., Client]
PAGE = "/audit/integrity/"
MAINTENANCE = "BEGIN; SET LOCAL openclaw_admin.audit_maintenance = 'on'; {}; COMMIT"


@pytest.fixture(autouse=True)
def keys(settings: Any, tmp_path: Path) -> None:
    settings.KEYS_DIR, settings.AUDIT_KEY = tmp_path / "keys", ""
    settings.WITNESS_DIR = tmp_path / "witnesses"


def test_it_shows_chains_checkpoints_and_the_key_to_pin(client_of: ClientOf, auditor: Any) -> None:
    entry_record(intent())
    checkpoints_make()
    page = client_of(auditor).get(PAGE).content.decode()
    assert key_id(audit_key().public) in page and "checkpoint of 1 chain" in page
    assert "Verify now" in page and "Add witness" not in page


def test_an_empty_ledger_has_its_page(client_of: ClientOf, admin: Any) -> None:
    page = client_of(admin).get(PAGE).content.decode()
    assert "Nobody has verified the ledger yet" in page and "Nothing was signed yet" in page


def test_verify_now_shows_how_far_it_is_and_then_what_was_found(client_of: ClientOf, auditor: Any) -> None:
    entry_record(intent())
    browser = client_of(auditor)
    asked = browser.post(f"{PAGE}verify/", headers={"HX-Request": "true"}).content.decode()
    run = VerificationRun.objects.get()
    assert "Verifying" in asked and 'hx-trigger="every 1s"' in asked
    verification_run(run.pk, at=timezone.now())
    path = asked.split('hx-get="')[1].split('"')[0]
    answer = browser.get(path).content.decode()
    assert "Every chain holds" in answer and "hx-trigger" not in answer


def test_without_scripts_it_comes_back_to_the_page(client_of: ClientOf, auditor: Any) -> None:
    assert client_of(auditor).post(f"{PAGE}verify/")["Location"] == PAGE


def test_a_broken_ledger_is_an_alarm(
    client_of: ClientOf,
    auditor: Any,
    owner_sql: Callable[[str], None],  # noqa: F811 - a fixture
) -> None:
    entry_record(intent())
    owner_sql(MAINTENANCE.format("UPDATE audit_entry SET tool = 'x'"))
    verification_run(verification_request(auditor, at=timezone.now()).pk, at=timezone.now())
    page = client_of(auditor).get(PAGE).content.decode()
    assert "The audit ledger does not hold." in page and "1 problem" in page and "it does not hash" in page


def test_what_was_found_is_told_in_the_language_of_whoever_reads(
    client_of: ClientOf,
    auditor: Any,
    owner_sql: Callable[[str], None],  # noqa: F811 - a fixture
) -> None:
    for _ in range(4):
        entry_record(intent())
    Witness.objects.create(name="notary", kind="file", target="notary.jsonl", last_number=9)
    owner_sql(MAINTENANCE.format("DELETE FROM audit_entry WHERE seq = 2"))
    verification_run(verification_request(auditor, at=timezone.now()).pk, at=timezone.now())
    browser = client_of(auditor)
    english = browser.get(PAGE).content.decode()
    chinese = browser.get(PAGE, headers={"Accept-Language": "zh-hans"}).content.decode()
    assert "after number 1 comes number 3" in english and "statement #9" in english
    assert "编号 1 之后是编号 3" in chinese and "见证者 notary 已获知它" in chinese and "声明 #9" in chinese
    assert "after number" not in chinese and "was told of it" not in chinese


def test_each_kind_has_a_sentence_in_both_languages_that_takes_its_params() -> None:
    params = dict.fromkeys(("number", "before", "after", "last", "length", "name", "why", "contents"), "<7>")
    for kind in get_args(Kind):
        english = told_in_english(kind, params)
        kept = {"kind": kind, "params": params, "message": english, "code": code_of(kind)}
        with translation.override("zh-hans"):
            chinese = told_to_people(kept)
        assert chinese != english and chinese.count("<7>") == english.count("<7>"), kind
    assert set(get_args(Kind)) == set(SENTENCES)


def test_what_an_earlier_release_found_keeps_its_sentence(client_of: ClientOf, auditor: Any) -> None:
    found = {"place": "chain_1 #7", "code": "changed", "message": "it does <not> hash"}
    at = timezone.now()
    VerificationRun.objects.create(
        requested_by="system", requested_at=at, finished_at=at, state="done", is_intact=False,
        report={"problem_count": 1, "problems": [found], "heads": 0, "statements": 0},
    )  # fmt: skip
    page = client_of(auditor).get(PAGE, headers={"Accept-Language": "zh-hans"}).content.decode()
    assert "chain_1 #7" in page and "it does &lt;not&gt; hash" in page


def test_a_checkpoint_is_signed_on_demand(client_of: ClientOf, auditor: Any) -> None:
    entry_record(intent())
    browser = client_of(auditor)
    assert "A checkpoint was signed." in browser.post(f"{PAGE}checkpoint/", follow=True).content.decode()
    assert "No chain moved" in browser.post(f"{PAGE}checkpoint/", follow=True).content.decode()


def test_the_verifier_and_the_key_can_be_taken(client_of: ClientOf, auditor: Any) -> None:
    browser = client_of(auditor)
    taken: Any = browser.get(f"{PAGE}verify_audit.py")
    assert b"".join(taken.streaming_content) == Path(verify_audit.__file__).read_bytes()
    assert browser.get(f"{PAGE}key.pem").content.startswith(b"-----BEGIN PUBLIC KEY-----")


def test_an_administrator_adds_and_removes_witnesses(client_of: ClientOf, admin: Any) -> None:
    browser = client_of(admin)
    given = {"name": "disk", "kind": "file", "target": "ledger.jsonl", "roots_pem": ""}
    assert browser.post(f"{PAGE}witnesses/add/", given)["Location"] == PAGE
    assert "ledger.jsonl" in browser.get(PAGE).content.decode()
    refused = browser.post(f"{PAGE}witnesses/add/", given | {"target": "../x"})
    assert refused.status_code == 422 and b"without a folder" in refused.content
    Witness.objects.update(error="the other side answered 500", attempts=4)
    page = browser.get(PAGE).content.decode()
    assert "The witness disk does not answer." in page and "Try again" in page
    browser.post(f"{PAGE}witnesses/disk/retry/")
    browser.post(f"{PAGE}witnesses/disk/remove/")
    assert not Witness.objects.exists()
    assert browser.post(f"{PAGE}witnesses/disk/remove/").status_code == 404


def test_an_auditor_changes_no_witness(client_of: ClientOf, auditor: Any) -> None:
    given = {"name": "disk", "kind": "file", "target": "ledger.jsonl"}
    assert client_of(auditor).post(f"{PAGE}witnesses/add/", given).status_code == 403


def test_a_key_that_was_lost_is_said(client_of: ClientOf, auditor: Any, settings: Any) -> None:
    entry_record(intent())
    checkpoints_make()
    (settings.KEYS_DIR / "audit_key").unlink()
    page = client_of(auditor).get(PAGE).content.decode()
    assert "Nothing can be signed." in page and "put back the key file" in page


def test_a_key_that_cannot_be_used_is_said(client_of: ClientOf, auditor: Any, settings: Any) -> None:
    settings.AUDIT_KEY = "short"
    assert "Nothing can be signed." in client_of(auditor).get(PAGE).content.decode()
    assert client_of(auditor).get(f"{PAGE}key.pem").status_code == 422
