"""Guardrails: kept with their environment, on record; no publication and no rollback may fail one unaccepted."""

from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from apps.accounts.errors import PermissionDeniedError
from apps.audit.models import Entry
from apps.firewall.identifiers import new_id, show_id
from apps.policies import guardrails as checking
from apps.policies import services
from apps.policies.errors import (
    GuardrailInvalidError,
    GuardrailNotAcceptedError,
    PublicationRefusedError,
    RecordGoneError,
)
from apps.policies.guardrails import CheckedGuardrail, guardrails_checked
from apps.policies.models import Agent, Guardrail, GuardrailAcceptance, Publication
from apps.policies.selectors import draft_snapshot, live_publication, publication_snapshot
from apps.policies.services import (
    guardrail_accept,
    guardrail_create,
    guardrail_delete,
    guardrail_save,
    publish,
    record_update,
    rollback,
)
from apps.registry.errors import RecordChangedError
from apps.registry.models import Environment
from tests.console.conftest import draft, published  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db

NO_EXEC: dict[str, Any] = {"requires": "never", "tools": ["exec"], "agents": ["main"]}
HOLDS: dict[str, Any] = {"requires": "never", "tools": ["gateway"], "agents": ["main"], "sender": "non_owner"}


def make(environment: Any, admin: Any, name: str = "no exec", **fields: Any) -> Guardrail:
    return guardrail_create(environment, by=admin, **({"name": name, "form": NO_EXEC} | fields))


def entries(name: str) -> list[Any]:
    found = Entry.objects.filter(kind="policy_change", changes__kind="guardrail", changes__record=name)
    return [entry.changes for entry in found.order_by("seq")]


def live_of(environment: Any) -> Publication:
    found = live_publication(environment)
    assert found is not None
    return found


def checked_of(environment: Any) -> CheckedGuardrail:
    (found,) = guardrails_checked(environment, draft_snapshot(environment))
    return found


def fingerprint_of(environment: Any) -> str:
    check = checked_of(environment).check
    assert check is not None
    return check.fingerprint


def deny(key: str, admin: Any, *names: str) -> None:
    agent = Agent.objects.get(key=key)
    record_update(agent, {"deny": [*(agent.deny or ()), *names]}, by=admin, expected_version=agent.version)


def test_one_is_made_changed_and_removed_on_record(draft: Any, admin: Any) -> None:  # noqa: F811
    name = f"no exec {new_id()}"
    guardrail = make(draft, admin, name)
    assert (guardrail.version, guardrail.severity, guardrail.made_by) == (1, "blocking", "user:admin")
    guardrail = guardrail_save(guardrail, by=admin, expected_version=1, is_enabled=False)
    guardrail_delete(guardrail, by=admin, expected_version=2)
    assert not Guardrail.objects.exists()
    told = [(entry["action"], entry["version"]) for entry in entries(name)]
    assert told == [("create", 1), ("update", 2), ("delete", 2)]


def test_a_form_is_kept_without_what_says_nothing(draft: Any, admin: Any) -> None:  # noqa: F811
    guardrail = make(draft, admin, form=NO_EXEC | {"place": "anywhere", "senders": [], "min_depth": 0})
    assert guardrail.form == NO_EXEC
    assert guardrail_save(guardrail, by=admin, form=NO_EXEC | {"groups": []}).version == 1


