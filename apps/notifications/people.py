"""What a person chose about being told, their browsers, and trying all of it."""

import json
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, Principal, may
from apps.accounts.models import ApiToken, User
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.tools.connector.errors import UrlRefusedError
from apps.keys.seal import seal, unseal
from apps.notifications.addresses import check_outgoing
from apps.notifications.errors import NotificationInvalidError, TriedTooSoonError
from apps.notifications.models import Delivery, Preference, Quiet, Subscription, Webhook
from apps.notifications.places import Place, email_place, push_place, webhook_place
from apps.registry.models import Environment

KEYS_PURPOSE: Final = "notifications.push"
BROWSERS_MOST: Final = 10
TEST_EVERY: Final = timedelta(seconds=10)
POINT_BYTES: Final = 65
AUTH_BYTES: Final = 16


def preference_of(person: User) -> Preference:
    """Give what a person chose, also where they have chosen nothing yet."""
    return Preference.objects.filter(person=person).first() or Preference(person=person)


def person_behind(by: Principal) -> User:
    """Tell whose choices somebody reads and changes: their own, or behind a token its person's.

    Raises:
        NotificationInvalidError: a token without a person, or a bound one: a person is told in every environment.
    """
    if isinstance(by, User):
        return by
    if not isinstance(by, ApiToken) or by.created_by is None:
        raise _invalid("", _("a token without a person has nobody who could be told"))
    if by.environment or by.agents:
        raise _invalid(
            "", _("a person is told in every environment: a token bound to one, or to agents, changes nothing")
        )
    return by.created_by


def preference_save(person: User, *, email: str, language: str, quiet: str, by: Principal | None = None) -> Preference:
    """Keep how a person wants to be told.

    Args:
        by: who says so, when it is a token of the person.
        language: of the console's; empty for the one of their settings.
        quiet: of `Quiet`.
    Raises:
        NotificationInvalidError: no such address, language or choice.
    """
    wanted = Preference(person=person, email=email.strip(), language=language, quiet=quiet)
    details = []
    try:
        wanted.full_clean(validate_unique=False)
    except ValidationError as exc:
        details = [
            {"path": path, "code": "invalid", "message": said}
            for path, all_ in exc.message_dict.items()
            for said in all_
        ]
    if language not in {"", *dict(settings.LANGUAGES)}:
        details.append({"path": "language", "code": "unknown", "message": _("no such language")})
    if details:
        raise NotificationInvalidError(_("this cannot be kept: see details"), details)
    with transaction.atomic():
        chosen = {"email": wanted.email, "language": language, "quiet": quiet}
        Preference.objects.update_or_create(person=person, defaults=chosen)
        said = {"has_email": bool(wanted.email), "language": language, "quiet": quiet}
        _record(person, "choices changed", said, by=by)
    return wanted


def browsers_of(person: User) -> list[Subscription]:
    """List the browsers of a person that take web push."""
    return list(Subscription.objects.filter(person=person))


def browser_add(person: User, *, endpoint: str, p256dh: str, auth: str, browser: str) -> Subscription:
    """Keep a browser that takes web push; whoever subscribes the same browser again has it from then on.

    Args:
        endpoint: of the push service, as the browser gave it: a stranger's address until it is sent to.
        p256dh: the browser's public key, URL-safe Base64; `auth` likewise its secret.
    Raises:
        NotificationInvalidError: an address that nothing may be sent to, keys that are none, too many browsers.
    """
    try:
        check_outgoing(endpoint)
    except UrlRefusedError as exc:
        raise _invalid("endpoint", exc.message) from exc
    if not _is_point(_decoded(p256dh)) or len(_decoded(auth)) != AUTH_BYTES:
        raise _invalid("keys", _("these are no keys of a browser"))
    sealed = seal(json.dumps({"p256dh": p256dh, "auth": auth}).encode(), purpose=KEYS_PURPOSE)
    with transaction.atomic():
        others = Subscription.objects.filter(person=person).exclude(endpoint=endpoint)
        if others.count() >= BROWSERS_MOST:
            raise _invalid("endpoint", _("that are too many browsers: remove one first"))
        row, _new = Subscription.objects.update_or_create(
            endpoint=endpoint,
            defaults={"person": person, "sealed_keys": sealed, "browser": browser.strip()[:100]},
        )
        _record(person, "browser added", {"browser": row.browser, "id": row.shown_id})
    return row


def browser_remove(person: User, subscription_id: UUID) -> bool:
    """Tell a browser of a person nothing more.

    Returns:
        False when they have no such browser.
    """
    with transaction.atomic():
        row = Subscription.objects.filter(person=person, pk=subscription_id).first()
        if row is None:
            return False
        said = {"browser": row.browser, "id": row.shown_id}
        row.delete()
        _record(person, "browser removed", said)
    return True


def browser_keys(row: Subscription) -> dict[str, str]:
    """Open the keys that encrypt to a browser."""
    keys: dict[str, str] = json.loads(unseal(bytes(row.sealed_keys), purpose=KEYS_PURPOSE))
    return keys


def notifications_test(person: User, environment: Environment, at: datetime) -> list[Delivery]:
    """Tell a person on every channel they have, now; of an environment's webhooks whoever may change them.

    Raises:
        TriedTooSoonError: they tried a moment ago.
    """
    with transaction.atomic():
        User.objects.select_for_update().get(pk=person.pk)
        if Delivery.objects.filter(person=person, approval=None, export=None, created_at__gt=at - TEST_EVERY).exists():
            raise TriedTooSoonError(_("you tried a moment ago: wait some seconds"))
        places = [push_place(row) for row in browsers_of(person)]
        chosen = preference_of(person)
        if chosen.email:
            places.append(email_place(chosen))
        if may(person, Permission.POLICY_WRITE):
            places += [webhook_place(row) for row in Webhook.objects.filter(environment=environment, is_active=True)]
        announce("notification.tried", id=person.pk, environment=environment.slug)
        _record(person, "tried", {"channels": [place.channel for place in places]})
        return Delivery.objects.bulk_create(_tried(place, person, environment, at) for place in places)


def _tried(place: Place, person: User, environment: Environment, at: datetime) -> Delivery:
    return place.delivery(environment, None, at, asked_by=person)


def is_quiet(chosen: Preference | None, *, is_high_risk: bool) -> bool:
    """Say whether a person does not want to be told of a request."""
    if chosen is None or chosen.quiet == Quiet.NOTHING:
        return False
    return chosen.quiet == Quiet.ALL or not is_high_risk


def _decoded(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4)) if len(text) < 200 and text.isascii() else b""
    except (Base64Error, ValueError):
        return b""


def _is_point(octets: bytes) -> bool:
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), octets)
    except ValueError:
        return False
    return len(octets) == POINT_BYTES


def _invalid(path: str, message: str) -> NotificationInvalidError:
    return NotificationInvalidError(message, [{"path": path, "code": "invalid", "message": message}])


def _record(person: User, status: str, changes: Mapping[str, object], *, by: Principal | None = None) -> None:
    token = by if isinstance(by, ApiToken) else None
    actor = person.actor if token is None else token.actor
    told = changes if token is None else {**changes, "person": person.username}
    entry_record(EntryDraft(kind=EntryKind.NOTIFICATION_CHANGE, actor=actor, status=status, changes=told))
