"""Policy tests: kept with their environment, masked, recorded; no publication and no rollback may fail one."""

import json
from dataclasses import replace
from typing import Any

import pytest

from apps.accounts.errors import PermissionDeniedError
from apps.audit.models import Entry
from apps.firewall.identifiers import new_id
from apps.policies import services
from apps.policies.errors import PolicyTestInvalidError, PublicationRefusedError, RecordGoneError
from apps.policies.models import Agent, AllowlistEntry, PolicyTest, Publication
from apps.policies.proving import failures, policy_tests_run
from apps.policies.selectors import draft_snapshot, live_publication
from apps.policies.services import (
    document_import,
    permission_grant_create,
    policy_test_create,
    policy_test_delete,
    policy_test_save,
    publish,
    record_update,
    rollback,
)
from apps.registry.errors import RecordChangedError
from apps.registry.models import Environment
from tests.console.conftest import draft, published  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db

CASE: dict[str, Any] = {"tool": "exec", "verdict": "denied", "context": {"agent_id": "main", "channel": "telegram"}}
PASSES: dict[str, Any] = {"tool": "gateway", "verdict": "denied", "layer": "agent", "context": {"agent_id": "main"}}


def make(environment: Any, admin: Any, name: str = "no exec", **fields: Any) -> PolicyTest:
    return policy_test_create(environment, by=admin, name=name, **(CASE | fields))


def entries(name: str) -> list[Any]:
    found = Entry.objects.filter(kind="policy_change", changes__kind="policy_test", changes__record=name)
    return [entry.changes for entry in found.order_by("seq")]


def live_of(environment: Any) -> Publication:
    found = live_publication(environment)
    assert found is not None
    return found


def test_one_is_made_changed_and_removed_on_record(draft: Any, admin: Any) -> None:  # noqa: F811
    name = f"no exec {new_id()}"  # the ledger keeps what other tests did
    test = make(draft, admin, name)
    assert (test.version, test.origin, test.made_by, test.is_enabled) == (1, "hand", "user:admin", True)
    test = policy_test_save(test, by=admin, expected_version=1, is_enabled=False)
    assert (test.version, test.is_enabled) == (2, False)
    policy_test_delete(test, by=admin, expected_version=2)
    assert not PolicyTest.objects.exists()
    assert [(entry["action"], entry["version"]) for entry in entries(name)] == [
        ("create", 1),
        ("update", 2),
        ("delete", 2),
    ]


def test_saving_what_is_there_writes_nothing(draft: Any, admin: Any) -> None:  # noqa: F811
    name = f"same {new_id()}"
    test = policy_test_save(make(draft, admin, name), by=admin, **CASE)
    assert test.version == 1
    assert [entry["action"] for entry in entries(name)] == ["create"]


@pytest.mark.parametrize("role", ["operator", "auditor", "viewer", "outsider"])
def test_only_who_may_change_policy_does(
    role: str,
    draft: Any,  # noqa: F811
    admin: Any,
    request: pytest.FixtureRequest,
) -> None:
    test, person = make(draft, admin), request.getfixturevalue(role)
    for attempt in (
        lambda: make(draft, person, "mine"),
        lambda: policy_test_save(test, by=person, is_enabled=False),
        lambda: policy_test_delete(test, by=person),
    ):
        with pytest.raises(PermissionDeniedError):
            attempt()
    assert [(each.name, each.version) for each in PolicyTest.objects.all()] == [("no exec", 1)]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"tool": ""}, "tool"),
        ({"verdict": "perhaps"}, "verdict"),
        ({"layer": "agnet"}, "layer"),
        ({"layer": "agent", "verdict": "allowed"}, "layer"),
        ({"context": []}, "context"),
        ({"context": {"agent": "main"}}, "context"),
        ({"context": {"subagent_depth": -1}}, "context"),
        ({"context": {"sender_id": "a\x00b"}}, "context"),
        ({"context": {"stored_session": {"x": "y" * 20_000}}}, "context"),
        ({"params": []}, "params"),
        ({"params": {"text": "y" * 20_000}}, "params"),
    ],
)
def test_a_mistake_names_its_field_and_keeps_nothing(
    fields: dict[str, Any],
    path: str,
    draft: Any,  # noqa: F811
    admin: Any,
) -> None:
    with pytest.raises(PolicyTestInvalidError) as caught:
        make(draft, admin, **fields)
    assert {detail["path"] for detail in caught.value.details} == {path}
    assert not PolicyTest.objects.exists()
    test = make(draft, admin)
    with pytest.raises(PolicyTestInvalidError):
        policy_test_save(test, by=admin, **fields)
    assert PolicyTest.objects.get().version == 1


