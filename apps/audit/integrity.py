"""How the ledger stands: its chains, what is signed, by which key, what the last walk found, what is wrong."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import connection

from apps.accounts.access import Permission, Principal, require
from apps.audit.checkpoints import checkpoints_make
from apps.audit.errors import AuditKeyError
from apps.audit.models import VerificationRun, Witness
from apps.audit.rows import EntryRow
from apps.audit.signing import audit_key, key_id
from apps.audit.statements import Statement, StatementKind, signer_check, statements_newest
from apps.audit.verification_runs import Alarm, alarms, verification_last
from apps.audit.witnesses import witnesses
from apps.events.clock import clock_step_last

# Checkpoints come every ten seconds: what stays open for much longer is a sign that none can be signed.
OPEN_TOO_LONG = timedelta(minutes=10)
FAILED_TOO_OFTEN = 3
CLOCK_SHOWN = timedelta(days=1)
VERIFIER = "verify_audit.py"
FIGURES = """
SELECT count(*), coalesce(sum(boot.seq), 0)::bigint, coalesce(sum(boot.seq - coalesce(done.seq, 0)), 0)::bigint
FROM audit_boot AS boot LEFT JOIN audit_checkpointed AS done ON done.chain_id = boot.id WHERE boot.seq > 0
"""
OLDEST_OPEN = """
SELECT min(coalesce(done.at, boot.started_at))
FROM audit_boot AS boot LEFT JOIN audit_checkpointed AS done ON done.chain_id = boot.id
WHERE boot.seq > coalesce(done.seq, 0)
"""


COVERED = "SELECT number, at FROM audit_checkpointed WHERE chain_id = %s AND seq >= %s"


@dataclass(frozen=True, slots=True)
class Seal:
    """What vouches for one entry: the newest checkpoint over it, and the last walk since it was written."""

    checkpoint: int | None
    signed_at: datetime | None
    walk: VerificationRun | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrity:
    """The state of the ledger at one moment. `public_key` is empty while the key cannot be used."""

    chains: int
    entries: int
    open_entries: int
    public_key: str
    fingerprint: str
    key_problem: str
    checkpoint: Statement | None
    statements: int
    newest: VerificationRun | None
    last: VerificationRun | None
    witnesses: tuple[Witness, ...]
    alarms: tuple[Alarm, ...]


def integrity(at: datetime) -> Integrity:
    """Say how the ledger stands."""
    with connection.cursor() as cursor:
        cursor.execute(FIGURES)
        chains, entries, open_entries = cursor.fetchone()
    public, problem = b"", ""
    try:
        public = audit_key().public
        signer_check()
    except AuditKeyError as exc:
        problem = exc.message
    told, newest = witnesses(), statements_newest(limit=1)
    return Integrity(
        chains=chains,
        entries=entries,
        open_entries=open_entries,
        public_key=public.hex(),
        fingerprint=key_id(public) if public else "",
        key_problem=problem,
        checkpoint=next(iter(statements_newest(kind=StatementKind.CHECKPOINT, limit=1)), None),
        statements=newest[0].number if newest else 0,
        newest=verification_last(),
        last=verification_last(is_done=True),
        witnesses=tuple(told),
        alarms=(*integrity_alarms(at), *_of_witnesses(told)),
    )


def integrity_alarms(at: datetime) -> list[Alarm]:
    """Name what is wrong with the chains and their checkpoints; witnesses apart."""
    found = alarms(at)
    with connection.cursor() as cursor:
        cursor.execute(OLDEST_OPEN)
        (since,) = cursor.fetchone()
    if since is not None and since < at - OPEN_TOO_LONG and _is_moving(at):
        found.append(Alarm("unsigned", since))
    step = clock_step_last(at, within=CLOCK_SHOWN)
    if step is not None:
        found.append(Alarm("clock", step.at, f"{step.step_s:+.0f}"))
    return found


def entry_seal(entry: EntryRow) -> Seal:
    """Say what vouches for an entry."""
    with connection.cursor() as cursor:
        cursor.execute(COVERED, [entry.chain_id, entry.seq])
        number, signed_at = cursor.fetchone() or (None, None)
    walk = verification_last(is_done=True)
    is_over = walk is not None and walk.started_at is not None and walk.started_at >= entry.at
    return Seal(number, signed_at, walk if is_over else None)


def checkpoint_now(by: Principal) -> list[Statement]:
    """Sign the heads that moved, on demand.

    Raises:
        PermissionDeniedError: the principal may not read the ledger.
        AuditKeyError: the key cannot be used.
    """
    require(by, Permission.AUDIT_READ)
    return checkpoints_make()


def verifier_path() -> Path:
    """Give the file with which others check exports and dumps."""
    return Path(settings.BASE_DIR) / VERIFIER


def _is_moving(at: datetime) -> bool:
    """Say whether the ledger has been open for long enough that the schedule must have run."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT min(started_at) FROM audit_boot WHERE seq > 0 AND ended_at IS NULL")
        (since,) = cursor.fetchone()
    return since is not None and since < at - OPEN_TOO_LONG


def _of_witnesses(told: list[Witness]) -> list[Alarm]:
    return [
        Alarm("witness", each.last_at or each.created_at, each.name)
        for each in told
        if each.is_active and each.attempts >= FAILED_TOO_OFTEN
    ]
