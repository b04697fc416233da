"""What tests of notifications share: real receivers on loopback, and a browser that takes web push."""

import asyncio
import json
import os
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from email.policy import default
from typing import Any

import http_ece
import pytest
from aiosmtpd.smtp import SMTP
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from apps.notifications.models import Subscription
from apps.notifications.people import browser_add
from tests.approvals.conftest import ask, draft_for  # noqa: F401 - fixtures
from tests.receiver import Receiver


def _text(octets: bytes) -> str:
    return urlsafe_b64encode(octets).rstrip(b"=").decode()


@dataclass
class Browser:
    """What a browser keeps of its subscription: it alone can read what is pushed to it."""

    endpoint: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    secret: bytes = field(default_factory=lambda: os.urandom(16))

    @property
    def keys(self) -> dict[str, str]:
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"p256dh": _text(point), "auth": _text(self.secret)}

    def subscribe(self, person: Any) -> Subscription:
        return browser_add(person, endpoint=self.endpoint, browser="Chromium, Linux", **self.keys)

    def read(self, body: bytes) -> dict[str, str]:
        opened = http_ece.decrypt(body, private_key=self.key, auth_secret=self.secret, version="aes128gcm")
        told: dict[str, str] = json.loads(opened)
        return told


@pytest.fixture
def browser_at(receiver: Receiver) -> Callable[..., Browser]:
    """Make a browser whose push service is the receiver."""
    return lambda path="/push/1": Browser(f"{receiver.origin}{path}")


class Mailbox:
    """A mail server on loopback that keeps what it takes, or refuses it all."""

    def __init__(self) -> None:
        self.mails: list[tuple[list[str], Message]] = []
        self.refuses = False
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(30)

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        if self.refuses:
            return "451 not now"
        self.mails.append((envelope.rcpt_tos, message_from_bytes(envelope.content, policy=default)))
        return "250 taken"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        made = self._loop.create_server(lambda: SMTP(self, loop=self._loop), "127.0.0.1", 0)
        self._server = self._loop.run_until_complete(made)
        self.port = self._server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    made = Mailbox()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.DEFAULT_FROM_EMAIL = "127.0.0.1", made.port, "oca@example.com"
    yield made
    made.close()
