"""Standing approvals for programs: what stands, ending and narrowing it."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, found, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.approvals import GrantDetailSerializer, GrantNarrowSerializer, GrantSerializer
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.api.views.registry.tools import REFUSED
from apps.approvals.access import grant_access, grants_visible
from apps.approvals.grants import grant_narrow, grant_revoke
from apps.approvals.rules import standing_at
from apps.approvals.selectors import grant_get, grants_ended, grants_standing
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.subjects import kept_name, subject_name

MOST = 1000


def _asked(request: Request, grant_id: UUID) -> Any:
    """Find a standing approval of an environment, for who may see it."""
    grant = found(grant_get(environment_of(request), grant_id), "standing approval")
    return grant_access(principal_of(request), grant.pk)


class Grants(APIView):
    permissions = {"GET": Permission.APPROVALS_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="grants_list",
        summary="List what runs without asking because somebody said always, the one used last first",
        parameters=[
            ENVIRONMENT,
            OpenApiParameter("state", OpenApiTypes.STR, enum=["standing", "ended"], default="standing"),
            OpenApiParameter("agent", OpenApiTypes.STR, description="What holds for this agent, or for every one."),
            OpenApiParameter("tool", OpenApiTypes.STR, description="Name of the tool."),
        ],
        responses=GrantSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        environment, at, asked = environment_of(request), timezone.now(), request.query_params
        viewer = principal_of(request)
        if asked.get("state", "standing") == "ended":
            rows = grants_ended(environment, at=at, limit=MOST, viewer=viewer)
        else:
            rows = list(grants_visible(viewer, grants_standing(environment)).filter(standing_at(at))[:MOST])
        agent = kept_name("agent", asked.get("agent", ""))
        tool = subject_name(dialect_named(environment.dialect), "tool", asked.get("tool", ""))
        rows = [each for each in rows if not agent or each.agent in {"", agent}]
        return Response(GrantSerializer([each for each in rows if tool in {"", each.tool}], many=True).data)


class GrantDetail(APIView):
    permissions = {"GET": Permission.APPROVALS_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="grants_get",
        summary="Read one standing approval, with a narrower rule where its uses tell of one",
        parameters=[ENVIRONMENT],
        responses={200: GrantDetailSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, grant_id: UUID) -> Response:
        grant = _asked(request, grant_id)
        return Response(GrantDetailSerializer(grant, context={"at": timezone.now()}).data)


class GrantRevoke(APIView):
    permissions = {"POST": Permission.APPROVALS_RESOLVE}
    bound = ("POST",)

    @extend_schema(
        operation_id="grants_revoke",
        summary="End a standing approval: the next such call asks again",
        parameters=[ENVIRONMENT],
        request=None,
        responses={200: GrantSerializer, **REFUSED},
    )
    def post(self, request: Request, grant_id: UUID) -> Response:
        grant = _asked(request, grant_id)
        return Response(GrantSerializer(grant_revoke(grant, by=principal_of(request), at=timezone.now())).data)


class GrantNarrow(APIView):
    permissions = {"POST": Permission.APPROVALS_RESOLVE}
    bound = ("POST",)

    @extend_schema(
        operation_id="grants_narrow",
        summary="Put a rule with other arguments in the place of a standing approval",
        parameters=[ENVIRONMENT],
        request=GrantNarrowSerializer,
        responses={200: GrantSerializer, **REFUSED},
    )
    def post(self, request: Request, grant_id: UUID) -> Response:
        grant = _asked(request, grant_id)
        wanted = body_of(request, GrantNarrowSerializer)
        narrower = grant_narrow(grant, wanted["arg_pattern"], by=principal_of(request), at=timezone.now())
        return Response(GrantSerializer(narrower).data)
