"""The demo for programs: what would go and what would stay, and removing it."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import principal_of
from apps.api.scope import environment_of
from apps.api.serializers.demo import DemoSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.gateway.demo import demo_found, demo_remove


class DemoData(APIView):
    permissions = {"GET": Permission.POLICY_READ, "DELETE": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="demo_get",
        summary="Say what removing the demo would take away and what would stay",
        parameters=[ENVIRONMENT],
        responses=DemoSerializer,
    )
    def get(self, request: Request) -> Response:
        return Response(DemoSerializer(demo_found(environment_of(request))).data)

    @extend_schema(
        operation_id="demo_remove",
        summary="Remove what the demo brought and nobody changed; the ledger and publications stay",
        parameters=[ENVIRONMENT],
        responses=DemoSerializer,
    )
    def delete(self, request: Request) -> Response:
        gone = demo_remove(environment_of(request), by=principal_of(request), at=timezone.now())
        return Response(DemoSerializer(gone).data)
