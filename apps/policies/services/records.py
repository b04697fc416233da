"""Changes of single records: checked like a document, refused when somebody was faster."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Max, Q
from django.utils.translation import gettext as _

from apps.firewall.engine.dialect import DIALECTS
from apps.policies.actors import By, logged_as
from apps.policies.document.findings import Findings
from apps.policies.document.members import Keys, inside, with_kept
from apps.policies.document.shapes import did_you_mean
from apps.policies.document.verbatim import check_verbatim
from apps.policies.errors import ConflictError, RecordGoneError, RecordInvalidError, Sides
from apps.policies.kinds import editable_fields, event_model
from apps.policies.locks import draft_lock
from apps.policies.models import (
    Agent,
    AllowlistEntry,
    Channel,
    ChannelAccount,
    ChannelGroup,
    ContentFilter,
    ExecApprovals,
    ExecApprovalsAgent,
    ExecSettings,
    GlobalPolicy,
    PermissionGrant,
    Profile,
    ProviderPolicy,
    SenderRule,
)
from apps.policies.models.base import PolicyRecord
from apps.policies.services.changing import check_record, refuse_needed, tell_change
from apps.registry.models import Environment

Record = TypeVar("Record", bound=PolicyRecord)
LISTS = ("allow", "also_allow", "deny")


def record_update(record: Record, changes: Mapping[str, Any], *, by: By, expected_version: int) -> Record:
    """Change fields of a record of the draft.

    Args:
        changes: new values by field name; None makes a member absent.
        expected_version: the version that the editor had before their eyes.
    Raises:
        ConflictError: somebody changed it since, to something else than wanted here.
        RecordInvalidError: every mistake by field; nothing has changed.
        RecordGoneError: it was deleted.
    """
    with transaction.atomic():
        draft_lock(record.environment)
        current = _locked(record)
        _refuse_unknown(type(current), changes)
        wanted = {name: value for name, value in changes.items() if getattr(current, name) != value}
        if not wanted:
            return current
        if current.version != expected_version:
            raise _conflict(current, changes, expected_version)
        before = {name: getattr(current, name) for name in wanted}
        _assign(current, wanted)
        check_record(current)
        current.version += 1
        fields = {*wanted, "version"} | ({"has_tools"} if isinstance(current, ChannelGroup) else set())
        with logged_as(by, reason="update"):
            current.save(update_fields=sorted(fields))
        sides = {name: {"before": before[name], "after": wanted[name]} for name in wanted}
        tell_change(current, by, "update", sides)
        return current


def kept_update(record: Record, place: Keys, value: Any, *, by: By, expected_version: int) -> Record:
    """Change one member of what a record keeps verbatim.

    Args:
        place: the keys that lead to it in the record's part of the document.
        value: None takes it away.
    Raises:
        ConflictError, RecordGoneError: as for `record_update`; the conflict's one field is the place.
        RecordInvalidError: every mistake, with its place; nothing has changed.
    """
    with transaction.atomic():
        draft_lock(record.environment)
        current = _locked(record)
        before = inside(current.extra, place)
        if repr(before) == repr(value):
            return current
        if current.version != expected_version:
            raise _kept_conflict(current, place, value, expected_version)
        _check_kept(place, value)
        current.extra = with_kept(current.extra, place, value)
        current.version += 1
        with logged_as(by, reason="update"):
            current.save(update_fields=["extra", "version"])
        tell_change(current, by, "update", {".".join(place): {"before": before, "after": value}})
        return current


def record_delete(record: PolicyRecord, *, by: By, expected_version: int) -> None:
    """Delete a record of the draft and what belongs to it.

    Raises:
        ConflictError, RecordGoneError: as for `record_update`.
        RecordInvalidError: other records need it.
    """
    with transaction.atomic():
        draft_lock(record.environment)
        current = _locked(record)
        if current.version != expected_version:
            raise _conflict(current, {}, expected_version)
        refuse_needed(current)
        with logged_as(by, reason="delete"):
            type(current)._default_manager.filter(pk=current.pk).delete()
        tell_change(current, by, "delete", {})


def draft_start(environment: Environment, *, by: By) -> GlobalPolicy:
    """Give an environment its global record when it has none: the beginning of an empty draft."""
    with transaction.atomic():
        draft_lock(environment)
        policy = GlobalPolicy.objects.filter(environment=environment).first()
        return policy or _create(GlobalPolicy(environment=environment), {}, by)


def profile_create(environment: Environment, key: str, *, by: By, **fields: Any) -> Profile:
    """Add a profile of our own; a built-in one cannot be replaced."""
    if key in DIALECTS[environment.dialect].profiles:
        raise RecordInvalidError(
            _("`%(key)s` is a built-in profile") % {"key": key},
            [{"path": "key", "code": "reserved", "message": _("is a built-in profile")}],
        )
    return _add(Profile(environment=environment, key=key), fields, by)


def agent_create(environment: Environment, key: str, *, by: By, **fields: Any) -> Agent:
    """Add an agent."""
    return _add(Agent(environment=environment, key=key), fields, by)


def provider_policy_create(
    environment: Environment, key: str, *, by: By, agent: Agent | None = None, **fields: Any
) -> ProviderPolicy:
    """Add a policy for a provider or `provider/model`, of every agent or of one."""
    return _add(ProviderPolicy(environment=environment, key=key, agent=agent), fields, by)


def exec_settings_create(
    environment: Environment, *, by: By, agent: Agent | None = None, **fields: Any
) -> ExecSettings:
    """Add settings of the exec tool, of every agent or of one."""
    return _add(ExecSettings(environment=environment, agent=agent), fields, by)


def channel_create(environment: Environment, key: str, *, by: By, **fields: Any) -> Channel:
    """Add a channel."""
    return _add(Channel(environment=environment, key=key), fields, by)


def account_create(channel: Channel, key: str, *, by: By, **fields: Any) -> ChannelAccount:
    """Add an account to a channel."""
    return _add(ChannelAccount(environment=channel.environment, channel=channel, key=key), fields, by)


def group_create(
    channel: Channel,
    key: str,
    *,
    by: By,
    kind: str = "groups",
    account: ChannelAccount | None = None,
    parent: ChannelGroup | None = None,
    **fields: Any,
) -> ChannelGroup:
    """Add a group, room, guild or team to a channel, or a channel to a guild or team."""
    group = ChannelGroup(
        environment=channel.environment, channel=channel, account=account, parent=parent, kind=kind, key=key
    )
    return _add(group, fields, by)


def sender_rule_create(
    environment: Environment,
    key: str,
    *,
    by: By,
    agent: Agent | None = None,
    group: ChannelGroup | None = None,
    **fields: Any,
) -> SenderRule:
    """Add a rule for a sender: everywhere, with one agent, or in one group."""
    return _add(SenderRule(environment=environment, key=key, agent=agent, group=group), fields, by)


def allowlist_entry_create(
    environment: Environment, agent: str, pattern: str, *, by: By, **fields: Any
) -> AllowlistEntry:
    """Add a command to the allowlist of an agent (`*` for every agent), making document and agent when missing."""
    with transaction.atomic():
        environment = draft_lock(environment)
        if not ExecApprovals.objects.filter(environment=environment).exists():
            _create(ExecApprovals(environment=environment, extra={"version": 1}), {}, by)
        holder = ExecApprovalsAgent.objects.filter(environment=environment, key=agent).first()
        if holder is None:
            holder = _create(ExecApprovalsAgent(environment=environment, key=agent), {}, by)
        return _create(AllowlistEntry(environment=environment, approvals_agent=holder, pattern=pattern), fields, by)


def approvals_create(environment: Environment, *, by: By, **fields: Any) -> ExecApprovals:
    """Add the exec approvals document; its fields are the document's defaults."""
    return _add(ExecApprovals(environment=environment, extra={"version": 1}), fields, by)