@pytest.mark.parametrize("role", ["operator", "auditor", "viewer", "outsider"])
def test_only_who_may_change_policy_does(
    role: str,
    draft: Any,  # noqa: F811
    admin: Any,
    request: pytest.FixtureRequest,
) -> None:
    guardrail, person = make(draft, admin, severity="warning"), request.getfixturevalue(role)
    shown = fingerprint_of(draft)
    for attempt in (
        lambda: make(draft, person, "mine"),
        lambda: guardrail_save(guardrail, by=person, is_enabled=False),
        lambda: guardrail_delete(guardrail, by=person),
        lambda: guardrail_accept(guardrail, by=person, fingerprint=shown, reason="x"),
    ):
        with pytest.raises(PermissionDeniedError):
            attempt()
    assert [(each.name, each.version) for each in Guardrail.objects.all()] == [("no exec", 1)]
    assert not GuardrailAcceptance.objects.exists()


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"severity": "deadly"}, "severity"),
        ({"form": {}}, "form"),
        ({"form": []}, "form"),
        ({"form": NO_EXEC | {"tools": []}}, "form"),
        ({"form": NO_EXEC | {"whom": "x"}}, "form"),
        ({"form": NO_EXEC | {"tools": ["a\x00b"]}}, "form"),
    ],
)
def test_a_mistake_names_its_field_and_keeps_nothing(
    fields: dict[str, Any],
    path: str,
    draft: Any,  # noqa: F811
    admin: Any,
) -> None:
    with pytest.raises(GuardrailInvalidError) as caught:
        make(draft, admin, **fields)
    assert {detail["path"] for detail in caught.value.details} == {path}
    assert not Guardrail.objects.exists()


def test_a_field_that_it_does_not_have_is_refused(draft: Any, admin: Any) -> None:  # noqa: F811
    with pytest.raises(GuardrailInvalidError, match="version"):
        make(draft, admin, version=7)


def test_an_environment_keeps_so_many_and_no_more(
    draft: Any,  # noqa: F811
    admin: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services.guardrails, "KIND", replace(services.guardrails.KIND, most=1))
    make(draft, admin)
    with pytest.raises(GuardrailInvalidError, match="at most 1"):
        make(draft, admin, "one more")


def test_the_second_of_two_editors_sees_the_conflict(draft: Any, admin: Any) -> None:  # noqa: F811
    guardrail = make(draft, admin)
    guardrail_save(guardrail, by=admin, expected_version=1, description="why")
    with pytest.raises(RecordChangedError):
        guardrail_save(guardrail, by=admin, expected_version=1, name="other")
    guardrail_delete(guardrail, by=admin, expected_version=2)
    with pytest.raises(RecordGoneError):
        guardrail_save(guardrail, by=admin, name="other")


def test_those_switched_off_stand_aside(draft: Any, admin: Any) -> None:  # noqa: F811
    make(draft, admin, is_enabled=False)
    found = checked_of(draft)
    assert (found.is_skipped, found.holds, found.stops) == (True, True, False)


# --- acceptance ---


def test_a_warning_is_accepted_by_name_with_a_reason(draft: Any, admin: Any) -> None:  # noqa: F811
    name = f"warns {new_id()}"
    guardrail = make(draft, admin, name, severity="warning")
    assert checked_of(draft).may_be_accepted
    seen = fingerprint_of(draft)
    accepted = guardrail_accept(guardrail, by=admin, fingerprint=seen, reason=" until Friday ")
    assert (accepted.accepted_by, accepted.reason) == ("user:admin", "until Friday")
    assert guardrail_accept(guardrail, by=admin, fingerprint=seen, reason="again").pk == accepted.pk
    found = checked_of(draft)
    assert (found.stops, found.acceptance) == (False, accepted)
    assert [entry["action"] for entry in entries(name)] == ["create", "accept"]


def test_another_failure_must_be_accepted_anew(draft: Any, admin: Any) -> None:  # noqa: F811
    both = NO_EXEC | {"tools": ["exec", "process"]}
    guardrail = make(draft, admin, severity="warning", form=both)
    seen = fingerprint_of(draft)
    guardrail_accept(guardrail, by=admin, fingerprint=seen, reason="x")
    deny("main", admin, "message")
    assert not checked_of(draft).stops
    deny("main", admin, "process")
    assert checked_of(draft).stops
    with pytest.raises(GuardrailNotAcceptedError, match="something else"):
        guardrail_accept(guardrail, by=admin, fingerprint=seen, reason="x")


def test_another_version_must_be_accepted_anew(draft: Any, admin: Any) -> None:  # noqa: F811
    guardrail = make(draft, admin, severity="warning")
    guardrail_accept(guardrail, by=admin, fingerprint=fingerprint_of(draft), reason="x")
    guardrail_save(guardrail, by=admin, description="stricter")
    assert checked_of(draft).stops


