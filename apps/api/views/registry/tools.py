"""Tools of the catalogue: what exists, whoever may use it."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission, permissions_of
from apps.api.reading import body_of, found, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.registry import (
    DefinitionSerializer,
    HistoryEntrySerializer,
    PreviewSerializer,
    ToolChangeSerializer,
    ToolFailureSerializer,
    ToolPageSerializer,
    ToolQuerySerializer,
    ToolRegisterSerializer,
    ToolSerializer,
    ToolStateSerializer,
    ToolUseSerializer,
    definition_members,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.audit.figures import Span
from apps.audit.tool_figures import tool_use
from apps.firewall.tools.presenting import previews
from apps.registry.definitions import tool_definition
from apps.registry.findings import tool_findings
from apps.registry.lifecycle import moves_from
from apps.registry.registering import read_order
from apps.registry.selectors import drift_pending, plugin_find, tool_failures, tool_get, tool_history
from apps.registry.services import tool_register, tool_save, tool_set_state
from apps.registry.tool_search import tools_search

DAYS = 30
REFUSED = {404: ProblemSerializer, 409: ProblemSerializer, 422: ProblemSerializer}
DAYS_PARAMETER = OpenApiParameter("days", OpenApiTypes.INT, default=DAYS, description="At most 90.")


class Tools(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="registry_tools_list",
        summary="List the tools of the catalogue",
        parameters=[ENVIRONMENT, ToolQuerySerializer],
        responses={200: ToolPageSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        query = ToolQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        wanted: dict[str, Any] = query.validated_data
        page = tools_search(
            environment_of(request),
            query.filters(),
            after=wanted.get("after", ""),
            before=wanted.get("before", ""),
            limit=wanted["limit"],
        )
        return Response(ToolPageSerializer(page).data)

    @extend_schema(
        operation_id="registry_tools_register",
        summary="Register a tool by hand; it is offered to nobody until it is activated",
        parameters=[ENVIRONMENT],
        request=ToolRegisterSerializer,
        responses={201: ToolSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        environment = environment_of(request)
        values = body_of(request, ToolRegisterSerializer)
        order = read_order(environment, values["definition"], values.get("executor"))
        plugin = found(plugin_find(environment, values["plugin"]), "plugin") if values.get("plugin") else None
        tool = tool_register(
            environment,
            order.definition,
            executor=order.executor,
            plugin=plugin,
            source=values["source"],
            by=principal_of(request),
        )
        return Response(ToolSerializer(tool).data, status=status.HTTP_201_CREATED)


class ToolDetail(APIView):
    permissions = {"GET": Permission.POLICY_READ, "PATCH": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="registry_tools_get",
        summary="Read a tool with its whole definition",
        parameters=[ENVIRONMENT],
        responses={200: DefinitionSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, tool_id: UUID) -> Response:
        tool = found(tool_get(environment_of(request), tool_id), "tool")
        drift = drift_pending(tool)
        shown = {
            "tool": tool,
            "definition": definition_members(tool),
            "findings": tool_findings(tool),
            "moves": moves_from(tool.state, permissions_of(principal_of(request))),
            "drift": None if drift is None else drift.shown_id,
        }
        return Response(DefinitionSerializer(shown).data)

    @extend_schema(
        operation_id="registry_tools_update",
        summary="Change what a tool's record says; `version` is the one that was seen",
        parameters=[ENVIRONMENT],
        request=ToolChangeSerializer,
        responses={200: ToolSerializer, **REFUSED},
    )
    def patch(self, request: Request, tool_id: UUID) -> Response:
        tool = found(tool_get(environment_of(request), tool_id), "tool")
        fields = body_of(request, ToolChangeSerializer)
        version = fields.pop("version")
        return Response(
            ToolSerializer(tool_save(tool, fields=fields, expected_version=version, by=principal_of(request))).data
        )


class ToolState(APIView):
    permissions = {"POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="registry_tools_state",
        summary="Move a tool to another state; calls meet a withdrawal at once",
        parameters=[ENVIRONMENT],
        request=ToolStateSerializer,
        responses={200: ToolSerializer, **REFUSED},
    )
    def post(self, request: Request, tool_id: UUID) -> Response:
        tool = found(tool_get(environment_of(request), tool_id), "tool")
        values = body_of(request, ToolStateSerializer)
        version = values.pop("version", None)
        return Response(
            ToolSerializer(tool_set_state(tool, expected_version=version, by=principal_of(request), **values)).data
        )


class ToolUse(APIView):
    permissions = {"GET": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="registry_tools_use",
        summary="Tell how a tool was used: calls, success, durations, errors",
        parameters=[ENVIRONMENT, DAYS_PARAMETER],
        responses={200: ToolUseSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, tool_id: UUID) -> Response:
        environment = environment_of(request)
        tool = found(tool_get(environment, tool_id), "tool")
        days = _days(request.query_params.get("days", ""))
        until = timezone.now()
        use = tool_use(Span(environment=environment.slug, since=until - timedelta(days=days), until=until), tool.name)
        ran = use.calls - use.denied
        shown = {name: getattr(use, name) for name in use.__dataclass_fields__}
        shown |= {"days": days, "success_rate": None if ran < 1 else (ran - use.failed) / ran}
        return Response(ToolUseSerializer(shown).data)


class ToolPreviews(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="registry_tools_previews",
        summary="Show what each provider is sent for a tool, what was changed or stripped, and why",
        parameters=[ENVIRONMENT],
        responses={200: PreviewSerializer(many=True), 404: ProblemSerializer},
    )
    def get(self, request: Request, tool_id: UUID) -> Response:
        environment = environment_of(request)
        tool = found(tool_get(environment, tool_id), "tool")
        shown = previews(tool_definition(tool), release=environment.dialect)
        return Response([{"provider": provider, **PreviewSerializer(each).data} for provider, each in shown.items()])


class ToolFailures(APIView):
    permissions = {"GET": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="registry_tools_failures",
        summary="List what a tool raised, the newest first: class, message and traceback, for its author",
        parameters=[ENVIRONMENT],
        responses={200: ToolFailureSerializer(many=True), 404: ProblemSerializer},
    )
    def get(self, request: Request, tool_id: UUID) -> Response:
        tool = found(tool_get(environment_of(request), tool_id), "tool")
        return Response(ToolFailureSerializer(tool_failures(tool), many=True).data)


class ToolHistory(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="registry_tools_history",
        summary="List the last changes of a tool's record, the newest first",
        parameters=[ENVIRONMENT],
        responses={200: HistoryEntrySerializer(many=True), 404: ProblemSerializer},
    )
    def get(self, request: Request, tool_id: UUID) -> Response:
        tool = found(tool_get(environment_of(request), tool_id), "tool")
        return Response(HistoryEntrySerializer(tool_history(tool), many=True).data)


def _days(text: str) -> int:
    return min(max(int(text), 1), 90) if text.isascii() and text.isdigit() and len(text) < 4 else DAYS
