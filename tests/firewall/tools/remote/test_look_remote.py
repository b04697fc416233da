"""A look at the example registry, which runs as a process of its own, and at registries that misbehave."""

import json
from typing import Any

import pytest

from apps.firewall.tools.connections import read_connection
from apps.firewall.tools.discovery.found import Found, Look
from apps.firewall.tools.discovery.remote import look_remote
from apps.firewall.tools.executors import HttpExecutor
from tests.firewall.tools.connector.loopback import names, saying, serving, watching
from tests.firewall.tools.remote.conftest import Registry

GOOD = {
    "name": "good_tool",
    "version": "1.0",
    "description": "Does what is right.",
    "parameters": {"type": "object", "properties": {}},
    "endpoint": "tools/good_tool",
}


def by_key(look: Look) -> dict[str, Found]:
    assert look.failure is None, look.failure
    return {found.key: found for found in look.found}


async def look_at(registry: Registry, *entries: Any, **changes: Any) -> dict[str, Found]:
    registry.list_also(*entries)
    return by_key(await look_remote(registry.connection(**changes)))


async def test_the_example_brings_its_tools_whole(registry: Registry) -> None:
    look = await look_remote(registry.connection())
    found = by_key(look)
    assert set(found) == {"text_count", "unit_convert"}
    counted = found["text_count"]
    assert counted.failure is None
    assert counted.definition is not None
    assert (counted.definition.version, counted.definition.permissions) == ("1.1.0", ("text:read",))
    assert counted.definition.timeout_ms == 5000
    assert counted.executor == HttpExecutor(url=registry.url("/tools/text_count"), source="example")
    assert counted.facts["versions"] == ["1.1.0", "1.0.0"]
    assert counted.facts["registry"] == "Example registry"
    assert found["unit_convert"].facts["health"] == "degraded"
    assert found["unit_convert"].facts["health_message"] == "slower than usual"


async def test_a_second_look_with_the_etag_says_that_nothing_changed(registry: Registry) -> None:
    first = await look_remote(registry.connection())
    second = await look_remote(registry.connection(), etag=first.etag)
    assert first.etag
    assert (second.is_unchanged, second.etag, second.found) == (True, first.etag, ())
    registry.list_also(GOOD)
    third = await look_remote(registry.connection(), etag=first.etag)
    assert not third.is_unchanged
    assert "good_tool" in by_key(third)


async def test_after_a_change_of_settings_the_etag_counts_for_nothing(registry: Registry) -> None:
    first = await look_remote(registry.connection())
    second = await look_remote(registry.connection(versions={"text_count": "<1.1"}), etag=first.etag)
    assert not second.is_unchanged
    assert by_key(second)["text_count"].facts["status"] == "deprecated"


async def test_a_version_may_be_held(registry: Registry) -> None:
    found = by_key(await look_remote(registry.connection(versions={"text_count": "<1.1", "unit_convert": ">=9"})))
    held = found["text_count"]
    assert held.definition is not None
    assert held.definition.version == "1.0.0"
    assert held.executor == HttpExecutor(url=registry.url("/tools/text_count?version=1.0.0"), source="example")
    assert held.facts["status"] == "deprecated"
    failure = found["unit_convert"].failure
    assert failure is not None
    assert (failure.stage, failure.code) == ("verify", "version_not_offered")


async def test_the_newest_version_that_is_finished_and_not_withdrawn_is_taken(registry: Registry) -> None:
    versions = ["1.0", "1.10", "1.9", "2.0rc1", "newest"]
    entries = [GOOD | {"version": version} for version in versions]
    entries.append(GOOD | {"version": "3.0", "status": "withdrawn"})
    found = (await look_at(registry, *entries))["good_tool"]
    assert found.definition is not None
    assert found.definition.version == "1.10"
    assert found.facts["versions"] == [*versions, "3.0"]


BROKEN = [
    ("verify", "definition_invalid", GOOD | {"parameters": {"type": "wrong"}}),
    ("verify", "definition_invalid", GOOD | {"parameters": "none", "tags": 5}),
    ("verify", "definition_invalid", GOOD | {"description": "what no database\0 keeps"}),
    ("verify", "definition_invalid", GOOD | {"tags": ["a", "b\0"]}),
    ("verify", "endpoint_missing", {key: value for key, value in GOOD.items() if key != "endpoint"}),
    ("verify", "endpoint_refused", GOOD | {"endpoint": "http://169.254.169.254:22/"}),
    ("verify", "endpoint_refused", GOOD | {"endpoint": "file:///etc/passwd"}),
    ("verify", "endpoint_refused", GOOD | {"endpoint": "//["}),
    ("verify", "endpoint_refused", GOOD | {"endpoint": "http://user:word@127.0.0.1/"}),
    ("verify", "secret_not_allowed", GOOD | {"config": {"a": [{"key": {"$secret": "key"}}]}}),
    ("verify", "withdrawn", GOOD | {"status": "withdrawn"}),
    ("initialise", "unhealthy", GOOD | {"health": {"status": "down", "message": "no database"}}),
]


