"""Discovery sources: settings checked with their places, secrets sealed and never shown."""

from typing import Any

import pytest
from django.apps import apps

from apps.accounts.errors import PermissionDeniedError
from apps.audit.models import Entry
from apps.firewall.tools.connections import SECRET
from apps.registry import selectors, services
from apps.registry.errors import RecordChangedError, SourceInvalidError
from apps.registry.models import DiscoverySource, Environment, HookKind, SourceKind, Tool
from apps.registry.source_settings import SETTINGS, secrets_shown, setting_of, source_connection
from tests.registry.conftest import found, look, source  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db
URL = "https://tools.acme.example/"


def remote(environment: Environment, **settings: Any) -> DiscoverySource:
    return services.source_create(environment, key="acme", kind="remote", settings={"url": URL, **settings})


def paths(error: SourceInvalidError) -> set[str]:
    return {detail["path"] for detail in error.details}


def test_every_kind_has_its_table_of_settings() -> None:
    assert set(SETTINGS) == {*SourceKind, *HookKind}
    for kind, settings in SETTINGS.items():
        assert len({setting.name for setting in settings}) == len(settings), kind


def test_secrets_in_clear_are_sealed_and_reach_the_connection(environment: Environment) -> None:
    source = remote(  # noqa: F811
        environment,
        auth_token="t0p-secret",
        headers={"X-Key": "k3y"},
        signing={"algorithm": "hmac-sha256", "key": "sixteen-letters!", "key_id": "one"},
    )
    assert source.settings["auth_token"] == {SECRET: "auth_token"}
    assert source.settings["headers"] == {"X-Key": {SECRET: "headers.X-Key"}}
    assert source.settings["signing"]["key"] == {SECRET: "signing.key"}
    assert b"t0p-secret" not in bytes(source.secrets)

    connection = source_connection(source)
    assert dict(connection.headers) == {"X-Key": "k3y", "Authorization": "Bearer t0p-secret"}
    assert connection.signing is not None
    assert (connection.signing.key, connection.signing.key_id) == ("sixteen-letters!", "one")
    assert [(each.name, each.length) for each in secrets_shown(source)] == [
        ("auth_token", 10),
        ("headers.X-Key", 3),
        ("signing.key", 16),
    ]


def test_no_log_and_no_ledger_holds_a_secret(environment: Environment, admin: Any) -> None:
    source = remote(environment, auth_token="t0p-secret")  # noqa: F811
    services.source_save(source, secrets={"auth_token": "an0ther"}, by=admin)
    entries = Entry.objects.filter(kind="source_change", changes__id=source.shown_id)
    written = [str(entry.changes) for entry in entries]
    assert len(written) == 2
    assert not any("t0p-secret" in text or "an0ther" in text for text in written)
    log = apps.get_model("registry", "DiscoverySourceEvent")
    assert "secrets" not in {field.name for field in log._meta.fields}


def test_secrets_stay_when_they_are_not_named_again_and_go_when_they_are_taken_away(environment: Environment) -> None:
    source = remote(environment, auth_token="t0p-secret")  # noqa: F811
    source = services.source_save(source, secrets={"door_key": "42"})
    assert [each.name for each in secrets_shown(source)] == ["auth_token", "door_key"]
    source = services.source_save(source, settings={"url": URL})
    assert [each.name for each in secrets_shown(source)] == ["door_key"]
    source = services.source_save(source, secrets={"door_key": None})
    assert secrets_shown(source) == ()


@pytest.mark.parametrize(
    ("kind", "settings", "path"),
    [
        ("file", {}, "settings.path"),
        ("file", {"path": "tools.yaml"}, "settings.path"),
        ("file", {"path": "/srv/../etc/tools.yaml"}, "settings.path"),
        ("folder", {"scan_directories": "/srv"}, "settings.scan_directories"),
        ("folder", {"scan_directories": ["/srv", 7]}, "settings.scan_directories[1]"),
        ("remote", {"url": "file:///etc/passwd"}, "settings.url"),
        ("remote", {"url": URL, "ports": ["443"]}, "settings.ports[0]"),
        ("remote", {"url": URL, "signing": {"algorithm": "md5", "key": "x"}}, "settings.signing.algorithm"),
        ("mcp_stdio", {"command": []}, "settings.command"),
        ("mcp_stdio", {"command": ["/bin/x"], "env": {"A": 1}}, "settings.env.A"),
        ("mcp_stdio", {"command": ["/bin/x"], "network": "yes"}, "settings.network"),
        ("mcp_stdio", {"command": ["/bin/x"], "limits": {"memory_bytes": "many"}}, "settings.limits.memory_bytes"),
        ("mcp_http", {"url": URL, "headers": {"X Y": "z"}}, "settings.headers"),
    ],
)
def test_every_mistake_has_its_place(environment: Environment, kind: str, settings: dict[str, Any], path: str) -> None:
    with pytest.raises(SourceInvalidError) as caught:
        services.source_create(environment, key="x", kind=kind, settings=settings)
    assert path in paths(caught.value)


@pytest.mark.parametrize("kind", ["", "ftp", "__class__"])
def test_an_unknown_kind_is_refused(environment: Environment, kind: str) -> None:
    with pytest.raises(SourceInvalidError):
        services.source_create(environment, key="x", kind=kind, settings={})


def test_a_key_is_taken_once(environment: Environment) -> None:
    remote(environment)
    with pytest.raises(SourceInvalidError):
        remote(environment)


def test_what_is_absent_has_its_default(environment: Environment) -> None:
    folder = services.source_create(
        environment, key="house", kind="folder", settings={"scan_directories": ["/srv/tools"]}
    )
    assert setting_of(folder, "patterns") == ["tool_*.py", "*_tool.py"]


def test_whoever_saves_second_sees_both_sides(environment: Environment, admin: Any) -> None:
    source = remote(environment)  # noqa: F811
    services.source_save(source, on_drift="keep", expected_version=1, by=admin)
    with pytest.raises(RecordChangedError) as caught:
        services.source_save(source, on_drift="refuse", expected_version=1, by=admin)
    assert caught.value.theirs == {"on_drift": "keep", "version": 2}


def test_removing_a_source_withdraws_its_tools_and_adding_it_again_brings_them_back(
    environment: Environment,
    source: DiscoverySource,  # noqa: F811
    look: Any,  # noqa: F811
    admin: Any,
) -> None:
    look(found("files__list"))
    services.source_delete(source, by=admin)
    tool = Tool.objects.get(environment=environment, name="files__list")
    assert (tool.state, tool.discovery_source_id) == ("unregistered", None)

    again = services.source_create(environment, key="files", kind="mcp_stdio", settings={"command": ["/bin/true"]})
    look(found("files__list"), of=again)
    assert "files__list" in {each.name for each in selectors.tools_offered(environment)}


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_only_who_writes_policies_changes_sources(
    environment: Environment, name: str, request: pytest.FixtureRequest
) -> None:
    source, by = remote(environment), request.getfixturevalue(name)  # noqa: F811
    for attempt in (
        lambda: services.source_create(environment, key="mine", kind="remote", settings={"url": URL}, by=by),
        lambda: services.source_save(source, on_drift="keep", by=by),
        lambda: services.source_delete(source, by=by),
    ):
        with pytest.raises(PermissionDeniedError):
            attempt()
