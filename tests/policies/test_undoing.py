"""Undo takes back exactly the last saved change of a record by the one who saved it, or says why not."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.policies.draft_fixes import DraftEdit
from apps.policies.errors import RecordGoneError, UndoConflictError, UndoRefusedError
from apps.policies.models import Agent, ChannelGroup, Profile, ProviderPolicy, SenderRule
from apps.policies.models.base import PolicyRecord
from apps.policies.selectors import document_export, record_history
from apps.policies.services import (
    agent_create,
    change_undo,
    channel_create,
    document_import,
    draft_edit,
    draft_start,
    exec_settings_create,
    group_create,
    kept_update,
    profile_create,
    provider_policy_create,
    record_delete,
    record_update,
    sender_rule_create,
)
from apps.policies.undoable import change_of, draft_change_own, record_change_own

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(environment: Any, admin: Any) -> Agent:
    draft_start(environment, by=admin)
    return agent_create(environment, "ops", by=admin, profile="coding", deny=["exec"])


def undo(record: PolicyRecord, by: Any) -> Any:
    """Undo the newest change of a record."""
    change = record_change_own(record, by)
    assert change is not None
    return change_undo(record.environment, change, by=by)


def test_a_smallest_fix_is_taken_back_whole_and_put_in_again_whole(agent: Agent, admin: Any, environment: Any) -> None:
    other = agent_create(environment, "deputy", by=admin, deny=["exec", "write"])
    before = document_export(environment)
    fix = [
        DraftEdit(
            kind="agent", record=each.pk, version=each.version, field=field, entry="exec", is_added=is_added, path=""
        )
        for each, field, is_added in [(agent, "deny", False), (agent, "also_allow", True), (other, "deny", False)]
    ]
    draft_edit(environment, fix, by=admin)
    fixed = document_export(environment)
    assert fixed != before

    told = undo(agent, admin)

    assert document_export(environment) == before
    assert set(told.place.split(", ")) == {"agents.entries.ops", "agents.entries.deputy"}
    undo(other, admin)
    assert document_export(environment) == fixed


def test_a_smallest_fix_is_not_taken_back_by_halves(agent: Agent, admin: Any, environment: Any) -> None:
    other = agent_create(environment, "deputy", by=admin, deny=["exec"])
    fix = [
        DraftEdit(
            kind="agent", record=each.pk, version=each.version, field="deny", entry="exec", is_added=False, path=""
        )
        for each in (agent, other)
    ]
    draft_edit(environment, fix, by=admin)
    change = record_change_own(agent, admin)
    assert change is not None
    other.refresh_from_db()
    record_update(other, {"deny": ["write"]}, by=admin, expected_version=other.version)
    before = document_export(environment)

    with pytest.raises(UndoConflictError):
        change_undo(environment, change, by=admin)

    assert document_export(environment) == before


def test_an_update_says_again_what_it_said(agent: Agent, admin: Any) -> None:
    record_update(agent, {"deny": None, "profile": "full", "name": "Ops"}, by=admin, expected_version=1)
    told = undo(agent, admin)
    agent.refresh_from_db()
    assert (agent.deny, agent.profile, agent.name, agent.version) == (["exec"], "coding", None, 3)
    assert (told.action, told.kind, told.place) == ("changed", "agent", "agents.entries.ops")


def test_what_a_record_keeps_verbatim_comes_back_too(agent: Agent, admin: Any) -> None:
    kept_update(agent, ("memory", "size"), 4, by=admin, expected_version=1)
    undo(agent, admin)
    agent.refresh_from_db()
    assert agent.extra == {}


def test_an_undo_can_be_undone(agent: Agent, admin: Any) -> None:
    record_update(agent, {"deny": ["read"]}, by=admin, expected_version=1)
    undo(agent, admin)
    undo(agent, admin)
    agent.refresh_from_db()
    assert (agent.deny, agent.version) == (["read"], 4)


def test_what_was_made_is_deleted_and_may_come_back(agent: Agent, admin: Any) -> None:
    undo(agent, admin)
    assert not Agent.objects.exists()
    undo(agent, admin)
    assert Agent.objects.get().deny == ["exec"]


def test_what_was_deleted_comes_back_with_all_that_belonged_to_it(agent: Agent, environment: Any, admin: Any) -> None:
    provider_policy_create(environment, "openai", by=admin, agent=agent, deny=["exec"])
    sender_rule_create(environment, "id:7", by=admin, agent=agent, allow=["read"])
    exec_settings_create(environment, by=admin, agent=agent, mode="ask")
    before = document_export(environment)
    record_delete(agent, by=admin, expected_version=1)
    assert not ProviderPolicy.objects.exists()
    told = undo(agent, admin)
    assert document_export(environment) == before
    assert (told.action, told.record) == ("deleted", agent.pk)
    assert Agent.objects.get().version == 2


def test_a_channel_comes_back_with_groups_inside_groups_and_their_rules(environment: Any, admin: Any) -> None:
    draft_start(environment, by=admin)
    channel = channel_create(environment, "discord", by=admin)
    guild = group_create(channel, "g1", by=admin, kind="guilds", deny=["exec"])
    inside = group_create(channel, "c1", by=admin, kind="channels", parent=guild, allow=["read"])
    sender_rule_create(environment, "*", by=admin, group=inside, deny=["write"])
    before = document_export(environment)
    for record in (channel, guild):
        record_delete(record, by=admin, expected_version=type(record).objects.get(pk=record.pk).version)
        undo(record, admin)
        assert document_export(environment) == before
    assert (ChannelGroup.objects.count(), SenderRule.objects.count()) == (2, 1)


def test_audit_has_an_entry_that_names_the_change(agent: Agent, admin: Any, empty_ledger: None) -> None:
    record_update(agent, {"deny": None}, by=admin, expected_version=1)
    change = record_change_own(agent, admin)
    undo(agent, admin)
    entry = Entry.objects.filter(kind="policy_change").order_by("-at", "-seq")[0]
    assert entry.changes is not None
    assert (entry.actor, entry.changes["action"], entry.changes["record"]) == (admin.actor, "undo", "ops")
    assert entry.changes["fields"] == {"change": str(change), "deny": {"before": None, "after": ["exec"]}}
    assert record_history(agent)[0].reason == "undo"


def test_a_change_that_was_followed_by_another_is_refused(agent: Agent, admin: Any, operator: Any) -> None:
    record_update(agent, {"deny": ["read"]}, by=admin, expected_version=1)
    change = record_change_own(agent, admin)
    record_update(agent, {"profile": "full"}, by=operator, expected_version=2)
    assert change is not None
    with pytest.raises(UndoConflictError) as caught:
        change_undo(agent.environment, change, by=admin)
    assert caught.value.code == "undo_conflict"
    agent.refresh_from_db()
    assert (agent.deny, agent.profile, agent.version) == (["read"], "full", 3)
    assert record_change_own(agent, admin) is None


def test_the_same_change_is_not_undone_twice(agent: Agent, admin: Any) -> None:
    record_update(agent, {"deny": ["read"]}, by=admin, expected_version=1)
    change = record_change_own(agent, admin)
    undo(agent, admin)
    assert change is not None
    with pytest.raises(UndoConflictError):
        change_undo(agent.environment, change, by=admin)


def test_only_who_saved_it_undoes_it(agent: Agent, admin: Any, operator: Any) -> None:
    change = record_change_own(agent, admin)
    assert change is not None
    assert record_change_own(agent, operator) is None
    with pytest.raises(UndoRefusedError) as caught:
        change_undo(agent.environment, change, by=operator)
    assert caught.value.code == "undo_refused"
    assert Agent.objects.count() == 1


def test_an_import_is_not_undone(environment: Any, admin: Any) -> None:
    document_import(environment, json.dumps({"agents": {"entries": {"main": {}}}}), by=admin)
    agent = Agent.objects.get()
    assert record_change_own(agent, admin) is None
    assert draft_change_own(environment, admin) is None
    change = record_history(agent)[0].change
    assert change is not None
    with pytest.raises(UndoRefusedError, match="whole draft"):
        change_undo(environment, change, by=admin)
    assert Agent.objects.count() == 1


def test_an_unknown_change_and_one_of_another_environment_do_not_exist(agent: Agent, admin: Any) -> None:
    from apps.registry.services import environment_create

    elsewhere = environment_create(slug="elsewhere", name="Elsewhere")
    change = record_change_own(agent, admin)
    assert change is not None
    for environment, each in ((agent.environment, uuid4()), (elsewhere, change)):
        with pytest.raises(RecordGoneError):
            change_undo(environment, each, by=admin)
        assert change_of(environment, each) is None


def test_a_record_that_got_parts_since_is_not_deleted(agent: Agent, environment: Any, admin: Any) -> None:
    provider_policy_create(environment, "openai", by=admin, agent=agent)
    with pytest.raises(UndoConflictError, match="added to the record"):
        undo(agent, admin)
    assert ProviderPolicy.objects.count() == 1


def test_a_record_that_others_name_since_is_not_deleted(environment: Any, admin: Any) -> None:
    draft_start(environment, by=admin)
    profile = profile_create(environment, "night", by=admin)
    agent_create(environment, "ops", by=admin, profile="night")
    with pytest.raises(UndoConflictError, match="in use"):
        undo(profile, admin)
    assert Profile.objects.count() == 1


def test_a_name_that_was_taken_since_keeps_a_record_from_coming_back(
    agent: Agent, environment: Any, admin: Any
) -> None:
    record_delete(agent, by=admin, expected_version=1)
    agent_create(environment, "ops", by=admin)
    with pytest.raises(UndoConflictError):
        undo(agent, admin)
    assert Agent.objects.get().deny is None


def test_a_profile_that_went_since_keeps_an_update_from_being_undone(environment: Any, admin: Any) -> None:
    draft_start(environment, by=admin)
    profile = profile_create(environment, "night", by=admin)
    agent = agent_create(environment, "ops", by=admin, profile="night")
    record_update(agent, {"profile": "coding"}, by=admin, expected_version=1)
    record_delete(profile, by=admin, expected_version=1)
    with pytest.raises(UndoConflictError, match="the record has mistakes"):
        undo(agent, admin)
    assert Agent.objects.get().profile == "coding"


def test_what_belonged_to_something_that_is_gone_stays_gone(agent: Agent, environment: Any, admin: Any) -> None:
    rule = provider_policy_create(environment, "openai", by=admin, agent=agent)
    record_delete(rule, by=admin, expected_version=1)
    record_delete(agent, by=admin, expected_version=1)
    with pytest.raises(UndoConflictError, match="is gone"):
        undo(rule, admin)


@pytest.mark.django_db(transaction=True)
def test_the_newest_change_of_the_draft_is_offered_to_who_made_it(agent: Agent, admin: Any, operator: Any) -> None:
    change = draft_change_own(agent.environment, admin)
    assert change == record_change_own(agent, admin)
    assert draft_change_own(agent.environment, operator) is None


Step = tuple[str, list[str] | None]
STEPS = st.lists(
    st.tuples(st.sampled_from(["allow", "deny", "delete"]), st.none() | st.lists(st.sampled_from(["exec", "read"]))),
    min_size=1,
    max_size=5,
)


@given(steps=STEPS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
def test_undoing_gives_back_the_document_as_it_was(steps: list[Step], environment: Any, admin: Any) -> None:
    draft_start(environment, by=admin)
    Agent.objects.all().delete()
    agent = agent_create(environment, "ops", by=admin)
    provider_policy_create(environment, "openai", by=admin, agent=agent)
    take: Callable[[], Agent | None] = lambda: Agent.objects.filter(pk=agent.pk).first()  # noqa: E731 - asked again
    for name, value in steps:
        current, before = take(), document_export(environment)
        if current is None:
            break
        if name == "delete":
            record_delete(current, by=admin, expected_version=current.version)
        elif getattr(current, name) == value:
            continue
        else:
            record_update(current, {name: value}, by=admin, expected_version=current.version)
        after = document_export(environment)
        undo(agent, admin)
        assert document_export(environment) == before
        undo(agent, admin)
        assert document_export(environment) == after