def approvals_agent_create(environment: Environment, key: str, *, by: By, **fields: Any) -> ExecApprovalsAgent:
    """Add what the exec approvals document says of an agent (`*` for every agent), making the document when missing."""
    with transaction.atomic():
        environment = draft_lock(environment)
        if not ExecApprovals.objects.filter(environment=environment).exists():
            _create(ExecApprovals(environment=environment, extra={"version": 1}), {}, by)
        return _create(ExecApprovalsAgent(environment=environment, key=key), fields, by)


def permission_grant_create(environment: Environment, key: str, *, by: By, **fields: Any) -> PermissionGrant:
    """Add a grant of permissions."""
    return _add(PermissionGrant(environment=environment, key=key), fields, by)


def content_filter_create(environment: Environment, key: str, *, by: By, **fields: Any) -> ContentFilter:
    """Add a content filter."""
    return _add(ContentFilter(environment=environment, key=key), fields, by)


def _add(record: Record, fields: Mapping[str, Any], by: By) -> Record:
    with transaction.atomic():
        draft_lock(record.environment)
        return _create(record, fields, by)


def _create(record: Record, fields: Mapping[str, Any], by: By) -> Record:
    _refuse_unknown(type(record), fields)
    last = _siblings(record).aggregate(last=Max("position"))["last"]
    record.position = 0 if last is None else last + 1
    _assign(record, fields)
    check_record(record)
    with logged_as(by, reason="create"):
        record.save(force_insert=True)
    tell_change(record, by, "create", {name: {"after": value} for name, value in fields.items()})
    return record