def test_what_blocks_holds_or_has_no_reason_is_not_accepted(draft: Any, admin: Any) -> None:  # noqa: F811
    guardrail = make(draft, admin)
    seen = fingerprint_of(draft)
    with pytest.raises(GuardrailNotAcceptedError, match="blocks"):
        guardrail_accept(guardrail, by=admin, fingerprint=seen, reason="x")
    guardrail = guardrail_save(guardrail, by=admin, severity="warning")
    for reason in (" ", "x" * 2001):
        with pytest.raises(GuardrailNotAcceptedError):
            guardrail_accept(guardrail, by=admin, fingerprint=seen, reason=reason)
    with pytest.raises(GuardrailNotAcceptedError, match="only a person"):
        guardrail_accept(guardrail, by=None, fingerprint=seen, reason="x")
    guardrail = guardrail_save(guardrail, by=admin, form=HOLDS)
    with pytest.raises(GuardrailNotAcceptedError, match="holds"):
        guardrail_accept(guardrail, by=admin, fingerprint=seen, reason="x")
    assert not GuardrailAcceptance.objects.exists()


# --- no door publishes what fails ---


@pytest.fixture
def failing(published: Any, admin: Any) -> Environment:  # noqa: F811
    """An environment with a live publication whose draft changed, and one blocking guardrail that fails."""
    agent = Agent.objects.get(key="main")
    record_update(agent, {"name": "Main"}, by=admin, expected_version=agent.version)
    make(published, admin)
    assert isinstance(published, Environment)
    return published


def test_a_draft_that_fails_one_is_not_published(failing: Environment, admin: Any) -> None:
    live = live_of(failing)
    with pytest.raises(PublicationRefusedError) as caught:
        publish(failing, by=admin, message="x", expected_live=live.snapshot_id)
    (detail,) = caught.value.details
    assert (detail["path"], detail["code"]) == ("guardrails.no exec", "guardrail_failed")
    assert "`exec` is allowed for agent `main`" in detail["message"]
    assert live_of(failing).pk == live.pk


@pytest.mark.parametrize("mend", ["policy", "off", "gone", "accepted"])
def test_it_is_once_the_policy_or_the_guardrail_is_mended(mend: str, failing: Environment, admin: Any) -> None:
    guardrail = Guardrail.objects.get()
    if mend == "policy":
        deny("main", admin, "exec")
    elif mend == "off":
        guardrail_save(guardrail, by=admin, is_enabled=False)
    elif mend == "gone":
        guardrail_delete(guardrail, by=admin)
    else:
        guardrail = guardrail_save(guardrail, by=admin, severity="warning")
        guardrail_accept(guardrail, by=admin, fingerprint=fingerprint_of(failing), reason="x")
    made = publish(failing, by=admin, message="x", expected_live=live_of(failing).snapshot_id)
    assert made.number == 2


def test_one_that_may_be_accepted_stops_until_it_is(failing: Environment, admin: Any) -> None:
    guardrail_save(Guardrail.objects.get(), by=admin, severity="warning")
    with pytest.raises(PublicationRefusedError) as caught:
        publish(failing, by=admin, message="x", expected_live=live_of(failing).snapshot_id)
    assert [detail["code"] for detail in caught.value.details] == ["guardrail_unaccepted"]


