"""Every path of people and programs, asked with what no form of ours sends: never an error of the server."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import get_resolver, reverse

from tests.api.conftest import draft, program, published  # noqa: F401 - fixtures
from tests.console.conftest import ask, called  # noqa: F401 - fixtures
from tests.doors import API, CONSOLE, NOBODY
from tests.seeded import Seeded, seed

pytestmark = [pytest.mark.django_db, pytest.mark.unhurried]
ROOT = Path(__file__).resolve().parents[1]
READ = re.compile(r"""(?:GET|POST|query_params|params)\.(?:get|getlist)\(\s*"(\w+)"|"(\w+)" in \w+\.(?:GET|POST)""")
DECLARED = re.compile(r"^    (\w+)(?:: [^=]+)? = (?:forms|serializers|\w*)\.?\w*(?:Field|Serializer)\(", re.MULTILINE)
BRIEF = ["\x00", "9" * 30, "\ud83d"]
MORE = [
    "", "-1", "0", "1e400", "nan", "9" * 5000, "2026-02-30", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59+23:59",
    "10000-01-01", "not-a-uuid", "00000000-0000-0000-0000-000000000000", "%s%(x)s", "'\"\\", "[]", "{}", "a\x00b",
    "\u202e\ufeff", "x" * 70_000, "((((", "a:b:c", "../..", "null", "true",
]  # fmt: skip


def names(*folders: str) -> list[str]:
    """Every name by which a view, a form or a serializer in these folders reads what came."""
    found: set[str] = set()
    for folder in folders:
        for path in (ROOT / "apps" / folder).rglob("*.py"):
            text = path.read_text()
            found |= {one or other for one, other in READ.findall(text)}
            if folder in {"console", "api"}:
                found |= set(DECLARED.findall(text))
    return sorted(found)


NAMES = names("console", "api", "gateway", "audit", "policies", "registry")
OF_PAGES = names("console")
QUERY_BYTES, FORM_BYTES = 48_000, 1_000_000
"""What servers take of an address, and more than any form of ours holds; it is parted among all fields."""
FEW = 8


def answer(client: Client, method: str, path: str, **options: Any) -> tuple[int, str]:
    """Ask, in a transaction that is taken back; give the status, and the path where it is the server's error."""
    with transaction.atomic():
        point = transaction.savepoint()
        found = getattr(client, method)(path, **options)
        if not getattr(found, "streaming", False):
            found.content  # noqa: B018 - rendered by now
        transaction.savepoint_rollback(point)
    return found.status_code, path


def encoded(value: str) -> str:
    return value.encode("utf-8", "surrogatepass").decode("latin-1")


@pytest.fixture
def world(request: pytest.FixtureRequest) -> Seeded:
    return seed(request)


@pytest.fixture
def people(admin: Any, client_of: Callable[..., Client]) -> Client:
    return client_of(admin, raise_request_exception=False)


def broken(found: Iterator[tuple[tuple[int, str], str]]) -> list[str]:
    return [f"{said[1][:100]} {what[:40]!r}: {said[0]}" for said, what in found if said[0] >= 500 and said[0] != 503]


def pages(world: Seeded, column: int) -> Iterator[str]:
    for name, needs in CONSOLE.items():
        if needs[column] != NOBODY and name not in {"account_logout", "set_language"}:
            yield world.path(name).partition("?")[0]


def hold(people: Client, paths: Iterator[str], method: str, sets: list[dict[str, str]]) -> list[str]:
    def found() -> Iterator[tuple[tuple[int, str], str]]:
        for path in paths:
            for data in sets:
                yield answer(people, method, path, data=data), str(next(iter(data.values())))

    return broken(found())


def everywhere(values: list[str], *, limit_bytes: int) -> list[dict[str, str]]:
    """Each value in every field at once, as long as they all may be."""
    longest = limit_bytes // len(NAMES)
    return [dict.fromkeys(NAMES, encoded(value)[:longest]) for value in values]


def together(values: list[str]) -> Iterator[dict[str, str]]:
    """Each value in a few fields, and nothing in the others."""
    for first in range(0, len(OF_PAGES), FEW):
        for value in values:
            yield dict.fromkeys(OF_PAGES[first : first + FEW], value)


def mixed() -> list[dict[str, str]]:
    """What no check of texts refuses, a value after the other over the fields."""
    return [{name: MORE[(index + shift) % len(MORE)][:300] for index, name in enumerate(NAMES)} for shift in (0,)]


@pytest.mark.slow
def test_no_page_breaks_over_a_hostile_query(people: Client, world: Seeded) -> None:
    assert hold(people, pages(world, 0), "get", [*everywhere(BRIEF[:1], limit_bytes=QUERY_BYTES), *mixed()]) == []


@pytest.mark.slow
def test_no_form_breaks_over_hostile_fields(people: Client, world: Seeded) -> None:
    assert hold(people, pages(world, 1), "post", mixed()) == []


@pytest.mark.slow
def test_no_page_breaks_over_any_hostile_query(people: Client, world: Seeded) -> None:
    assert hold(people, pages(world, 0), "get", everywhere([*BRIEF, *MORE], limit_bytes=QUERY_BYTES)) == []


@pytest.mark.slow
def test_no_form_breaks_over_any_hostile_field(people: Client, world: Seeded) -> None:
    assert hold(people, pages(world, 1), "post", everywhere([*BRIEF, *MORE], limit_bytes=FORM_BYTES)) == []


@pytest.mark.slow
def test_no_page_breaks_over_few_hostile_values_among_none(people: Client, world: Seeded) -> None:
    """With all at once the first refusal hides the others."""
    values = ["9" * 30, "9999-12-31T23:59:59+23:59", "%s"]
    assert hold(people, pages(world, 0), "get", list(together(values))) == []


def value_of(world: Seeded, name: str, part: str) -> Any:
    """Give what a path of the API names: an object of the installation, or what only this door has."""
    try:
        return world._value(name, part)
    except KeyError:
        return OF_THE_API[part]


def api_paths(world: Seeded) -> Iterator[tuple[str, str]]:
    """Each path of the API with each method that it knows."""
    listed = get_resolver().reverse_dict
    for name, needs in API.items():
        parts = next(iter(listed.getlist(name)))[0][0][1]
        path = reverse(name, kwargs={part: value_of(world, name.removeprefix("api-"), part) for part in parts})
        for method in needs if isinstance(needs, dict) else ():
            yield method.lower(), path


OF_THE_API = {"agent": "main", "table": "agents"}
BODIES: list[Any] = [
    {"name": "\ud83d"}, {"\ud800": 1}, {"name": "\x00"}, {"deep": [{"er": "a\ud800b"}]}, [], "\ud800", 10**400, None,
]  # fmt: skip


def hold_api(make: Callable[..., Any], world: Seeded, bodies: list[Any]) -> list[str]:
    from apps.accounts.access import Permission

    secret = make(*(each.value for each in Permission)).secret
    client = Client(raise_request_exception=False, headers={"Authorization": f"Bearer {secret}"})

    def found() -> Iterator[tuple[tuple[int, str], str]]:
        for method, path in api_paths(world):
            if method == "get":
                for value in BRIEF:
                    yield answer(client, "get", path, data=dict.fromkeys(NAMES, encoded(value))), value
                continue
            for body in bodies:
                text = json.dumps(body)
                yield answer(client, method, path, data=text, content_type="application/json"), text

    return broken(found())


@pytest.mark.slow
def test_no_path_of_the_api_breaks_over_texts_that_nothing_can_store(
    program: Callable[..., Any],  # noqa: F811 - a fixture
    world: Seeded,
) -> None:
    assert hold_api(program, world, BODIES[3:4]) == []


@pytest.mark.slow
def test_no_path_of_the_api_breaks_over_any_hostile_body(
    program: Callable[..., Any],  # noqa: F811 - a fixture
    world: Seeded,
) -> None:
    assert hold_api(program, world, BODIES) == []
