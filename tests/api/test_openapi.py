"""The one OpenAPI document of both doors."""

import re
from typing import Any

import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

pytestmark = pytest.mark.django_db


@pytest.fixture
def document() -> Any:
    GENERATOR_STATS.reset()
    return SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]


def test_it_is_valid_and_made_without_a_warning(document: Any) -> None:
    validate_schema(document)  # type: ignore[no-untyped-call]  # the library is untyped here

    assert not GENERATOR_STATS


def test_it_holds_the_paths_of_agents_too(document: Any) -> None:
    assert {"/api/v1/decisions", "/api/v1/calls", "/api/v1/calls/{id}"} <= set(document["paths"])


def test_every_path_of_django_stands_in_it(document: Any) -> None:
    from apps.api.urls import urlpatterns

    routes = {f"/api/v1/{pattern.pattern}" for pattern in urlpatterns if pattern.name != "openapi"}
    shown = {path.replace("{", "<").replace("}", ">") for path in document["paths"]}
    bare = {re.sub(r"<[a-z_]+:", "<", route) for route in routes}

    assert bare <= shown


def test_examples_of_refusals_are_what_their_schema_says(document: Any) -> None:
    schema = document["components"]["schemas"]["AgentProblem"]
    examples = schema["examples"]

    assert {example["code"] for example in examples} == {"parameter_validation_failed", "permission_missing"}
    for example in examples:
        Draft202012Validator(schema).validate(example)


def test_every_operation_has_a_name_of_its_own(document: Any) -> None:
    names = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]

    assert len(names) == len(set(names))


def test_it_is_served_to_everybody(program: Any) -> None:
    answer = program().get("openapi.json")

    assert answer.status_code == 200
    assert answer.json()["info"]["title"] == "OpenClaw Admin"
