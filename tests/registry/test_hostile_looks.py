"""Sources that want more than their place: other names' meaning, looser tools, or the end of a look."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.discovery.found import Failure, Found, Look
from apps.registry import selectors, services
from apps.registry.errors import ToolInvalidError
from apps.registry.models import DefinitionDrift, DiscoveryRun, DiscoverySource, Environment, Plugin, Tool
from apps.registry.services import discovery
from tests.registry.conftest import found

pytestmark = pytest.mark.django_db
Taken = Callable[..., DiscoveryRun]


@pytest.fixture
def plugins(environment: Environment, tmp_path: Path) -> DiscoverySource:
    settings = {"scan_directories": [str(tmp_path)]}
    return services.source_create(environment, key="plugins", kind="openclaw_plugins", settings=settings)


def of_plugin(name: str, plugin: str) -> Found:
    return Found(key=name, definition=Definition(name=name, description="Tells the tide."), plugin=plugin)


def tool(environment: Environment, name: str) -> Tool:
    return Tool.objects.get(environment=environment, name=name)


@pytest.mark.parametrize("text", ["a\0b", "half \ud800 of a letter", "x" * 5000], ids=["NUL", "surrogate", "long"])
@pytest.mark.parametrize("place", ["key", "code", "message", "facts"])
def test_what_a_source_says_of_a_broken_tool_stops_no_other(
    environment: Any, look: Taken, place: str, text: str
) -> None:
    said = {"key": "files__bad", "code": "bad", "message": "bad", "facts": ""} | {place: text}
    failure = Failure(stage="load", code=said["code"], message=said["message"])
    run = look(found("files__ok"), Found(key=said["key"], failure=failure, facts={"said": said["facts"]}))

    run.refresh_from_db()
    assert (run.state, run.added, run.broken) == ("completed", 1, 1)
    assert tool(environment, "files__ok").state == "active"


@pytest.mark.parametrize(
    "plugin",
    [
        "exec",
        "EXEC",
        "bash",
        "*",
        "group:fs",
        "group:plugins",
        "group:mine",
        "bundle-mcp",
        "read ",
        "a\0b",
        "x" * 300,
        "\u202eexec",
    ],
)
def test_a_plugin_has_no_id_that_means_other_tools(
    environment: Environment, look: Taken, plugins: DiscoverySource, plugin: str
) -> None:
    run = look(of_plugin("tide_get", plugin), of_plugin("tide_next", "tides"), of=plugins)

    assert [(each["outcome"], each.get("code")) for each in run.findings] == [
        ("broken", "plugin_id_refused"),
        ("added", None),
    ]
    assert list(Plugin.objects.filter(environment=environment).values_list("key", flat=True)) == ["tides"]


def test_a_plugin_has_not_the_name_of_a_tool_of_others(
    environment: Environment, look: Taken, plugins: DiscoverySource
) -> None:
    look(found("files__list"))
    run = look(of_plugin("tide_get", "files__list"), of_plugin("tides", "tides"), of=plugins)
    assert [each["outcome"] for each in run.findings] == ["broken", "added"]


@pytest.mark.parametrize("key", ["exec", "group:fs", "bash"])
def test_nobody_makes_a_plugin_of_such_an_id_by_hand(environment: Environment, key: str) -> None:
    with pytest.raises(ToolInvalidError) as refused:
        services.plugin_save(environment, key=key)
    assert refused.value.details[0]["code"] == "policy_word"


@pytest.mark.parametrize("name", ["group:fs", "group:plugins", "group:anything", "Bash"])
def test_a_tool_has_no_name_that_means_others(look: Taken, name: str) -> None:
    run = look(found(name), found("files__ok"))
    assert [each["outcome"] for each in run.findings] == ["broken", "added"]


def test_a_look_keeps_what_an_admin_made_stricter_before_the_tool_was_offered(
    environment: Environment, source: DiscoverySource, look: Taken, admin: Any
) -> None:
    services.source_save(source, on_new="review")
    look(found("files__list"))
    stricter = {"owner_only": True, "sensitive_fields": ["query"]}
    services.tool_save(tool(environment, "files__list"), fields=stricter, expected_version=None, by=admin)

    look(found("files__list"))
    look(found("files__list", description="Changed before anybody accepted it."))

    row = tool(environment, "files__list")
    assert (row.owner_only, row.sensitive_fields) == (True, ["query"])
    assert row.description.startswith("Changed")


def test_accepting_a_change_keeps_what_an_admin_made_stricter_since_it_was_found(
    environment: Environment, look: Taken, admin: Any
) -> None:
    look(found("files__list"))
    look(found("files__list", description="Another one."))
    stricter = {"owner_only": True, "sensitive_fields": ["query"]}
    services.tool_save(tool(environment, "files__list"), fields=stricter, expected_version=None, by=admin)

    services.drift_accept(DefinitionDrift.objects.get(), by=admin)

    row = tool(environment, "files__list")
    assert (row.owner_only, row.sensitive_fields, row.description) == (True, ["query"], "Another one.")
    assert look(found("files__list", description="Another one.")).changed == 0


@pytest.mark.parametrize(("before", "after"), [(1, True), (0, False), (1, 1.0)])
def test_a_change_that_python_calls_none_is_shown_and_written(
    environment: Environment, look: Taken, admin: Any, before: Any, after: Any
) -> None:
    def with_value(value: Any) -> Found:
        return found("files__list", parameters={"type": "object", "properties": {"q": {"enum": [value, "b"]}}})

    look(with_value(before))
    look(with_value(after))
    drift = DefinitionDrift.objects.get()
    assert [each.path for each in selectors.drift_changes(drift)] == ["parameters.properties.q.enum"]

    services.drift_accept(drift, by=admin)

    assert repr(tool(environment, "files__list").params_schema["properties"]["q"]["enum"][0]) == repr(after)


def test_another_source_brings_nothing_back_that_a_person_took_away(
    environment: Environment, look: Taken, plugins: DiscoverySource, admin: Any
) -> None:
    look(found("tide_get"))
    services.tool_set_state(tool(environment, "tide_get"), state="unregistered", reason="it lies", by=admin)

    look(of_plugin("tide_get", "tides"), of=plugins)

    assert tool(environment, "tide_get").state == "initialised"


def test_a_look_that_breaks_while_it_is_stored_has_failed(
    source: DiscoverySource, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def brings(*_: Any) -> Look:
        return Look(found=(found("files__list"),), etag=None)  # type: ignore[arg-type]  # what nothing here expects

    monkeypatch.setattr(discovery, "look_through", brings)
    run = services.run_start(source)
    with pytest.raises(TypeError):
        services.run_finish(run)

    run.refresh_from_db()
    assert (run.state, run.error_code) == ("failed", "internal_error")
    assert not Tool.objects.filter(name="files__list").exists()


@pytest.mark.django_db(transaction=True)
def test_two_looks_at_once_give_no_name_twice(environment: Environment, source: DiscoverySource) -> None:
    other = services.source_create(environment, key="other", kind="mcp_stdio", settings={"command": ["/bin/true"]})
    looks = {name: services.run_start(each) for name, each in (("same{}", source), ("SAME{}", other))}
    together, runs = threading.Barrier(2), []

    def take(name: str, run: DiscoveryRun) -> None:
        together.wait()
        try:
            runs.append(services.run_take(run, Look(found=tuple(found(name.format(n)) for n in range(50)))))
        finally:
            connection.close()

    threads = [threading.Thread(target=take, args=each) for each in looks.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted((run.state, run.added, run.broken) for run in runs) == [("completed", 0, 50), ("completed", 50, 0)]
