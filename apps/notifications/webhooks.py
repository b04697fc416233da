"""The webhooks of an environment: addresses that are told of requests which nobody answers."""

from copy import copy
from typing import Any, Final

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, Principal, actor_of, may_environment, require
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.tools.connector.errors import UrlRefusedError
from apps.firewall.tools.signing import SHORTEST_KEY
from apps.keys.notes import secret_note
from apps.keys.seal import seal, unseal
from apps.notifications.addresses import check_outgoing
from apps.notifications.errors import NotificationInvalidError, WebhookNotFoundError
from apps.notifications.models import Webhook
from apps.registry.models import Environment
from apps.registry.services.changing import By, change, check_version, field_problems, name_problems, write_fields

SECRET_PURPOSE: Final = "notifications.webhook"  # noqa: S105 - a name


def webhooks(environment: Environment) -> QuerySet[Webhook]:
    """Give the webhooks of an environment, by name."""
    return Webhook.objects.filter(environment=environment)


def webhook_access(principal: Principal, environment: Environment, name: str, *, write: bool = False) -> Webhook:
    """Give a webhook to who may see it, or with `write` to who may change it.

    Raises:
        WebhookNotFoundError: there is none, or its existence is not this principal's business.
        PermissionDeniedError: it may be seen but not changed.
    """
    found = webhooks(environment).filter(name=name).first() if may_environment(principal, environment.slug) else None
    if found is None:
        raise WebhookNotFoundError("no such webhook")
    require(principal, Permission.POLICY_WRITE if write else Permission.POLICY_READ)
    return found


def webhook_add(
    environment: Environment, *, name: str, url: str, secret: str = "", is_active: bool = True, by: By = None
) -> Webhook:
    """Add a webhook.

    Args:
        secret: signs what is told by HMAC; without one the key of this installation signs.
    Raises:
        PermissionDeniedError, NotificationInvalidError.
    """
    with change(by):
        row = Webhook(environment=environment, name=name, url=url, is_active=is_active)
        _check(row, secret)
        row.sealed_secret = _sealed(secret)
        row.save(force_insert=True)
        _record(environment, by, "webhook added", {"webhook": name, "url": row.shown_url, **_noted(secret)})
    return row


def webhook_change(
    row: Webhook, *, secret: str | None = None, expected_version: int | None = None, by: By = None, **fields: Any
) -> Webhook:
    """Change a webhook.

    Args:
        secret: None keeps the one it has, an empty one removes it.
        fields: name, url, is_active.
    Raises:
        PermissionDeniedError, NotificationInvalidError, RecordChangedError.
    """
    with change(by):
        row = Webhook.objects.select_for_update(of=("self",)).select_related("environment").get(pk=row.pk)
        check_version(row, expected_version, fields)
        wanted, before = copy(row), row.name
        for name, value in fields.items():
            setattr(wanted, name, value)
        _check(wanted, secret or "")
        written = dict(fields) | ({} if secret is None else {"sealed_secret": _sealed(secret)})
        if write_fields(row, written):
            said = {name: row.shown_url if name == "url" else value for name, value in fields.items()}
            _record(row.environment, by, "webhook changed", {"webhook": before, **said, **_noted(secret or "")})
    return row


def webhook_remove(row: Webhook, *, by: By = None) -> None:
    """Remove a webhook; what is on its way there is given up.

    Raises:
        PermissionDeniedError.
    """
    with change(by):
        Webhook.objects.filter(pk=row.pk).delete()
        _record(row.environment, by, "webhook removed", {"webhook": row.name})


def webhook_secret(row: Webhook) -> str:
    """Open the secret that signs; empty where there is none."""
    sealed = row.sealed_secret
    return "" if sealed is None else unseal(bytes(sealed), purpose=SECRET_PURPOSE).decode()


def _sealed(secret: str) -> bytes | None:
    return seal(secret.encode(), purpose=SECRET_PURPOSE) if secret else None


def _noted(secret: str) -> dict[str, Any]:
    return {"secret": secret_note(secret)} if secret else {}


def _check(row: Webhook, secret: str) -> None:
    others = webhooks(row.environment).exclude(pk=row.pk)
    is_named = row.pk is None or not Webhook.objects.filter(pk=row.pk, name=row.name).exists()
    details = field_problems(row)
    if is_named:
        details += name_problems(row.name, others.values_list("name", flat=True))
    try:
        check_outgoing(row.url)
    except UrlRefusedError as exc:
        details.append({"path": "url", "code": "refused", "message": exc.message})
    if secret and (len(secret) < SHORTEST_KEY or len(secret) > 500):
        message = _("at least %(least)s characters, at most 500") % {"least": SHORTEST_KEY}
        details.append({"path": "secret", "code": "invalid", "message": message})
    if details:
        raise NotificationInvalidError(_("this cannot be kept: see details"), details)


def _record(environment: Environment, by: By, status: str, changes: dict[str, Any]) -> None:
    entry_record(
        EntryDraft(
            kind=EntryKind.NOTIFICATION_CHANGE,
            actor=actor_of(by),
            environment=environment.slug,
            status=status,
            changes=changes,
        )
    )
