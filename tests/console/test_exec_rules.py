"""The page of exec rules, of every agent and of one: settings, approvals document, elevated."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.policies.models import Agent, ExecApprovals, ExecApprovalsAgent, ExecSettings, GlobalPolicy
from apps.policies.selectors import draft_snapshot
from apps.policies.services import agent_create, approvals_agent_create, exec_settings_create, record_update

ClientOf = Callable[..., Client]
PAGE = "/exec-rules/"


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_it(name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest) -> None:
    assert client_of(request.getfixturevalue(name)).get(PAGE).status_code == 200


def test_an_outsider_does_not(client_of: ClientOf, published: Any, outsider: Any) -> None:
    assert client_of(outsider).get(PAGE).status_code == 403


def test_a_viewer_changes_nothing(client_of: ClientOf, published: Any, viewer: Any) -> None:
    before = ExecSettings.objects.count()
    answer = client_of(viewer).post(PAGE, {"part": "exec", "version": "0", "security": "full"})
    assert answer.status_code == 403
    assert ExecSettings.objects.count() == before


def _global(published: Any) -> ExecSettings | None:
    return ExecSettings.objects.filter(environment=published, agent=None).first()


def test_settings_of_every_agent_are_saved_in_their_version(client_of: ClientOf, published: Any, admin: Any) -> None:
    settings = _global(published) or exec_settings_create(published, by=admin)
    version = str(settings.version)
    values = {"part": "exec", "version": version, "mode": "", "security": "allowlist", "ask": "always"}
    more = {"host": "sandbox", "strict_inline_eval": "yes", "safe_bins": "jq\ncut"}
    assert client_of(admin).post(PAGE, values | more).status_code == 302
    settings.refresh_from_db()
    assert (settings.host, settings.security, settings.ask) == ("sandbox", "allowlist", "always")
    assert (settings.strict_inline_eval, settings.safe_bins) == (True, ["jq", "cut"])
    assert client_of(admin).post(PAGE, values | {"ask": "off"}).status_code == 409


def test_the_words_of_the_document_are_made_and_changed(client_of: ClientOf, published: Any, admin: Any) -> None:
    ExecApprovals.objects.filter(environment=published).delete()
    ExecApprovalsAgent.objects.filter(environment=published).delete()
    client = client_of(admin)
    words = {"version": "0", "security": "allowlist", "ask": "on-miss", "ask_fallback": "deny"}
    assert client.post(PAGE, {"part": "approvals", **words}).status_code == 302
    assert client.post(PAGE, {"part": "everyone", **words, "ask_fallback": "full"}).status_code == 302
    assert client.post("/agents/ops-runner/exec/", {"part": "approvals", **words, "ask": "always"}).status_code == 302
    document = ExecApprovals.objects.get(environment=published)
    assert (document.security, document.ask, document.ask_fallback) == ("allowlist", "on-miss", "deny")
    found = {each.key: (each.ask, each.ask_fallback) for each in ExecApprovalsAgent.objects.all()}
    assert found == {"*": ("on-miss", "full"), "ops-runner": ("always", "deny")}
    text = client.get(PAGE).content.decode()
    assert "commands that nobody answers for run" in text
    assert "execApprovals.agents.ops-runner.ask" in text


def test_an_unknown_word_is_refused_beside_its_field(client_of: ClientOf, published: Any, admin: Any) -> None:
    answer = client_of(admin).post(PAGE, {"part": "everyone", "version": "0", "ask_fallback": "sometimes"})
    assert answer.status_code == 422
    assert 'id="id_everyone_ask_fallback"' in answer.content.decode()
    assert "sometimes" in answer.content.decode()


def test_who_may_be_elevated_is_listed_by_channel(client_of: ClientOf, published: Any, admin: Any) -> None:
    policy = GlobalPolicy.objects.get(environment=published)
    record_update(policy, {"elevated_allow_from": {"telegram": [42]}}, by=admin, expected_version=policy.version)
    policy.refresh_from_db()
    values = {"part": "elevated", "version": str(policy.version), "elevated_enabled": "yes", "elevated_default": "ask"}
    lines = "telegram: 42\nslack: name:Ann Lee\nslack:*\n\ndiscord:"
    assert client_of(admin).post(PAGE, values | {"elevated_allow_from": lines}).status_code == 302
    policy.refresh_from_db()
    assert policy.elevated_allow_from == {"telegram": [42], "slack": ["name:Ann Lee", "*"], "discord": []}
    assert (policy.elevated_enabled, policy.elevated_default) == (True, "ask")
    settings = draft_snapshot(published).exec_settings("main")
    assert settings.elevated == {"enabled": True, "allowFrom": policy.elevated_allow_from}
    assert settings.elevated_level == "ask"
    text = client_of(admin).get(PAGE).content.decode()
    assert "everybody on `slack` may have commands elevated" in text
    assert "telegram: 42" in text


def test_a_line_without_a_channel_is_named(client_of: ClientOf, published: Any, admin: Any) -> None:
    policy = GlobalPolicy.objects.get(environment=published)
    values = {"part": "elevated", "version": str(policy.version), "elevated_allow_from": "just-a-name"}
    answer = client_of(admin).post(PAGE, values)
    assert answer.status_code == 422
    assert "just-a-name" in answer.content.decode()


def test_an_agent_can_only_narrow_and_is_told_so(client_of: ClientOf, published: Any, admin: Any) -> None:
    agent = Agent.objects.get(key="ops-runner")
    values = {"part": "elevated", "version": str(agent.version), "elevated_allow_from": "matrix: @ann:example.org"}
    assert client_of(admin).post("/agents/ops-runner/exec/", values).status_code == 302
    agent.refresh_from_db()
    assert agent.elevated_allow_from == {"matrix": ["@ann:example.org"]}
    assert "so nobody there is elevated" in client_of(admin).get("/agents/ops-runner/exec/").content.decode()


def test_a_safe_program_without_profile_is_ignored_and_says_so(client_of: ClientOf, published: Any, admin: Any) -> None:
    settings = _global(published) or exec_settings_create(published, by=admin)
    wanted = {
        "safe_bins": ["cut", "mytool", "python3", "perl", "jq"],
        "safe_bin_profiles": {"perl": {"maxPositional": 0, "allowedValueFlags": ["-e"]}},
    }
    record_update(settings, wanted, by=admin, expected_version=settings.version)
    text = client_of(admin).get(PAGE).content.decode()
    assert "`mytool` has no argument profile, so the entry is ignored" in text
    assert "`python3` runs code: without a hardened profile" in text
    assert "`perl` runs code, and its profile is not hardened" in text
    assert "`jq` is never a safe bin" in text
    assert "`cut`" not in text


def test_each_agent_is_shown_with_the_setting_that_decided(client_of: ClientOf, published: Any, admin: Any) -> None:
    ExecApprovalsAgent.objects.filter(environment=published, key="ops-runner").delete()
    approvals_agent_create(published, "ops-runner", by=admin, security="deny")
    text = client_of(admin).get("/agents/ops-runner/exec/").content.decode()
    assert "execApprovals.agents.ops-runner.security" in text


PROFILES = "jq: words 0-1, values -f --arg, switches -r\n\nwc:\npython3: words 1, denied -c"


def save_profiles(client: Client, settings: ExecSettings, text: str, bins: str = "jq") -> Any:
    settings.refresh_from_db()
    values = {"part": "exec", "version": str(settings.version), "safe_bins": bins, "safe_bin_profiles": text}
    return client.post(PAGE, values)


def test_profiles_of_safe_programs_are_written_one_a_line(client_of: ClientOf, published: Any, admin: Any) -> None:
    settings = _global(published) or exec_settings_create(published, by=admin)
    client = client_of(admin)
    assert save_profiles(client, settings, PROFILES).status_code == 302
    settings.refresh_from_db()
    assert settings.safe_bin_profiles == {
        "jq": {
            "minPositional": 0,
            "maxPositional": 1,
            "allowedValueFlags": ["-f", "--arg"],
            "allowedBooleanFlags": ["-r"],
        },
        "wc": {},
        "python3": {"minPositional": 1, "maxPositional": 1, "deniedFlags": ["-c"]},
    }
    text = client.get(PAGE).content.decode()
    assert "jq: words 0-1, values -f --arg, switches -r\nwc:\npython3: words 1-1, denied -c" in text
    assert save_profiles(client, settings, "").status_code == 302
    settings.refresh_from_db()
    assert settings.safe_bin_profiles is None


def test_a_number_of_words_may_have_no_end(client_of: ClientOf, published: Any, admin: Any) -> None:
    settings = _global(published) or exec_settings_create(published, by=admin)
    assert save_profiles(client_of(admin), settings, "jq: words 2-").status_code == 302
    settings.refresh_from_db()
    assert settings.safe_bin_profiles == {"jq": {"minPositional": 2}}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("jq words 1", "No program before a colon: jq words 1"),
        (": words 1", "No program before a colon"),
        ("jq: words 2-1", "Not a number of words, such as 0-2: words 2-1"),
        ("jq: words 1001", "Not a number of words"),
        ("jq: words", "Not words, values, switches or denied: words"),
        ("jq: allow -r", "Not words, values, switches or denied: allow -r"),
        ("jq: values -r\njq: words 1", "Named twice: jq"),
        ("jq: <script>", "&lt;script&gt;"),
    ],
)
def test_a_profile_that_says_nothing_known_is_refused_beside_its_field(
    line: str, told: str, client_of: ClientOf, published: Any, admin: Any
) -> None:
    settings = _global(published) or exec_settings_create(published, by=admin)
    answer = save_profiles(client_of(admin), settings, line)
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert 'id="id_exec_safe_bin_profiles"' in answer.content.decode()


@pytest.mark.parametrize(
    ("profile", "told"),
    [
        ("", "runs code: without a hardened profile"),
        ("python3: switches -c", "its profile is not hardened"),
        ("python3: words 0-1", ""),
    ],
)
def test_what_no_profile_covers_is_named_beside_the_programs(
    profile: str, told: str, client_of: ClientOf, published: Any, admin: Any
) -> None:
    settings = _global(published) or exec_settings_create(published, by=admin)
    client = client_of(admin)
    assert save_profiles(client, settings, profile, bins="python3\nmytool").status_code == 302
    text = client.get(PAGE).content.decode()
    field = text.split('id="id_exec_safe_bins"', 1)[1].split('id="id_exec_safe_bin_profiles"', 1)[0]
    assert "`mytool` has no argument profile" in field
    assert (told in field) if told else "runs code" not in field


def test_of_many_agents_those_alike_are_counted_in_one_line(client_of: ClientOf, published: Any, admin: Any) -> None:
    for number in range(60):
        agent_create(published, f"many-{number:02}", by=admin)
    client = client_of(admin)
    page = client.get("/exec-rules/")
    assert [(held.agent, held.others) for held in page.context["agents"]] == [("ops-runner", 0), ("", 61)]
    assert "61 other agents" in page.content.decode()
    for agent in Agent.objects.filter(key__startswith="many-")[:55]:
        exec_settings_create(published, by=admin, agent=agent, security="deny")
    held = client.get("/exec-rules/").context["agents"]
    assert [(each.agent, each.others) for each in held[50:]] == [("", 6), ("", 6)]