def test_a_field_that_it_does_not_have_is_refused(draft: Any, admin: Any) -> None:  # noqa: F811
    with pytest.raises(PolicyTestInvalidError, match="version"):
        make(draft, admin, version=7)


def test_a_name_is_taken_once_in_an_environment(draft: Any, admin: Any) -> None:  # noqa: F811
    make(draft, admin)
    with pytest.raises(PolicyTestInvalidError):
        make(draft, admin)
    other = Environment.objects.create(slug="staging", name="Staging", dialect=draft.dialect)
    assert make(other, admin).name == "no exec"


def test_an_environment_keeps_so_many_and_no_more(
    draft: Any,  # noqa: F811
    admin: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services.policy_tests, "KIND", replace(services.policy_tests.KIND, most=1))
    make(draft, admin)
    with pytest.raises(PolicyTestInvalidError, match="at most 1"):
        make(draft, admin, "one more")


def test_secrets_in_params_are_kept_masked(draft: Any, admin: Any) -> None:  # noqa: F811
    secret = "sk-proj-" + "a1B2c3D4" * 6
    test = make(draft, admin, f"secret {new_id()}", params={"command": f"OPENAI_API_KEY={secret} ls", "token": secret})
    kept = json.dumps(PolicyTest.objects.get().params)
    assert secret not in kept and "ls" in kept
    policy_test_save(test, by=admin, params={"command": f"curl -H 'Authorization: Bearer {secret}' https://a.example"})
    assert secret not in json.dumps(PolicyTest.objects.get().params)
    assert secret not in json.dumps(entries(test.name))


def test_the_second_of_two_editors_sees_the_conflict(draft: Any, admin: Any) -> None:  # noqa: F811
    test = make(draft, admin)
    policy_test_save(test, by=admin, expected_version=1, tool="process")
    with pytest.raises(RecordChangedError):
        policy_test_save(test, by=admin, expected_version=1, tool="read")
    with pytest.raises(RecordChangedError):
        policy_test_delete(test, by=admin, expected_version=1)
    policy_test_delete(test, by=admin, expected_version=2)
    with pytest.raises(RecordGoneError):
        policy_test_save(test, by=admin, tool="read")


def test_those_switched_off_stand_aside(draft: Any, admin: Any) -> None:  # noqa: F811
    make(draft, admin, is_enabled=False)
    policy_test_create(draft, by=admin, name="passes", **PASSES)
    run = policy_tests_run(draft, draft_snapshot(draft))
    assert ([case.test.name for case in run.cases], run.failed, run.skipped) == (["passes"], [], 1)


def test_a_failure_says_what_was_expected_and_what_came(draft: Any, admin: Any) -> None:  # noqa: F811
    make(draft, admin, layer="group")
    (detail,) = failures(draft, draft_snapshot(draft))
    assert (detail["path"], detail["code"]) == ("tests.no exec", "policy_test_failed")
    assert "expects `denied` (group)" in detail["message"]


def test_coverage_counts_the_cases_that_each_record_decided(draft: Any, admin: Any) -> None:  # noqa: F811
    permission_grant_create(draft, "reads", by=admin, permissions=["db:read"], agent="main")
    policy_test_create(draft, by=admin, name="a", **PASSES)
    policy_test_create(draft, by=admin, name="b", tool="x_search", verdict="denied", context={"agent_id": "main"})
    policy_test_create(
        draft,
        by=admin,
        name="c",
        tool="exec",
        verdict="denied",
        context={"agent_id": "main", "channel": "telegram", "session_key": "agent:main:telegram:group:-100"},
    )
    run = policy_tests_run(draft, draft_snapshot(draft), with_records=True)
    assert run.failed == []
    counts = {record.path: record.cases for record in run.records}
    assert counts["agents.entries.main"] == 1
    assert counts["tools"] == 1
    assert counts["channels.telegram.groups.-100"] == 1
    assert counts["agents.entries.ops-runner"] == 0
    assert counts["permissionGrants.reads"] == 0


