"""The page of the kill switch: what is stopped, what a stop would meet, and who may press."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.halts.models import Halt
from apps.halts.services import halt_ask, halt_lift, halt_place
from tests.approvals.conftest import ask, draft_for  # noqa: F401 - fixtures

ClientOf = Callable[..., Client]
WANTED = {"scope": "agent", "name": "ops-runner", "reason": "it deletes things", "ends_running": "on"}


@pytest.fixture
def halt(environment: Any) -> Halt:
    return halt_place(environment, scope="agent", name="main", reason="<b>loops</b>", at=timezone.now())


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_sees_what_is_stopped_and_operators_get_the_form(
    name: str, client_of: ClientOf, halt: Halt, request: pytest.FixtureRequest
) -> None:
    text = client_of(request.getfixturevalue(name)).get("/halts/").content.decode()

    assert "&lt;b&gt;loops&lt;/b&gt;" in text
    may_stop = name in {"admin", "operator"}
    assert ('action="/halts/place/"' in text) == may_stop
    assert (f"/halts/{halt.shown_id}/lift/" in text) == may_stop


def test_without_a_stop_it_says_so_and_nothing_stands_above_pages(
    client_of: ClientOf, environment: Any, viewer: Any
) -> None:
    assert "Nothing is stopped" in client_of(viewer).get("/halts/").content.decode()
    assert client_of(viewer).get("/halts/banner/").content.strip() == b""


def test_a_stop_stands_above_every_page(client_of: ClientOf, halt: Halt, viewer: Any) -> None:
    text = client_of(viewer).get("/halts/banner/").content.decode()

    assert "agent main" in text
    assert "<b>loops</b>" not in text


def test_placing_asking_and_lifting_by_buttons(client_of: ClientOf, environment: Any, operator: Any) -> None:
    client = client_of(operator)
    assert client.post("/halts/place/", WANTED).status_code == 302
    (halt,) = Halt.objects.all()
    assert (halt.name, halt.placed_by, halt.state, halt.ends_running) == ("ops-runner", operator, "stopped", True)

    assert client.post(f"/halts/{halt.shown_id}/ask/").status_code == 302
    halt.refresh_from_db()
    assert halt.state == "asking"

    assert client.post(f"/halts/{halt.shown_id}/lift/").status_code == 302
    halt.refresh_from_db()
    assert (halt.state, halt.lifted_by_label) == ("lifted", str(operator))
    assert "was lifted before" in client.post(f"/halts/{halt.shown_id}/lift/", follow=True).content.decode()


@pytest.mark.parametrize("given", [{"reason": ""}, {"name": ""}, {"scope": "planet"}])
def test_what_cannot_be_stopped_is_said_beside_the_form(
    given: dict[str, str], client_of: ClientOf, environment: Any, operator: Any
) -> None:
    answer = client_of(operator).post("/halts/place/", WANTED | given)

    assert answer.status_code == 422
    assert "Nothing was stopped." in answer.content.decode()
    assert not Halt.objects.exists()


def test_the_same_twice_is_said(client_of: ClientOf, halt: Halt, operator: Any) -> None:
    answer = client_of(operator).post("/halts/place/", WANTED | {"name": "main"})

    assert (answer.status_code, "stopped already" in answer.content.decode()) == (422, True)


def test_the_consequence_is_told_before_anybody_presses(
    client_of: ClientOf,
    environment: Any,
    operator: Any,
    ask: Any,  # noqa: F811
) -> None:
    ask()
    ask(agent="main")
    client = client_of(operator)

    def told(**query: str) -> str:
        return " ".join(client.get("/halts/consequence/", query).content.decode().split())

    assert "1 pending request would freeze." in told(scope="agent", name="ops-runner")
    assert "2 pending requests would freeze." in told(scope="environment", name="")
    assert told(scope="agent", name="") == ""
    assert told(scope="planet", name="x") == ""


def test_the_page_asks_the_same_of_the_database_however_much_was_stopped(
    client_of: ClientOf, halt: Halt, environment: Any, operator: Any, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        made = halt_place(environment, scope="tool", name=f"t{number}", reason="x", at=timezone.now())
        if number % 2:
            halt_lift(made, at=timezone.now())
    client = client_of(operator)
    client.get("/halts/")
    with django_assert_max_num_queries(20):
        assert client.get("/halts/").status_code == 200


def test_a_stop_of_another_environment_is_none_here(client_of: ClientOf, halt: Halt, operator: Any) -> None:
    from apps.registry.models import Environment

    elsewhere = Environment.objects.create(slug="staging", name="Staging")
    made = halt_place(elsewhere, scope="environment", reason="x", at=timezone.now())

    assert client_of(operator).post(f"/halts/{made.shown_id}/lift/").status_code == 404
    assert halt_ask(halt, at=timezone.now()).state == "asking"
