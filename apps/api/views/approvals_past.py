"""Requests that ended, and what an "always" would have covered."""

from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission, require_agents
from apps.api.reading import principal_of
from apps.api.scope import environment_of
from apps.api.serializers.approvals import ApprovalSerializer
from apps.api.serializers.approvals_past import ApprovalPageSerializer, CoveragePageSerializer
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.approvals.access import approval_access
from apps.approvals.past import ENDS, PastFilters, approvals_ended
from apps.approvals.scopes import always_is_off
from apps.firewall.identifiers import read_id, show_id
from apps.gateway import covering

PAGE = 100
KINDS = ("exec", "tool")
TEXTS = {
    "agent": "Id of the agent.",
    "by": "Part of the name of who answered.",
    "text": "Part of the line, the tool's name or the title.",
}


class ApprovalsHistory(APIView):
    permissions = {"GET": Permission.APPROVALS_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="approvals_history",
        summary="List requests that ended, newest first",
        parameters=[
            ENVIRONMENT,
            OpenApiParameter("state", OpenApiTypes.STR, enum=["", *ENDS], description="How it ended."),
            OpenApiParameter("kind", OpenApiTypes.STR, enum=["", *KINDS]),
            *(OpenApiParameter(name, OpenApiTypes.STR, description=text) for name, text in TEXTS.items()),
            OpenApiParameter("after", OpenApiTypes.STR, description="`older` of the page before."),
        ],
        responses={200: ApprovalPageSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        asked = request.query_params
        chosen = {name: asked.get(name, "").replace("\0", "") for name in ("state", "kind", *TEXTS)}
        for name, known in (("state", ENDS), ("kind", KINDS)):
            if chosen[name] not in {"", *known}:
                raise NotFound(f"no {name} `{chosen[name]}`")
        found = approvals_ended(
            environment_of(request),
            PastFilters(**chosen),
            before=_cursor(asked.get("after", "")),
            limit=PAGE + 1,
            viewer=principal_of(request),
        )
        older = show_id("ap", found[PAGE - 1].pk) if len(found) > PAGE else None
        return Response({"rows": ApprovalSerializer(found[:PAGE], many=True).data, "older": older})


def _cursor(text: str) -> UUID | None:
    try:
        return read_id("ap", text) if text else None
    except ValueError:
        raise NotFound("`after` is no cursor of this list") from None


class ApprovalCoverage(APIView):
    permissions = {"GET": Permission.APPROVALS_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="approvals_coverage",
        summary='Count what an "always" would have covered, for each reach that is offered',
        parameters=[
            OpenApiParameter(
                "agents", OpenApiTypes.STR, enum=["own", "every"], default="own", description="Of the agent, or of any."
            )
        ],
        responses={200: CoveragePageSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, approval_id: UUID) -> Response:
        principal, of_all = principal_of(request), request.query_params.get("agents") == "every"
        approval = approval_access(principal, approval_id)
        require_agents(principal, [] if of_all else [approval.agent])
        covered = covering.coverage(approval, every_agent=of_all)
        return Response(CoveragePageSerializer({"off": always_is_off(approval), "reaches": covered}).data)