def test_coverage_counts_the_entry_of_an_allowlist_that_admits(draft: Any, admin: Any) -> None:  # noqa: F811
    listed = [{"pattern": "/**/ls"}, {"pattern": "/**/cat"}]
    approvals = {"version": 1, "agents": {"ops-runner": {"allowlist": listed}}}
    document_import(draft, None, by=admin, approvals=json.dumps(approvals))
    context = {"agent_id": "ops-runner"}
    params = {"command": "ls"}
    policy_test_create(draft, by=admin, name="ls", tool="exec", verdict="allowed", params=params, context=context)
    run = policy_tests_run(draft, draft_snapshot(draft), with_records=True)
    assert run.failed == []
    counted = {record.id: record.cases for record in run.records}
    assert [counted[entry.pk] for entry in AllowlistEntry.objects.order_by("position")] == [1, 0]


def test_coverage_counts_the_settings_of_commands_that_ask(draft: Any, admin: Any) -> None:  # noqa: F811
    case: dict[str, Any] = {"tool": "exec", "context": {"agent_id": "ops-runner"}, "params": {"command": "rm x"}}
    policy_test_create(draft, by=admin, name="asks", verdict="asks", layer="exec_policy", **case)
    run = policy_tests_run(draft, draft_snapshot(draft), with_records=True)
    counts = {record.path: record.cases for record in run.records}
    assert (run.failed, counts["agents.entries.ops-runner.tools.exec"]) == ([], 1)
    assert counts["agents.entries.ops-runner"] == 1


# --- no door publishes what fails ---


@pytest.fixture
def failing(published: Any, admin: Any) -> Environment:  # noqa: F811
    """An environment with a live publication whose draft changed, and one failing policy test."""
    agent = Agent.objects.get(key="main")
    record_update(agent, {"name": "Main"}, by=admin, expected_version=agent.version)
    make(published, admin)
    assert isinstance(published, Environment)
    return published


def test_a_draft_that_fails_one_is_not_published(failing: Environment, admin: Any) -> None:
    live = live_of(failing)
    with pytest.raises(PublicationRefusedError) as caught:
        publish(failing, by=admin, message="x", expected_live=live.snapshot_id)
    assert [(detail["path"], detail["code"]) for detail in caught.value.details] == [
        ("tests.no exec", "policy_test_failed")
    ]
    assert live_of(failing).pk == live.pk


@pytest.mark.parametrize("mend", ["policy", "off", "gone"])
def test_it_is_once_the_policy_or_the_test_is_mended(mend: str, failing: Environment, admin: Any) -> None:
    test, agent = PolicyTest.objects.get(), Agent.objects.get(key="main")
    if mend == "policy":
        record_update(agent, {"deny": ["exec"]}, by=admin, expected_version=agent.version)
    elif mend == "off":
        policy_test_save(test, by=admin, is_enabled=False)
    else:
        policy_test_delete(test, by=admin)
    made = publish(failing, by=admin, message="x", expected_live=live_of(failing).snapshot_id)
    assert made.number == 2


def test_a_publication_that_fails_one_is_not_rolled_back_to(published: Any, admin: Any) -> None:  # noqa: F811
    first, agent = live_of(published), Agent.objects.get(key="main")
    record_update(agent, {"deny": ["exec"]}, by=admin, expected_version=agent.version)
    second = publish(published, by=admin, message="no exec", expected_live=first.snapshot_id)
    make(published, admin)
    with pytest.raises(PublicationRefusedError, match="fails policy tests"):
        rollback(published, first, by=admin, message="x", expected_live=second.snapshot_id)
    assert live_of(published).pk == second.pk
