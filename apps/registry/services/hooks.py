"""Hooks: who is asked about calls. All of it acts on calls at once, so all of it takes the right to publish."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.masking import Masker
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.tools.answer_signing import answer_key_problem
from apps.registry.errors import HookInvalidError, SourceInvalidError
from apps.registry.models import Environment, Hook, HookFailure, HookKind, HookMoment, HookTally, Plugin
from apps.registry.services.changing import By, change, check_version, field_problems, write_fields
from apps.registry.services.sources import check_secrets_stay, given_in_clear
from apps.registry.source_settings import checked_settings, seal_secrets, source_secrets
from apps.subjects import subjects_refused

OPTIONS: Final = ("priority", "timeout_ms", "tools", "is_enabled")
TIMEOUT_LIMIT_MS: Final = 600_000
PRIORITY_LIMIT: Final = 1_000_000
TOOLS_LIMIT: Final = 200
FAILURES_KEPT: Final = 100
TALLIES: Final = ("passed", "rewrote", "asked", "blocked", "failed")
SAID_LIMIT: Final = 600
CAUSE_LIMIT: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureDraft:
    """A failure of a hook before it is masked and stored."""

    hook_id: uuid.UUID
    at: datetime
    kind: str
    cause: str
    said: str = ""
    tool: str = ""
    call_id: uuid.UUID | None = None
    duration_ms: int = 0


def hook_create(
    plugin: Plugin,
    *,
    name: str,
    event: str,
    kind: str,
    settings: Mapping[str, Any],
    secrets: Mapping[str, str] | None = None,
    by: By = None,
    **options: Any,
) -> Hook:
    """Have a plugin's hook asked or told about calls, from the next call on.

    Args:
        name: names the hook in its environment; lower-case letters, digits and hyphens.
        settings: by the kind (`apps.registry.source_settings.SETTINGS`); a secret in clear is sealed.
        options: of `priority` (higher ones first), `timeout_ms` (None for the runtime's own limit), `tools` (names or
            globs as policies have them; empty for all), `is_enabled`.
    Raises:
        PermissionDeniedError: it takes the right to publish.
        HookInvalidError: with every mistake.
    """
    _check_choice(HookKind, kind, "kind")
    _check_choice(HookMoment, event, "event")
    checked = _checked_options(options)
    _check_tools(plugin.environment, checked)
    stored, kept = _checked(kind, settings, secrets or {})
    with change(by, permission=Permission.PUBLISH):
        hook = Hook(
            environment=plugin.environment, plugin=plugin, name=name, event=event, kind=kind, settings=stored, **checked
        )
        hook.secrets = seal_secrets(kept)
        _check_row(hook)
        hook.save(force_insert=True)
        HookTally.objects.create(hook=hook)
        _tell(hook, by, "created", {"kind": kind, "event": event, "settings": stored, **checked})
    return hook


def hook_save(
    hook: Hook,
    *,
    settings: Mapping[str, Any] | None = None,
    secrets: Mapping[str, str | None] | None = None,
    expected_version: int | None = None,
    by: By = None,
    **options: Any,
) -> Hook:
    """Change a hook. Its plugin, name, event and kind stay: another place is another hook.

    Args:
        settings: the whole of them; None keeps what is there.
        secrets: those that change, None for one that goes; the others stay.
        options: as of `hook_create`.
    Raises:
        PermissionDeniedError, HookInvalidError, RecordChangedError.
    """
    fields = _checked_options(options)
    with change(by, permission=Permission.PUBLISH):
        hook = _locked(hook)
        _check_tools(hook.environment, fields)
        if settings is not None or secrets:
            fields |= _changed_settings(hook, settings, secrets or {})
        shown = {name: value for name, value in fields.items() if name != "secrets"}
        check_version(hook, expected_version, shown)
        if write_fields(hook, fields):
            _tell(hook, by, "changed", shown | ({"secrets": "changed"} if "secrets" in fields else {}))
    return hook


def hook_delete(hook: Hook, *, expected_version: int | None = None, by: By = None) -> None:
    """Remove a hook with its failures.

    Raises:
        PermissionDeniedError, RecordChangedError.
    """
    with change(by, permission=Permission.PUBLISH):
        hook = _locked(hook)
        check_version(hook, expected_version, {})
        _tell(hook, by, "deleted", {})
        hook.delete()


def hook_failures_record(drafts: Sequence[FailureDraft]) -> None:
    """Keep failures, masked; of each hook the newest `FAILURES_KEPT` stay. Those of a hook that is gone are dropped."""
    masker = Masker()
    with transaction.atomic():
        wanted = {draft.hook_id for draft in drafts}
        known = set(Hook.objects.filter(pk__in=wanted).select_for_update(no_key=True).values_list("pk", flat=True))
        rows = [_failure(draft, masker) for draft in drafts if draft.hook_id in known]
        HookFailure.objects.bulk_create(rows)
        for hook_id in known:
            old = HookFailure.objects.filter(hook_id=hook_id).values("pk")[FAILURES_KEPT:]
            HookFailure.objects.filter(pk__in=list(old.values_list("pk", flat=True))).delete()


def _failure(draft: FailureDraft, masker: Masker) -> HookFailure:
    return HookFailure(
        hook_id=draft.hook_id,
        at=draft.at,
        kind=draft.kind,
        cause=masker.text(draft.cause)[:CAUSE_LIMIT],
        said=masker.text(draft.said)[:SAID_LIMIT],
        tool=draft.tool[:128],
        call_id=draft.call_id,
        duration_ms=draft.duration_ms,
    )


def hook_tallies_add(counts: Mapping[uuid.UUID, Mapping[str, int]], *, at: datetime) -> None:
    """Add to what came of hooks; those of a hook that is gone are dropped.

    Args:
        counts: hook -> how often it `passed`, `rewrote`, `asked`, `blocked`, `failed`.
    """
    for hook_id, each in counts.items():
        added = {name: F(name) + each[name] for name in TALLIES if each.get(name)}
        HookTally.objects.filter(hook_id=hook_id).update(last_at=at, **added)


def _changed_settings(
    hook: Hook, settings: Mapping[str, Any] | None, secrets: Mapping[str, str | None]
) -> dict[str, Any]:
    wanted = hook.settings if settings is None else settings
    before = source_secrets(hook)
    given = {name: text for name, text in {**before, **secrets}.items() if text is not None}
    stored, kept = _checked(hook.kind, wanted, given)
    try:
        check_secrets_stay(hook.settings, stored, kept, given_again={*secrets, *given_in_clear(wanted)})
    except SourceInvalidError as exc:
        raise _refused(exc.details) from exc
    return {"settings": stored} | ({"secrets": seal_secrets(kept)} if kept != before else {})


def _checked(
    kind: str, settings: Mapping[str, Any], secrets: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    try:
        stored, kept = checked_settings(kind, settings, secrets)
    except SourceInvalidError as exc:
        raise _refused(exc.details) from exc
    details = _answer_key_problems(stored) if kind == HookKind.WEBHOOK else []
    if details:
        raise _refused(details)
    return stored, kept


def _answer_key_problems(settings: Mapping[str, Any]) -> list[dict[str, str]]:
    if settings["signing"]["algorithm"] != "ed25519":
        return []
    problem = answer_key_problem(settings.get("answer_key", ""))
    if problem is None:
        return []
    return [{"path": "settings.answer_key", "code": "bad_value", "message": problem}]


def _checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(options.keys() - set(OPTIONS))
    if unknown:
        raise HookInvalidError(_("a hook has no option named %(names)s") % {"names": ", ".join(unknown)})
    checked = dict(options)
    details = []
    timeout, priority = options.get("timeout_ms"), options.get("priority", 0)
    if timeout is not None and not 0 < timeout <= TIMEOUT_LIMIT_MS:
        message = _("must be 1 to %(limit)s ms") % {"limit": TIMEOUT_LIMIT_MS}
        details.append({"path": "timeout_ms", "code": "out_of_range", "message": message})
    if not -PRIORITY_LIMIT <= priority <= PRIORITY_LIMIT:
        message = _("must be between -%(limit)s and %(limit)s") % {"limit": PRIORITY_LIMIT}
        details.append({"path": "priority", "code": "out_of_range", "message": message})
    if "tools" in options:
        checked["tools"] = list(dict.fromkeys(each.strip() for each in options["tools"] if each.strip()))
        if len(checked["tools"]) > TOOLS_LIMIT:
            message = _("must be at most %(limit)s names") % {"limit": TOOLS_LIMIT}
            details.append({"path": "tools", "code": "too_many", "message": message})
    if details:
        raise HookInvalidError(_("the hook cannot be saved: see details"), details)
    return checked


def _check_tools(environment: Environment, options: Mapping[str, Any]) -> None:
    """Refuse names of tools that cannot be meant: the hook would never be asked."""
    dialect = dialect_named(environment.dialect)
    details = subjects_refused(dialect, environment.slug, {"tools": ("tool", options.get("tools", ()))})
    if details:
        raise HookInvalidError(_("the hook cannot be saved: see details"), details)


def _check_choice(kinds: type[HookKind] | type[HookMoment], value: str, path: str) -> None:
    if value not in kinds.values:
        message = _("must be one of %(choices)s") % {"choices": ", ".join(kinds.values)}
        raise HookInvalidError(message, [{"path": path, "code": "unknown_choice", "message": message}])


def _refused(details: list[dict[str, str]]) -> HookInvalidError:
    return HookInvalidError(_("the settings of the hook cannot be used: see details"), details)


def _check_row(hook: Hook) -> None:
    details = field_problems(hook, exclude=("settings", "secrets"))
    if details:
        raise HookInvalidError(_("the hook cannot be saved: see details"), details)


def _locked(hook: Hook) -> Hook:
    rows = Hook.objects.select_for_update(of=("self",)).select_related("environment", "plugin")
    return rows.get(pk=hook.pk)


def _tell(hook: Hook, by: By, action: str, changes: Mapping[str, Any]) -> None:
    announce("hook.changed", id=hook.pk, environment=hook.environment.slug)
    entry_record(
        EntryDraft(
            kind=EntryKind.HOOK_CHANGE,
            actor=actor_of(by),
            environment=hook.environment.slug,
            status=action,
            changes={
                "action": action,
                "hook": hook.name,
                "plugin": hook.plugin.key,
                "id": hook.shown_id,
                "version": hook.version,
                **changes,
            },
        )
    )


def environment_plugin(environment: Environment, key: str) -> Plugin:
    """Find the plugin that a new hook belongs to.

    Raises:
        HookInvalidError: there is none.
    """
    plugin = Plugin.objects.select_related("environment").filter(environment=environment, key__iexact=key).first()
    if plugin is None:
        message = _("no plugin is named `%(key)s`") % {"key": key[:128]}
        raise HookInvalidError(message, [{"path": "plugin", "code": "unknown_plugin", "message": message}])
    return plugin
