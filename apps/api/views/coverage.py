"""Coverage for programs: each way to run a call, and the probe that proves its record."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.scope import installation_of
from apps.api.serializers.coverage import AuditCoverageSerializer
from apps.api.view import APIView
from apps.api.views.registry.tools import REFUSED
from apps.gateway.doors import doors, is_running, probes_ask


class AuditCoverage(APIView):
    permissions = {"GET": Permission.AUDIT_READ, "POST": Permission.AUDIT_MANAGE}

    @extend_schema(
        operation_id="audit_coverage",
        summary="List the ways to run a call, and what their last probes found in the ledger",
        responses=AuditCoverageSerializer,
    )
    def get(self, request: Request) -> Response:
        installation_of(request)
        return Response(_shown())

    @extend_schema(
        operation_id="audit_coverage_probe",
        summary="Have every door tried now; read this path again to see what was found",
        request=None,
        responses={202: AuditCoverageSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        probes_ask(installation_of(request), at=timezone.now())
        return Response(_shown(), status=status.HTTP_202_ACCEPTED)


def _shown() -> object:
    found = doors(timezone.now())
    return AuditCoverageSerializer({"doors": found, "is_running": is_running(found)}).data
