"""What every change of this room does: check the right, sign the change log, compare versions, write what differs."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import pghistory
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, Principal, actor_of, require
from apps.registry.differences import is_same_json
from apps.registry.errors import RecordChangedError

By = Principal | None
"""A person, a token, or None for the system itself."""


class Versioned(Protocol):
    """A record that counts its versions."""

    version: Any

    def save(self, *, update_fields: Iterable[str]) -> None: ...


@contextmanager
def change(by: By, *, permission: Permission = Permission.POLICY_WRITE, actor: str = "") -> Iterator[None]:
    """Check the right to change, and do it in one transaction that the change log signs with the actor.

    Args:
        actor: who the log names when the system itself acts for somebody.
    Raises:
        PermissionDeniedError: `by` lacks the permission.
    """
    if by is not None:
        require(by, permission)
    with transaction.atomic(), pghistory.context(actor=actor or actor_of(by)):
        yield


def check_version(record: Versioned, expected: int | None, fields: Mapping[str, Any]) -> None:
    """Refuse a change that was made in view of an older version; None takes whatever is there.

    Raises:
        RecordChangedError: with both sides.
    """
    if expected is not None and record.version != expected:
        theirs = {name: getattr(record, name) for name in fields} | {"version": record.version}
        raise RecordChangedError(mine=dict(fields), theirs=theirs)


def write_fields(record: Versioned, fields: Mapping[str, Any]) -> bool:
    """Write the fields that differ as one new version.

    Returns:
        Whether anything differed.
    """
    differing = {name: value for name, value in fields.items() if not _is_same(getattr(record, name), value)}
    if not differing:
        return False
    for name, value in differing.items():
        setattr(record, name, value)
    record.version += 1
    record.save(update_fields=[*differing, "version", "updated_at"])
    return True


def _is_same(held: Any, wanted: Any) -> bool:
    return is_same_json(held, wanted) if isinstance(wanted, dict | list) else bool(held == wanted)


def name_problems(name: str, others: Iterable[str]) -> list[dict[str, str]]:
    """List what is wrong with the name of a record that paths name it by, as details of an error.

    Args:
        others: the names of the records beside it.
    """
    if name != name.strip() or name in {".", ".."} or any(_is_unsafe(letter) for letter in name):
        message = _("a name takes no `/`, no `\\`, no invisible characters, and no blanks around it")
        return [{"path": "name", "code": "unsafe_name", "message": message}]
    twin = next((other for other in others if other != name and other.casefold() == name.casefold()), None)
    if twin is None:
        return []
    message = _("`%(name)s` is there already, and names differ by more than capital letters") % {"name": twin}
    return [{"path": "name", "code": "taken", "message": message}]


def _is_unsafe(letter: str) -> bool:
    return letter in "/\\" or unicodedata.category(letter) in {"Cc", "Cf", "Zl", "Zp"}


def field_problems(record: models.Model, *, exclude: tuple[str, ...] = ()) -> list[dict[str, str]]:
    """List what a record's own constraints say against it, as details of an error."""
    try:
        record.full_clean(exclude=exclude)
    except ValidationError as exc:
        return [
            {"path": "" if field == "__all__" else field, "code": "invalid", "message": message}
            for field, messages in exc.message_dict.items()
            for message in messages
        ]
    return []
