"""The three ways out. Each makes one attempt, and tells what came of it; none waits long."""

import asyncio
import json
import time
from base64 import urlsafe_b64decode
from dataclasses import dataclass
from datetime import datetime
from smtplib import SMTPException
from typing import Final
from urllib.parse import urlsplit

import http_ece
import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings
from django.core.mail import EmailMessage

from apps.firewall.errors import FirewallError
from apps.firewall.tools.connector import Connector
from apps.keys.outgoing import outgoing_headers, outgoing_rules
from apps.keys.push import push_key, push_public_key
from apps.notifications.models import Channel, Delivery
from apps.notifications.people import browser_keys, preference_of
from apps.notifications.webhooks import webhook_secret
from apps.notifications.words import (
    Words,
    told_to_programs,
    words_for,
    words_for_alarm,
    words_for_export,
    words_for_release,
)

TIME_LIMIT_S: Final = 10.0
ANSWER_LIMIT_BYTES: Final = 64 * 1024
VAPID_LASTS_S: Final = 12 * 3600
PUSH_LASTS_S: Final = 600
GONE: Final = frozenset({404, 410})


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What came of an attempt. `is_gone`: nobody will ever be reached there."""

    status: int | None = None
    error_code: str = ""
    message: str = ""
    is_gone: bool = False

    @property
    def is_fine(self) -> bool:
        return not self.error_code and (self.status is None or 200 <= self.status < 300)


def send(delivery: Delivery, at: datetime) -> Heard:
    """Make one attempt. No address is left unchecked, and no failure gets out."""
    try:
        return _SENDERS[Channel(delivery.channel)](delivery, at)
    except FirewallError as exc:
        return Heard(error_code=exc.code, message=exc.message)
    except (SMTPException, OSError) as exc:
        return Heard(error_code="mail_refused", message=_without_address(f"{type(exc).__name__}: {exc}", delivery))


def _push(delivery: Delivery, at: datetime) -> Heard:
    """Encrypt to the browser and hand it to its push service. Source: RFC 8030, RFC 8291, RFC 8292."""
    row = delivery.subscription
    if row is None:
        return Heard(error_code="browser_removed", message="the browser was removed", is_gone=True)
    words, keys = _words(delivery, at), browser_keys(row)
    payload = json.dumps(
        {
            "title": words.title,
            "body": words.text,
            "path": words.path,
            "tag": str(delivery.export_id or delivery.release_id or delivery.alarm_id or delivery.approval),
        }
    )
    body = http_ece.encrypt(
        payload.encode(),
        private_key=ec.generate_private_key(ec.SECP256R1()),
        dh=_decoded(keys["p256dh"]),
        auth_secret=_decoded(keys["auth"]),
        version="aes128gcm",
    )
    headers = {
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(PUSH_LASTS_S),
        "Urgency": "high",
        "Authorization": f"vapid t={_vapid(row.endpoint)}, k={push_public_key()}",
    }
    return _post(row.endpoint, body, headers)


def _vapid(endpoint: str) -> str:
    parts = urlsplit(endpoint)
    told = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": int(time.time()) + VAPID_LASTS_S, "sub": _contact()}
    return jwt.encode(told, push_key(), algorithm="ES256")


def _contact() -> str:
    return f"mailto:{settings.DEFAULT_FROM_EMAIL}" if settings.EMAIL_HOST else settings.PUBLIC_URL


def _email(delivery: Delivery, at: datetime) -> Heard:
    if not settings.EMAIL_HOST:
        return Heard(error_code="email_off", message="this installation has no mail server", is_gone=True)
    address = "" if delivery.person is None else preference_of(delivery.person).email
    if not address:
        return Heard(error_code="email_removed", message="the person has no e-mail address", is_gone=True)
    words = _words(delivery, at)
    EmailMessage(
        subject=words.title,
        body=f"{words.text}\n\n{words.url}\n",
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[address],
        headers={"Auto-Submitted": "auto-generated"},
    ).send()
    return Heard()


def _without_address(text: str, delivery: Delivery) -> str:
    """Hide whom a mail server spoke of: others read what became of messages."""
    address = "" if delivery.person is None else preference_of(delivery.person).email
    return text.replace(address, "…") if address else text


def _webhook(delivery: Delivery, at: datetime) -> Heard:
    """Post what waits, signed as callbacks are."""
    row = delivery.webhook
    if row is None or not row.is_active:
        return Heard(error_code="webhook_removed", message="the webhook was removed or switched off", is_gone=True)
    body = json.dumps(told_to_programs(delivery.approval, at, delivery.alarm)).encode()
    headers = outgoing_headers(
        row.url,
        body,
        shown_id=delivery.shown_id,
        secret=webhook_secret(row),
        attempt=delivery.attempts,
        trace_id="" if delivery.approval is None else delivery.approval.trace_id,
    )
    return _post(row.url, body, headers)


def _post(url: str, body: bytes, headers: dict[str, str]) -> Heard:
    connector = Connector(rules=outgoing_rules())
    answer = asyncio.run(
        connector.post(url, body, headers=headers, time_limit_s=TIME_LIMIT_S, limit_bytes=ANSWER_LIMIT_BYTES)
    )
    if 200 <= answer.status < 300:
        return Heard(status=answer.status)
    return Heard(
        status=answer.status,
        error_code="refused",
        message=f"the other side answered {answer.status}",
        is_gone=answer.status in GONE,
    )


def _words(delivery: Delivery, at: datetime) -> Words:
    person = delivery.person
    language = "" if person is None else preference_of(person).language or person.language
    if delivery.export is not None:
        return words_for_export(delivery.export, language)
    if delivery.alarm is not None:
        return words_for_alarm(delivery.alarm, delivery.environment, language)
    if delivery.release is not None:
        return words_for_release(delivery.release, delivery.environment, language)
    return words_for(delivery.approval, language, at)


def _decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


_SENDERS: Final = {Channel.WEB_PUSH: _push, Channel.EMAIL: _email, Channel.WEBHOOK: _webhook}
