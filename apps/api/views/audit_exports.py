"""Files of the ledger for programs: ask for one, see how far it is, take it, end it."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from django.http import FileResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.audit_exports import ExportAskSerializer, ExportPageSerializer, ExportSerializer
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.audit.errors import FilterError
from apps.audit.export_files import manifest_path
from apps.audit.exports import export_access, export_cancel, export_path, export_request, exports_of, name_of
from apps.audit.filters import EntryFilters
from apps.audit.formats import FORMATS
from apps.audit.tasks import export_enqueue
from apps.firewall.identifiers import read_id, show_id

PAGE = 50


class AuditExports(APIView):
    permissions = {"GET": Permission.AUDIT_EXPORT, "POST": Permission.AUDIT_EXPORT}
    bound = ("GET", "POST")

    @extend_schema(
        operation_id="audit_exports_list",
        summary="List the exports that you asked for, newest first",
        parameters=[OpenApiParameter("after", OpenApiTypes.STR, description="`older` of the page before.")],
        responses={200: ExportPageSerializer, 422: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        principal = principal_of(request)
        after = request.query_params.get("after", "")
        before = export_access(principal, _cursor(after)) if after else None
        found = exports_of(principal, limit=PAGE + 1, before=before)
        older = show_id("exp", found[PAGE - 1].pk) if len(found) > PAGE else None
        return Response({"rows": ExportSerializer(found[:PAGE], many=True).data, "older": older})

    @extend_schema(
        operation_id="audit_exports_create",
        summary="Ask for a file of every entry that matches now; a worker writes it",
        parameters=[ENVIRONMENT],
        request=ExportAskSerializer,
        responses={202: ExportSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        asked = body_of(request, ExportAskSerializer)
        environment = environment_of(request)
        filters = EntryFilters.read(asked["filters"])
        if filters.environment not in {"", environment.slug}:
            message = f"filters.environment: name it as `?environment={filters.environment}`"
            raise FilterError([{"path": "filters.environment", "code": "invalid", "message": message}])
        filters = replace(filters, environment=environment.slug)
        export = export_request(principal_of(request), filters=filters, format_name=asked["format"], at=timezone.now())
        export_enqueue(export.pk)
        return Response(ExportSerializer(export).data, status=status.HTTP_202_ACCEPTED)


def _cursor(text: str) -> UUID:
    try:
        return read_id("exp", text)
    except ValueError:
        raise FilterError(
            [{"path": "after", "code": "invalid", "message": "after: not a cursor of this list"}]
        ) from None


class AuditExportDetail(APIView):
    permissions = {"GET": Permission.AUDIT_EXPORT}
    bound = ("GET",)

    @extend_schema(
        operation_id="audit_exports_get",
        summary="See how far an export is",
        responses={200: ExportSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, export_id: UUID) -> Response:
        return Response(ExportSerializer(export_access(principal_of(request), export_id)).data)


class AuditExportCancel(APIView):
    permissions = {"POST": Permission.AUDIT_EXPORT}
    bound = ("POST",)

    @extend_schema(
        operation_id="audit_exports_cancel",
        summary="End an export that is not done; nothing of it stays",
        request=None,
        responses={200: ExportSerializer, 404: ProblemSerializer, 409: ProblemSerializer},
    )
    def post(self, request: Request, export_id: UUID) -> Response:
        principal = principal_of(request)
        export = export_cancel(principal, export_access(principal, export_id), at=timezone.now())
        return Response(ExportSerializer(export).data)


class AuditExportFile(APIView):
    permissions = {"GET": Permission.AUDIT_EXPORT}
    bound = ("GET",)

    @extend_schema(
        operation_id="audit_exports_file",
        summary="Take the file of an export that is done",
        responses={200: OpenApiTypes.BINARY, 404: ProblemSerializer},
    )
    def get(self, request: Request, export_id: UUID) -> Any:
        export = export_access(principal_of(request), export_id)
        return _taken(export_path(export), name_of(export), FORMATS[export.format].media_type)


class AuditExportManifest(APIView):
    permissions = {"GET": Permission.AUDIT_EXPORT}
    bound = ("GET",)

    @extend_schema(
        operation_id="audit_exports_manifest",
        summary="Take the signed manifest of an export that is done",
        responses={200: OpenApiTypes.BINARY, 404: ProblemSerializer},
    )
    def get(self, request: Request, export_id: UUID) -> Any:
        export = export_access(principal_of(request), export_id)
        return _taken(manifest_path(export_path(export)), name_of(export, suffix=".manifest.json"), "application/json")


def _taken(path: Path, name: str, media_type: str) -> FileResponse:
    return FileResponse(
        path.open("rb"),
        as_attachment=True,
        filename=name,
        content_type=media_type,
        headers={"Cache-Control": "no-store"},
    )
