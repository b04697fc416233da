"""What a request of agents may say: the parameters and members that the document of its operation names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

from apps.firewall.tools.members import Members, members_of, unknown_member
from apps.gateway.runtime_api.http import mistakes
from apps.gateway.runtime_api.openapi import PATHS, SCHEMAS

QUERY_FIELDS: Final = 200


@dataclass(frozen=True, slots=True)
class Sent:
    """What an operation knows.

    Args:
        query: names of its query parameters.
        body: members of its body; None for any.
    """

    query: frozenset[str]
    body: Members | None


def check_query(query: bytes, sent: Sent) -> None:
    """Refuse a query string with parameters that the operation does not know.

    Raises:
        Problem: 422, it names each.
    """
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=QUERY_FIELDS)
    except ValueError:
        problem = {"path": "", "code": "invalid", "message": "the query is not one that can be read"}
        raise mistakes([problem]) from None
    strangers = sorted({name for name, _ in pairs} - sent.query)
    if strangers:
        raise mistakes([unknown_member("", name, sent.query) for name in strangers])


def close_requests(paths: Mapping[str, Any], schemas: dict[str, Any]) -> None:
    """Say in a document that the bodies of requests hold nothing but what is named."""
    for operation in (each for methods in paths.values() for each in methods.values()):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            _close(content.get("schema", {}), schemas, set())


def _close(schema: Any, schemas: dict[str, Any], seen: set[str]) -> None:
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in seen:
            seen.add(name)
            _close(schemas[name], schemas, seen)
        return
    if "object" in schema.get("type", ()):
        schema.setdefault("additionalProperties", False)
    for inner in _parts(schema):
        _close(inner, schemas, seen)


def _parts(schema: Mapping[str, Any]) -> Iterator[Any]:
    yield from schema.get("properties", {}).values()
    yield schema.get("items")
    for word in ("oneOf", "anyOf", "allOf"):
        yield from schema.get(word, ())


def _sent(operation: Mapping[str, Any]) -> Sent:
    query = frozenset(each["name"] for each in operation.get("parameters", ()) if each["in"] == "query")
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    return Sent(query, members_of(schema, SCHEMAS))


OPERATIONS: Final[Mapping[tuple[str, str], Sent]] = {
    (path, method.upper()): _sent(operation) for path, methods in PATHS.items() for method, operation in methods.items()
}
