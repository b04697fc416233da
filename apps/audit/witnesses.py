"""Witnesses: who outside keeps what was signed. Each is told in order, at least once, and again after a failure."""

import asyncio
import json
import os
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog
from cryptography.x509 import load_pem_x509_certificates
from django.conf import settings
from django.db import transaction
from rfc3161_client import (
    HashAlgorithm,
    TimestampRequestBuilder,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from apps.accounts.access import Permission, Principal, actor_of, require
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.errors import WitnessInvalidError, WitnessNotFoundError
from apps.audit.models import Witness, WitnessReceipt
from apps.audit.services import entry_record
from apps.audit.statements import Statement, statements_newest, statements_page
from apps.firewall.errors import FirewallError
from apps.firewall.tools.connector import Answer, Connector
from apps.firewall.tools.connector.addresses import address_problem
from apps.firewall.tools.connector.errors import UrlRefusedError
from apps.firewall.tools.connector.urls import check_url
from apps.keys.outgoing import outgoing_headers, outgoing_rules

log = structlog.get_logger(__name__)

TIME_LIMIT_S: Final = 10.0
ANSWER_LIMIT_BYTES: Final = 64 * 1024
BATCH: Final = 100
LONGEST_WAIT_S: Final = 3600
STAMPED_EVERY: Final = timedelta(hours=1)  # a stamp covers all that was signed before it; authorities count requests
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_FILE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class _RefusedError(Exception):
    """A witness did not take it: the code and a sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def witnesses() -> list[Witness]:
    """Give every witness, by name."""
    return list(Witness.objects.all())


def witness_access(by: Principal, name: str, *, write: bool = False) -> Witness:
    """Give a witness to who may see it, or with `write` to who may change it.

    Raises:
        WitnessNotFoundError: there is none.
        PermissionDeniedError: the principal lacks the right.
    """
    require(by, Permission.AUDIT_MANAGE if write else Permission.AUDIT_READ)
    found = Witness.objects.filter(name=name).first()
    if found is None:
        raise WitnessNotFoundError("no such witness")
    return found


def witness_add(by: Principal, *, name: str, kind: str, target: str, roots_pem: str = "") -> Witness:
    """Add a witness; it is told of everything that was signed so far, a time-stamp covers that with the newest.

    Args:
        target: the name of a file in the folder of witnesses, or an address.
        roots_pem: for a time-stamping authority the certificates to trust.
    Raises:
        PermissionDeniedError, WitnessInvalidError, AuditUnavailableError.
    """
    require(by, Permission.AUDIT_MANAGE)
    problems = [problem for problem in _problems(name, kind, target, roots_pem) if problem is not None]
    if problems:
        raise WitnessInvalidError(problems)
    with transaction.atomic():
        actor = actor_of(by)
        witness = Witness.objects.create(name=name, kind=kind, target=target, roots_pem=roots_pem, created_by=actor)
        _record(by, "added", witness)
    return witness


def witness_remove(by: Principal, witness: Witness) -> None:
    """Tell a witness nothing more; what it kept is its own.

    Raises:
        PermissionDeniedError, AuditUnavailableError.
    """
    require(by, Permission.AUDIT_MANAGE)
    with transaction.atomic():
        _record(by, "removed", witness)
        witness.delete()


def witness_retry(by: Principal, witness: Witness) -> None:
    """Try at once what failed.

    Raises:
        PermissionDeniedError: the principal may not manage the ledger.
    """
    require(by, Permission.AUDIT_MANAGE)
    Witness.objects.filter(pk=witness.pk).update(next_at=None)


def witnesses_due(at: datetime) -> list[UUID]:
    """Name the witnesses that have not been told of the newest statement, and are not waiting after a failure."""
    newest = next(iter(statements_newest(limit=1)), None)
    if newest is None:
        return []
    behind = Witness.objects.filter(is_active=True, last_number__lt=newest.number)
    return list(behind.exclude(next_at__gt=at).values_list("id", flat=True))


def witness_tell(witness_id: UUID, *, at: datetime) -> int:
    """Tell a witness what it has not heard of. No failure gets out: it is kept with the witness.

    Returns:
        The number of the last statement that it keeps now.
    """
    with transaction.atomic():
        witness = Witness.objects.select_for_update(skip_locked=True).filter(pk=witness_id).first()
        if witness is None:
            return 0
        told = _pending(witness)
        if not told:
            return witness.last_number
        try:
            token = _WAYS[Witness.Kind(witness.kind)](witness, told)
        except _RefusedError as exc:
            _failed(witness, at, exc.code, exc.message)
        except FirewallError as exc:
            _failed(witness, at, exc.code, exc.message)
        except OSError as exc:
            _failed(witness, at, "file", exc.strerror or type(exc).__name__)
        else:
            _heard(witness, at, told[-1].number, token)
        return witness.last_number


def receipts(*, limit: int = 20) -> list[WitnessReceipt]:
    """Give what witnesses answered last."""
    return list(WitnessReceipt.objects.select_related("witness").order_by("-number", "-id")[:limit])


def receipt_token(witness: Witness, number: int) -> bytes:
    """Give the time-stamp of a statement, as the authority answered.

    Raises:
        WitnessNotFoundError: there is none.
    """
    receipt = WitnessReceipt.objects.filter(witness=witness, number=number).first()
    if receipt is None or not receipt.token:
        raise WitnessNotFoundError("no time-stamp of this statement")
    return bytes(receipt.token)


def token_verified(witness: Witness, statement: Statement, token: bytes) -> datetime:
    """Check a time-stamp against a statement and the certificates to trust; gives its instant.

    Raises:
        WitnessInvalidError: it does not fit.
    """
    try:
        return _verified(token, witness.roots_pem, statement.hash, None)
    except _RefusedError as exc:
        raise WitnessInvalidError([{"path": "token", "code": exc.code, "message": exc.message}]) from exc


def _problems(name: str, kind: str, target: str, roots_pem: str) -> list[dict[str, str] | None]:
    def wrong(path: str, message: str) -> dict[str, str]:
        return {"path": path, "code": "invalid", "message": f"{path}: {message}"}

    found: list[dict[str, str] | None] = []
    if not _NAME.fullmatch(name):
        found.append(wrong("name", "lower-case letters, digits and hyphens"))
    elif Witness.objects.filter(name=name).exists():
        found.append(wrong("name", "another witness has it"))
    if kind not in Witness.Kind.values:
        found.append(wrong("kind", f"one of {', '.join(Witness.Kind.values)}"))
    elif kind == Witness.Kind.FILE:
        found.append(None if _FILE.fullmatch(target) else wrong("target", "the name of a file, without a folder"))
    else:
        found.append(_address_problem(target, wrong))
    if kind == Witness.Kind.RFC3161:
        found.append(None if _certificates(roots_pem) else wrong("roots_pem", "at least one certificate in PEM"))
    return found


def _address_problem(url: str, wrong: Callable[[str, str], dict[str, str]]) -> dict[str, str] | None:
    rules = outgoing_rules()
    try:
        target = check_url(url, rules)
    except UrlRefusedError as exc:
        return wrong("target", exc.message)
    problem = None if target.address is None else address_problem(target.address, rules.networks_allowed)
    return None if problem is None else wrong("target", f"`{target.host}` is no public address: {problem}")


def _certificates(pem: str) -> list[object]:
    try:
        return list(load_pem_x509_certificates(pem.encode()))
    except ValueError:
        return []


def _pending(witness: Witness) -> list[Statement]:
    if witness.kind == Witness.Kind.RFC3161:  # the newest one covers all before it
        return [each for each in statements_newest(limit=1) if each.number > witness.last_number]
    return statements_page(after=witness.last_number, limit=BATCH)


def _to_file(witness: Witness, told: list[Statement]) -> bytes:
    """Append one line for each statement; on disk before it counts."""
    folder = settings.WITNESS_DIR
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    lines = "".join(json.dumps(each.document(), sort_keys=True) + "\n" for each in told).encode()
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    descriptor = os.open(folder / witness.target, flags, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())
    return b""


def _to_http(witness: Witness, told: list[Statement]) -> bytes:
    body = json.dumps({"witness": witness.name, "statements": [each.document() for each in told]}).encode()
    shown = f"statement_{told[-1].number}"
    headers = outgoing_headers(witness.target, body, shown_id=shown, secret="", attempt=witness.attempts + 1)
    _post(witness.target, body, headers)
    return b""


def _to_authority(witness: Witness, told: list[Statement]) -> bytes:
    """Have the hash of the newest statement time-stamped; the token counts once it verifies. Source: RFC 3161."""
    said = told[-1].hash
    asked = TimestampRequestBuilder().data(said).hash_algorithm(HashAlgorithm.SHA256).build()
    headers = {"Content-Type": "application/timestamp-query", "Accept": "application/timestamp-reply"}
    answer = _post(witness.target, asked.as_bytes(), headers)
    _verified(answer.body, witness.roots_pem, said, asked.nonce)
    return answer.body


def _verified(token: bytes, roots_pem: str, said: bytes, nonce: int | None) -> datetime:
    try:
        answer = decode_timestamp_response(token)
    except ValueError as exc:
        raise _RefusedError("token_unreadable", "the answer is no time-stamp") from exc
    try:
        builder = VerifierBuilder(roots=load_pem_x509_certificates(roots_pem.encode()), nonce=nonce)
        builder.build().verify_message(answer, said)
        return answer.tst_info.gen_time
    except (VerificationError, ValueError) as exc:
        raise _RefusedError("token_refused", f"the time-stamp does not verify: {exc}") from exc


def _post(url: str, body: bytes, headers: dict[str, str]) -> Answer:
    connector = Connector(rules=outgoing_rules())
    sent = connector.post(url, body, headers=headers, time_limit_s=TIME_LIMIT_S, limit_bytes=ANSWER_LIMIT_BYTES)
    answer = asyncio.run(sent)
    if not 200 <= answer.status < 300:
        raise _RefusedError("refused", f"the other side answered {answer.status}")
    return answer


_WAYS: Final[dict[Witness.Kind, Callable[[Witness, list[Statement]], bytes]]] = {
    Witness.Kind.FILE: _to_file,
    Witness.Kind.HTTP: _to_http,
    Witness.Kind.RFC3161: _to_authority,
}


def _heard(witness: Witness, at: datetime, number: int, token: bytes) -> None:
    witness.last_number, witness.last_at, witness.attempts, witness.next_at = number, at, 0, None
    witness.error_code = witness.error = ""
    if token:
        witness.next_at = at + STAMPED_EVERY
        WitnessReceipt.objects.create(witness=witness, number=number, at=at, token=token)
    _save(witness, "last_number", "last_at")


def _failed(witness: Witness, at: datetime, code: str, message: str) -> None:
    witness.attempts += 1
    witness.next_at = at + timedelta(seconds=min(5 * 2 ** min(witness.attempts, 20), LONGEST_WAIT_S))
    witness.error_code, witness.error = code, message[:500]
    _save(witness)
    log.warning("audit.witness_failed", witness=witness.name, code=code, attempts=witness.attempts)


def _save(witness: Witness, *more: str) -> None:
    witness.save(update_fields=["attempts", "next_at", "error_code", "error", *more])


def _record(by: Principal, status: str, witness: Witness) -> None:
    changes = {"witness": witness.name, "kind": witness.kind}
    actor = actor_of(by)
    entry_record(EntryDraft(kind=EntryKind.WITNESS_CHANGE, actor=actor, status=status, changes=changes))
