"""Many requests at once, for programs."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.approvals.models import Approval
from apps.firewall.identifiers import show_id
from tests.api.test_approvals import request_of  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db
Ask = Callable[..., Approval]


def test_similar_requests_are_listed_as_one_with_their_number(program: Any, request_of: Ask) -> None:  # noqa: F811
    first, *_ = [request_of(command=f"touch a-{number}", argv=["touch", f"a-{number}"]) for number in range(3)]
    alone = request_of(agent="other")
    listed = program("approvals_read").get("approvals/similar").json()
    assert [(each["shape"], each["count"], each["first"]["id"]) for each in listed] == [
        (first.shape, 3, first.shown_id),
        (None, 1, alone.shown_id),
    ]


def test_a_dry_run_tells_and_the_answer_itself_answers(program: Any, request_of: Ask) -> None:  # noqa: F811
    ids = [request_of().shown_id, request_of().shown_id, show_id("ap", Approval().pk)]
    client = program("approvals_read", "approvals_resolve")
    looked = client.post("approvals/batch", {"decision": "deny", "ids": ids, "dry_run": True}).json()
    assert (looked["batch"], looked["applied"]) == (None, 2)
    assert [item["code"] for item in looked["items"]] == ["will_apply", "will_apply", "approval_not_found"]
    assert Approval.objects.filter(state="requested").count() == 2
    done = client.post("approvals/batch", {"decision": "deny", "ids": ids, "reason": "storm"}).json()
    assert [(item["code"], item["state"]) for item in done["items"]] == [
        ("applied", "denied"),
        ("applied", "denied"),
        ("approval_not_found", None),
    ]
    assert Approval.objects.filter(batch_id=done["batch"]).count() == 2
    again = client.post("approvals/batch", {"decision": "deny", "ids": ids}).json()
    assert (again["applied"], again["items"][0]["code"]) == (0, "stands_already")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"decision": "allow-always", "ids": ["ap_00000000000000000000000000"]}, "decision"),
        ({"decision": "deny", "ids": []}, "ids"),
        ({"decision": "deny", "ids": ["ap_00000000000000000000000000"] * 201}, "ids"),
        ({"decision": "deny", "ids": ["tok_1"]}, "ids"),
    ],
)
def test_mistakes_are_named(program: Any, environment: Any, body: dict[str, Any], path: str) -> None:
    answer = program("approvals_read", "approvals_resolve").post("approvals/batch", body)
    assert answer.status_code == 400
    assert answer.json()["details"][0]["path"].startswith(path)


def test_reading_is_not_answering(program: Any, request_of: Ask) -> None:  # noqa: F811
    body = {"decision": "deny", "ids": [request_of().shown_id]}
    assert program("approvals_read").post("approvals/batch", body).status_code == 403
