"""The storm breaker's setting, for programs; pauses themselves are stops, and stand at `/api/v1/halts`."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.shared import ProblemSerializer
from apps.api.serializers.storms import StormChangeSerializer, StormSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.approvals.answering import answer_policy
from apps.approvals.storming import storm_save


class Storm(APIView):
    permissions = {"GET": Permission.APPROVALS_READ, "PATCH": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="storm_get",
        summary="Read after how many denials an agent is paused",
        parameters=[ENVIRONMENT],
        responses=StormSerializer,
    )
    def get(self, request: Request) -> Response:
        return Response(StormSerializer(answer_policy(environment_of(request))).data)

    @extend_schema(
        operation_id="storm_update",
        summary="Change after how many denials an agent is paused",
        parameters=[ENVIRONMENT],
        request=StormChangeSerializer,
        responses={200: StormSerializer, 409: ProblemSerializer, 422: ProblemSerializer},
    )
    def patch(self, request: Request) -> Response:
        wanted = body_of(request, StormChangeSerializer)
        saved = storm_save(
            environment_of(request),
            denials=wanted["storm_denials"],
            minutes=wanted["storm_minutes"],
            expected_version=wanted["version"],
            by=principal_of(request),
        )
        return Response(StormSerializer(saved).data)
