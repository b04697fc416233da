"""Background commands on the page of a session and in the audit of their call: who sees them, who may end them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.drafts import EntryDraft
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id, show_id
from apps.firewall.tools.background.view import View
from apps.gateway.background.endings import command_end, ending_asked
from apps.gateway.models import BackgroundCommand
from apps.sessions.models import Session
from tests.sessions.conftest import take_step

pytestmark = pytest.mark.django_db
Browser = Callable[..., Client]
HTMX = {"hx-request": "true"}


@pytest.fixture
def session(environment: Any) -> Session:
    take_step(environment.slug, "main", at=timezone.now())
    return Session.objects.get(key="agent:bot:main")


@pytest.fixture
def command(session: Session) -> BackgroundCommand:
    return BackgroundCommand.objects.create(
        id=new_id(),
        environment=session.environment,
        session=session,
        family=session.key,
        agent="bot",
        session_key=session.key,
        actor="token:tok_1",
        tool="exec",
        command="npm run dev",
        time_limit_s=1800,
        state="running",
        holder=new_id(),
        started_at=timezone.now(),
        output="ready\n\x1b[31mred\x1b[0m <b>\u202e",
        output_total=20,
    )


def end_url(command: BackgroundCommand) -> str:
    return f"/sessions/{command.session.shown_id}/commands/{command.shown_id}/kill/"


def test_the_page_shows_what_runs_and_hides_nothing_it_said(
    client_of: Browser, operator: Any, command: BackgroundCommand
) -> None:
    page = client_of(operator).get(f"/sessions/{command.session.shown_id}/").content.decode()
    assert "npm run dev" in page and "ready" in page
    assert "\x1b" not in page and "\u202e" not in page and "&lt;b&gt;" in page
    assert f'action="{end_url(command)}"' in page


def test_an_operator_asks_for_the_end_and_sees_that_it_is_ending(
    client_of: Browser, operator: Any, command: BackgroundCommand
) -> None:
    part = client_of(operator).post(end_url(command), headers=HTMX).content.decode()
    assert part.lstrip().startswith('<section class="panel" id="session-commands"')
    assert "ending" in part and "<form" not in part
    command.refresh_from_db()
    assert (command.end_asked_code, command.end_asked_by) == ("killed", "user:operator")
    answer = client_of(operator).post(end_url(command))
    assert (answer.status_code, answer["Location"]) == (302, f"/sessions/{command.session.shown_id}/")


def test_an_auditor_sees_it_and_may_not_end_it(client_of: Browser, auditor: Any, command: BackgroundCommand) -> None:
    page = client_of(auditor).get(f"/sessions/{command.session.shown_id}/").content.decode()
    assert "npm run dev" in page and end_url(command) not in page
    assert client_of(auditor).post(end_url(command)).status_code == 403
    command.refresh_from_db()
    assert command.end_asked_code == ""


def test_a_viewer_sees_nothing_of_it(client_of: Browser, viewer: Any, command: BackgroundCommand) -> None:
    assert client_of(viewer).get(f"/sessions/{command.session.shown_id}/").status_code == 403
    assert client_of(viewer).post(end_url(command)).status_code == 403


def test_a_get_ends_nothing_and_another_sessions_address_finds_nothing(
    client_of: Browser, operator: Any, command: BackgroundCommand, environment: Any
) -> None:
    assert client_of(operator).get(end_url(command)).status_code == 405
    take_step(environment.slug, "other", at=timezone.now())
    other = Session.objects.get(key="agent:bot:other")
    wrong = f"/sessions/{other.shown_id}/commands/{command.shown_id}/kill/"
    assert client_of(operator).post(wrong).status_code == 404


def test_what_ended_says_how(client_of: Browser, operator: Any, command: BackgroundCommand) -> None:
    command_end(command.pk, ending_asked("killed", "user:olga"), View("bye\n", 0, 4), at=timezone.now())
    page = client_of(operator).get(f"/sessions/{command.session.shown_id}/").content.decode()
    assert "ended by olga" in page and "bye" in page and end_url(command) not in page


def test_the_audit_of_the_call_shows_how_its_command_ended(
    client_of: Browser, auditor: Any, command: BackgroundCommand
) -> None:
    about: dict[str, Any] = {
        "call_id": command.pk,
        "environment": command.environment.slug,
        "agent": "bot",
        "tool": "exec",
    }
    entry_record(EntryDraft(kind="call_intent", status="started", params={"command": "npm run dev"}, **about))
    entry_record(EntryDraft(kind="call_outcome", status="completed", result={"status": "running"}, **about))
    command_end(command.pk, ending_asked("killed", "user:olga"), View("bye\n", 0, 4), at=timezone.now())
    page = client_of(auditor).get(f"/audit/calls/{show_id('call', command.pk)}/").content.decode()
    assert "End of the background command" in page
    assert "cancelled" in page and "ended by olga" in page and "bye" in page


def test_of_a_long_output_the_last_lines_are_shown(
    client_of: Browser, operator: Any, command: BackgroundCommand
) -> None:
    BackgroundCommand.objects.update(output="".join(f"line-{number};\n" for number in range(300)))
    page = client_of(operator).get(f"/sessions/{command.session.shown_id}/").content.decode()
    assert "line-299;" in page and "line-288;" in page and "line-287;" not in page
