"""The door itself: limits, one error shape, ids and headers, and that its document tells the truth."""

from typing import Any

import httpx
import orjson
import pytest
from django.db import OperationalError

from apps.gateway.runtime_api.app import ROUTES
from apps.gateway.runtime_api.openapi import PATHS, SCHEMAS
from tests.gateway.server import Server

URL = "/api/v1/decisions"
GOOD = {"agent": "bot", "tool": "read"}


def post(client: httpx.Client, content: bytes, **headers: str) -> httpx.Response:
    return client.post(URL, content=content, headers={"Content-Type": "application/json", **headers})


def nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b"{", {}, 400, "invalid_json"),
        (b"[]", {}, 400, "invalid_json"),
        (b"\xff", {}, 400, "invalid_json"),
        (b'{"a": NaN}', {}, 400, "invalid_json"),
        (nested(65), {}, 400, "json_too_deep"),
        (nested(5000), {}, 400, "invalid_json"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
        (b"a=1", {"Content-Type": "application/x-www-form-urlencoded"}, 415, "unsupported_media_type"),
        (nested(20), {}, 422, "invalid_request"),
    ],
)
def test_a_body_that_cannot_be_used_is_refused_in_the_one_shape(
    agent: httpx.Client, content: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    answer = post(agent, content, **headers)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert set(answer.json()) == {"code", "message", "details"}


def test_a_body_above_the_limit_is_refused_with_or_without_its_length(agent: httpx.Client, settings: Any) -> None:
    settings.BODY_LIMIT_BYTES = 1000

    stated = post(agent, b'{"a": "' + b"x" * 2000 + b'"}')
    streamed = agent.post(URL, content=iter([b"x" * 600] * 3), headers={"Content-Type": "application/json"})

    assert [answer.status_code for answer in (stated, streamed)] == [413, 413]
    assert stated.json()["code"] == "body_too_large"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", URL, 405),
        ("DELETE", "/api/v1/calls", 405),
        ("POST", "/api/v1/calls/call_x", 405),
        ("GET", "/api/v1/calls/call_x", 404),
        ("GET", "/api/v1/calls/call_01jd3v8m8qf6v9c0k2t4x6z8ab", 404),
        ("GET", "/api/v1/approvals/ap_x/wait", 404),
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/api/v1/calls/a/b", 404),
    ],
)
def test_other_paths_and_methods_are_answered_in_the_one_shape(
    agent: httpx.Client, method: str, path: str, status: int
) -> None:
    answer = agent.request(method, path)

    assert answer.status_code == status
    assert set(answer.json()) == {"code", "message", "details"}
    assert ("allow" in answer.headers) is (status == 405)


def test_every_answer_carries_the_security_headers_and_an_id(agent: httpx.Client, server: Server) -> None:
    for answer in (agent.post(URL, json=GOOD), agent.get("/api/v1/nothing")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert len(answer.headers["x-request-id"]) == 16


@pytest.mark.parametrize(("given", "is_taken"), [("abcdef-12345", True), ("short", False), ("has blanks in", False)])
def test_an_id_of_the_caller_is_taken_over_when_it_is_one(agent: httpx.Client, given: str, is_taken: bool) -> None:
    answer = agent.post(URL, json=GOOD, headers={"X-Request-Id": given})

    assert (answer.headers["x-request-id"] == given) is is_taken


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.parametrize(
    ("given", "is_taken"),
    [
        (f"00-{TRACE}-00f067aa0ba902b7-01", True),
        (f"cc-{TRACE}-00f067aa0ba902b7-01-later", True),
        (f"ff-{TRACE}-00f067aa0ba902b7-01", False),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01", False),
        ("nonsense", False),
    ],
)
def test_a_trace_of_the_caller_goes_on(agent: httpx.Client, given: str, is_taken: bool) -> None:
    answer = agent.post(URL, json=GOOD, headers={"traceparent": given})

    assert (answer.headers["traceparent"][3:35] == TRACE) is is_taken


def test_an_error_inside_tells_its_class_and_nothing_more(agent: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from apps.gateway.lifecycle import gateway

    def broken(environment: str) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(gateway().snapshots, "live", broken)

    answer = agent.post(URL, json=GOOD)

    assert answer.status_code == 500
    assert answer.json() == {"code": "internal_error", "message": "an internal error: RuntimeError", "details": []}


def test_the_document_names_exactly_the_routes_and_methods() -> None:
    routes = {route.path: {method.lower() for method in route.methods} for route in ROUTES}

    assert {path: set(methods) for path, methods in PATHS.items()} == routes


def test_every_reference_of_the_document_leads_somewhere_and_every_schema_is_used() -> None:
    text = orjson.dumps([PATHS, SCHEMAS]).decode()
    named = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}

    assert named == set(SCHEMAS)


def test_a_database_that_is_away_is_said_so(agent: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_: Any, **__: Any) -> Any:
        raise OperationalError("the connection is lost: password=hush")

    monkeypatch.setattr("apps.gateway.tokens.in_database", away)
    answer = post(agent, orjson.dumps(GOOD))
    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
    assert "hush" not in answer.text
    assert answer.headers["retry-after"] == "1"
