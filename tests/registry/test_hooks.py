"""Hooks as records: who may change them, what is checked, what is kept of what they did."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.accounts.errors import PermissionDeniedError
from apps.audit.models import Entry
from apps.firewall.identifiers import new_id
from apps.firewall.runtime.hook_runners.workers import PluginPlace
from apps.registry.errors import HookInvalidError, RecordChangedError
from apps.registry.hooks import hook_target, live_hooks
from apps.registry.models import Environment, Hook, HookFailure, Plugin
from apps.registry.selectors import hook_failures, hook_find, hooks_of
from apps.registry.services import (
    FailureDraft,
    hook_create,
    hook_delete,
    hook_failures_record,
    hook_save,
    hook_tallies_add,
    plugin_save,
    plugin_set_enabled,
)
from apps.registry.services.hooks import FAILURES_KEPT
from apps.registry.source_settings import source_secrets

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
KEY = "a-key-that-both-sides-know"
WEBHOOK = {"url": "https://hooks.example/ask", "signing": {"algorithm": "hmac-sha256", "key": KEY}}


@pytest.fixture
def plugin(environment: Environment) -> Plugin:
    return plugin_save(environment, key="acme")


def made(plugin: Plugin, **changes: Any) -> Hook:
    given: dict[str, Any] = {"name": "gate", "event": "before_tool_call", "kind": "webhook", "settings": WEBHOOK}
    return hook_create(plugin, **(given | changes))


def python(plugin: Plugin, **changes: Any) -> Hook:
    return made(plugin, **({"kind": "python_hook", "settings": {"entry_point": "acme-hooks:hooks"}} | changes))


def paths(error: HookInvalidError) -> set[str]:
    return {each["path"] for each in error.details}


def test_the_key_of_a_webhook_is_sealed(plugin: Plugin) -> None:
    hook = Hook.objects.get(pk=made(plugin).pk)
    assert hook.settings["signing"]["key"] == {"$secret": "signing.key"}
    assert source_secrets(hook) == {"signing.key": KEY}
    entry = Entry.objects.get(kind="hook_change", changes__id=hook.shown_id)
    assert entry.status == "created"
    assert KEY not in str(entry.changes)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"settings": {"url": "https://hooks.example"}}, "settings.signing"),
        ({"settings": {"signing": WEBHOOK["signing"]}}, "settings.url"),
        ({"settings": {**WEBHOOK, "signing": {"algorithm": "ed25519", "key": "11" * 32}}}, "settings.answer_key"),
        ({"settings": {**WEBHOOK, "entry_point": "a:b"}}, "settings.entry_point"),
        ({"kind": "python_hook", "settings": {}}, "settings.entry_point"),
        ({"kind": "python_hook", "settings": {"entry_point": "a:b", "config": ["x"]}}, "settings.config"),
        ({"kind": "python_hook", "settings": {"entry_point": "a:b", "config": {"x": "y" * 70_000}}}, "settings.config"),
        (
            {"kind": "python_hook", "settings": {"entry_point": "a:b", "config": {"x": {"$secret": "gone"}}}},
            "settings.config",
        ),
        ({"settings": {**WEBHOOK, "config": {"a": 1}}}, "settings.config"),
        ({"kind": "lua"}, "kind"),
        ({"event": "during"}, "event"),
        ({"name": "Not A Name"}, "name"),
        ({"timeout_ms": 0}, "timeout_ms"),
        ({"timeout_ms": 600_001}, "timeout_ms"),
        ({"priority": 10**7}, "priority"),
        ({"tools": [f"t{number}" for number in range(300)]}, "tools"),
    ],
)
def test_a_mistake_is_named_by_its_field_and_nothing_is_saved(plugin: Plugin, changes: Any, path: str) -> None:
    with pytest.raises(HookInvalidError) as refused:
        made(plugin, **changes)
    assert paths(refused.value) == {path}
    assert not Hook.objects.exists()


def test_a_name_is_given_once_in_an_environment(plugin: Plugin) -> None:
    made(plugin)
    with pytest.raises(HookInvalidError):
        made(plugin)


def test_every_change_takes_the_right_to_publish(plugin: Plugin, operator: Any, admin: Any) -> None:
    hook = made(plugin, **{"by": admin})
    for change in (
        lambda: made(plugin, name="other", by=operator),
        lambda: hook_save(hook, is_enabled=False, by=operator),
        lambda: hook_delete(hook, by=operator),
    ):
        with pytest.raises(PermissionDeniedError):
            change()
    assert Hook.objects.get().is_enabled


def test_a_change_is_a_version_and_an_older_view_is_refused(plugin: Plugin) -> None:
    hook = made(plugin)
    saved = hook_save(hook, priority=7, tools=["exec", " exec ", ""], expected_version=1)
    assert (saved.version, saved.tools) == (2, ["exec"])
    with pytest.raises(RecordChangedError):
        hook_save(hook, priority=8, expected_version=1)


def test_what_is_kept_for_one_address_is_not_sent_to_another(plugin: Plugin) -> None:
    hook = made(plugin)
    elsewhere = {**hook.settings, "url": "https://evil.example/"}
    with pytest.raises(HookInvalidError):
        hook_save(hook, settings=elsewhere)
    saved = hook_save(hook, settings={**elsewhere, "signing": {"algorithm": "hmac-sha256", "key": KEY * 2}})
    assert source_secrets(saved) == {"signing.key": KEY * 2}


CONFIG = {"entry_point": "acme-hooks:hooks", "config": {"limit": 3, "mail": {"password": "made-up"}, "tags": ["a"]}}


def test_secrets_in_the_config_of_a_plugin_are_sealed(plugin: Plugin) -> None:
    config = {**CONFIG["config"], "key": {"$secret": "given"}}  # type: ignore[dict-item]
    hook = Hook.objects.get(pk=python(plugin, settings=CONFIG | {"config": config}, secrets={"given": "apart"}).pk)

    assert hook.settings["config"] == {
        "limit": 3,
        "mail": {"password": {"$secret": "config.mail.password"}},
        "tags": ["a"],
        "key": {"$secret": "given"},
    }
    assert source_secrets(hook) == {"config.mail.password": "made-up", "given": "apart"}
    assert "made-up" not in str(Entry.objects.get(kind="hook_change", changes__id=hook.shown_id).changes)
    (live,) = live_hooks()["production"].hooks
    assert live.target is None, "secrets do not stay in memory"
    target = hook_target(hook.pk)
    assert isinstance(target, PluginPlace)
    assert target.config == {"limit": 3, "mail": {"password": "made-up"}, "tags": ["a"], "key": "apart"}


def test_a_config_is_kept_by_reference_and_not_given_to_another_plugin(plugin: Plugin) -> None:
    hook = python(plugin, settings=CONFIG)
    saved = hook_save(hook, settings={**hook.settings, "config": {**hook.settings["config"], "limit": 4}})
    assert (saved.settings["config"]["limit"], source_secrets(saved)) == (4, {"config.mail.password": "made-up"})

    with pytest.raises(HookInvalidError) as refused:
        hook_save(saved, settings={**saved.settings, "entry_point": "other:hooks"})
    assert paths(refused.value) == {"settings.config.mail.password"}
    gone = hook_save(saved, settings={"entry_point": "acme-hooks:hooks"})
    assert source_secrets(gone) == {}


def test_hooks_that_are_off_or_whose_plugin_is_off_are_not_live(plugin: Plugin) -> None:
    hook, other = python(plugin), python(plugin, name="other", event="after_tool_call")
    slug = plugin.environment.slug
    assert [each.id for each in live_hooks()[slug].hooks] == [hook.pk, other.pk]
    hook_save(hook, is_enabled=False)
    assert [each.id for each in live_hooks()[slug].hooks] == [other.pk]
    plugin_set_enabled(plugin, is_enabled=False)
    assert live_hooks() == {}


@pytest.mark.parametrize(
    ("tools", "tool", "hears"),
    [
        ([], "read", True),
        (["write"], "read", False),
        (["*"], "read", True),
        (["git_*"], "git_push", True),
        (["group:fs"], "read", True),
        (["bash"], "exec", True),
        (["READ"], "read", True),
    ],
)
def test_a_hook_hears_of_the_tools_that_it_names_as_policies_do(
    plugin: Plugin, tools: list[str], tool: str, hears: bool
) -> None:
    python(plugin, tools=tools)
    live = live_hooks()[plugin.environment.slug]
    assert bool(live.hearing("before_tool_call", tool)) == hears
    assert live.hearing("after_tool_call", tool) == ()


def test_failures_are_masked_bounded_and_outlive_nothing(plugin: Plugin) -> None:
    hook = made(plugin)
    token = "ghp_" + "a1B2" * 9
    drafts = [
        FailureDraft(hook_id=hook.pk, at=NOON + timedelta(seconds=number), kind="raised", cause="it raised", said=token)
        for number in range(FAILURES_KEPT + 5)
    ]
    hook_failures_record([*drafts, FailureDraft(hook_id=new_id(), at=NOON, kind="raised", cause="gone")])
    kept = list(hook_failures(hook))
    assert len(kept) == FAILURES_KEPT
    assert kept[0].at == drafts[-1].at
    assert token not in kept[0].said
    hook_delete(hook)
    assert not HookFailure.objects.exists()


def test_what_came_of_a_hook_is_added_up(plugin: Plugin, django_assert_num_queries: Any) -> None:
    hook = made(plugin)
    hook_tallies_add({hook.pk: {"passed": 3, "failed": 1}, new_id(): {"passed": 1}}, at=NOON)
    hook_tallies_add({hook.pk: {"passed": 1, "blocked": 2}}, at=NOON)
    with django_assert_num_queries(1):
        tally = hooks_of(plugin.environment)[0].tally
    assert (tally.passed, tally.failed, tally.blocked, tally.total, tally.last_at) == (4, 1, 2, 7, NOON)


def test_a_hook_is_found_by_name_in_its_environment_only(plugin: Plugin) -> None:
    hook = made(plugin)
    other = Environment.objects.create(slug="staging", name="Staging")
    assert hook_find(plugin.environment, "gate") == hook
    assert hook_find(other, "gate") is None
