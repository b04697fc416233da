"""What the installation vouches for is one signed, linked chain; it survives a rotation and a crash in its middle."""

import stat
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction

from apps.audit.errors import AuditKeyError
from apps.audit.signing import AuditKey, audit_key, key_id, next_key
from apps.audit.statements import (
    GENESIS,
    StatementKind,
    key_following,
    key_rotate,
    statement_is_sound,
    statement_sign,
    statements,
    statements_newest,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]


@pytest.fixture(autouse=True)
def keys(settings: Any, tmp_path: Path) -> Path:
    settings.KEYS_DIR, settings.AUDIT_KEY = tmp_path / "keys", ""
    return tmp_path / "keys"


def purge(**body: Any) -> Any:
    return statement_sign(StatementKind.PURGE, {"reason": "retention", **body})


def test_statements_are_numbered_linked_and_signed() -> None:
    first, second = purge(n=1), purge(n="zwei ü")
    assert (first.number, second.number) == (1, 2)
    assert (first.prev_hash, second.prev_hash) == (GENESIS, first.hash)
    assert list(statements()) == [first, second] and statements_newest(limit=1) == [second]
    assert statement_is_sound(first) and statement_is_sound(second)
    assert second.told == {"reason": "retention", "n": "zwei ü"}


@pytest.mark.parametrize("change", [{"number": 7}, {"kind": "erasure"}, {"body": "{}"}, {"prev_hash": bytes(32)}])
def test_a_changed_statement_is_not_sound(change: dict[str, Any]) -> None:
    assert not statement_is_sound(replace(purge(), **change))


def test_a_statement_of_a_failed_transaction_never_was() -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        purge()
        raise ZeroDivisionError
    assert purge().number == 1


def test_the_key_is_made_for_its_owner_alone(keys: Path) -> None:
    purge()
    assert stat.S_IMODE((keys / "audit_key").stat().st_mode) == 0o600


@pytest.mark.django_db(transaction=True)
def test_after_a_rotation_the_new_key_signs(keys: Path) -> None:
    old = purge().public_key
    rotation = key_rotate(by="user:admin")
    assert rotation.public_key == old and statement_is_sound(rotation)
    assert key_following(rotation) == purge().public_key == audit_key().public != old
    assert not (keys / "audit_key.next").exists()


def test_a_rotation_that_was_cut_off_is_ended_by_the_next_statement() -> None:
    purge()
    rotation = key_rotate(by="user:admin")  # its last step comes after a commit that never happens here
    assert audit_key().public == rotation.public_key != next_key().public
    assert purge().public_key == key_following(rotation) == audit_key().public


def test_a_key_that_nobody_announced_signs_nothing(keys: Path) -> None:
    purge()
    (keys / "audit_key").unlink()
    with pytest.raises(AuditKeyError, match="not the one that the last statement names"):
        purge()


def test_a_key_file_that_others_may_read_signs_nothing(keys: Path) -> None:
    purge()
    (keys / "audit_key").chmod(0o644)
    with pytest.raises(AuditKeyError, match="0600"):
        purge()


def test_a_key_of_a_variable_is_not_rotated_here(settings: Any) -> None:
    settings.AUDIT_KEY = "11" * 32
    assert purge().public_key == audit_key().public
    with pytest.raises(AuditKeyError, match="OPENCLAW_ADMIN_AUDIT_KEY"):
        key_rotate(by="user:admin")


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="rumour"):
        statement_sign("rumour", {})


CHANGES = ["UPDATE audit_statement SET kind = 'key'", "DELETE FROM audit_statement", "TRUNCATE audit_statement"]


@pytest.mark.parametrize("statement", CHANGES)
def test_the_database_refuses_to_change_a_statement(owner_sql: Callable[[str], None], statement: str) -> None:
    purge()
    with pytest.raises(ProgrammingError, match=r"permission denied|append-only"), transaction.atomic():
        connection.cursor().execute(statement)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("statement", CHANGES)
def test_even_to_its_owner(owner_sql: Callable[[str], None], statement: str) -> None:
    purge()
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
        owner_sql(statement)


def test_the_command_prints_the_key_to_pin(settings: Any) -> None:
    out = StringIO()
    call_command("audit_key", stdout=out)
    key: AuditKey = audit_key()
    assert key.public.hex() in out.getvalue() and key_id(key.public) in out.getvalue()
    call_command("audit_key", "--pem", stdout=out)
    assert "BEGIN PUBLIC KEY" in out.getvalue()
    settings.AUDIT_KEY = "short"
    with pytest.raises(CommandError, match="64 letters"):
        call_command("audit_key", stdout=out)
