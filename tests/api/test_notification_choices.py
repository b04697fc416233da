"""One's own choices about being told, over REST."""

from typing import Any

import pytest

from apps.audit.models import Entry
from apps.notifications.people import preference_of
from tests.api.conftest import Program

pytestmark = pytest.mark.django_db
URL = "notifications/choices"
SCOPES = ("approvals_read", "approvals_resolve")


def test_a_token_reads_and_changes_what_its_person_chose(
    empty_ledger: None, token: Any, environment: Any, admin: Any
) -> None:
    key, secret = token(*SCOPES, by=admin)
    client = Program(secret)
    assert client.get(URL).json() == {"email": "", "language": "", "quiet": ""}
    assert client.ask("PATCH", URL, {"email": "ada@example.com"}).status_code == 200
    changed = client.ask("PATCH", URL, {"quiet": "low", "language": "zh-hans"})
    assert changed.json() == {"email": "ada@example.com", "language": "zh-hans", "quiet": "low"}
    assert preference_of(admin).email == "ada@example.com"
    entries = Entry.objects.filter(kind="notification_change")
    assert {entry.actor for entry in entries} == {key.actor}


@pytest.mark.parametrize(
    ("body", "path"),
    [({"email": "no address"}, "email"), ({"quiet": "loud"}, "quiet"), ({"language": "tlh"}, "language")],
)
def test_a_choice_that_is_none_is_refused_by_its_field(
    token: Any, environment: Any, admin: Any, body: dict[str, str], path: str
) -> None:
    refused = Program(token(*SCOPES, by=admin)[1]).ask("PATCH", URL, body)
    assert (refused.status_code, refused.json()["details"][0]["path"]) == (400, path)


def test_a_token_of_nobody_and_a_bound_one_change_nothing(token: Any, environment: Any, admin: Any) -> None:
    bound = token(*SCOPES, by=admin, environment=environment.slug)[1]
    for secret in (token(*SCOPES)[1], bound):
        for answer in (Program(secret).get(URL), Program(secret).ask("PATCH", URL, {"quiet": "all"})):
            assert (answer.status_code, answer.json()["code"]) == (422, "notification_invalid")
    assert preference_of(admin).quiet == ""


def test_who_may_only_read_changes_nothing(token: Any, environment: Any, admin: Any) -> None:
    reader = Program(token("approvals_read", by=admin)[1])
    assert reader.ask("PATCH", URL, {"quiet": "all"}).status_code == 403
