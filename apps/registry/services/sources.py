"""Discovery sources: where tools come from, how often each is looked through, and what changes there mean."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from apps.accounts.access import Permission, actor_of, require
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.tools.connections import SECRET
from apps.registry.differences import is_same_json
from apps.registry.errors import SourceInvalidError
from apps.registry.models import DiscoverySource, Environment, OnDrift, SourceKind, Tool, ToolState
from apps.registry.services.changing import By, change, check_version, field_problems, write_fields
from apps.registry.source_settings import checked_settings, seal_secrets, source_secrets

INTERVAL_LEAST_S: Final = 30
OPTIONS: Final = ("name", "on_drift", "on_new", "interval_s", "is_enabled")
SOURCE_GONE: Final = "its source was removed"


def source_create(
    environment: Environment,
    *,
    key: str,
    kind: str,
    settings: Mapping[str, Any],
    secrets: Mapping[str, str] | None = None,
    by: By = None,
    **options: Any,
) -> DiscoverySource:
    """Add a place to look for tools.

    Args:
        key: names the source, its MCP server and its plugin; lower-case letters, digits and hyphens.
        kind: one of `SourceKind`.
        settings: by the kind (`apps.registry.source_settings.SETTINGS`); a secret in clear is sealed.
        secrets: texts by name, for `{"$secret": "name"}` in settings and in configs of the tools found.
        options: of `name`, `on_drift`, `on_new`, `interval_s` (0: only when somebody asks), `is_enabled`.
    Raises:
        PermissionDeniedError: it takes the right to publish, for a look runs what the source names.
        SourceInvalidError: with every mistake.
    """
    if kind not in SourceKind.values:
        details = [{"path": "kind", "code": "unknown_kind", "message": _("no kind of source has this name")}]
        raise SourceInvalidError(_("no kind of source is named `%(kind)s`") % {"kind": kind[:40]}, details)
    _check_options(options)
    stored, kept = checked_settings(kind, settings, secrets or {})
    with change(by):
        _check_publisher(by)
        source = DiscoverySource(environment=environment, key=key, kind=kind, settings=stored, **options)
        source.secrets = seal_secrets(kept)
        _check_row(source)
        source.save(force_insert=True)
        _tell(source, by, "created", {"kind": kind, "settings": stored, **options})
    return source


def source_save(
    source: DiscoverySource,
    *,
    settings: Mapping[str, Any] | None = None,
    secrets: Mapping[str, str | None] | None = None,
    expected_version: int | None = None,
    by: By = None,
    **options: Any,
) -> DiscoverySource:
    """Change a source. Its key and kind stay: another place is another source.

    Args:
        settings: the whole of them; None keeps what is there.
        secrets: those that change, None for one that goes; the others stay.
        options: as of `source_create`.
    Raises:
        PermissionDeniedError: what acts on calls at once takes the right to publish.
        SourceInvalidError, RecordChangedError.
    """
    _check_options(options)
    with change(by):
        source = _locked(source)
        fields: dict[str, Any] = dict(options)
        if settings is not None or secrets:
            wanted = source.settings if settings is None else settings
            before = source_secrets(source)
            merged = {**before, **(secrets or {})}
            given = {name: text for name, text in merged.items() if text is not None}
            fields["settings"], kept = checked_settings(source.kind, wanted, given)
            check_secrets_stay(
                source.settings, fields["settings"], kept, given_again={*(secrets or {}), *given_in_clear(wanted)}
            )
            if kept != before:
                fields["secrets"] = seal_secrets(kept)
        check_version(source, expected_version, {name: value for name, value in fields.items() if name != "secrets"})
        if _acts_at_once(source, fields):
            _check_publisher(by)
        for name, value in options.items():
            setattr(source, name, value)
        _check_row(source)
        source.refresh_from_db(fields=list(options) or None)
        if write_fields(source, fields):
            shown = {name: value for name, value in fields.items() if name != "secrets"}
            _tell(source, by, "changed", shown | ({"secrets": "changed"} if "secrets" in fields else {}))
    return source


def source_delete(source: DiscoverySource, *, expected_version: int | None = None, by: By = None) -> None:
    """Remove a source with its runs. Its tools are unregistered at once; their records and drifts stay.

    Raises:
        PermissionDeniedError, RecordChangedError.
    """
    with change(by):
        source = _locked(source)
        check_version(source, expected_version, {})
        for tool in Tool.objects.select_for_update().filter(discovery_source=source):
            fields: dict[str, Any] = {"discovery_source_id": None}
            if tool.state != ToolState.UNREGISTERED:
                fields |= {"state": ToolState.UNREGISTERED, "state_reason": SOURCE_GONE}
            write_fields(tool, fields)
        announce("registry.changed", id=source.pk, environment=source.environment.slug)
        _tell(source, by, "deleted", {})
        source.delete()


def check_secrets_stay(
    before: Mapping[str, Any], stored: Mapping[str, Any], kept: Mapping[str, str], *, given_again: set[str]
) -> None:
    """Send what is kept sealed to the server that it was given for: who names another one gives it again.

    Raises:
        SourceInvalidError.
    """
    if _origin(before) == _origin(stored):
        return
    message = _("give it again: another address does not get what was kept for this one")
    details = [
        {"path": f"settings.{name}", "code": "secret_needed", "message": message}
        for name in sorted(kept.keys() - given_again)
    ]
    if details:
        raise SourceInvalidError(_("the settings of the source cannot be used: see details"), details)


def _origin(settings: Mapping[str, Any]) -> Any:
    url = settings.get("url")
    if not isinstance(url, str):
        # a plugin's secrets are for that plugin, from where it was
        return settings.get("entry_point") and (settings["entry_point"], settings.get("scan_directories"))
    parts = urlsplit(url)
    return (parts.scheme.lower(), parts.netloc.lower())


def given_in_clear(settings: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Name the settings that are texts, as their secrets are named."""
    for name, value in settings.items():
        if isinstance(value, str):
            yield f"{prefix}{name}"
        elif isinstance(value, Mapping) and SECRET not in value:
            yield from given_in_clear(value, f"{prefix}{name}.")


