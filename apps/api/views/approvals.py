"""Requests that wait for a person, and answers to them."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.approvals import (
    ApprovalSerializer,
    ResolveSerializer,
    approval_shown,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT, STATE
from apps.approvals.access import approval_access, approvals_visible
from apps.approvals.drafts import GrantScope
from apps.approvals.past import PastFilters, approvals_ended
from apps.approvals.selectors import approvals_pending
from apps.approvals.services import approval_resolve

RECENT_LIMIT = 200


class Approvals(APIView):
    permissions = {"GET": Permission.APPROVALS_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="approvals_list",
        summary="List requests that wait, or that ended last",
        parameters=[ENVIRONMENT, STATE],
        responses=ApprovalSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        environment, principal = environment_of(request), principal_of(request)
        if request.query_params.get("state", "pending") == "recent":
            found = approvals_ended(environment, PastFilters(), limit=RECENT_LIMIT, viewer=principal)
        else:
            found = list(approvals_visible(principal, approvals_pending(environment))[:RECENT_LIMIT])
        return Response(ApprovalSerializer(found, many=True).data)


class ApprovalDetail(APIView):
    permissions = {"GET": Permission.APPROVALS_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="approvals_get",
        summary="Read one request",
        responses={200: ApprovalSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, approval_id: UUID) -> Response:
        return Response(approval_shown(approval_access(principal_of(request), approval_id)))


class ApprovalResolve(APIView):
    permissions = {"POST": Permission.APPROVALS_RESOLVE}
    bound = ("POST",)

    @extend_schema(
        operation_id="approvals_resolve",
        summary="Answer a request; the first answer wins",
        request=ResolveSerializer,
        responses={200: ApprovalSerializer, 404: ProblemSerializer, 409: ProblemSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request, approval_id: UUID) -> Response:
        principal = principal_of(request)
        approval = approval_access(principal, approval_id, write=True)
        wanted = body_of(request, ResolveSerializer)
        scope = wanted.get("scope")
        approval = approval_resolve(
            approval,
            decision=wanted["decision"],
            by=principal,
            at=timezone.now(),
            reason=wanted["reason"],
            scope=GrantScope(**scope) if scope else None,
        )
        return Response(approval_shown(approval))
