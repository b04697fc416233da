"""What every change of a record does alike: hold it against the rules, refuse what others need, tell of it."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.accounts.access import actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.policies.actors import By
from apps.policies.document.findings import Findings
from apps.policies.document.shapes import did_you_mean
from apps.policies.errors import RecordInvalidError
from apps.policies.kinds import MEMBERS, kind_of
from apps.policies.models import Agent, GlobalPolicy, Profile, ProviderPolicy
from apps.policies.models.base import PolicyRecord
from apps.policies.profiles import known_profiles
from apps.registry.models import Environment


def check_record(record: PolicyRecord) -> None:
    """Hold a record against the rules of documents, of its columns and of its constraints; name every mistake.

    Raises:
        RecordInvalidError: the paths are field names.
    """
    findings = Findings()
    for member in MEMBERS.get(type(record), ()):
        value = getattr(record, member.field)
        if value is not None:
            member.shape(value, (member.field,), findings)
    profile = getattr(record, "profile", None)
    if profile and profile not in known_profiles(record.environment):
        message = _("`%(profile)s` is not a profile%(hint)s") % {
            "profile": profile,
            "hint": did_you_mean(profile, known_profiles(record.environment)),
        }
        findings.error(("profile",), "unknown_word", message)
    details = [item.as_detail() for item in findings.errors()]
    bad = {detail["path"].partition("[")[0] for detail in details}
    try:
        record.full_clean(exclude=bad)
    except ValidationError as exc:
        details += [
            {"path": "" if name == "__all__" else name, "code": error.code or "invalid", "message": message}
            for name, errors in exc.error_dict.items()
            for error in errors
            for message in error.messages
        ]
    if details:
        raise RecordInvalidError(_("the record has mistakes"), details)


def refuse_needed(record: PolicyRecord) -> None:
    """Keep a record that others name.

    Raises:
        RecordInvalidError: they do; the message names some of them.
    """
    if not isinstance(record, Profile):
        return
    users = [
        str(user)
        for model in (GlobalPolicy, Agent, ProviderPolicy)
        for user in model._default_manager.filter(environment=record.environment_id, profile=record.key)
    ]
    if users:
        shown = ", ".join(f"`{user}`" for user in users[:5])
        raise RecordInvalidError(
            _("the profile `%(key)s` is in use: %(shown)s") % {"key": record.key, "shown": shown},
            [{"path": "key", "code": "in_use", "message": _("is used by %(shown)s") % {"shown": shown}}],
        )


def tell_change(record: PolicyRecord, by: By, action: str, changes: Mapping[str, Any]) -> None:
    """Record a change of a record of the draft in audit, and announce it."""
    named = {"kind": kind_of(record), "record": str(record), "id": str(record.pk), "version": record.version}
    tell(record.environment, by, action, **named, fields=changes)


def tell(environment: Environment, by: By, action: str, **told: Any) -> None:
    """Record a change in audit, and announce it to the pages that show the draft.

    Args:
        told: what changed: `kind`, `record`, `id`, `version`, `fields`.
    """
    announce("draft.changed", id=environment.pk, environment=environment.slug)
    entry_record(
        EntryDraft(
            kind=EntryKind.POLICY_CHANGE,
            actor=actor_of(by),
            environment=environment.slug,
            changes={"action": action, **told},
        )
    )
