"""What people change: rate limits, the breaker's rule, breakers that they close themselves."""

from collections.abc import Mapping
from copy import copy
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.accounts.access import actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.subjects import SubjectKind
from apps.limits.errors import LimitInvalidError
from apps.limits.models import BreakerPolicy, RateLimit, ToolBreaker
from apps.registry.models import Environment
from apps.registry.services.changing import By, change, check_version, field_problems, write_fields
from apps.subjects import subjects_refused

RATE_FIELDS: Final = ("name", "per", "per_minute", "tools", "agents", "is_enabled")
BREAKER_FIELDS: Final = ("failures", "pause_s", "is_enabled")


def rate_limit_create(environment: Environment, *, by: By = None, **fields: Any) -> RateLimit:
    """Add a rate limit; it holds at once, in every process.

    Args:
        fields: of `RATE_FIELDS`.
    Raises:
        PermissionDeniedError, LimitInvalidError.
    """
    _check_names(fields, RATE_FIELDS)
    with change(by):
        limit = RateLimit(environment=environment, **fields)
        _check(limit)
        limit.save(force_insert=True)
        _tell(environment, by, "created", {"rate": limit.name, **fields})
    return limit


def rate_limit_save(
    limit: RateLimit, *, expected_version: int | None = None, by: By = None, **fields: Any
) -> RateLimit:
    """Change a rate limit.

    Raises:
        PermissionDeniedError, LimitInvalidError, RecordChangedError.
    """
    _check_names(fields, RATE_FIELDS)
    with change(by):
        limit = _locked(limit)
        check_version(limit, expected_version, fields)
        _check(limit, fields)
        if write_fields(limit, fields):
            _tell(limit.environment, by, "changed", {"rate": limit.name, **fields})
    return limit


def rate_limit_delete(limit: RateLimit, *, expected_version: int | None = None, by: By = None) -> None:
    """Remove a rate limit.

    Raises:
        PermissionDeniedError, RecordChangedError.
    """
    with change(by):
        limit = _locked(limit)
        check_version(limit, expected_version, {})
        _tell(limit.environment, by, "deleted", {"rate": limit.name})
        limit.delete()


def breaker_policy_save(
    environment: Environment, *, expected_version: int | None = None, by: By = None, **fields: Any
) -> BreakerPolicy:
    """Change when tools on other servers are left alone, and for how long.

    Args:
        fields: of `BREAKER_FIELDS`.
    Raises:
        PermissionDeniedError, LimitInvalidError, RecordChangedError.
    """
    _check_names(fields, BREAKER_FIELDS)
    with change(by):
        BreakerPolicy.objects.get_or_create(environment=environment)
        policy = BreakerPolicy.objects.select_for_update().get(environment=environment)
        check_version(policy, expected_version, fields)
        _check(policy, fields)
        if write_fields(policy, fields):
            _tell(environment, by, "changed", {"breaker": fields})
    return policy


def breaker_close(environment: Environment, tool: str, *, by: By = None) -> bool:
    """Let calls of a tool through again before its pause is over.

    Returns:
        Whether it was left alone.
    Raises:
        PermissionDeniedError.
    """
    with change(by):
        removed, _rows = ToolBreaker.objects.filter(environment=environment, tool=tool).delete()
        if removed:
            _tell(environment, by, "closed", {"tool": tool})
    return bool(removed)


def _locked(limit: RateLimit) -> RateLimit:
    return RateLimit.objects.select_for_update(of=("self",)).select_related("environment").get(pk=limit.pk)


def _check_names(fields: Mapping[str, Any], known: tuple[str, ...]) -> None:
    unknown = sorted(fields.keys() - set(known))
    if unknown:
        raise LimitInvalidError(_("a limit has no field named %(names)s") % {"names": ", ".join(unknown)})


def _check(record: RateLimit | BreakerPolicy, changes: Mapping[str, Any] | None = None) -> None:
    """Hold a record, with changes that are not yet its own, to its rules."""
    wanted = copy(record)
    for name, value in (changes or {}).items():
        setattr(wanted, name, value)
    details = field_problems(wanted)
    if isinstance(wanted, RateLimit):
        details += _nothing(wanted)
    if details:
        raise LimitInvalidError(_("the limit cannot be saved: see details"), details)


def _nothing(limit: RateLimit) -> list[dict[str, str]]:
    """Name the agents and tools of a limit that cannot be meant: it would hold nobody back."""
    named: dict[str, tuple[SubjectKind, list[str]]] = {
        "agents": ("agent", limit.agents),
        "tools": ("tool", limit.tools),
    }
    return subjects_refused(dialect_named(limit.environment.dialect), limit.environment.slug, named)


def _tell(environment: Environment, by: By, action: str, changes: Mapping[str, Any]) -> None:
    announce("limit.changed", id=environment.pk, environment=environment.slug)
    entry_record(
        EntryDraft(
            kind=EntryKind.LIMIT_CHANGE,
            actor=actor_of(by),
            environment=environment.slug,
            status=action,
            changes={"action": action, **changes},
        )
    )
