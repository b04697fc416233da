"""The page of the kill switch: what is stopped, what a stop would meet, and who may press."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id
from apps.halts.models import Halt
from apps.halts.selectors import halts_standing_in
from apps.halts.services import halt_ask, halt_lift, halt_place
from apps.openclaw_gateways.services import Heartbeat, enrolment_create, enrolment_redeem, gateway_heard
from apps.openclaw_gateways.stops import stops_held
from apps.policies.services import document_import
from tests.approvals.conftest import ask, draft_for  # noqa: F401 - fixtures

ClientOf = Callable[..., Client]
ASKED = {"target": "agent:ops-runner", "reason": "it deletes things", "ends_running": "on"}
WANTED = ASKED | {"confirmed": "yes"}


@pytest.fixture(autouse=True)
def agents(environment: Any, admin: Any) -> None:
    """Have two agents and a channel in the draft."""
    document = """{"agents": {"ownership": "explicit", "entries": {"main": {}, "ops-runner": {}}},
      "channels": {"telegram": {"groups": {"g1": {}}}}}"""
    document_import(environment, document, by=admin)


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


@pytest.mark.parametrize(
    "given",
    [
        {"reason": ""},
        {"target": ""},
        {"target": "planet:x"},
        {"target": "agent:"},
        {"target": "agent:ops-runer"},
        {"target": "tool:exce"},
        {"target": "channel:telegam"},
        {"target": "agent:*"},
    ],
)
def test_what_cannot_be_stopped_is_said_beside_the_form(
    given: dict[str, str], client_of: ClientOf, environment: Any, operator: Any
) -> None:
    answer = client_of(operator).post("/halts/place/", WANTED | given)

    assert answer.status_code == 422
    assert "Nothing was stopped." in answer.content.decode()
    assert not Halt.objects.exists()


def test_the_same_twice_is_said(client_of: ClientOf, halt: Halt, operator: Any) -> None:
    answer = client_of(operator).post("/halts/place/", WANTED | {"target": "agent:main"})

    assert (answer.status_code, "stopped already" in answer.content.decode()) == (422, True)


def test_an_unknown_name_is_answered_with_the_one_that_may_be_meant(client_of: ClientOf, operator: Any) -> None:
    text = client_of(operator).post("/halts/place/", ASKED | {"target": "agent:ops-runer"}).content.decode()

    assert "there is no agent `ops-runer`, did you mean `ops-runner`?" in text
    assert not Halt.objects.exists()


@pytest.mark.parametrize("target", ["agent:OPS-runner", "agent: ops-runner ", "channel:Telegram"])
def test_another_spelling_of_what_exists_stops_exactly_that(target: str, client_of: ClientOf, operator: Any) -> None:
    assert client_of(operator).post("/halts/place/", WANTED | {"target": target}).status_code == 302
    assert Halt.objects.get().name in {"ops-runner", "telegram"}


def test_only_what_exists_can_be_chosen(client_of: ClientOf, operator: Any, environment: Any) -> None:
    text = client_of(operator).get("/halts/").content.decode()

    assert '<option value="agent:ops-runner">ops-runner</option>' in text
    assert '<option value="channel:telegram">telegram</option>' in text
    assert '<option value="environment">' in text
    assert 'name="name"' not in text


def test_what_will_happen_is_told_and_asked_once_more_before_anything_stops(
    client_of: ClientOf,
    environment: Any,
    operator: Any,
    ask: Any,  # noqa: F811
) -> None:
    ask()
    ask(agent="main")
    client = client_of(operator)

    def told(target: str) -> str:
        answer = client.post("/halts/place/", ASKED | {"target": target})
        assert answer.status_code == 200
        return " ".join(answer.content.decode().split())

    one, all_of_them = told("agent:ops-runner"), told("environment")

    assert "1 pending request freezes" in one and "0 calls run now." in one
    assert "Every new call of <b>ops-runner</b> is refused" in one
    assert '<a class="btn" href="/halts/" autofocus>Cancel</a>' in one
    assert "2 pending requests freeze" in all_of_them
    assert "Every new call is refused: 2 agents." in all_of_them and "main, ops-runner" in all_of_them
    assert not Halt.objects.exists()


def test_calls_that_run_are_counted_before_anything_stops(client_of: ClientOf, environment: Any, operator: Any) -> None:
    for agent in ("ops-runner", "main"):
        entry_record(
            EntryDraft(
                kind=EntryKind.CALL_INTENT, call_id=new_id(), tool="exec", agent=agent, environment=environment.slug
            )
        )
    text = client_of(operator).post("/halts/place/", ASKED).content.decode()

    assert "1 call runs now." in text and "They are ended." in text


def test_the_kill_switch_stands_on_every_page_for_whoever_may_press_it(
    client_of: ClientOf, environment: Any, operator: Any, viewer: Any
) -> None:
    for path in ("/", "/publish/", "/settings/"):
        assert (
            'class="btn btn-s btn-stop" href="/halts/#stop"'
            in client_of(operator).get(path, follow=True).content.decode()
        )
        assert "btn-stop" not in client_of(viewer).get(path, follow=True).content.decode()


def test_a_gateway_that_does_not_report_is_named_beside_the_stop(
    client_of: ClientOf, halt: Halt, environment: Any, operator: Any, admin: Any
) -> None:
    earlier = timezone.now() - timedelta(minutes=10)
    _enrolment, secret = enrolment_create(environment, name="edge-1", by=admin, at=earlier)
    gateway, _token = enrolment_redeem(secret, Heartbeat(boot="b1"), at=earlier)
    gateway_heard(gateway, Heartbeat(boot="b1"), at=earlier)
    text = client_of(operator).get("/halts/").content.decode()

    assert "not reporting" in text and "edge-1" in text
    assert "1 gateway is not reporting" in text


def test_the_page_names_the_gateways_that_hold_to_it_and_those_that_do_not_yet(
    client_of: ClientOf, environment: Any, operator: Any, admin: Any
) -> None:
    at = timezone.now()
    for name in ("edge-1", "edge-2"):
        _enrolment, secret = enrolment_create(environment, name=name, by=admin, at=at)
        gateway, _token = enrolment_redeem(secret, Heartbeat(boot="b1"), at=at)
        gateway_heard(gateway, Heartbeat(boot="b1"), at=at)
    client = client_of(operator)

    text = client.post("/halts/place/", WANTED, follow=True).content.decode()
    assert "Gateways that have not said yet that they hold to it: edge-1, edge-2." in text
    stops_held(gateway, halts_standing_in(environment).digest, at=timezone.now())
    text = " ".join(client.get("/halts/").content.decode().split())

    assert "1 gateway has not said yet that it holds to it: edge-1" in text
    assert text.index("edge-1</a>") < text.index("edge-2</a>")
    assert "nothing runs there against a stop" in text and "It has not said yet that what ran has ended." in text


def test_the_page_asks_the_same_of_the_database_however_much_was_stopped(
    client_of: ClientOf, halt: Halt, environment: Any, operator: Any, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        made = halt_place(environment, scope="tool", name=f"t{number}", reason="x", unknown=True, at=timezone.now())
        if number % 2:
            halt_lift(made, at=timezone.now())
    client = client_of(operator)
    client.get("/halts/")
    with django_assert_max_num_queries(28):
        assert client.get("/halts/").status_code == 200


def test_a_stop_of_another_environment_is_none_here(client_of: ClientOf, halt: Halt, operator: Any) -> None:
    from apps.registry.models import Environment

    elsewhere = Environment.objects.create(slug="staging", name="Staging")
    made = halt_place(elsewhere, scope="environment", reason="x", at=timezone.now())

    assert client_of(operator).post(f"/halts/{made.shown_id}/lift/").status_code == 404
    assert halt_ask(halt, at=timezone.now()).state == "asking"
