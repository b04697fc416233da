"""Rules by sender as a table: a dry run, taking it into the draft, and writing it."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, principal_of, query_of
from apps.api.scope import environment_of
from apps.api.serializers.records import record_of
from apps.api.serializers.sender_tables import (
    SenderReportSerializer,
    SenderScopeSerializer,
    SenderTableSerializer,
    report_of,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.policies.document.sender_table import write_table
from apps.policies.selectors import sender_rules
from apps.policies.services import senders_check, senders_import

DRY_RUN = OpenApiParameter("dry_run", OpenApiTypes.BOOL, description="Say what it would do, and write nothing.")
MARKED = OpenApiParameter(
    "bom", OpenApiTypes.BOOL, default=True, description="Begin with the mark by which spreadsheets know UTF-8."
)
SCOPE = [
    OpenApiParameter("agent", OpenApiTypes.STR, description="The agent with which the rules stand."),
    OpenApiParameter("group", OpenApiTypes.STR, description="The group in which the rules stand."),
]


def _scope(environment: Any, given: dict[str, Any]) -> dict[str, Any]:
    return {
        kind: None if given[kind] is None else record_of(environment, kind, given[kind]) for kind in ("agent", "group")
    }


class SenderImport(APIView):
    permissions = {"POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="sender_rules_import",
        summary="Take a table of rules by sender into the draft, whole or not at all",
        parameters=[ENVIRONMENT, DRY_RUN],
        request=SenderTableSerializer,
        responses={200: SenderReportSerializer, 404: ProblemSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        environment = environment_of(request)
        given = body_of(request, SenderTableSerializer)
        scope = _scope(environment, given)
        if request.query_params.get("dry_run", "").lower() in {"1", "true"}:
            return Response(report_of(senders_check(environment, given["csv"], **scope)))
        return Response(report_of(senders_import(environment, given["csv"], by=principal_of(request), **scope)))


class SenderExport(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="sender_rules_export",
        summary="Write the rules by sender of one scope as a table",
        parameters=[ENVIRONMENT, *SCOPE, MARKED],
        responses={(200, "text/csv"): OpenApiTypes.STR, 404: ProblemSerializer},
    )
    def get(self, request: Request) -> HttpResponse:
        environment = environment_of(request)
        scope = _scope(environment, query_of(request, SenderScopeSerializer))
        rules = sender_rules(environment, **scope).iterator(chunk_size=2000)
        mark = request.query_params.get("bom", "").lower() not in {"0", "false"}
        return HttpResponse("".join(write_table(rules, mark=mark)), content_type="text/csv; charset=utf-8")
