"""Tool search for programs: runs, labelled queries, figures."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, found, limit_of, principal_of, query_of
from apps.api.scope import environment_of
from apps.api.serializers.shared import ProblemSerializer
from apps.api.serializers.tool_search import (
    SearchLabelSerializer,
    SearchReportQuerySerializer,
    SearchReportSerializer,
    ToolRunDetailSerializer,
    ToolRunPageSerializer,
)
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.gateway.tool_runs.measuring import ASKED_AT_ONCE, labels_measured, shipped_measured
from apps.policies.selectors import live_snapshot
from apps.runs.access import run_access
from apps.runs.figures import run_figures
from apps.runs.labels import label_add, label_find, label_remove, labels_of
from apps.runs.listing import MODES, OUTCOMES, PAGE, RunFilters, runs_page
from apps.runs.selectors import run_told
from apps.sessions.access import agents_of

FILTERS = [
    ENVIRONMENT,
    OpenApiParameter("agent", OpenApiTypes.STR),
    OpenApiParameter("mode", OpenApiTypes.STR, enum=MODES),
    OpenApiParameter("outcome", OpenApiTypes.STR, enum=OUTCOMES),
    OpenApiParameter("after", OpenApiTypes.STR, description="Cursor from `older`."),
    OpenApiParameter("limit", OpenApiTypes.INT, default=PAGE, description="At most 200."),
]
REFUSED: dict[int, Any] = {403: ProblemSerializer, 404: ProblemSerializer, 422: ProblemSerializer}


class ToolRuns(APIView):
    permissions = {"GET": Permission.AUDIT_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="tool_search_runs_list",
        summary="List runs with tool search, the newest first; they are kept for 30 days",
        parameters=FILTERS,
        responses={200: ToolRunPageSerializer, 422: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        query = request.query_params
        wanted = {name: query.get(name, "") for name in ("agent", "mode", "outcome")}
        page = runs_page(
            environment_of(request),
            RunFilters(agents=agents_of(principal_of(request)), **wanted),
            after=query.get("after", ""),
            limit=limit_of(request, default=PAGE, most=200),
        )
        return Response(ToolRunPageSerializer(page).data)


class ToolRunDetail(APIView):
    permissions = {"GET": Permission.AUDIT_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="tool_search_runs_get",
        summary="Read what a run was offered, searched and called",
        responses={200: ToolRunDetailSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        run = run_access(principal_of(request), run_id)
        return Response(ToolRunDetailSerializer(run_told(run)).data)


class SearchLabels(APIView):
    permissions = {"GET": Permission.AUDIT_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="tool_search_labels_list",
        summary="List the labelled queries of an environment, the newest first",
        parameters=[ENVIRONMENT],
        responses=SearchLabelSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(SearchLabelSerializer(labels_of(environment_of(request)), many=True).data)

    @extend_schema(
        operation_id="tool_search_labels_add",
        summary="Say that a query means some live tools, beside those that it is known to mean",
        parameters=[ENVIRONMENT],
        request=SearchLabelSerializer,
        responses={201: SearchLabelSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        wanted = body_of(request, SearchLabelSerializer)
        environment, by = environment_of(request), principal_of(request)
        label = label_add(environment, wanted["query"], wanted["tools"], by=by, at=timezone.now())
        return Response(SearchLabelSerializer(label).data, status=status.HTTP_201_CREATED)


class SearchLabelDetail(APIView):
    permissions = {"DELETE": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="tool_search_labels_remove",
        summary="Forget a labelled query",
        parameters=[ENVIRONMENT],
        responses={204: None, **REFUSED},
    )
    def delete(self, request: Request, label_id: UUID) -> Response:
        label = found(label_find(environment_of(request), label_id), "labelled query")
        label_remove(label, by=principal_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class SearchReport(APIView):
    permissions = {"GET": Permission.AUDIT_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="tool_search_report",
        summary="Say what tool search saved, how tools were found, what was not found, and what search is worth",
        parameters=[ENVIRONMENT, SearchReportQuerySerializer],
        responses={200: SearchReportSerializer, 422: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        environment = environment_of(request)
        days = query_of(request, SearchReportQuerySerializer)["days"]
        agents = agents_of(principal_of(request))
        figures = run_figures(environment, days=days, until=timezone.now(), agents=agents)
        labels = [] if agents else labels_of(environment)[:ASKED_AT_ONCE]  # they are about every agent's searches
        own = labels_measured(live_snapshot(environment), labels)
        report = {"figures": figures, "shipped": shipped_measured(), "own": own}
        return Response(SearchReportSerializer(report).data)
