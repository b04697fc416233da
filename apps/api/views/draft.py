"""The working draft as a whole: import, export, what changed, what the lint says."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, found, principal_of, query_of
from apps.api.scope import environment_of
from apps.api.serializers.policies import (
    DiagnosticSerializer,
    DocumentQuerySerializer,
    DocumentSerializer,
    DocumentsSerializer,
    DraftChangeSerializer,
    ImportReportSerializer,
    UndoableChangeSerializer,
    UndoSerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.policies.selectors import (
    approvals_export,
    document_export,
    document_for_release,
    draft_changes,
    draft_tool_changes,
    guards_export,
    lint,
)
from apps.policies.services.documents import document_import
from apps.policies.services.undoing import change_undo
from apps.policies.undoable import change_of, draft_change_own


class Document(APIView):
    permissions = {"GET": Permission.POLICY_READ, "PUT": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="document_get",
        summary="Export the draft as openclaw.json; secrets are placeholders",
        parameters=[ENVIRONMENT, DocumentQuerySerializer],
        responses=DocumentsSerializer,
    )
    def get(self, request: Request) -> Response:
        environment, asked = environment_of(request), query_of(request, DocumentQuerySerializer)
        document = document_export(environment)
        released, unread = document_for_release(environment, document)
        return Response(
            {
                "document": released if asked["unread"] == "drop" else document,
                "unread": unread,
                "approvals": approvals_export(environment),
                "guards": guards_export(environment),
            }
        )

    @extend_schema(
        operation_id="document_put",
        summary="Import openclaw.json: it becomes the draft, whole or not at all",
        parameters=[ENVIRONMENT],
        request=DocumentSerializer,
        responses={200: ImportReportSerializer, 422: ProblemSerializer},
    )
    def put(self, request: Request) -> Response:
        environment = environment_of(request)
        given = body_of(request, DocumentSerializer)
        report = document_import(
            environment,
            given.get("document"),
            approvals=given.get("approvals"),
            guards=given.get("guards"),
            by=principal_of(request),
        )
        return Response({**asdict(report), "diagnostics": _findings(report.diagnostics)})


class Changes(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="draft_changes",
        summary="List what differs from what is live: records of the draft, then tools",
        parameters=[ENVIRONMENT],
        responses=DraftChangeSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        environment = environment_of(request)
        changes = [*draft_changes(environment), *draft_tool_changes(environment)]
        return Response(DraftChangeSerializer(changes, many=True).data)


class Undo(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="draft_undo_get",
        summary="Read the draft's newest change, when it is the caller's own and can be undone",
        parameters=[ENVIRONMENT],
        responses={200: UndoableChangeSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        environment = environment_of(request)
        change = draft_change_own(environment, principal_of(request))
        told = None if change is None else change_of(environment, change)
        return Response(UndoableChangeSerializer(found(told, "change of yours to undo")).data)

    @extend_schema(
        operation_id="draft_undo",
        summary="Take back a saved change of one record that the caller made: `change`, else the draft's newest",
        parameters=[ENVIRONMENT],
        request=UndoSerializer,
        responses={200: UndoableChangeSerializer, 404: ProblemSerializer, 409: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        environment, by = environment_of(request), principal_of(request)
        change = body_of(request, UndoSerializer).get("change") or draft_change_own(environment, by)
        undone = change_undo(environment, found(change, "change of yours to undo"), by=by)
        return Response(UndoableChangeSerializer(undone).data)


class Lint(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="draft_lint",
        summary="List what the draft's records probably do not mean",
        parameters=[ENVIRONMENT],
        responses=DiagnosticSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(_findings(lint(environment_of(request))))


def _findings(found: Any) -> Any:
    return DiagnosticSerializer(found, many=True).data
