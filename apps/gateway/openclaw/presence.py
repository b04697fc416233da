"""Enrolment and heartbeats of OpenClaw Gateways."""

from typing import Any, Final

from django.utils import timezone

from apps.audit.chain import storable_text
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway
from apps.gateway.openclaw.reading import gateway_of, read_beat
from apps.gateway.runtime_api.http import Problem, Request
from apps.gateway.tokens import TokenGrant
from apps.openclaw_gateways.alarms import not_asking_report, silence_end
from apps.openclaw_gateways.services import enrolment_redeem, gateway_heard, snapshot_asked

EVERY_S: Final = 30
NOT_ASKING_LIMIT: Final = 300
ENROL_LIMIT_BYTES: Final = 64 * 1024  # who sends it has shown no token of ours yet


async def enrol(request: Request) -> tuple[int, Any]:
    """Exchange an enrolment token, used up by this, for the gateway's own."""
    kind, _, secret = request.headers.get(b"authorization", b"").partition(b" ")
    if kind.lower() != b"bearer" or not secret.startswith(b"oce_"):
        bearer = ((b"www-authenticate", b"Bearer"),)
        raise Problem(401, "token_missing", "send the enrolment token as `Authorization: Bearer oce_…`", headers=bearer)
    beat = read_beat(await request.json(limit_bytes=ENROL_LIMIT_BYTES))
    gateway, token = await in_database(
        enrolment_redeem, secret.strip().decode("ascii", "replace"), beat, at=timezone.now()
    )
    return 201, {
        "gateway": gateway.shown_id,
        "name": gateway.name,
        "environment": gateway.environment.slug,
        "token": token,
    }


async def heartbeat(current: Gateway, grant: TokenGrant, request: Request, _: str) -> tuple[int, Any]:
    """Hear that a gateway lives, and answer with what holds for it."""
    gateway = await gateway_of(grant)
    body = await request.json()
    beat = read_beat(body)
    await in_database(gateway_heard, gateway, beat, at=timezone.now())
    await in_database(silence_end, gateway, at=timezone.now())
    warning = body.get("not_asking")
    if isinstance(warning, str) and warning:
        await in_database(not_asking_report, gateway, storable_text(warning[:NOT_ASKING_LIMIT]), at=timezone.now())
    snapshot = current.snapshots.live(gateway.environment.slug)
    digest = "" if snapshot is None else snapshot.digest
    await in_database(snapshot_asked, gateway, digest)
    return 200, {
        "gateway": gateway.shown_id,
        "environment": gateway.environment.slug,
        "snapshot": digest or None,
        "every_s": EVERY_S,
    }
