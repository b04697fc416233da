"""After an erasure no byte of what the subject's calls were given is left: in no table, no file, no backup."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from apps.approvals.models import Approval, Grant
from apps.audit.errors import ErasureOpenError
from apps.audit.export_files import exports_dir
from apps.audit.exporting import export_run
from apps.audit.exports import export_request
from apps.audit.filters import EntryFilters
from apps.audit.following import follow
from apps.audit.retention.erasing import erasure_preview, erasure_request, erasure_run
from apps.audit.services import entry_record
from apps.audit.verification import verify_chains
from apps.firewall.identifiers import new_id
from apps.gateway.models import BackgroundCommand
from apps.registry.services import environment_default
from apps.sessions.models import Session
from tests.audit.drafts import denial, intent, outcome

CANARY = "quietheron"
TABLES = """
SELECT c.oid::regclass::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""
SUBJECT: dict[str, Any] = {"channel": "telegram", "sender": "7"}


def now() -> datetime:
    return datetime.now(UTC)


def tables_with(canary: str) -> set[str]:
    """Dump every table by COPY and name those that hold a word in any case, as text or as the hex of bytes."""
    found = set()
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        names = [name for (name,) in cursor.fetchall()]
        for name in names:
            with cursor.copy(f"COPY (SELECT * FROM {name}) TO STDOUT") as copy:
                dumped = b"".join(map(bytes, copy)).lower()
            if canary.encode() in dumped or canary.encode().hex().encode() in dumped:
                found.add(name)
    return found


def files_with(folder: Path, canary: str) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and canary.encode() in path.read_bytes()]


@pytest.fixture
def quoted(transactional_db: None, fresh_environment: None) -> Approval:
    return quote()


def quote() -> Approval:
    """Write calls of one subject that leave the canary wherever something of a call is kept; give their request."""
    call_id = new_id()
    entry_record(intent(call_id, params={"command": CANARY}, changes={"hooks": CANARY}))
    entry_record(outcome(call_id, result={"text": CANARY}, error={"message": CANARY}))
    entry_record(denial(params={CANARY: CANARY}))
    session = quoting_session()
    quoting_command(session)
    approval = quoting_request(session)
    Grant.objects.create(
        environment=approval.environment, tool="exec", pattern=CANARY, shown=CANARY, created_at=now(), approval=approval
    )
    return approval


def quoting_session() -> Session:
    return Session.objects.create(
        environment=environment_default(),
        agent="bot",
        key="agent:bot:main",
        **SUBJECT,
        started_at=now(),
        last_call_at=now(),
        loops={"x": CANARY},
        end_reason=CANARY,
    )


def quoting_command(session: Session) -> None:
    BackgroundCommand.objects.create(
        pk=new_id(),
        environment=session.environment,
        session=session,
        family=session.key,
        agent="bot",
        session_key=session.key,
        **SUBJECT,
        actor="x",
        tool="exec",
        command=CANARY,
        output=CANARY,
        time_limit_s=5,
        state="ended",
        outcome="ended",
        holder=new_id(),
        started_at=now(),
        ended_at=now(),
    )


def quoting_request(session: Session) -> Approval:
    return Approval.objects.create(
        environment=session.environment,
        kind="exec",
        call_id=new_id(),
        agent="bot",
        session_key=session.key,
        **SUBJECT,
        tool="exec",
        command=CANARY,
        argv=[CANARY],
        params={"command": CANARY},
        evidence=[{"text": CANARY}],
        parts=[CANARY],
        reason=CANARY,
        action_digest="0" * 64,
        requested_at=now(),
        expires_at=now(),
        state="denied",
        decided_at=now(),
        sealed_action=CANARY.encode(),
    )


@pytest.fixture
def fresh_environment(transactional_db: None) -> None:
    environment_default()


def test_no_byte_is_left(quoted: Approval, admin: Any, settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    entry_record(intent(sender="8", session_key="agent:bot:other", params={"word": "othersparrow"}))
    follow(limit_s=30)
    export = export_request(admin, filters=EntryFilters(), format_name="jsonl", at=now())
    assert export_run(export.pk, at=now())
    assert files_with(tmp_path, CANARY)
    before = tables_with(CANARY)
    assert before >= {
        "audit_content",
        "audit_words",
        "approvals_approval",
        "approvals_grant",
        "gateway_backgroundcommand",
        "agent_sessions_session",
    }

    preview = erasure_preview(admin, **SUBJECT)
    assert (preview.contents, preview.exports, preview.open) == (3, 1, 0)
    assert sum(count for _, count in preview.elsewhere) == 4
    erasure = erasure_request(admin, **SUBJECT, reason="asked to", at=now())
    assert erasure_run(erasure.pk, at=now())
    follow(limit_s=30)

    assert tables_with(CANARY) == set()
    assert files_with(tmp_path, CANARY) == [] and list(exports_dir().glob("*.jsonl")) == []
    assert tables_with("othersparrow") == {"audit_content", "audit_words"}
    grant = Grant.objects.get()
    assert grant.revoked_at is not None and grant.shown == ""
    assert verify_chains().is_intact


def test_what_still_waits_is_not_cut_off(quoted: Approval, admin: Any) -> None:
    Approval.objects.create(
        environment=quoted.environment,
        kind="exec",
        call_id=new_id(),
        agent="bot",
        **SUBJECT,
        tool="exec",
        action_digest="1" * 64,
        requested_at=now(),
        expires_at=now(),
    )
    with pytest.raises(ErasureOpenError, match="1 calls or requests"):
        erasure_request(admin, **SUBJECT, reason="asked to", at=now())
