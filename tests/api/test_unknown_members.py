"""Every path of programs refuses what it does not know: a mistyped filter must never be no filter."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator
from rest_framework.views import APIView as PlainView

from apps.accounts.access import Permission
from apps.api.urls import urlpatterns
from apps.api.view import APIView
from apps.firewall.identifiers import new_id

pytestmark = pytest.mark.django_db

MOVE = "/api/v1/approvals/rules/{}/move"
UNDOCUMENTED = {
    ("GET", "/api/v1/openapi.json"),
    *((method, MOVE) for method in ("GET", "PATCH", "DELETE")),  # of rules that an earlier version let end in `/move`
}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
TEXTS = {"StringConverter": "x", "SlugConverter": "x", "PathConverter": "x", "IdNumber": 1}


def operations() -> Iterator[tuple[str, str]]:
    """Give each method and path of the API, with made-up names of things: what is unknown is refused before them."""
    for pattern in urlpatterns:
        converters = pattern.pattern.converters.items()
        values = {name: TEXTS.get(type(each).__name__, new_id()) for name, each in converters}
        for method in METHODS:
            if hasattr(pattern.callback.cls, method.lower()):  # type: ignore[attr-defined]  # as_view says whose it is
                yield method, reverse(pattern.name or "", kwargs=values)


@pytest.fixture
def everything(program: Callable[..., Any]) -> Any:
    return program(*map(str, Permission))


def refused(answer: Any, path: str, meant: str = "") -> bool:
    if answer.status_code != 422:
        return False
    mistakes = {each["path"]: each["message"] for each in answer.json()["details"]}
    return path in mistakes and meant in mistakes[path]


def test_every_method_of_every_path_refuses_an_unknown_parameter_and_an_unknown_member(everything: Any) -> None:
    taken = []
    for method, url in operations():
        path = url.removeprefix("/api/v1/")
        if not refused(everything.ask(method, f"{path}?agnt=nobody"), "agnt"):
            taken.append((method, path, "parameter"))
        if method != "GET" and not refused(everything.ask(method, path, {"agnt": "nobody"}), "agnt"):
            taken.append((method, path, "member"))

    assert taken == []


def test_that_is_every_operation_of_the_document(everything: Any) -> None:
    from apps.gateway.runtime_api.openapi import PATHS

    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    documented = {
        (method.upper(), re.sub(r"\{[^}]+\}", "{}", path))
        for path, methods in document["paths"].items()
        if path not in PATHS
        for method in methods
    }
    walked = {
        (method, "/api/v1/" + re.sub(r"<[^>]+>", "{}", str(pattern.pattern)))
        for pattern in urlpatterns
        for method in METHODS
        if hasattr(pattern.callback.cls, method.lower())  # type: ignore[attr-defined]
    }

    assert documented == walked - UNDOCUMENTED


def test_every_view_is_one_that_knows_its_operation() -> None:
    plain = [each.name for each in urlpatterns if not issubclass(each.callback.cls, APIView)]  # type: ignore[attr-defined]

    assert plain == [] and issubclass(APIView, PlainView)


def test_the_document_says_that_bodies_hold_nothing_else() -> None:
    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    schemas = document["components"]["schemas"]
    open_bodies = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            for schema in named(content and content["schema"], schemas):
                if "properties" in schema and schema.get("additionalProperties") is not False:
                    open_bodies.append((method, path))

    assert open_bodies == []


def named(schema: Any, schemas: Any) -> list[Any]:
    """Give the schema of a body, or the alternatives that it names."""
    if not schema:
        return []
    if "$ref" in schema:
        return named(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    return [found for each in schema["oneOf"] for found in named(each, schemas)] if "oneOf" in schema else [schema]


@pytest.mark.parametrize(
    ("path", "body", "place", "meant"),
    [
        ("audit/exports", {"format": "jsonl", "filters": {"agnt": "nobody"}}, "filters.agnt", "`agent`"),
        ("audit/exports", {"format": "jsonl", "filter": {"agent": "nobody"}}, "filter", "`filters`"),
        ("halts", {"scope": "agent", "nmae": "bot", "reason": "x"}, "nmae", "`name`"),
        ("agents", {"key": "bot", "alow": ["read"]}, "alow", "`allow`"),
    ],
)
def test_what_was_meant_is_said(everything: Any, path: str, body: Any, place: str, meant: str) -> None:
    assert refused(everything.post(path, body), place, meant)


@pytest.mark.parametrize("path", ["audit/entries", "audit/export", "audit/calls"])
def test_a_mistyped_filter_of_the_ledger_is_refused_in_the_address_too(everything: Any, path: str) -> None:
    assert refused(everything.get(f"{path}?agnt=nobody"), "agnt", "`agent`")


def test_a_member_that_is_only_read_is_not_silently_dropped(everything: Any, draft: Any) -> None:
    (agent,) = everything.get("agents").json()["results"]
    change = {"version": agent["version"], "id": agent["id"]}

    assert refused(everything.ask("PATCH", f"agents/{agent['id']}", change), "id")


def test_a_stranger_learns_nothing_of_the_shape(program: Callable[..., Any]) -> None:
    assert program().post("audit/exports", {"filtr": {}}).status_code == 401
    assert program("policy_read").post("audit/exports", {"filtr": {}}).status_code == 403
