"""The life of a gateway: leave to enrol, enrolled, heard of, revoked. Each is one transaction."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, Principal, actor_of, require
from apps.accounts.models import User
from apps.accounts.secret_links import hash_secret, make_secret
from apps.accounts.services import token_create, token_end
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.identifiers import new_id, show_id
from apps.openclaw_gateways.errors import EnrolmentInvalidError, GatewayNameError
from apps.openclaw_gateways.models import Enrolment, OpenClawGateway
from apps.openclaw_gateways.records import gateway_entry
from apps.registry.models import Environment

ENROLMENT_TTL: Final = timedelta(hours=1)
SCOPES: Final = (Permission.GATEWAY_CALLS,)
NAME_LIMIT: Final = 100
VERSION_LIMIT: Final = 64
CHANGED: Final = "openclaw_gateway.changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """What a plugin says of itself and its gateway.

    Args:
        boot: its own name for this run of the gateway's process.
        facts: what it can tell of a call besides agent, session and who asks; none for a plugin that does not say.
    """

    boot: str
    openclaw: str = ""
    plugin: str = ""
    node: str = ""
    facts: tuple[str, ...] = ()


def enrolment_create(
    environment: Environment, *, name: str, by: Principal | None, at: datetime
) -> tuple[Enrolment, str]:
    """Give leave to enrol one gateway within the hour; the secret is in the answer and nowhere else.

    Args:
        by: who needs `gateways_manage`; None at the command line.
    Raises:
        PermissionDeniedError, GatewayNameError.
    """
    if by is not None:
        require(by, Permission.GATEWAYS_MANAGE)
    name = " ".join(name.split())
    if not name or len(name) > NAME_LIMIT or not name.isprintable():
        problem = {"path": "name", "code": "invalid", "message": _("a name of 1 to 100 characters")}
        raise GatewayNameError(_("a gateway needs a name"), [problem])
    enrolment = Enrolment(
        id=new_id(),
        environment=environment,
        name=name,
        created_by=by if isinstance(by, User) else None,
        created_by_label=actor_of(by),
        created_at=at,
        expires_at=at + ENROLMENT_TTL,
    )
    secret = f"oce_{show_id('e', enrolment.pk).removeprefix('e_')}_{make_secret()}"
    enrolment.secret_hash = hash_secret(secret)
    with transaction.atomic():
        enrolment.save(force_insert=True)
        entry_record(
            EntryDraft(
                kind=EntryKind.GATEWAY_CHANGE,
                actor=actor_of(by),
                environment=environment.slug,
                status="enrolment_made",
                changes={"name": name, "expires_at": enrolment.expires_at.isoformat()},
                at=at,
            )
        )
    return enrolment, secret


def enrolment_redeem(secret: str, beat: Heartbeat, *, at: datetime) -> tuple[OpenClawGateway, str]:
    """Enrol a gateway: the enrolment is used up, and the gateway gets a token of its own.

    Returns:
        The gateway, and the secret of its token, which is nowhere else.
    Raises:
        EnrolmentInvalidError: unknown, used, expired, or who made it is no longer active.
    """
    with transaction.atomic():
        found = Enrolment.objects.select_for_update(of=("self",)).select_related("environment", "created_by")
        enrolment = found.filter(secret_hash=hash_secret(secret)).first()
        if enrolment is None or not enrolment.is_usable(at):
            raise EnrolmentInvalidError(_("the enrolment token is unknown, used or expired"))
        token, token_secret = token_create(
            name=f"OpenClaw Gateway {enrolment.name}"[:NAME_LIMIT],
            scopes=SCOPES,
            by=None,
            environment=enrolment.environment.slug,
        )
        gateway = OpenClawGateway.objects.create(
            environment=enrolment.environment,
            name=enrolment.name,
            token=token,
            enrolled_at=at,
            enrolled_by_label=enrolment.created_by_label,
            openclaw_version=beat.openclaw[:VERSION_LIMIT],
            plugin_version=beat.plugin[:VERSION_LIMIT],
            node_version=beat.node[:VERSION_LIMIT],
        )
        enrolment.used_at, enrolment.gateway = at, gateway
        enrolment.save(update_fields=["used_at", "gateway"])
        entry_record(
            gateway_entry(gateway, "enrolled", actor=enrolment.created_by_label, at=at, reports_by=token.shown_id)
        )
        announce(CHANGED, id=gateway.pk, environment=gateway.environment.slug)
    return gateway, token_secret


def gateway_revoke(gateway: OpenClawGateway, *, by: Principal | None, at: datetime) -> OpenClawGateway:
    """End a gateway for good, with its token: whatever its agents ask from now on is blocked there.

    Revoking it again changes nothing.
    """
    with transaction.atomic():
        found = OpenClawGateway.objects.select_for_update(of=("self",)).select_related(
            "environment", "token__created_by"
        )
        gateway = found.get(pk=gateway.pk)
        if gateway.revoked_at is not None:
            return gateway
        gateway.revoked_at, gateway.revoked_by_label = at, actor_of(by)
        gateway.save(update_fields=["revoked_at", "revoked_by_label"])
        token_end(gateway.token, at=at)
        entry_record(gateway_entry(gateway, "revoked", actor=actor_of(by), at=at))
        announce(CHANGED, id=gateway.pk, environment=gateway.environment.slug)
    return gateway


def gateway_heard(gateway: OpenClawGateway, beat: Heartbeat, *, at: datetime) -> OpenClawGateway:
    """Keep what a heartbeat says. A new boot means that nothing of the one before still runs."""
    is_new = gateway.boot != beat.boot
    gateway.last_seen_at = at
    gateway.openclaw_version = beat.openclaw[:VERSION_LIMIT]
    gateway.plugin_version = beat.plugin[:VERSION_LIMIT]
    gateway.node_version = beat.node[:VERSION_LIMIT]
    gateway.facts = list(beat.facts)
    fields = ["last_seen_at", "openclaw_version", "plugin_version", "node_version", "facts"]
    if is_new:
        gateway.boot, gateway.booted_at, gateway.proven_at = beat.boot[:VERSION_LIMIT], at, None
        gateway.stops_digest, gateway.stops_heard_at = "", None
        fields += ["boot", "booted_at", "proven_at", "stops_digest", "stops_heard_at"]
    with transaction.atomic():
        gateway.save(update_fields=fields)
        if is_new:
            announce(CHANGED, id=gateway.pk, environment=gateway.environment.slug)
    return gateway


def snapshot_asked(gateway: OpenClawGateway, digest: str) -> None:
    """Keep which snapshot the gateway was last answered by."""
    if gateway.snapshot_digest != digest:
        OpenClawGateway.objects.filter(pk=gateway.pk).update(snapshot_digest=digest)
