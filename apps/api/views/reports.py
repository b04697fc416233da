"""Reports about calls and answers, for programs."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import query_of
from apps.api.scope import environment_of
from apps.api.serializers.reports import ReportQuerySerializer, ReportSerializer, times_of
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.approvals.reports import figures_of


class AuditReport(APIView):
    permissions = {"GET": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="audit_report",
        summary="Report about calls by agent, tool, layer, error and duration, and about answers by person",
        parameters=[ENVIRONMENT, ReportQuerySerializer],
        responses=ReportSerializer,
    )
    def get(self, request: Request) -> Response:
        times = times_of(query_of(request, ReportQuerySerializer), timezone.now())
        return Response(ReportSerializer(figures_of(environment_of(request), **times)).data)
