"""Similar requests on one card, the list of what waits, and one answer to several."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.approvals.models import Approval
from apps.approvals.piles import SIMILAR_FROM
from apps.console.many import CARDS_MOST, PAGE
from apps.firewall.identifiers import new_id

Ask = Callable[..., Approval]
ClientOf = Callable[..., Client]


@pytest.fixture
def storm(ask: Ask) -> Callable[[int], list[Approval]]:
    """Have so many similar requests wait."""

    def make(count: int) -> list[Approval]:
        first = ask()
        rows = [Approval.objects.get(pk=first.pk) for _ in range(count - 1)]
        for number, row in enumerate(rows):
            row.pk, row.call_id, row.question_digest = new_id(), new_id(), ""
            row.command = f"curl -fsS https://status.example/{number}"
        return [first, *Approval.objects.bulk_create(rows)]

    return make


@pytest.mark.slow
def test_similar_requests_share_a_card_with_their_number(
    client_of: ClientOf, operator: Any, storm: Callable[[int], list[Approval]]
) -> None:
    requests = storm(1000)
    page = client_of(operator).get("/approvals/").content.decode()
    assert page.count('<article class="ap"') == 1
    assert "1,000 similar requests" in page
    assert 'data-count="1000"' in page
    assert f"/approvals/waiting/?shape={requests[0].shape}" in page


@pytest.mark.slow
def test_a_thousand_that_wait_take_a_bounded_number_of_queries_and_cards(
    client_of: ClientOf, operator: Any, storm: Callable[[int], list[Approval]], django_assert_max_num_queries: Any
) -> None:
    for number, row in enumerate(storm(1000)):
        row.shape = f"{number:064x}"  # as different as can be
        row.save(update_fields=["shape"])
    browser = client_of(operator)
    browser.get("/approvals/")
    with django_assert_max_num_queries(14):
        page = browser.get("/approvals/").content.decode()
    assert page.count('<article class="ap"') == CARDS_MOST
    assert f"{1000 - CARDS_MOST} more requests wait." in page


def test_two_alike_keep_their_cards_until_there_are_more(client_of: ClientOf, operator: Any, ask: Ask) -> None:
    requests = [ask() for _ in range(SIMILAR_FROM - 1)]
    page = client_of(operator).get("/approvals/").content.decode()
    assert all(f'id="{request.shown_id}"' in page for request in requests)
    assert "data-pile" not in page


def test_the_fragment_of_the_queue_brings_what_stands_beside_it(
    client_of: ClientOf, operator: Any, storm: Callable[[int], list[Approval]]
) -> None:
    storm(3)
    part = client_of(operator).get("/approvals/queue/", headers={"hx-request": "true"}).content.decode()
    assert 'id="pile-' in part
    assert 'hx-target="#recent"' in part


def test_the_list_is_paged_and_shows_each_exact_action(
    client_of: ClientOf, operator: Any, storm: Callable[[int], list[Approval]]
) -> None:
    shape = storm(PAGE + 2)[0].shape
    browser = client_of(operator)
    first = browser.get(f"/approvals/waiting/?shape={shape}").content.decode()
    assert first.count('name="id"') == PAGE
    assert "https://status.example/3" in first
    last = browser.get(f"/approvals/waiting/?shape={shape}&page=2").content.decode()
    assert last.count('name="id"') == 2
    beyond = browser.get(f"/approvals/waiting/?shape={shape}&page=99").content.decode()
    assert beyond.count('name="id"') == 2


def test_the_list_of_nothing_says_so(client_of: ClientOf, operator: Any, environment: Any) -> None:
    browser = client_of(operator)
    for path in ("/approvals/waiting/", f"/approvals/waiting/?shape={'0' * 64}", "/approvals/waiting/?page=x"):
        assert "None waits any more" in browser.get(path).content.decode()


def test_who_may_not_decide_sees_the_list_without_a_button(client_of: ClientOf, viewer: Any, ask: Ask) -> None:
    request = ask()
    page = client_of(viewer).get("/approvals/waiting/").content.decode()
    assert request.shown_id in page
    assert 'name="decision"' not in page


def test_hostile_text_is_shown_by_its_codes(client_of: ClientOf, operator: Any, ask: Ask) -> None:
    request = ask(command="echo \u202e<script>alert(1)</script>")
    browser = client_of(operator)
    listed = browser.get("/approvals/waiting/").content.decode()
    looked = browser.post("/approvals/batch/", {"id": [request.shown_id], "decision": "deny"}).content.decode()
    for page in (listed, looked):
        assert "U+202E" in page
        assert "<script>alert(1)" not in page


def post(browser: Client, requests: list[Approval], decision: str, **more: str) -> Any:
    ids = [request.shown_id for request in requests]
    return browser.post("/approvals/batch/", {"id": ids, "decision": decision, **more})


def test_first_it_shows_what_would_happen_and_answers_nothing(client_of: ClientOf, operator: Any, ask: Ask) -> None:
    plain, own = ask(), ask(requester=operator.actor)
    page = post(client_of(operator), [plain, own], "allow-once").content.decode()
    assert "1 of 2 would be allowed once" in page
    assert "Your own request: somebody else has to allow it" in page
    assert page.count('<input type="hidden" name="id"') == 1
    assert Approval.objects.filter(state="requested").count() == 2


def test_confirmed_it_answers_and_tells_what_became_of_each(client_of: ClientOf, operator: Any, ask: Ask) -> None:
    requests, browser = [ask(), ask()], client_of(operator)
    page = post(browser, requests, "deny", confirmed="1", reason="storm").content.decode()
    assert "2 of 2 denied" in page
    assert set(Approval.objects.values_list("state", "decision_reason")) == {("denied", "storm")}
    again = post(browser, requests, "deny", confirmed="1", reason="storm").content.decode()
    assert "0 of 2 denied" in again
    assert again.count('data-code="stands_already"') == 2


def test_all_of_a_shape_are_answered_as_far_as_one_answer_reaches(
    client_of: ClientOf, operator: Any, storm: Callable[[int], list[Approval]], ask: Ask
) -> None:
    other, shape = ask(agent="other"), storm(205)[0].shape
    fields = {"every": "1", "shape": shape, "decision": "deny"}
    page = client_of(operator).post("/approvals/batch/", fields).content.decode()
    assert "200 of 200 would be denied" in page
    assert other.shown_id not in page


def test_none_chosen_is_said_and_not_answered(client_of: ClientOf, operator: Any, ask: Ask) -> None:
    ask()
    answer = post(client_of(operator), [], "deny", confirmed="1")
    assert answer.status_code == 422
    assert "Nothing was answered." in answer.content.decode()


@pytest.mark.parametrize("fields", [{"decision": "allow-always"}, {"decision": "deny", "id": "ap_x"}, {}])
def test_what_no_button_sends_is_a_bad_request(
    client_of: ClientOf, operator: Any, environment: Any, fields: dict[str, str]
) -> None:
    assert client_of(operator).post("/approvals/batch/", fields).status_code == 400


@pytest.mark.parametrize("name", ["auditor", "viewer", "outsider"])
def test_it_refuses_who_may_not_decide(
    name: str, request: pytest.FixtureRequest, client_of: ClientOf, ask: Ask
) -> None:
    approval = ask()
    browser = client_of(request.getfixturevalue(name))
    assert post(browser, [approval], "deny", confirmed="1").status_code == 403
    assert Approval.objects.get(pk=approval.pk).is_pending


def test_it_needs_the_csrf_token(client_of: ClientOf, operator: Any, ask: Ask) -> None:
    approval = ask()
    browser = client_of(operator, enforce_csrf_checks=True)
    assert post(browser, [approval], "deny", confirmed="1").status_code == 403
    assert Approval.objects.get(pk=approval.pk).is_pending
