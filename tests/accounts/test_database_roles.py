"""The roles under which tests run are those of production."""

import pytest
from django.db import connection, transaction
from django.db.utils import ProgrammingError

from apps.accounts.models import User
from tests import database

two_roles = pytest.mark.skipif(not database.HAS_TWO_ROLES, reason="DATABASE_URL is the only role")


@two_roles
@pytest.mark.django_db
def test_a_test_runs_as_the_application_role() -> None:
    assert database.role_now() == database.APPLICATION["USER"]


@two_roles
@pytest.mark.django_db
def test_the_application_role_cannot_change_tables() -> None:
    with pytest.raises(ProgrammingError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE accounts_user ADD COLUMN more text")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", [1, 2])
def test_a_transactional_test_starts_empty(turn: int) -> None:
    assert not User.objects.exists()
    User.objects.create_user("somebody", "a long password")


@two_roles
@pytest.mark.django_db(transaction=True)
def test_the_role_is_the_same_after_emptying() -> None:
    assert database.role_now() == database.APPLICATION["USER"]
