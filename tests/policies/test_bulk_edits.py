"""A bulk edit makes each row once, says what came of it, and goes on where a worker was killed."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.errors import PermissionDeniedError
from apps.audit.models import Entry
from apps.firewall.engine.diff import diff_snapshots
from apps.policies.bulk.asking import bulk_request, bulk_unfinished
from apps.policies.bulk.changes import BulkChange, snapshot_with
from apps.policies.bulk.running import bulk_run
from apps.policies.errors import BulkEditInvalidError
from apps.policies.models import Agent, BulkEdit, BulkEditRow, ExecSettings
from apps.policies.selectors import draft_snapshot
from apps.policies.services import document_import, record_delete, record_update

pytestmark = pytest.mark.django_db
NAMES = ("a", "b", "c", "d")


@pytest.fixture
def draft(environment: Any, admin: Any) -> Any:
    """Four agents; `b` denies exec already, and `c` allows one tool only."""
    entries = {
        "a": {},
        "b": {"tools": {"deny": ["exec"]}},
        "c": {"tools": {"allow": ["read"], "exec": {"mode": "ask"}}},
        "d": {"tools": {"profile": "coding"}},
    }
    document_import(environment, json.dumps({"agents": {"ownership": "explicit", "entries": entries}}), by=admin)
    return environment


def change_of(environment: Any, **given: str) -> BulkChange:
    return BulkChange.read(environment, given)


def asked(environment: Any, by: Any, **given: str) -> BulkEdit:
    agents = list(Agent.objects.filter(environment=environment).select_related("environment"))
    return bulk_request(environment, agents, change_of(environment, **given), by=by, at=timezone.now())


def results(edit: BulkEdit) -> dict[str, str]:
    return dict(BulkEditRow.objects.filter(edit=edit).values_list("key", "result"))


def test_an_entry_is_added_where_it_is_not(draft: Any, admin: Any) -> None:
    edit = asked(draft, admin, action="add", list="deny", entry="exec")
    assert bulk_run(edit.pk, at=timezone.now()) is False
    assert results(edit) == {"a": "done", "b": "unchanged", "c": "done", "d": "done"}
    assert {agent.key: agent.deny for agent in Agent.objects.all()} == {key: ["exec"] for key in NAMES}
    edit.refresh_from_db()
    assert (edit.state, edit.rows_done, edit.percent, edit.worker) == ("done", 4, 100, None)


def test_an_entry_is_removed_and_an_allow_list_never_ends_up_open(draft: Any, admin: Any) -> None:
    edit = asked(draft, admin, action="remove", list="allow", entry="read")
    bulk_run(edit.pk, at=timezone.now())
    assert results(edit) == {"a": "unchanged", "b": "unchanged", "c": "refused", "d": "unchanged"}
    assert "would allow everything" in BulkEditRow.objects.get(key="c").reason
    assert Agent.objects.get(key="c").allow == ["read"]


def test_a_profile_and_a_mode_are_set(draft: Any, admin: Any) -> None:
    bulk_run(asked(draft, admin, action="profile", value="minimal").pk, at=timezone.now())
    assert set(Agent.objects.values_list("profile", flat=True)) == {"minimal"}
    edit = asked(draft, admin, action="exec_mode", value="ask")
    bulk_run(edit.pk, at=timezone.now())
    assert results(edit) == {"a": "done", "b": "done", "c": "unchanged", "d": "done"}
    assert set(ExecSettings.objects.values_list("mode", flat=True)) == {"ask"}


def test_what_changed_or_went_meanwhile_says_so(draft: Any, admin: Any) -> None:
    edit = asked(draft, admin, action="add", list="deny", entry="exec")
    record_update(Agent.objects.get(key="a"), {"deny": ["read"]}, by=admin, expected_version=1)
    record_delete(Agent.objects.get(key="d"), by=admin, expected_version=1)
    bulk_run(edit.pk, at=timezone.now())
    assert results(edit) == {"a": "changed", "b": "unchanged", "c": "done", "d": "gone"}
    assert Agent.objects.get(key="a").deny == ["read"]


def test_a_row_that_a_rule_refuses_says_why_and_the_others_go_on(draft: Any, admin: Any) -> None:
    edit = asked(draft, admin, action="add", list="also_allow", entry="exec")
    bulk_run(edit.pk, at=timezone.now())
    assert results(edit) == {"a": "done", "b": "done", "c": "refused", "d": "done"}
    assert BulkEditRow.objects.get(key="c").reason


def test_each_row_has_an_entry_of_its_own_in_audit(draft: Any, admin: Any, empty_ledger: None) -> None:
    bulk_run(asked(draft, admin, action="add", list="deny", entry="exec").pk, at=timezone.now())
    told = [entry.changes for entry in Entry.objects.filter(kind="policy_change", actor=admin.actor)]
    assert {each["record"] for each in told if each} == {"a", "c", "d"}


def test_it_goes_on_where_it_stopped_and_makes_nothing_twice(draft: Any, admin: Any) -> None:
    edit = asked(draft, admin, action="add", list="deny", entry="exec")
    assert bulk_run(edit.pk, at=timezone.now(), limit_s=0) is True
    assert list(results(edit).values()) == ["done", "waiting", "waiting", "waiting"]
    record_update(Agent.objects.get(key="a"), {"deny": None}, by=admin, expected_version=2)
    assert bulk_run(edit.pk, at=timezone.now()) is False
    assert Agent.objects.get(key="a").deny is None
    assert bulk_run(edit.pk, at=timezone.now()) is False
    assert Agent.objects.get(key="c").version == 2


def test_one_that_a_killed_worker_left_is_found_and_one_that_runs_is_not_taken(draft: Any, admin: Any) -> None:
    edit, now = asked(draft, admin, action="add", list="deny", entry="exec"), timezone.now()
    assert bulk_unfinished(now) == [edit.pk]
    BulkEdit.objects.update(state="running", worker=edit.pk, touched_at=now)
    assert bulk_unfinished(now) == []
    assert bulk_run(edit.pk, at=now) is False
    assert set(results(edit).values()) == {"waiting"}
    later = now + timedelta(minutes=2)
    assert bulk_unfinished(later) == [edit.pk]
    bulk_run(edit.pk, at=later)
    assert "waiting" not in results(edit).values()


def test_who_may_no_longer_change_policy_changes_nothing(draft: Any, admin: Any) -> None:
    edit = asked(draft, admin, action="add", list="deny", entry="exec")
    admin.role = "viewer"
    admin.save(update_fields=["role"])
    bulk_run(edit.pk, at=timezone.now())
    assert set(results(edit).values()) == {"refused"}
    assert Agent.objects.get(key="a").deny is None


def test_only_who_may_change_policy_asks(draft: Any, operator: Any) -> None:
    with pytest.raises(PermissionDeniedError):
        asked(draft, operator, action="add", list="deny", entry="exec")


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({}, "action"),
        ({"action": "add", "list": "nothing", "entry": "exec"}, "list"),
        ({"action": "add", "list": "deny", "entry": " "}, "entry"),
        ({"action": "profile", "value": "no-such"}, "value"),
        ({"action": "exec_mode", "value": "no-such"}, "value"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(draft: Any, given: dict[str, str], path: str) -> None:
    with pytest.raises(BulkEditInvalidError) as caught:
        change_of(draft, **given)
    assert [detail["path"] for detail in caught.value.details] == [path]


def test_somebody_has_to_be_chosen(draft: Any, admin: Any) -> None:
    change = change_of(draft, action="add", list="deny", entry="exec")
    with pytest.raises(BulkEditInvalidError):
        bulk_request(draft, [], change, by=admin, at=timezone.now())


@pytest.mark.parametrize(
    "given",
    [
        {"action": "add", "list": "deny", "entry": "read"},
        {"action": "remove", "list": "deny", "entry": "exec"},
        {"action": "remove", "list": "allow", "entry": "read"},
        {"action": "profile", "value": "minimal"},
        {"action": "profile", "value": ""},
    ],
)
def test_the_preview_is_what_comes_of_it(draft: Any, admin: Any, given: dict[str, str]) -> None:
    agents = list(Agent.objects.filter(environment=draft))
    shown = snapshot_with(draft, agents, change_of(draft, **given))
    bulk_run(asked(draft, admin, **given).pk, at=timezone.now())
    after = draft_snapshot(draft)
    assert diff_snapshots(shown, after).is_empty
