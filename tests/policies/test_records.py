"""Changes of single records: checked like a document, and never over somebody else's change."""

import json
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from apps.policies.errors import ConflictError, RecordGoneError, RecordInvalidError, Sides
from apps.policies.models import Agent, ChannelGroup, ProviderPolicy, SenderRule
from apps.policies.selectors import (
    agents,
    document_export,
    draft_changes,
    global_policy,
    groups,
    record_get,
    record_history,
    record_path,
    sender_rules,
)
from apps.policies.services import (
    agent_create,
    allowlist_entry_create,
    channel_create,
    document_import,
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
from apps.registry.services import environment_create

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(environment: Any, admin: Any) -> Agent:
    draft_start(environment, by=admin)
    return agent_create(environment, "ops", by=admin, profile="coding", deny=["exec"])


def test_an_update_counts_the_version_up(agent: Agent, admin: Any) -> None:
    changed = record_update(agent, {"deny": ["exec", "process"]}, by=admin, expected_version=1)
    assert (changed.version, changed.deny) == (2, ["exec", "process"])


def test_the_slower_of_two_editors_sees_both_sides(agent: Agent, admin: Any, operator: Any) -> None:
    record_update(agent, {"deny": ["exec", "process"]}, by=admin, expected_version=1)
    with pytest.raises(ConflictError) as caught:
        record_update(agent, {"deny": ["browser"]}, by=operator, expected_version=1)
    sides = caught.value.fields["deny"]
    assert (sides.base, sides.theirs, sides.yours) == (["exec"], ["exec", "process"], ["browser"])
    assert caught.value.current.version == 2
    assert Agent.objects.get(pk=agent.pk).deny == ["exec", "process"]


def test_a_conflict_shows_fields_that_only_the_other_one_changed(agent: Agent, admin: Any) -> None:
    record_update(agent, {"profile": "full"}, by=admin, expected_version=1)
    with pytest.raises(ConflictError) as caught:
        record_update(agent, {"deny": []}, by=admin, expected_version=1)
    assert set(caught.value.fields) == {"deny", "profile"}
    assert caught.value.fields["profile"].yours == "coding"


def test_saying_again_what_is_stored_is_harmless(agent: Agent, admin: Any) -> None:
    record_update(agent, {"deny": []}, by=admin, expected_version=1)
    assert record_update(agent, {"deny": []}, by=admin, expected_version=1).version == 2


def test_a_record_that_is_gone_says_so(agent: Agent, admin: Any) -> None:
    record_delete(agent, by=admin, expected_version=1)
    with pytest.raises(RecordGoneError):
        record_update(agent, {"deny": []}, by=admin, expected_version=1)


def test_a_stale_delete_is_a_conflict(agent: Agent, admin: Any) -> None:
    record_update(agent, {"deny": []}, by=admin, expected_version=1)
    with pytest.raises(ConflictError):
        record_delete(agent, by=admin, expected_version=1)
    assert Agent.objects.filter(pk=agent.pk).exists()


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({"deny": "exec"}, ["deny"]),
        ({"deny": ["exec", 3]}, ["deny[1]"]),
        ({"profile": "codng"}, ["profile"]),
        ({"allow": ["read"], "also_allow": ["exec"]}, [""]),
        ({"key": ""}, ["key"]),
        ({"id": "x", "colour": "red"}, ["id", "colour"]),
    ],
)
def test_mistakes_are_named_by_field(agent: Agent, admin: Any, changes: dict[str, Any], paths: list[str]) -> None:
    with pytest.raises(RecordInvalidError) as caught:
        record_update(agent, changes, by=admin, expected_version=1)
    assert sorted({detail["path"] for detail in caught.value.details}) == sorted(paths)
    assert Agent.objects.get(pk=agent.pk).version == 1


def test_the_same_agent_twice_is_refused(agent: Agent, environment: Any, admin: Any) -> None:
    with pytest.raises(RecordInvalidError):
        agent_create(environment, "ops", by=admin)


