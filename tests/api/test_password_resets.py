"""Links to a new password for programs."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.accounts import services
from apps.accounts.errors import LinkInvalidError
from apps.audit.models import Entry
from tests.api.conftest import Program


def test_open_links_are_listed_with_their_maker_and_withdrawn(
    environment: Any, program: Callable[..., Program], admin: Any, viewer: Any
) -> None:
    link = services.password_reset_link(viewer, by=admin)
    client = program("users_manage")

    (row,) = client.get("password-resets").json()
    assert (row["user"], row["created_by"]) == (viewer.username, admin.username)
    assert link.secret not in str(row)

    assert client.ask("DELETE", f"password-resets/{row['id']}").status_code == 204
    assert client.ask("DELETE", f"password-resets/{row['id']}").status_code == 204
    assert client.get("password-resets").json() == []
    with pytest.raises(LinkInvalidError):
        services.password_reset(viewer.pk, secret=link.secret, password="a long and quiet night")
    assert Entry.objects.filter(status="reset_link_withdrawn").count() == 1


def test_links_take_the_right_to_manage_people(environment: Any, program: Callable[..., Program]) -> None:
    assert program("tokens_manage", "policy_read").get("password-resets").status_code == 403