@pytest.mark.parametrize(("stage", "code", "entry"), BROKEN)
async def test_a_broken_tool_is_named_with_its_cause_and_stops_nothing(
    registry: Registry, stage: str, code: str, entry: dict[str, Any]
) -> None:
    found = await look_at(registry, entry)
    failure = found["good_tool"].failure
    assert failure is not None
    assert (failure.stage, failure.code) == (stage, code)
    assert failure.message
    assert found["text_count"].failure is None
    assert found["unit_convert"].failure is None


async def test_a_pattern_may_spell_out_what_may_not_be_held(registry: Registry) -> None:
    entry = GOOD | {
        "parameters": {"type": "object", "properties": {"a": {"type": "string", "pattern": r"^[^\u0000]*$"}}}
    }
    assert (await look_at(registry, entry))["good_tool"].failure is None


async def test_entries_that_are_no_tools_at_all_stop_nothing(registry: Registry) -> None:
    found = await look_at(registry, 7, None, "text", [], {}, {"name": ""}, {"name": 3}, {"name": "a\u0000b\u202e"})
    broken = [each for each in found.values() if each.failure is not None]
    assert len(found) - len(broken) == 2
    assert all("\u0000" not in each.key and "\u202e" not in each.key for each in found.values())


async def test_a_tool_that_is_down_keeps_its_definition_and_its_address(registry: Registry) -> None:
    found = (await look_at(registry, GOOD | {"health": {"status": "down"}}))["good_tool"]
    assert found.definition is not None
    assert found.executor == HttpExecutor(url=registry.url("/tools/good_tool"), source="example")


async def test_a_wrong_token_fails_the_look(registry: Registry) -> None:
    look = await look_remote(registry.connection(auth_token="wrong"))
    assert look.failure is not None
    assert (look.failure.stage, look.failure.code) == ("discover", "registry_refused")


async def test_a_registry_on_a_private_address_is_not_asked(registry: Registry) -> None:
    with watching() as sockets:
        look = await look_remote(registry.connection(allow_networks=[]))
    assert look.failure is not None
    assert look.failure.code == "address_refused"
    assert sockets == []


def answer(body: bytes, status: str = "200 OK", headers: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (answer(b"<html>"), "registry_unreadable"),
        (answer(b"[]"), "registry_unreadable"),
        (answer(b'{"format": 1}'), "registry_unreadable"),
        (answer(b'{"format": 2, "tools": []}'), "registry_unreadable"),
        (answer(b'{"format": 1, "tools": [' + b"[" * 5000 + b"]" * 5000 + b"]}"), "registry_unreadable"),
        (answer(json.dumps({"format": 1, "tools": [{}] * 5001}).encode()), "registry_unreadable"),
        (answer(b"{}", "500 Oops"), "registry_failed"),
        (answer(b"", "304 Not Modified"), "registry_failed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", "answer_too_large"),
        (b"rubbish\r\n\r\n", "answer_broken"),
    ],
)
async def test_a_registry_that_answers_rubbish_fails_as_a_whole(said: bytes, code: str) -> None:
    async with serving(saying(said)) as server:
        settings = {"url": server.url(), "allow_networks": ["127.0.0.0/8"]}
        connection = read_connection(source="bad", kind="remote", settings=settings, secrets={})
        look = await look_remote(connection, resolve=names())
    assert look.failure is not None
    assert (look.failure.stage, look.failure.code, look.found) == ("discover", code, ())


async def test_an_etag_that_cannot_be_sent_back_is_not_kept() -> None:
    said = answer(b'{"format": 1, "tools": []}', headers=f"ETag: {'x' * 201}\r\n")
    async with serving(saying(said)) as server:
        settings = {"url": server.url(), "allow_networks": ["127.0.0.0/8"]}
        connection = read_connection(source="bad", kind="remote", settings=settings, secrets={})
        assert (await look_remote(connection, resolve=names())).etag == ""