def test_the_database_refuses_what_slips_past_the_services(agent: Agent) -> None:
    for wrong in ({"allow": ["a"], "also_allow": ["b"]}, {"key": ""}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Agent.objects.filter(pk=agent.pk).update(**wrong)


def test_new_records_stand_last_in_their_scope(agent: Agent, environment: Any, admin: Any) -> None:
    for key in ("id:1", "id:2"):
        sender_rule_create(environment, key, by=admin, agent=agent, deny=["exec"])
    sender_rule_create(environment, "id:3", by=admin, deny=["exec"])
    assert [(rule.key, rule.position) for rule in sender_rules(environment, agent=agent)] == [("id:1", 0), ("id:2", 1)]
    assert [rule.position for rule in sender_rules(environment)] == [0]


def test_a_draft_built_by_hand_is_a_document(agent: Agent, environment: Any, admin: Any) -> None:
    provider_policy_create(environment, "openai", by=admin, agent=agent, deny=["web_fetch"])
    exec_settings_create(environment, by=admin, agent=agent, mode="ask")
    telegram = channel_create(environment, "telegram", by=admin)
    group = group_create(telegram, "-1", by=admin, allow=["read"])
    sender_rule_create(environment, "id:7", by=admin, group=group)
    guilds = channel_create(environment, "discord", by=admin)
    guild = group_create(guilds, "9", by=admin, kind="guilds")
    inner = group_create(guilds, "help", by=admin, kind="channels", parent=guild, has_tools=True)
    assert record_path(inner) == "channels.discord.guilds.9.channels.help"
    assert document_export(environment) == {
        "agents": {
            "entries": {
                "ops": {
                    "tools": {
                        "profile": "coding",
                        "deny": ["exec"],
                        "byProvider": {"openai": {"deny": ["web_fetch"]}},
                        "exec": {"mode": "ask"},
                    }
                }
            }
        },
        "channels": {
            "telegram": {"groups": {"-1": {"tools": {"allow": ["read"]}, "toolsBySender": {"id:7": {}}}}},
            "discord": {"guilds": {"9": {"channels": {"help": {"tools": {}}}}}},
        },
    }


def test_lists_on_a_group_make_it_an_answer(environment: Any, admin: Any) -> None:
    group = group_create(channel_create(environment, "telegram", by=admin), "-1", by=admin)
    assert not group.has_tools
    assert record_update(group, {"deny": ["exec"]}, by=admin, expected_version=1).has_tools


def test_a_second_agent_makes_ownership_explicit(agent: Agent, environment: Any, admin: Any) -> None:
    agent_create(environment, "main", by=admin)
    assert document_export(environment)["agents"]["ownership"] == "explicit"


def test_an_allowlist_entry_brings_its_document(environment: Any, admin: Any) -> None:
    entry = allowlist_entry_create(environment, "ops", "/usr/bin/uptime", by=admin, arg_pattern="^$")
    assert record_path(entry) == "approvals.agents.ops.allowlist[0]"


def test_a_profile_in_use_cannot_be_deleted(agent: Agent, environment: Any, admin: Any) -> None:
    profile = profile_create(environment, "readers", by=admin, allow=["read"])
    record_update(agent, {"profile": "readers"}, by=admin, expected_version=1)
    with pytest.raises(RecordInvalidError, match="in use"):
        record_delete(profile, by=admin, expected_version=1)


def test_a_built_in_profile_cannot_be_replaced(environment: Any, admin: Any) -> None:
    with pytest.raises(RecordInvalidError):
        profile_create(environment, "coding", by=admin, allow=["*"])


def test_the_log_tells_who_changed_what(agent: Agent, admin: Any, operator: Any) -> None:
    record_update(agent, {"deny": []}, by=operator, expected_version=1)
    newest, oldest = record_history(agent)
    assert (newest.action, newest.actor, dict(newest.fields)) == ("update", "user:operator", {"deny": (["exec"], [])})
    assert (oldest.action, oldest.actor) == ("insert", "user:admin")


def test_deleting_an_agent_deletes_what_belongs_to_it(agent: Agent, environment: Any, admin: Any) -> None:
    sender_rule_create(environment, "id:1", by=admin, agent=agent)
    provider_policy_create(environment, "openai", by=admin, agent=agent)
    record_delete(agent, by=admin, expected_version=1)
    assert not SenderRule.objects.exists() and not ProviderPolicy.objects.exists()
    assert {item.label for item in draft_changes(environment)} == {"tools"}


def test_lists_of_records_cost_a_fixed_number_of_queries(
    agent: Agent, environment: Any, admin: Any, django_assert_num_queries: Any
) -> None:
    telegram = channel_create(environment, "telegram", by=admin)
    for number in range(5):
        agent_create(environment, f"agent-{number}", by=admin)
        group_create(telegram, f"-{number}", by=admin)
    with django_assert_num_queries(1):
        assert {vars(item)["sender_count"] for item in agents(environment)} == {0}
    with django_assert_num_queries(1):
        assert {str(group.channel) for group in groups(environment)} == {"telegram"}
    with django_assert_num_queries(8):
        document_export(environment)


def test_a_record_is_found_by_kind_and_id_in_its_environment_only(agent: Agent, environment: Any) -> None:
    other = environment_create(slug="staging")
    assert record_get(environment, "agent", agent.pk) == agent
    assert record_get(other, "agent", agent.pk) is None
    assert record_get(environment, "group", agent.pk) is None
    assert record_get(environment, "nonsense", agent.pk) is None


def test_groups_of_another_kind_cannot_stand_inside(environment: Any, admin: Any) -> None:
    channel = channel_create(environment, "discord", by=admin)
    guild = group_create(channel, "9", by=admin, kind="guilds")
    with pytest.raises(RecordInvalidError):
        group_create(channel, "x", by=admin, kind="rooms", parent=guild)
    assert ChannelGroup.objects.count() == 1


PLACE = ("tools", "toolSearch")


def test_what_is_kept_verbatim_changes_in_its_place_and_the_rest_stays(environment: Any, admin: Any) -> None:
    document: dict[str, Any] = {
        "agents": {"entries": {}},
        "tools": {"deny": ["x_search"], "web": {"search": {"enabled": True}}},
    }
    document_import(environment, json.dumps(document), by=admin)
    policy = global_policy(environment)
    assert policy is not None

    changed = kept_update(policy, PLACE, {"mode": "directory"}, by=admin, expected_version=policy.version)
    written = document_export(environment)

    assert written["tools"] == document["tools"] | {"toolSearch": {"mode": "directory"}}
    assert changed.version == policy.version + 1
    assert [change.field for change in draft_changes(environment)] != []
    kept_update(changed, PLACE, None, by=admin, expected_version=changed.version)
    assert document_export(environment) == document


def test_the_last_thing_kept_takes_its_holders_with_it(environment: Any, admin: Any) -> None:
    policy = draft_start(environment, by=admin)

    changed = kept_update(policy, PLACE, value=False, by=admin, expected_version=policy.version)
    gone = kept_update(changed, PLACE, None, by=admin, expected_version=changed.version)

    assert (changed.extra, gone.extra) == ({"tools": {"toolSearch": False}}, {})


def test_what_is_kept_is_held_against_what_is_known_of_its_place(environment: Any, admin: Any) -> None:
    policy = draft_start(environment, by=admin)

    with pytest.raises(RecordInvalidError) as refused:
        kept_update(policy, PLACE, {"mode": "fast"}, by=admin, expected_version=policy.version)

    assert refused.value.details[0]["path"] == "tools.toolSearch.mode"
    policy.refresh_from_db()
    assert policy.extra == {}


def test_what_is_kept_never_goes_over_somebody_elses_change(environment: Any, admin: Any) -> None:
    policy = draft_start(environment, by=admin)
    kept_update(policy, PLACE, value=True, by=admin, expected_version=policy.version)

    with pytest.raises(ConflictError) as refused:
        kept_update(policy, PLACE, value=False, by=admin, expected_version=policy.version)

    assert refused.value.fields["tools.toolSearch"] == Sides(base=None, theirs=True, yours=False)