def _siblings(record: PolicyRecord) -> Any:
    """Find the records among which this one has its position: those of the same parents."""
    parents = {field.attname: getattr(record, field.attname) for field in record._meta.fields if field.is_relation}
    same = Q()
    for name, value in parents.items():
        same &= Q(**{name: value}) if value is not None else Q(**{f"{name.removesuffix('_id')}__isnull": True})
    return type(record)._default_manager.filter(same)


def _locked(record: Record) -> Record:
    found = type(record)._default_manager.select_for_update().filter(pk=record.pk).first()
    if found is None:
        raise RecordGoneError(_("the record `%(record)s` does not exist any more") % {"record": record})
    return found


def _refuse_unknown(model: type[PolicyRecord], changes: Mapping[str, Any]) -> None:
    known = editable_fields(model)
    unknown = [name for name in changes if name not in known]
    if unknown:
        details = [
            {
                "path": name,
                "code": "unknown_field",
                "message": _("cannot be changed%(hint)s") % {"hint": did_you_mean(name, known)},
            }
            for name in unknown
        ]
        raise RecordInvalidError(_("some fields cannot be changed"), details)


def _assign(record: PolicyRecord, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(record, name, value)
    if isinstance(record, ChannelGroup) and any(getattr(record, name) is not None for name in LISTS):
        record.has_tools = True


def _check_kept(place: Keys, value: Any) -> None:
    """Hold what is to be kept against what is known of its place; remarks are no mistakes.

    Raises:
        RecordInvalidError: with every mistake.
    """
    findings = Findings()
    check_verbatim(with_kept({}, place, value), findings)
    details = [item.as_detail() for item in findings.errors()]
    if details:
        raise RecordInvalidError(_("the record has mistakes"), details)


def _conflict(current: PolicyRecord, changes: Mapping[str, Any], expected_version: int) -> ConflictError:
    """Put both sides beside each other, and under them what the editor had seen."""
    seen = event_model(type(current)).objects.filter(pgh_obj_id=current.pk, version=expected_version)
    base = seen.order_by("-pgh_id").first()
    names = set(changes)
    if base is not None:
        names |= {name for name in editable_fields(type(current)) if getattr(base, name) != getattr(current, name)}
    fields = {}
    for name in sorted(names):
        theirs = getattr(current, name)
        was = theirs if base is None else getattr(base, name)
        fields[name] = Sides(was, theirs, changes.get(name, was))
    return ConflictError(_("`%(current)s` was changed in the meantime") % {"current": current}, current, fields)


def _kept_conflict(current: PolicyRecord, place: Keys, value: Any, expected_version: int) -> ConflictError:
    seen = event_model(type(current)).objects.filter(pgh_obj_id=current.pk, version=expected_version)
    base = seen.order_by("-pgh_id").first()
    theirs = inside(current.extra, place)
    sides = Sides(theirs if base is None else inside(base.extra, place), theirs, value)
    message = _("`%(current)s` was changed in the meantime") % {"current": current}
    return ConflictError(message, current, {".".join(place): sides})