def _acts_at_once(source: DiscoverySource, fields: Mapping[str, Any]) -> bool:
    """Say whether calls of published tools would go elsewhere, or meet tools again that they do not reach now."""
    goes_elsewhere = "secrets" in fields or not is_same_json(source.settings, fields.get("settings", source.settings))
    brings_back = (fields.get("is_enabled") is True and not source.is_enabled) or (
        fields.get("on_drift") == OnDrift.KEEP and source.on_drift != OnDrift.KEEP
    )
    return goes_elsewhere or brings_back


def _check_publisher(by: By) -> None:
    if by is not None:
        require(by, Permission.PUBLISH)


def _locked(source: DiscoverySource) -> DiscoverySource:
    rows = DiscoverySource.objects.select_for_update(of=("self",)).select_related("environment")
    return rows.get(pk=source.pk)


def _check_options(options: Mapping[str, Any]) -> None:
    unknown = sorted(options.keys() - set(OPTIONS))
    if unknown:
        raise SourceInvalidError(_("a source has no option named %(names)s") % {"names": ", ".join(unknown)})
    interval = options.get("interval_s", 0)
    if not isinstance(interval, int) or 0 < interval < INTERVAL_LEAST_S or interval < 0:
        message = _("0, or at least %(least)s seconds") % {"least": INTERVAL_LEAST_S}
        raise SourceInvalidError(
            _("the interval is too short"), [{"path": "interval_s", "code": "minimum_violation", "message": message}]
        )


def _check_row(source: DiscoverySource) -> None:
    details = field_problems(source, exclude=("settings", "secrets"))
    if details:
        raise SourceInvalidError(_("the source `%(key)s` cannot be saved: see details") % {"key": source.key}, details)


def _tell(source: DiscoverySource, by: By, action: str, changes: Mapping[str, Any]) -> None:
    announce("source.changed", id=source.pk, environment=source.environment.slug)
    entry_record(
        EntryDraft(
            kind=EntryKind.SOURCE_CHANGE,
            actor=actor_of(by),
            environment=source.environment.slug,
            status=action,
            changes={"action": action, "source": source.key, "id": source.shown_id, **changes},
        )
    )
