"""What acts on calls at once takes the right to publish, by whichever way it is tried."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.accounts.access import Permission
from apps.accounts.errors import PermissionDeniedError
from apps.registry import services
from apps.registry.errors import SourceInvalidError
from apps.registry.lifecycle import MOVES
from apps.registry.models import OFFERED_STATES, DiscoveryRun, DiscoverySource, Environment, Tool, ToolState
from tests.registry.conftest import found

pytestmark = pytest.mark.django_db
Taken = Callable[..., DiscoveryRun]


@pytest.fixture
def writer(token: Callable[..., Any]) -> Any:
    return token("policy_read", "policy_write")[0]


@pytest.fixture
def publisher(token: Callable[..., Any]) -> Any:
    return token("policy_read", "policy_write", "publish")[0]


@pytest.mark.parametrize("withdrawn", [ToolState.DISABLED, ToolState.QUARANTINED, ToolState.UNREGISTERED])
def test_no_way_round_brings_a_withdrawn_tool_back_without_it(withdrawn: ToolState) -> None:
    reached, left = {str(withdrawn)}, [str(withdrawn)]
    while left:
        ways = MOVES[left.pop()]
        new = {str(to) for to, move in ways.items() if move.permission == Permission.POLICY_WRITE} - reached
        reached |= new
        left += new
    assert not reached & set(OFFERED_STATES)


@pytest.mark.parametrize("reason", ["no longer offered", "its source was removed"])
def test_a_persons_reason_is_not_taken_for_a_looks(
    environment: Environment, look: Taken, writer: Any, admin: Any, reason: str
) -> None:
    look(found("files__list"))
    tool = Tool.objects.get(environment=environment, name="files__list")
    services.tool_set_state(tool, state="disabled", reason="it lies", by=admin)
    services.tool_set_state(tool, state="unregistered", reason=reason, by=writer)

    look(found("files__list"))

    tool.refresh_from_db()
    assert tool.state == "unregistered"


@pytest.mark.parametrize("kind", ["mcp_stdio", "mcp_http", "folder"])
def test_a_source_is_added_by_publishers(environment: Environment, writer: Any, publisher: Any, kind: str) -> None:
    every: dict[str, dict[str, Any]] = {
        "mcp_stdio": {"command": ["/bin/true"]},
        "mcp_http": {"url": "https://tools.example"},
        "folder": {"scan_directories": ["/srv/tools"]},
    }
    settings = every[kind]
    with pytest.raises(PermissionDeniedError):
        services.source_create(environment, key="new", kind=kind, settings=settings, by=writer)
    assert services.source_create(environment, key="new", kind=kind, settings=settings, by=publisher).key == "new"


@pytest.mark.parametrize(
    "fields",
    [
        {"settings": {"command": ["/bin/false"]}},
        {"settings": {"command": ["/bin/true"], "network": True}},
        {"secrets": {"door_key": "another"}},
        {"on_drift": "keep"},
        {"is_enabled": True},
    ],
    ids=str,
)
def test_where_calls_go_is_changed_by_publishers(
    source: DiscoverySource, writer: Any, publisher: Any, fields: dict[str, Any]
) -> None:
    if "is_enabled" in fields:
        services.source_save(source, is_enabled=False, by=writer)
    with pytest.raises(PermissionDeniedError):
        services.source_save(source, by=writer, **fields)
    before = DiscoverySource.objects.get(pk=source.pk).version
    assert services.source_save(source, by=publisher, **fields).version == before + 1


def test_what_only_withdraws_or_names_takes_no_more_than_writing(source: DiscoverySource, writer: Any) -> None:
    saved = services.source_save(
        source,
        settings=dict(source.settings),
        name="Files",
        interval_s=60,
        is_enabled=False,
        on_new="review",
        by=writer,
    )
    assert (saved.name, saved.is_enabled) == ("Files", False)


def test_a_plugin_is_switched_on_again_by_publishers(environment: Environment, writer: Any, publisher: Any) -> None:
    plugin = services.plugin_save(environment, key="tides", by=writer)
    assert not services.plugin_set_enabled(plugin, is_enabled=False, by=writer).is_enabled
    with pytest.raises(PermissionDeniedError):
        services.plugin_set_enabled(plugin, is_enabled=True, by=writer)
    with pytest.raises(PermissionDeniedError):
        services.plugin_save(environment, key="tides", is_enabled=True, by=writer)
    assert services.plugin_set_enabled(plugin, is_enabled=True, by=publisher).is_enabled


FAR = {"url": "https://tools.example/registry", "auth_token": "t0p-secret", "headers": {"X-Team": "blue"}}
KEPT = {"auth_token": {"$secret": "auth_token"}, "headers": {"X-Team": {"$secret": "headers.X-Team"}}}


@pytest.mark.parametrize(
    "url",
    ["https://elsewhere.example/registry", "http://tools.example/registry", "https://tools.example:8443/registry"],
)
def test_another_address_does_not_get_the_secrets_of_this_one(
    environment: Environment, publisher: Any, url: str
) -> None:
    far = services.source_create(environment, key="far", kind="remote", settings=FAR, by=publisher)

    with pytest.raises(SourceInvalidError) as refused:
        services.source_save(far, settings={**KEPT, "url": url}, by=publisher)
    with pytest.raises(SourceInvalidError) as half:
        services.source_save(far, settings={**KEPT, "url": url}, secrets={"auth_token": "an0ther"}, by=publisher)

    assert [each["path"] for each in refused.value.details] == ["settings.auth_token", "settings.headers.X-Team"]
    assert [each["path"] for each in half.value.details] == ["settings.headers.X-Team"]
    assert services.source_save(far, settings={**FAR, "url": url}, by=publisher).settings["url"] == url
    assert services.source_save(far, settings={**KEPT, "url": f"{url}/v2"}, by=publisher).settings["url"] == f"{url}/v2"
    assert (
        "auth_token" not in services.source_save(far, settings={"url": "https://third.example"}, by=publisher).settings
    )
