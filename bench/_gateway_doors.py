"""The two applications of `bench.gateway`; import it after Django is set up."""

import hashlib
import time
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.urls import path
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.access import Permission
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.identifiers import new_id
from apps.gateway import lifecycle
from apps.gateway.counters import Counters
from apps.gateway.halting import LiveHalts
from apps.gateway.live import LiveSnapshots
from apps.gateway.runtime_api.app import application
from apps.gateway.spawns import LiveSpawns
from apps.gateway.tokens import Bucket, TokenGrant, Tokens
from apps.gateway.tool_states import LiveToolStates
from apps.halts.selectors import halts_standing
from bench._gateway_load import AGENTS, SECRET

TOOLS = 500


def snapshot() -> Snapshot:
    tools = [ToolEntry("read"), *(ToolEntry(f"tool_{number}") for number in range(TOOLS - 1))]
    agents = [
        AgentSource(f"agent-{number}", policy=Policy(allow=None, deny=(f"tool_{number % TOOLS}", "tool_4*")))
        for number in range(AGENTS)
    ]
    return build_snapshot(SnapshotSource(environment="production", tools=tools, agents=agents))


LIVE = snapshot()
LIVE.engine  # noqa: B018 - compiled before the first request, as after a publication


class KnownTokens(Tokens):
    """The token memory as it is between two checks."""

    def __init__(self) -> None:
        super().__init__()
        grant = TokenGrant(
            token_id=new_id(),
            actor="token:bench",
            requester="token:bench",
            environment="production",
            agents=frozenset(),
            permissions=frozenset({Permission.DECISIONS_ASK}),
            expires_at=float("inf"),
            fresh_until=float("inf"),
            bucket=Bucket(1e9, 1e9, 1e9, time.monotonic()),
        )
        self._keep(hashlib.sha256(SECRET.encode()).digest(), grant, self._forgotten)


async def door(scope: Any, receive: Any, send: Any) -> None:
    """Serve the agents' door without its lifespan: what is live is in memory already."""
    if lifecycle._gateway is None:
        snapshots = LiveSnapshots(lambda _: LIVE, lambda: ["production"])
        snapshots._live, snapshots.default = {"production": LIVE}, "production"
        lifecycle._gateway = lifecycle.Gateway(
            snapshots=snapshots,
            tool_states=LiveToolStates(dict),
            limits=UNUSED,
            halts=LiveHalts(halts_standing),
            hooks=UNUSED,
            spawns=LiveSpawns(),
            tokens=KnownTokens(),
            desk=UNUSED,
            elsewhere=UNUSED,
            taker=UNUSED,
            callbacks=UNUSED,
            reviewer=UNUSED,
            holder=UNUSED,
        )
    await application(scope, receive, send)


UNUSED: Any = None  # no call is made


class KnownToken(BaseAuthentication):
    """As the programs' door authenticates, from memory."""

    def authenticate(self, request: Request) -> tuple[object, object]:
        kind, _, secret = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer" or secret != SECRET:
            raise AuthenticationFailed
        return object(), secret


class Decisions(APIView):
    """The same question, answered by a DRF view."""

    authentication_classes = [KnownToken]
    permission_classes: list[Any] = []
    throttle_classes: list[Any] = []
    counters = Counters()

    def post(self, request: Request) -> Response:
        asked: Any = request.data
        decision = decide(LIVE, CallContext(agent_id=asked["agent"]), asked["tool"])
        self.counters.add("decisions.allowed" if decision.allowed else "decisions.denied")
        reason = "allowed" if decision.allowed else "not_offered"
        return Response({"tool": asked["tool"], "allowed": decision.allowed, "reason": reason, "snapshot": LIVE.digest})


urlpatterns = [path("api/v1/decisions", Decisions.as_view())]
_handler: list[ASGIHandler] = []


async def django_view(scope: Any, receive: Any, send: Any) -> None:
    """Serve the view on Django's ASGI handler, with the one middleware that states the length."""
    if not _handler:
        settings.ROOT_URLCONF = __name__
        settings.MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
        _handler.append(ASGIHandler())
    await _handler[0](scope, receive, send)