@pytest.mark.parametrize("broken", ["form", "engine"])
def test_what_cannot_be_checked_stops(
    broken: str, failing: Environment, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    guardrail_save(Guardrail.objects.get(), by=admin, form=HOLDS | {"min_depth": 1}, severity="warning")
    if broken == "form":
        Guardrail.objects.update(form={"requires": "never"})
    else:
        monkeypatch.setattr(checking, "check_guardrails", lambda *_args, **_more: 1 / 0)
    with pytest.raises(PublicationRefusedError) as caught:
        publish(failing, by=admin, message="x", expected_live=live_of(failing).snapshot_id)
    assert [detail["code"] for detail in caught.value.details] == ["guardrail_unchecked"]
    with pytest.raises(GuardrailNotAcceptedError, match="cannot be checked"):
        guardrail_accept(Guardrail.objects.get(), by=admin, fingerprint="", reason="x")


def test_a_publication_that_fails_one_is_not_rolled_back_to_unless_accepted(
    published: Any,  # noqa: F811
    admin: Any,
) -> None:
    first = live_of(published)
    deny("main", admin, "exec")
    second = publish(published, by=admin, message="no exec", expected_live=first.snapshot_id)
    guardrail = make(published, admin, severity="warning")
    with pytest.raises(PublicationRefusedError, match="guardrails"):
        rollback(published, first, by=admin, message="x", expected_live=second.snapshot_id)
    (found,) = guardrails_checked(published, publication_snapshot(first))
    assert found.check is not None
    seen = found.check.fingerprint
    guardrail_accept(guardrail, by=admin, fingerprint=seen, reason="an emergency", publication=first)
    assert rollback(published, first, by=admin, message="x", expected_live=second.snapshot_id).number == 3


def test_a_publication_of_another_environment_is_no_reason(published: Any, admin: Any) -> None:  # noqa: F811
    other = Environment.objects.create(slug="staging", name="Staging", dialect=published.dialect)
    guardrail = make(other, admin, severity="warning")
    with pytest.raises(GuardrailNotAcceptedError, match="another environment"):
        guardrail_accept(guardrail, by=admin, fingerprint="", reason="x", publication=live_of(published))


def test_no_page_rolls_back_to_it(published: Any, admin: Any) -> None:  # noqa: F811
    first, browser = live_of(published), Client()
    deny("main", admin, "exec")
    second = publish(published, by=admin, message="no exec", expected_live=first.snapshot_id)
    make(published, admin)
    browser.force_login(admin)
    body = {"message": "x", "expected_live": second.snapshot_id}
    answer = browser.post(reverse("snapshot-rollback", args=[first.pk]), body)
    assert (answer.status_code, live_of(published).pk) == (422, second.pk)


def test_no_program_rolls_back_to_it(published: Any, admin: Any, token: Any) -> None:  # noqa: F811
    first, secret = live_of(published), token("publish", "policy_read")[1]
    deny("main", admin, "exec")
    second = publish(published, by=admin, message="no exec", expected_live=first.snapshot_id)
    make(published, admin)
    body = {"message": "x", "expected_live": second.snapshot_id, "publication": show_id("pub", first.pk)}
    headers = {"Authorization": f"Bearer {secret}"}
    answer = Client().post("/api/v1/publications/rollback", body, content_type="application/json", headers=headers)
    assert (answer.status_code, live_of(published).pk) == (422, second.pk)
    assert answer.json()["details"][0]["code"] == "guardrail_failed"


def test_the_command_says_what_fails_where(
    failing: Environment, admin: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    make(failing, admin, "holds", form=HOLDS | {"agents": ["main", "nobody"]})
    make(failing, admin, "off", is_enabled=False)
    make(failing, admin, "warns", severity="warning")
    with pytest.raises(CommandError, match="2 of 4 guardrails"):
        call_command("policy", "guardrails")
    warns = Guardrail.objects.get(name="warns")
    (seen,) = [each.check for each in guardrails_checked(failing, draft_snapshot(failing)) if each.guardrail == warns]
    assert seen is not None
    guardrail_accept(warns, by=admin, fingerprint=seen.fingerprint, reason="x")
    guardrail_delete(Guardrail.objects.get(name="no exec"), by=admin)
    capsys.readouterr()
    call_command("policy", "guardrails", "--at", "live")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("holds: holds: ") and lines[0].endswith("nothing matches `nobody`")
    assert lines[1] == "off: off"
    assert lines[2].startswith("accepted by user:admin: warns: `exec` is allowed for agent `main`")


def test_the_command_needs_something_to_check(draft: Any) -> None:  # noqa: F811
    with pytest.raises(CommandError, match="nothing has been published"):
        call_command("policy", "guardrails", "--at", "live")
