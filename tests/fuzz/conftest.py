"""An installation in use, served by a process of its own, and the sessions of all who may ask it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from apps.accounts.access import Permission
from tests.console.conftest import ask, called  # noqa: F401 - fixtures
from tests.fuzz.served import Served, person_session, program_session, served
from tests.seeded import Seeded, seed

ROLES = ("admin", "operator", "auditor", "viewer")


@pytest.fixture
def seeded(transactional_db: None, request: pytest.FixtureRequest) -> Seeded:
    return seed(request)


@pytest.fixture
def running(seeded: Seeded, tmp_path: Path, settings: Any) -> Iterator[Served]:
    settings.VAR_DIR = tmp_path / "var"
    with served(tmp_path) as each:
        yield each


@pytest.fixture
def every_scope(seeded: Seeded, token: Callable[..., tuple[Any, str]]) -> str:
    """A token that may all that a token may."""
    return token(*map(str, Permission), name="fuzz", rate_per_minute=1_000_000)[1]


@pytest.fixture
def sessions(request: pytest.FixtureRequest, every_scope: str) -> dict[str, requests.Session]:
    """A client of each role, and one of a program with every scope."""
    people = {role: person_session(request.getfixturevalue(role)) for role in ROLES}
    return {**people, "program": program_session(every_scope)}
