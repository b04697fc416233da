"""Standing approvals for programs."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from apps.approvals.drafts import GrantScope
from apps.approvals.models import Grant
from apps.approvals.services import approval_resolve
from tests.api.conftest import Program
from tests.approvals.conftest import draft_for  # noqa: F401 - a fixture


def test_a_program_lists_narrows_and_revokes(
    environment: Any,
    program: Callable[..., Program],
    draft_for: Any,  # noqa: F811
    operator: Any,
) -> None:
    from apps.approvals.services import approval_request

    at = datetime.now(UTC)
    asked = approval_request(draft_for(), at=at)
    approval_resolve(asked, decision="allow-always", by=operator, at=at, scope=GrantScope(arg_pattern="^.*$"))
    client = program("approvals_read", "approvals_resolve")

    (listed,) = client.get("grants").json()
    assert (listed["arg_pattern"], listed["created_by"], listed["uses"]) == ("^.*$", str(operator), 0)

    assert client.get("grants?agent=nobody&tool=exec").json() == client.get("grants?state=ended").json() == []
    assert client.get("grants?agent=ops-runner&tool=exec").json() == [listed]
    assert client.get(f"grants/{listed['id']}").json() == {**listed, "proposal": None}

    wrong = client.post(f"grants/{listed['id']}/narrow", {"arg_pattern": "a"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "grant_scope_invalid")

    narrower = client.post(f"grants/{listed['id']}/narrow", {"arg_pattern": "^a$"}).json()
    assert [each["id"] for each in client.get("grants").json()] == [narrower["id"]]

    assert client.post(f"grants/{narrower['id']}/revoke", None).json()["revoked_at"] is not None
    assert client.get("grants").json() == []
    assert len(client.get("grants?state=ended").json()) == 2
    assert Grant.objects.filter(revoked_at=None).count() == 0


def test_reading_is_not_revoking(environment: Any, program: Callable[..., Program]) -> None:
    client = program("approvals_read")
    assert client.get("grants").json() == []
    assert client.post("grants/grant_00000000000000000000000000/revoke", None).status_code == 403
