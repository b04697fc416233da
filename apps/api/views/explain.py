"""Why is a tool there, or not: the engine's own answer, for people's programs with the right to ask."""

import re
from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission, require_agents
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.policies import (
    ExplainSerializer,
    ExplanationSerializer,
    ToolExplanationSerializer,
    explanation_json,
    tool_explanation_json,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.firewall.engine.context import CallContext, ContextError
from apps.firewall.engine.decide import decide, explain, explain_tool
from apps.firewall.engine.exec_policy.explaining import EXEC, ExplainedCommand, explain_command
from apps.firewall.engine.permissions import PermissionAnswer, caller_of
from apps.firewall.engine.resolve import ResolutionError
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.permitting import permission_answers
from apps.firewall.tools.resources import ResourceUnreadableError
from apps.policies.selectors import draft_snapshot, live_snapshot, publications
from apps.policies.snapshots import snapshot_loaded

DIGEST = re.compile(r"[0-9a-f]{64}")


def snapshot_at(environment: Any, at: str) -> Snapshot:
    """Find the snapshot that a request asks about.

    Raises:
        NotFound: nothing is live, or no such snapshot was published in this environment.
    """
    if at == "draft":
        return draft_snapshot(environment)
    if at == "live":
        live = live_snapshot(environment)
        if live is None:
            raise NotFound("nothing has been published yet")
        return live
    if not DIGEST.fullmatch(at) or not publications(environment).filter(snapshot_id=at).exists():
        raise NotFound(f"no snapshot `{at[:64]}` was published here")
    return snapshot_loaded(at)


class Explain(APIView):
    permissions = {"POST": Permission.EXPLAIN}
    bound = ("POST",)

    @extend_schema(
        operation_id="explain",
        summary="Explain one tool, or all tools layer by layer, in a context",
        parameters=[ENVIRONMENT],
        request=ExplainSerializer,
        responses={
            200: PolymorphicProxySerializer(
                component_name="ExplainAnswer",
                serializers=[ExplanationSerializer, ToolExplanationSerializer],
                resource_type_field_name=None,
            ),
            404: ProblemSerializer,
        },
    )
    def post(self, request: Request) -> Response:
        environment = environment_of(request)
        asked = body_of(request, ExplainSerializer)
        try:
            context = CallContext.from_json(asked["context"])
        except ContextError as exc:
            raise ValidationError({f"context.{exc.field}": [exc.message]}) from exc
        snapshot = snapshot_at(environment, asked["at"])
        require_agents(principal_of(request), _agents(snapshot, context))
        tool = asked.get("tool")
        if tool is None:
            return Response(explanation_json(snapshot.digest, explain(snapshot, context)))
        decision, steps = decide(snapshot, context, tool), explain_tool(snapshot, context, tool)
        permissions = _permissions(snapshot, context, decision.tool, asked)
        command = _command(snapshot, context, asked) if decision.tool == EXEC else None
        return Response(tool_explanation_json(snapshot.digest, decision, steps, permissions, command))


def _agents(snapshot: Snapshot, context: CallContext) -> list[str]:
    """Name the agent that a context is about; none where it cannot be told."""
    resolution = explain(snapshot, context).resolution
    return [] if resolution is None or not resolution.agent else [resolution.agent]


def _command(snapshot: Snapshot, context: CallContext, asked: dict[str, Any]) -> ExplainedCommand | None:
    resolution = explain(snapshot, context).resolution
    if resolution is None or resolution.agent is None:
        return None  # the decision says why nothing can be said about this context
    settings = snapshot.exec_settings(resolution.agent)
    return explain_command(settings, context, dialect=snapshot.dialect, params=asked.get("params") or {})


def _permissions(
    snapshot: Snapshot, context: CallContext, name: str, asked: dict[str, Any]
) -> tuple[PermissionAnswer, ...]:
    tool = snapshot.tool(name)
    if tool is None:
        return ()
    try:
        caller = caller_of(snapshot.engine, context, token=asked.get("token", ""), role=asked.get("role", ""))
        return permission_answers(snapshot.permissions, tool, caller, asked.get("params"))
    except ResolutionError:
        return ()  # the decision says why nothing can be said about this context
    except ResourceUnreadableError as exc:
        raise ValidationError({f"params.{exc.place}": [exc.message]}) from exc
