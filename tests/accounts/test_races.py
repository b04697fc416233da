"""Two at once: what may happen only once happens once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier

import pytest
from django.db import connections

from apps.accounts import services
from apps.accounts.errors import AccountError, LastAdminError, LinkInvalidError
from apps.accounts.models import User
from apps.registry.models import Environment
from apps.registry.services import environment_default

pytestmark = pytest.mark.django_db(transaction=True)
AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
GOOD = "a long and quiet night"


def at_once(*works: Callable[[], object]) -> list[object]:
    """Run all at the same time, each on its own connection; a refusal is an answer."""
    barrier = Barrier(len(works))

    def run(work: Callable[[], object]) -> object:
        barrier.wait()
        try:
            return work()
        except AccountError as exc:
            return exc
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(run, works))


def test_two_administrators_cannot_remove_each_other(make_user: Callable[..., User]) -> None:
    anna, bert = make_user("anna", role="admin"), make_user("bert", role="admin")
    answers = at_once(
        lambda: services.user_set_role(bert, role="viewer", by=anna),
        lambda: services.user_deactivate(anna, by=bert),
    )
    assert sum(isinstance(answer, LastAdminError) for answer in answers) == 1
    assert User.objects.filter(role="admin", is_active=True).count() == 1


def test_two_people_cannot_use_one_link(make_user: Callable[..., User]) -> None:
    _, secret = services.user_invite(role="viewer", by=make_user("anna", role="admin"), at=AT)
    answers = at_once(
        lambda: services.invitation_accept(secret, username="bert", password=GOOD, at=AT),
        lambda: services.invitation_accept(secret, username="carl", password=GOOD, at=AT),
    )
    assert sum(isinstance(answer, LinkInvalidError) for answer in answers) == 1
    assert User.objects.count() == 2


def test_two_set_ups_create_the_first_people_once() -> None:
    answers = at_once(services.people_first, services.people_first)
    assert sorted(len(answer) for answer in answers if isinstance(answer, dict)) == [0, 4]


def test_two_processes_make_one_default_environment() -> None:
    first, second = at_once(environment_default, environment_default)
    assert first == second
    assert Environment.objects.count() == 1
