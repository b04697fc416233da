"""The ledger for programs: calls, entries, and everything that matches as one stream."""

from dataclasses import fields, replace
from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission, may_agent, may_environment
from apps.api.reading import limit_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.audit import CallDetailSerializer, CallPageSerializer, EntryPageSerializer
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.audit.exports import export_stream
from apps.audit.filters import INSTANTS, LISTS, EntryFilters, filters_within
from apps.audit.formats import STREAMED
from apps.audit.looks import look_record, search_record
from apps.audit.selectors import call_record, calls, entries

FILTERS = [
    ENVIRONMENT,
    *(
        OpenApiParameter(
            field.name,
            OpenApiTypes.DATETIME if field.name in INSTANTS else OpenApiTypes.STR,
            many=field.name in LISTS,
        )
        for field in fields(EntryFilters)
        if field.name != "environment"
    ),
    OpenApiParameter("q", OpenApiTypes.STR, description="As in the console: `tool:exec agent:bot words`."),
]
PAGING = [
    OpenApiParameter("after", OpenApiTypes.STR, description="Cursor from `older`."),
    OpenApiParameter("before", OpenApiTypes.STR, description="Cursor from `newer`."),
    OpenApiParameter("limit", OpenApiTypes.INT, default=50, description="At most 500."),
]
FORMAT = OpenApiParameter("as", OpenApiTypes.STR, enum=sorted(STREAMED), default="jsonl")


def filters_of(request: Request) -> EntryFilters:
    """Read the filters of a request, within its environment.

    Raises:
        FilterError: names each value that cannot be read.
        PermissionDeniedError: another agent's, of a token that is bound to some.
    """
    filters = EntryFilters.read(request.query_params).with_search(request.query_params.get("q", ""))
    return filters_within(principal_of(request), replace(filters, environment=environment_of(request).slug))


def paging_of(request: Request) -> dict[str, Any]:
    return {
        "after": request.query_params.get("after", ""),
        "before": request.query_params.get("before", ""),
        "limit": limit_of(request, default=50, most=500),
    }


class Calls(APIView):
    permissions = {"GET": Permission.AUDIT_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="audit_calls_list",
        summary="List calls, newest first",
        parameters=[*FILTERS, *PAGING],
        responses={200: CallPageSerializer, 422: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        filters = filters_of(request)
        search_record(principal_of(request), filters)
        return Response(CallPageSerializer(calls(filters, **paging_of(request))).data)


class CallDetail(APIView):
    permissions = {"GET": Permission.AUDIT_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="audit_calls_get",
        summary="Read one call with every entry that tells of it",
        responses={200: CallDetailSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, call_id: UUID) -> Response:
        call = call_record(call_id)
        principal = principal_of(request)
        if call is None or not may_environment(principal, call.environment) or not may_agent(principal, call.agent):
            raise NotFound("the ledger knows no such call")
        look_record(principal_of(request), environment=call.environment, call_id=call.id)
        return Response(CallDetailSerializer(call).data)


class Entries(APIView):
    permissions = {"GET": Permission.AUDIT_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="audit_entries_list",
        summary="List entries, newest first",
        parameters=[*FILTERS, *PAGING],
        responses={200: EntryPageSerializer, 422: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        filters = filters_of(request)
        search_record(principal_of(request), filters, of="entries")
        return Response(EntryPageSerializer(entries(filters, **paging_of(request))).data)


class Export(APIView):
    permissions = {"GET": Permission.AUDIT_EXPORT}
    bound = ("GET",)

    @extend_schema(
        operation_id="audit_export",
        summary="Stream every entry that matches, oldest first, without a limit",
        parameters=[*FILTERS, FORMAT],
        responses={200: OpenApiTypes.BINARY, 422: ProblemSerializer},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        wanted = request.query_params.get("as", "jsonl")
        lines = export_stream(principal_of(request), filters=filters_of(request), format_name=wanted, at=timezone.now())
        return StreamingHttpResponse(
            lines,
            content_type=STREAMED[wanted].media_type,
            headers={"Content-Disposition": f'attachment; filename="audit.{wanted}"', "Cache-Control": "no-store"},
        )
