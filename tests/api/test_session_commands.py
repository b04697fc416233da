"""Background commands of a session, listed and ended by programs."""

from typing import Any

import pytest
from django.utils import timezone

from apps.firewall.identifiers import new_id, show_id
from apps.gateway.models import BackgroundCommand
from apps.sessions.models import Session
from tests.sessions.conftest import take_step

pytestmark = pytest.mark.django_db


@pytest.fixture
def command(environment: Any) -> BackgroundCommand:
    take_step(environment.slug, "main", at=timezone.now())
    session = Session.objects.get(key="agent:bot:main")
    return BackgroundCommand.objects.create(
        id=new_id(),
        environment=environment,
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
        output="ready\n",
        output_total=6,
    )


def path(command: BackgroundCommand) -> str:
    return f"sessions/{command.session.shown_id}/commands"


def test_they_are_listed_with_the_last_they_said(program: Any, command: BackgroundCommand) -> None:
    [found] = program("audit_read").get(path(command)).json()["rows"]
    assert (found["id"], found["call"]) == (command.shown_id, show_id("call", command.pk))
    assert (found["status"], found["is_ending"], found["tail"]) == ("running", False, "ready\n")
    assert found["error"] is None


def test_one_is_asked_to_end_once_and_by_whom(program: Any, command: BackgroundCommand) -> None:
    manager = program("audit_read", "sessions_manage")
    answer = manager.post(f"{path(command)}/{command.shown_id}/kill", {})
    assert (answer.status_code, answer.json()["is_ending"]) == (202, True)
    command.refresh_from_db()
    first = command.end_asked_by
    assert command.end_asked_code == "killed" and first.startswith("token:")
    program("audit_read", "sessions_manage").post(f"{path(command)}/{command.shown_id}/kill", {})
    command.refresh_from_db()
    assert command.end_asked_by == first


def test_who_may_only_read_ends_none_and_what_is_not_there_is_not_found(
    program: Any, command: BackgroundCommand
) -> None:
    assert program("audit_read").post(f"{path(command)}/{command.shown_id}/kill", {}).status_code == 403
    stranger = program("audit_read", "sessions_manage", agents=["clerk"])
    assert stranger.get(path(command)).status_code == 404
    assert stranger.post(f"{path(command)}/{command.shown_id}/kill", {}).status_code == 404
    manager = program("audit_read", "sessions_manage")
    missing = manager.post(f"{path(command)}/{show_id('proc', new_id())}/kill", {})
    assert (missing.status_code, missing.json()["code"]) == (404, "command_not_found")
    command.refresh_from_db()
    assert command.end_asked_code == ""
