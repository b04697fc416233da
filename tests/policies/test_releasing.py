"""Publishing by two, publishing later, promoting: one draft, the same checks, and an end that says why."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.errors import PermissionDeniedError
from apps.audit.models import Entry
from apps.policies.errors import (
    OwnPublishRequestError,
    PublicationConflictError,
    PublicationRefusedError,
    PublishRequestClosedError,
    PublishRequestStaleError,
    PublishRuleInvalidError,
)
from apps.policies.models import Profile, Publication, PublishRequest
from apps.policies.selectors import agent_get, document_export, draft_snapshot, live_publication
from apps.policies.services import (
    document_import,
    policy_test_create,
    profile_create,
    promote,
    publish,
    publish_ask,
    publish_confirm,
    publish_due,
    publish_rule_save,
    publish_withdraw,
    record_update,
)
from apps.policies.tasks import publish_due_task
from apps.registry.services import environment_create, environment_set_dialect

pytestmark = pytest.mark.django_db
SAMPLE = Path(__file__).parent.parent / "samples" / "openclaw.full.json5"
NOW = timezone.now()
LATER = NOW + timedelta(hours=2)


@pytest.fixture
def draft(environment: Any) -> Any:
    document_import(environment, SAMPLE.read_text(), by=None)
    return environment


@pytest.fixture
def by_two(draft: Any, admin: Any) -> Any:
    publish_rule_save(draft, by=admin, needs_second_person=True, hours=24)
    return draft


@pytest.fixture
def other(make_user: Any) -> Any:
    return make_user("other", role="admin")


def ask(environment: Any, by: Any, **more: Any) -> PublishRequest:
    return publish_ask(environment, by=by, message="why", expected_live="", at=NOW, **more)


def change(environment: Any, by: Any) -> None:
    agent = agent_get(environment, "ops")
    assert agent is not None
    record_update(agent, {"deny": ["exec"]}, by=by, expected_version=agent.version)


def refreshed(request: PublishRequest) -> PublishRequest:
    return PublishRequest.objects.get(pk=request.pk)


# --- a second person ---


def test_one_person_alone_cannot_publish_where_two_must(by_two: Any, admin: Any) -> None:
    for by in (admin, None):
        with pytest.raises(PublicationRefusedError) as caught:
            publish(by_two, by=by, message="alone", expected_live="")
        assert [detail["code"] for detail in caught.value.details] == ["second_person_needed"]
    assert live_publication(by_two) is None


def test_the_second_person_makes_exactly_the_reviewed_draft_live(by_two: Any, admin: Any, other: Any) -> None:
    request = publish_confirm(ask(by_two, admin), by=other, at=NOW)
    live = live_publication(by_two)
    assert live is not None and request.publication == live
    assert (request.state, live.snapshot_id, live.actor) == ("done", request.digest, "user:admin")
    told = Entry.objects.filter(kind="publish").latest("seq").changes
    assert told is not None
    assert (told["asked_by"], told["confirmed_by"]) == ("user:admin", "user:other")


def test_who_asks_cannot_confirm_not_even_by_a_token(by_two: Any, admin: Any, token: Any) -> None:
    request = ask(by_two, admin)
    for by in (admin, token("publish", by=admin)[0], None):
        with pytest.raises(OwnPublishRequestError):
            publish_confirm(request, by=by, at=NOW)
    assert refreshed(request).state == "waiting"


def test_who_may_not_publish_can_neither_ask_nor_confirm(by_two: Any, admin: Any, operator: Any) -> None:
    with pytest.raises(PermissionDeniedError):
        ask(by_two, operator)
    with pytest.raises(PermissionDeniedError):
        publish_confirm(ask(by_two, admin), by=operator, at=NOW)


def test_a_draft_that_changed_is_another_one(by_two: Any, admin: Any, other: Any) -> None:
    request = ask(by_two, admin)
    change(by_two, admin)
    with pytest.raises(PublishRequestStaleError, match="draft has changed"):
        publish_confirm(request, by=other, at=NOW)
    assert refreshed(request).state == "stale"
    with pytest.raises(PublishRequestClosedError):
        publish_confirm(request, by=other, at=NOW)
    assert live_publication(by_two) is None


def test_nobody_confirms_after_the_hours(by_two: Any, admin: Any, other: Any) -> None:
    request = ask(by_two, admin)
    with pytest.raises(PublishRequestClosedError, match="in time"):
        publish_confirm(request, by=other, at=NOW + timedelta(hours=24))
    assert refreshed(request).state == "expired"


def test_a_request_can_be_taken_back_once(by_two: Any, admin: Any, other: Any) -> None:
    request = publish_withdraw(ask(by_two, admin), by=other, at=NOW)
    assert (request.state, request.outcome) == ("withdrawn", "user:other took it back")
    with pytest.raises(PublishRequestClosedError):
        publish_withdraw(request, by=admin, at=NOW)


def test_a_newer_request_takes_the_place_of_an_older_one(by_two: Any, admin: Any) -> None:
    first, second = ask(by_two, admin), ask(by_two, admin)
    assert (refreshed(first).state, second.state) == ("withdrawn", "waiting")


def test_what_cannot_be_published_cannot_be_asked_for(by_two: Any, admin: Any) -> None:
    policy_test_create(by_two, by=admin, name="never", tool="exec", verdict="denied", context={"agent_id": "nobody-x"})
    policy_test_create(by_two, by=admin, name="always", tool="no_such_tool", verdict="allowed", context={})
    with pytest.raises(PublicationRefusedError):
        ask(by_two, admin)
    assert not PublishRequest.objects.exists()


@pytest.mark.parametrize("hours", [0, 100_000])
def test_a_rule_with_mistakes_is_not_saved(draft: Any, admin: Any, hours: int) -> None:
    with pytest.raises(PublishRuleInvalidError):
        publish_rule_save(draft, by=admin, needs_second_person=True, hours=hours)


# --- a time ---


def test_it_goes_live_at_its_time_and_not_before(draft: Any, admin: Any) -> None:
    request = ask(draft, admin, publish_at=LATER)
    assert (request.state, publish_due(LATER - timedelta(seconds=1))) == ("scheduled", 0)
    assert live_publication(draft) is None
    assert publish_due(LATER) == 1
    live = live_publication(draft)
    assert live is not None and live.snapshot_id == request.digest
    assert (refreshed(request).state, publish_due(LATER)) == ("done", 0)


def test_the_task_of_the_schedule_does_it(draft: Any, admin: Any) -> None:
    request = ask(draft, admin, publish_at=LATER)
    PublishRequest.objects.filter(pk=request.pk).update(publish_at=NOW - timedelta(minutes=1))
    assert publish_due_task() == 1
    assert refreshed(request).state == "done"


def test_two_people_and_a_time(by_two: Any, admin: Any, other: Any) -> None:
    request = ask(by_two, admin, publish_at=LATER)
    assert publish_due(NOW) == 0
    assert publish_confirm(request, by=other, at=NOW).state == "scheduled"
    assert publish_due(LATER) == 1
    assert refreshed(request).state == "done"


def test_a_draft_that_moves_cancels_it_before_its_time(draft: Any, admin: Any) -> None:
    request = ask(draft, admin, publish_at=LATER)
    change(draft, admin)
    assert publish_due(NOW) == 1
    assert (refreshed(request).state, refreshed(request).outcome) == (
        "stale",
        "the draft has changed since it was asked for",
    )
    assert publish_due(LATER) == 0
    assert live_publication(draft) is None


def test_what_somebody_else_published_cancels_it(draft: Any, admin: Any) -> None:
    request = ask(draft, admin, publish_at=LATER)
    publish(draft, by=admin, message="now", expected_live="")
    assert publish_due(LATER) == 1
    assert refreshed(request).state == "stale"
    assert Publication.objects.filter(environment=draft).count() == 1


def test_checks_that_fail_at_its_time_refuse_it(draft: Any, admin: Any) -> None:
    request = ask(draft, admin, publish_at=LATER)
    policy_test_create(draft, by=admin, name="always", tool="no_such_tool", verdict="allowed", context={})
    assert publish_due(LATER) == 1
    assert refreshed(request).state == "refused"
    assert "always" in refreshed(request).outcome
    assert live_publication(draft) is None


def test_a_rule_made_since_then_holds(draft: Any, admin: Any) -> None:
    request = ask(draft, admin, publish_at=LATER)
    publish_rule_save(draft, by=admin, needs_second_person=True, hours=24)
    publish_due(LATER)
    assert refreshed(request).state == "refused"
    assert "second person" in refreshed(request).outcome


def test_who_lost_the_right_publishes_no_more(draft: Any, admin: Any) -> None:
    request = ask(draft, admin, publish_at=LATER)
    admin.role = "viewer"
    admin.save(update_fields=["role"])
    publish_due(LATER)
    assert refreshed(request).state == "refused"
    assert live_publication(draft) is None


@pytest.mark.parametrize("when", [None, NOW, NOW - timedelta(days=1), NOW + timedelta(days=91)])
def test_a_time_must_be_ahead(draft: Any, admin: Any, when: Any) -> None:
    with pytest.raises(PublishRuleInvalidError):
        ask(draft, admin, publish_at=when)


# --- another environment ---


@pytest.fixture
def staging(draft: Any, admin: Any) -> Any:
    """Another environment, with a policy and a profile of its own live, and a plain one live in the first."""
    document_import(draft, '{"agents": {"entries": {"main": {}}}}', by=None)
    publish(draft, by=admin, message="plain", expected_live="")
    made = environment_create(slug="staging")
    profile_create(made, "ours", by=admin, allow=["read"])
    document_import(made, SAMPLE.read_text(), by=None)
    agent = agent_get(made, "ops")
    assert agent is not None
    record_update(agent, {"profile": "ours"}, by=admin, expected_version=agent.version)
    publish(made, by=admin, message="tried", expected_live="")
    return made


def _promote(environment: Any, staging: Any, by: Any) -> Any:
    live, theirs = live_publication(environment), live_publication(staging)
    assert live is not None and theirs is not None
    return promote(environment, theirs, by=by, message="from staging", expected_live=live.snapshot_id, at=NOW)


def test_what_is_live_there_goes_live_here(draft: Any, staging: Any, admin: Any) -> None:
    made = _promote(draft, staging, admin)
    assert (made.number, made.environment) == (2, draft)
    assert document_export(draft, secrets="open") == document_export(staging, secrets="open")
    assert Profile.objects.get(environment=draft, key="ours").allow == ["read"]
    assert draft_snapshot(draft).digest == made.snapshot_id


def test_a_second_person_is_asked_there_too(draft: Any, staging: Any, admin: Any, other: Any) -> None:
    publish_rule_save(draft, by=admin, needs_second_person=True, hours=1)
    request = _promote(draft, staging, admin)
    assert (request.state, live_publication(draft).number) == ("waiting", 1)  # type: ignore[union-attr]
    assert publish_confirm(request, by=other, at=NOW).state == "done"


def test_an_unpublished_draft_is_not_thrown_away(draft: Any, staging: Any, admin: Any) -> None:
    document_import(draft, '{"agents": {"entries": {"more": {}}}}', by=None)
    with pytest.raises(PublicationRefusedError) as caught:
        _promote(draft, staging, admin)
    assert [detail["code"] for detail in caught.value.details] == ["draft_not_empty"]
    assert agent_get(draft, "more") is not None


def test_only_what_is_live_there_and_seen_here_is_promoted(draft: Any, staging: Any, admin: Any) -> None:
    first = live_publication(staging)
    assert first is not None
    with pytest.raises(PublicationConflictError):
        promote(draft, first, by=admin, message="x", expected_live="", at=NOW)
    change(staging, admin)
    publish(staging, by=admin, message="newer", expected_live=first.snapshot_id)
    live = live_publication(draft)
    assert live is not None
    with pytest.raises(PublicationConflictError):
        promote(draft, first, by=admin, message="x", expected_live=live.snapshot_id, at=NOW)
    assert Publication.objects.filter(environment=draft).count() == 1


def test_another_release_is_not_promoted(draft: Any, staging: Any, admin: Any) -> None:
    environment_set_dialect(staging, dialect="2026.2")
    with pytest.raises(PublicationRefusedError) as caught:
        _promote(draft, staging, admin)
    assert [detail["code"] for detail in caught.value.details] == ["other_release"]


def test_failing_checks_leave_everything_as_it_was(draft: Any, staging: Any, admin: Any) -> None:
    policy_test_create(draft, by=admin, name="always", tool="no_such_tool", verdict="allowed", context={})
    before = document_export(draft)
    with pytest.raises(PublicationRefusedError):
        _promote(draft, staging, admin)
    assert document_export(draft) == before
    assert not Profile.objects.filter(environment=draft).exists()


def test_only_who_may_publish_promotes(draft: Any, staging: Any, operator: Any) -> None:
    with pytest.raises(PermissionDeniedError):
        _promote(draft, staging, operator)
