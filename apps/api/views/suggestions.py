"""Suggestions from use: tools never called, and a narrower policy for the same calls."""

from dataclasses import fields
from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import found, query_of
from apps.api.scope import environment_of
from apps.api.serializers.shared import ProblemSerializer
from apps.api.serializers.suggestions import (
    AgentUsePageSerializer,
    AgentUseSerializer,
    LookBackSerializer,
    SuggestionSerializer,
)
from apps.api.view import APIView
from apps.api.views.parameters import CURSOR, ENVIRONMENT, LIMIT
from apps.api.views.records import RecordPages
from apps.policies.selectors import agent_get, agents
from apps.policies.suggesting import AgentUse, narrower, uses

DAYS = OpenApiParameter("days", OpenApiTypes.INT, description="How far to look back: 7, 30 (usual) or 90 days.")


class Suggestions(APIView):
    permissions = {"GET": Permission.AUDIT_READ}
    pagination_class = RecordPages

    @extend_schema(
        operation_id="suggestions_list",
        summary="List what each agent of the draft has called, and what it has and never calls",
        parameters=[ENVIRONMENT, DAYS, CURSOR, LIMIT],
        responses={200: AgentUsePageSerializer, 400: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        days, environment = query_of(request, LookBackSerializer)["days"], environment_of(request)
        pages = self.pagination_class()
        page = pages.paginate_queryset(agents(environment), request, view=self)
        known = uses(environment, page or [], days=days, at=timezone.now())
        return pages.get_paginated_response(AgentUseSerializer(known, many=True).data)


class SuggestionDetail(APIView):
    permissions = {"GET": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="suggestions_get",
        summary="Suggest a narrower policy under which each call of an agent stays allowed as before",
        parameters=[ENVIRONMENT, DAYS],
        responses={200: SuggestionSerializer, 400: ProblemSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, agent: str) -> Response:
        days = query_of(request, LookBackSerializer)["days"]
        record = found(agent_get(environment_of(request), agent), "agent")
        use = uses(record.environment, [record], days=days, at=timezone.now())[0]
        return Response(SuggestionSerializer(_told(use) | {"narrower": narrower(use)}).data)


def _told(use: AgentUse) -> dict[str, Any]:
    members = {each.name: getattr(use, each.name) for each in fields(use)}
    return members | {"is_enough": use.is_enough}
