"""The OpenAPI document of both doors, as a source of requests for what an installation holds."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import requests
import schemathesis
from drf_spectacular.generators import SchemaGenerator
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.schemas import APIOperation

from tests.fuzz.hostile import TEXTS, spoiled, text_of
from tests.seeded import Seeded

PATIENCE_S = 40.0
"""How long an answer may take; what waits for people does so for half a minute unless it is asked to wait less."""
WAIT_MS = 200
WAITS = frozenset({"wait_ms", "waitMs"})
ORDER = ("get", "post", "put", "patch", "delete")
Operation = APIOperation[Any, Any, Any, Any]
OF_THE_API = {"agent": "main", "table": "agents"}


@dataclass(frozen=True)
class Answer:
    """What came of one request."""

    status: int
    seconds: float
    request: str
    content: str

    @property
    def wrong(self) -> str:
        """Say what no answer may be; empty where all is well."""
        if self.status >= 500:
            return f"{self.status}: {self.request}: {self.content}"
        return f"{self.seconds:.0f} s: {self.request}" if self.seconds > PATIENCE_S else ""


def document_bounded() -> dict[str, Any]:
    """Make the document, in which nobody waits for people longer than a moment."""
    raw: dict[str, Any] = json.loads(
        json.dumps(SchemaGenerator().get_schema(request=None, public=True), default=str)  # type: ignore[no-untyped-call]
    )
    _bound(raw)
    return raw


def _bound(value: Any) -> None:
    if isinstance(value, list):
        for each in value:
            _bound(each)
    if not isinstance(value, dict):
        return
    if "schema" in value and str(value.get("name")) in WAITS:
        value.update(schema={"type": "integer", "enum": [WAIT_MS]}, required=True)
    properties = value.get("properties", {})
    waits = [name for name in WAITS & properties.keys() if "type" in properties[name]]
    if waits:
        properties.update({name: {"type": "integer", "enum": [WAIT_MS]} for name in waits})
        value["required"] = [*value.get("required", []), *waits]
    for each in value.values():
        _bound(each)


def operations(raw: dict[str, Any]) -> list[Operation]:
    """Give each operation; what deletes comes last, so that the others meet what there is."""
    results: list[Any] = list(schemathesis.openapi.from_dict(raw).get_all_operations())
    found: list[Operation] = [each.ok() for each in results]
    return sorted(found, key=lambda each: ORDER.index(each.method))


def arguments_of(operation: Operation, seeded: Seeded) -> dict[str, Any]:
    """Name an object of the installation for each part of a path; those of agents' paths are made up."""
    known = {**OF_THE_API, **seeded.arguments}
    return {each.name: str(known.get(each.name, "nothing")) for each in operation.path_parameters}


def fuzz(
    operation: Operation,
    sessions: list[requests.Session],
    url: str,
    seeded: Seeded,
    *,
    examples: int,
    tell: Callable[[Answer], None],
) -> None:
    """Send what the document allows and what it forbids, some of it spoiled, as each of the sessions."""
    known = arguments_of(operation, seeded)
    modes = [operation.as_strategy(generation_mode=mode) for mode in GenerationMode]
    real = [operation.as_strategy(path_parameters=known)] if known else []

    @seed(1)
    @settings(max_examples=examples, database=None, deadline=None)
    @given(case=st.one_of(*real, *modes), data=st.data())
    def ask(case: Any, data: st.DataObject) -> None:
        options = case.as_transport_kwargs(base_url=url)
        if operation.body:
            options = {**options, **_body(options, data)}
        for session in sessions:
            tell(sent(session, options))

    ask()


def _body(options: dict[str, Any], data: st.DataObject) -> dict[str, Any]:
    """Give a body as it came from the document, or with one hostile value in it, or none that is JSON."""
    way = data.draw(st.sampled_from(["as it is", "spoiled", "spoiled", "text"]))
    if way == "as it is" or "json" not in options:
        return {}
    headers = {**dict(options.get("headers") or {}), "Content-Type": "application/json"}
    text = text_of(data.draw(spoiled(options["json"]))) if way == "spoiled" else data.draw(st.sampled_from(TEXTS))
    return {"json": None, "data": text.encode("utf-8", "surrogatepass"), "headers": headers}


def sent(session: requests.Session, options: dict[str, Any]) -> Answer:
    """Ask, and measure."""
    answer = session.request(**options, timeout=PATIENCE_S * 3, allow_redirects=False)
    shown = f"{options['method']} {options['url']} {str(options.get('params'))[:200]} {_shown(options)[:300]}"
    return Answer(answer.status_code, answer.elapsed.total_seconds(), shown, answer.text[:300])


def _shown(options: dict[str, Any]) -> str:
    return str(options.get("data") or options.get("json") or "")
