"""How far an installation has come since its first start, told by its own records."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils import timezone

from apps.accounts.access import Permission
from apps.accounts.models import ApiToken, User
from apps.audit.drafts import EntryKind
from apps.audit.models import Entry
from apps.gateway.demo import AGENTS_NAME
from apps.openclaw_gateways.models import OpenClawGateway
from apps.policies.kinds import event_model
from apps.policies.models import GlobalPolicy, Publication
from apps.registry.models import Environment

BEGINNINGS: Final = (EntryKind.CALL_INTENT, EntryKind.DENIAL)
"""What the ledger says first of a call."""


@dataclass(frozen=True, slots=True)
class FirstCall:
    """A call that came in with a token of an agent's program, or of an OpenClaw Gateway."""

    call_id: UUID | None
    tool: str
    agent: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Progress:
    """What is done, by step.

    Attributes:
        is_chosen: somebody chose a release, or went on with the one that was there.
        call: the first call; None while none has come.
    """

    has_policy: bool
    is_chosen: bool
    is_live: bool
    is_connected: bool
    call: FirstCall | None
    has_others: bool

    @property
    def done(self) -> frozenset[str]:
        known = {
            "policy": self.has_policy,
            "release": self.is_chosen,
            "publish": self.is_live,
            "connect": self.is_connected,
            "call": self.call is not None,
            "people": self.has_others,
        }
        return frozenset(step for step, is_done in known.items() if is_done)


def progress_of(environment: Environment | None, person: User) -> Progress:
    """Read what the records say; an installation may have no environment yet."""
    has_others = User.objects.filter(is_active=True).exclude(pk=person.pk).exists()
    if not environment:  # a request's lazy one is not None, yet false
        return Progress(False, False, False, False, None, has_others)
    is_live = Publication.objects.filter(environment=environment).exists()
    tokens = tokens_of_agents(environment)
    return Progress(
        has_policy=is_live or GlobalPolicy.objects.filter(environment=environment).exists(),
        is_chosen=is_live or _was_changed(environment),
        is_live=is_live,
        is_connected=bool(tokens),
        call=first_call(environment, tokens),
        has_others=has_others,
    )


def _was_changed(environment: Environment) -> bool:
    return bool(event_model(Environment).objects.filter(pgh_obj_id=environment.pk, pgh_label="update").exists())


def tokens_of_agents(environment: Environment) -> list[ApiToken]:
    """Tokens with which programs of agents, and OpenClaw Gateways, call here; not those of the demo."""
    at = timezone.now()
    gateways = OpenClawGateway.objects.filter(environment=environment, revoked_at=None).values("token_id")
    usable = ApiToken.objects.filter(revoked_at=None, environment__in=("", environment.slug))
    usable = usable.select_related("created_by")
    calling = usable.filter(scopes__contains=[Permission.CALLS_MAKE]) | usable.filter(pk__in=gateways)
    return [token for token in calling if token.is_usable(at) and not _is_of_demo(token)]


def _is_of_demo(token: ApiToken) -> bool:
    return token.name == AGENTS_NAME and token.created_by_id is None


def first_call(environment: Environment, tokens: list[ApiToken]) -> FirstCall | None:
    """Find the first call that came with one of some tokens; nothing is looked for before the oldest was made."""
    if not tokens:
        return None
    since = min(token.created_at for token in tokens)
    actors = [token.actor for token in tokens if token.last_used_at is not None]
    if not actors:
        return None
    found = Entry.objects.filter(environment=environment.slug, at__gte=since, kind__in=BEGINNINGS, actor__in=actors)
    entry = found.order_by("at", "id").only("call_id", "tool", "agent", "at").first()
    return None if entry is None else FirstCall(entry.call_id, entry.tool, entry.agent, entry.at)
