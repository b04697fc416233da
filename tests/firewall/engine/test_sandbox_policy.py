"""The policy of sandboxed sessions, and of message transports."""

from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.policy import Policy, permits
from apps.firewall.engine.sandbox_policy import (
    Source,
    left_by_transport,
    resolve_sandbox_policy,
)

NEW, OLD = DIALECTS["2026.9"], DIALECTS["2026.2"]


def test_lists_are_taken_level_by_level_not_mixed() -> None:
    agent, common = Policy(deny=("exec",)), Policy(allow=("read",), deny=("write",))
    found = resolve_sandbox_policy(NEW, agent, common)
    assert found.allow == ("read", "view_image")
    assert found.deny == ("exec",)
    assert (found.allow_source, found.deny_source) == (Source("global", "allow"), Source("agent", "deny"))


def test_what_is_asked_for_leaves_the_default_deny_list_by_pattern_too() -> None:
    found = resolve_sandbox_policy(NEW, None, Policy(also_allow=("mob*", "Cron")))
    assert "mobile_ui" not in found.deny
    assert "automations" not in found.deny
    assert "browser" in found.deny


def test_a_configured_deny_list_stays_whole() -> None:
    found = resolve_sandbox_policy(NEW, Policy(also_allow=("browser",)), Policy(deny=("browser",)))
    assert found.deny == ("browser",)
    assert not permits(NEW, found.policy, "browser")


def test_an_empty_allow_list_stays_empty_whatever_is_added() -> None:
    assert resolve_sandbox_policy(NEW, None, Policy(allow=(), also_allow=("browser",))).allow == ()


def test_denying_images_under_the_old_name_denies_the_tool() -> None:
    found = resolve_sandbox_policy(NEW, None, Policy(deny=("im?ge", "IMAGE")))
    assert found.deny == ("im?ge", "image", "view_image")
    assert "view_image" not in resolve_sandbox_policy(NEW, None, Policy(allow=("read",), deny=("image",))).allow


def test_the_older_release_knows_no_additions() -> None:
    found = resolve_sandbox_policy(OLD, None, Policy(also_allow=("browser",)))
    assert found.allow == OLD.sandbox_allow
    assert found.deny == OLD.sandbox_deny


def test_a_transport_carries_what_it_can() -> None:
    assert left_by_transport(NEW, ["tts", "TTS", "exec"], " Voice ") == ["TTS", "exec"]
    assert left_by_transport(NEW, ["tts", "exec"], "node") == ["tts"]
    assert left_by_transport(OLD, ["tts", "exec"], "node") == ["tts", "exec"]
    assert left_by_transport(NEW, ["tts"], None) == ["tts"]
