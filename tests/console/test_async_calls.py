"""The pages of asynchronous calls: who sees them, what they show, and ending a call."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.selectors import call_record
from apps.audit.services import boot_id
from apps.firewall.identifiers import new_id
from apps.firewall.runtime.call import Action, Call, Deferral
from apps.gateway.models import AsyncCall, CallbackAttempt, CallCancel
from apps.gateway.queue.rows import call_end, call_put, calls_claim
from apps.gateway.queue.sealing import Waiting

URL = "/async-calls/"


@pytest.fixture
def queued(environment: Any) -> Callable[..., AsyncCall]:
    """Have a call wait in the queue."""

    def make(*, tool: str = "exec", callback: str = "") -> AsyncCall:
        call = Call(
            environment=environment.slug, agent="bot", tool=tool, params={}, actor="token:tok_1",
            deferral=Deferral(callback_url=callback),
        )  # fmt: skip
        action = Action(
            call_id=str(call.id), environment=environment.slug, agent="bot", actor="token:tok_1", requester="",
            trace_id="", tool=tool, params={}, context={}, snapshot="",
        )  # fmt: skip
        call_put(call, Waiting(action=action), environment=environment, sender="", at=timezone.now())
        return AsyncCall.objects.get(pk=call.id)

    return make


def text(response: Any) -> str:
    return str(response.content.decode())


@pytest.mark.parametrize(("name", "status"), [("auditor", 200), ("operator", 200), ("viewer", 403), ("outsider", 403)])
def test_only_readers_of_the_ledger_see_them(
    name: str, status: int, request: pytest.FixtureRequest, client_of: Callable[..., Client], queued: Any
) -> None:
    client = client_of(request.getfixturevalue(name))
    assert [client.get(each).status_code for each in (URL, f"{URL}{queued().shown_id}/")] == [status, status]


def test_an_empty_list_says_how_calls_get_there(
    client_of: Callable[..., Client], operator: Any, environment: Any
) -> None:
    assert "No asynchronous calls yet" in text(client_of(operator).get(URL))
    assert "Nothing waits and nothing runs" in text(client_of(operator).get(URL, {"state": "open"}))


def test_it_lists_where_each_call_is(client_of: Callable[..., Client], operator: Any, queued: Any) -> None:
    queued(tool="first_tool")
    calls_claim(boot=boot_id(), at=timezone.now(), limit=1)
    done = queued(tool="second_tool")
    calls_claim(boot=boot_id(), at=timezone.now(), limit=1)
    call_end(done.pk, "completed", environment="production", at=timezone.now())
    queued(tool="third_tool")

    page = text(client_of(operator).get(URL))
    ended = text(client_of(operator).get(URL, {"state": "done"}))

    assert all(each in page for each in ("first_tool", "running", "second_tool", "third_tool", "queued"))
    assert ("second_tool" in ended, "first_tool" in ended) == (True, False)


def test_the_list_costs_the_same_for_many_calls(
    client_of: Callable[..., Client], operator: Any, queued: Any, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        queued(callback="https://example.com/")
    calls_claim(boot=boot_id(), at=timezone.now(), limit=8)
    client = client_of(operator)

    with django_assert_max_num_queries(12):
        assert client.get(URL).status_code == 200


def test_more_than_a_page_has_an_older_one(
    client_of: Callable[..., Client], operator: Any, queued: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from apps.console.views import async_calls

    monkeypatch.setattr(async_calls, "PAGE", 2)
    tools = ["tool_a", "tool_b", "tool_c"]
    for tool in tools:
        queued(tool=tool)
    first = client_of(operator).get(URL)

    older = text(client_of(operator).get(URL, {"after": first.context["older"]}))

    assert [tool in text(first) for tool in tools] == [False, True, True]
    assert [tool in older for tool in tools] == [True, False, False]


@pytest.mark.parametrize("query", [{"state": "nothing"}, {"after": "nothing"}])
def test_a_filter_that_is_none_is_not_found(
    client_of: Callable[..., Client], operator: Any, environment: Any, query: dict[str, str]
) -> None:
    assert client_of(operator).get(URL, query).status_code == 404


def test_one_call_shows_its_callback_and_each_attempt(
    client_of: Callable[..., Client], auditor: Any, queued: Any
) -> None:
    call = queued(callback="https://example.com/ended?key=in-the-query")
    CallbackAttempt.objects.create(call=call, number=1, at=timezone.now(), duration_ms=12, status=503)
    CallbackAttempt.objects.create(
        call=call, number=2, at=timezone.now(), duration_ms=3, error_code="time_limit", message="<b>late</b>"
    )

    page = text(client_of(auditor).get(f"{URL}{call.shown_id}/"))

    assert all(each in page for each in ("https://example.com/ended?…", "503", "time_limit", "&lt;b&gt;late"))
    assert "in-the-query" not in page
    assert "Cancel" not in page


def test_an_operator_ends_a_queued_call_and_the_record_names_them(
    client_of: Callable[..., Client], operator: Any, queued: Any
) -> None:
    call = queued()

    answer = client_of(operator).post(f"/calls/{call.shown_id}/cancel/")

    assert (answer.status_code, answer["location"]) == (302, f"{URL}{call.shown_id}/")
    call.refresh_from_db()
    record = call_record(call.pk)
    assert record is not None
    assert (call.outcome, record.status, record.error["message"]) == ("cancelled", "cancelled", "cancelled by operator")


def test_a_running_call_is_asked_to_end_by_a_fragment(
    client_of: Callable[..., Client], operator: Any, queued: Any
) -> None:
    call = queued()
    calls_claim(boot=boot_id(), at=timezone.now(), limit=1)

    answer = client_of(operator).post(f"/calls/{call.shown_id}/cancel/", headers={"hx-request": "true"})

    assert "Asked to end" in text(answer)
    assert CallCancel.objects.get().by == "user:operator"


@pytest.mark.parametrize(("name", "status"), [("auditor", 403), ("viewer", 403), ("admin", 302)])
def test_who_may_end_a_call(
    name: str, status: int, request: pytest.FixtureRequest, client_of: Callable[..., Client], queued: Any
) -> None:
    client = client_of(request.getfixturevalue(name))
    assert client.post(f"/calls/{queued().shown_id}/cancel/").status_code == status


def test_get_ends_nothing(client_of: Callable[..., Client], operator: Any, queued: Any) -> None:
    call = queued()
    assert client_of(operator).get(f"/calls/{call.shown_id}/cancel/").status_code == 405
    assert not CallCancel.objects.exists()


def test_a_call_that_does_not_exist_cannot_be_ended(
    client_of: Callable[..., Client], operator: Any, environment: Any
) -> None:
    from apps.firewall.identifiers import show_id

    assert client_of(operator).post(f"/calls/{show_id('call', new_id())}/cancel/").status_code == 404


def test_the_audit_offers_to_end_a_call_that_runs(
    client_of: Callable[..., Client], operator: Any, auditor: Any, environment: Any
) -> None:
    from apps.audit.drafts import EntryDraft
    from apps.audit.services import entry_record
    from apps.firewall.identifiers import show_id

    call_id = new_id()
    entry_record(
        EntryDraft(kind="call_intent", environment=environment.slug, agent="bot", tool="exec", call_id=call_id)
    )
    path = f"/audit/calls/{show_id('call', call_id)}/"

    assert "/cancel/" in text(client_of(operator).get(path))
    assert "/cancel/" not in text(client_of(auditor).get(path))
