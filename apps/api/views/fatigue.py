"""How answering goes, for programs."""

from datetime import timedelta

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import query_of
from apps.api.scope import environment_of
from apps.api.serializers.fatigue import FatigueQuerySerializer, FatigueSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.approvals.fatigue import fatigue


class ApprovalsFatigue(APIView):
    permissions = {"GET": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="approvals_fatigue",
        summary="Measure how long requests wait and how people answer, by person, rule and time",
        parameters=[ENVIRONMENT, FatigueQuerySerializer],
        responses=FatigueSerializer,
    )
    def get(self, request: Request) -> Response:
        days = query_of(request, FatigueQuerySerializer)["days"]
        at = timezone.now()
        found = fatigue(environment_of(request), since=at - timedelta(days=days), until=at)
        return Response(FatigueSerializer(found).data)
