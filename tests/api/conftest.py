"""A program's client: JSON in and out, with a token of chosen scopes."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

DOCUMENT = {
    "agents": {"entries": {"main": {"tools": {"profile": "coding", "deny": ["exec"]}}}},
    "tools": {"deny": ["x_search"]},
}


@dataclass
class Program:
    """`program.get("agents")` asks for `/api/v1/agents`."""

    secret: str | None = None

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        if self.secret:
            headers["Authorization"] = f"Bearer {self.secret}"
        text = body if isinstance(body, str) else json.dumps(body)
        data = "" if body is None else text
        return Client().generic(method, f"/api/v1/{path}", data, "application/json", headers=headers)

    def get(self, path: str, **headers: str) -> Any:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any) -> Any:
        return self.ask("POST", path, body)


@pytest.fixture
def program(environment: Any, token: Callable[..., Any]) -> Callable[..., Program]:
    """Make a program whose token has the scopes named: `program("policy_read")`; none at all for a stranger."""

    def make(*scopes: str, **options: Any) -> Program:
        return Program(token(*scopes, **options)[1]) if scopes else Program()

    return make


@pytest.fixture
def draft(environment: Any, admin: Any) -> Any:
    """An environment whose draft holds one agent."""
    from apps.policies.services.documents import document_import

    document_import(environment, json.dumps(DOCUMENT), by=admin)
    return environment


@pytest.fixture
def published(draft: Any, admin: Any) -> Any:
    """The live publication of that draft."""
    from apps.policies.services.publishing import publish

    return publish(draft, by=admin, message="first", expected_live=None)
