"""Discovery sources, the looks at them, and the changed definitions that wait for an admin."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, found, principal_of, query_of, version_of
from apps.api.scope import environment_of
from apps.api.serializers.registry import (
    AcceptedToolSerializer,
    DriftQuerySerializer,
    DriftSerializer,
    RunDetailSerializer,
    RunSerializer,
    SourceChangeSerializer,
    SourceCreateSerializer,
    SourceSerializer,
    ToolSerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.api.views.records import VERSION
from apps.api.views.registry.tools import REFUSED
from apps.registry.selectors import drift_get, drifts_of, run_get, runs_of, source_get, sources_of
from apps.registry.services import drift_accept, drift_dismiss, source_create, source_delete, source_save
from apps.registry.tasks import look_begin

RUNS_SHOWN = 100
DRIFTS_SHOWN = 200


class Sources(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="registry_sources_list",
        summary="List the sources of tools, each with its last look",
        parameters=[ENVIRONMENT],
        responses=SourceSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(SourceSerializer(sources_of(environment_of(request)), many=True).data)

    @extend_schema(
        operation_id="registry_sources_create",
        summary="Add a source of tools",
        parameters=[ENVIRONMENT],
        request=SourceCreateSerializer,
        responses={201: SourceSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        wanted = body_of(request, SourceCreateSerializer)
        source = source_create(environment_of(request), by=principal_of(request), **wanted)
        return Response(SourceSerializer(source).data, status=status.HTTP_201_CREATED)


class SourceDetail(APIView):
    permissions = {
        "GET": Permission.POLICY_READ,
        "PATCH": Permission.POLICY_WRITE,
        "DELETE": Permission.POLICY_WRITE,
    }

    @extend_schema(
        operation_id="registry_sources_get",
        summary="Read a source",
        parameters=[ENVIRONMENT],
        responses={200: SourceSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, source_id: UUID) -> Response:
        return Response(SourceSerializer(found(source_get(environment_of(request), source_id), "source")).data)

    @extend_schema(
        operation_id="registry_sources_update",
        summary="Change a source; `version` is the one that was seen",
        parameters=[ENVIRONMENT],
        request=SourceChangeSerializer,
        responses={200: SourceSerializer, **REFUSED},
    )
    def patch(self, request: Request, source_id: UUID) -> Response:
        source = found(source_get(environment_of(request), source_id), "source")
        values = body_of(request, SourceChangeSerializer)
        version = values.pop("version")
        return Response(
            SourceSerializer(source_save(source, expected_version=version, by=principal_of(request), **values)).data
        )

    @extend_schema(
        operation_id="registry_sources_delete",
        summary="Remove a source; its tools are unregistered at once",
        parameters=[ENVIRONMENT, VERSION],
        responses={204: None, **REFUSED},
    )
    def delete(self, request: Request, source_id: UUID) -> Response:
        source = found(source_get(environment_of(request), source_id), "source")
        source_delete(source, expected_version=version_of(request), by=principal_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class SourceLook(APIView):
    permissions = {"POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="registry_sources_look",
        summary="Look through a source now; the run tells how far that is",
        parameters=[ENVIRONMENT],
        request=None,
        responses={202: RunSerializer, **REFUSED},
    )
    def post(self, request: Request, source_id: UUID) -> Response:
        source = found(source_get(environment_of(request), source_id), "source")
        run = look_begin(source, by=principal_of(request))
        return Response(RunSerializer(run).data, status=status.HTTP_202_ACCEPTED)


class SourceRuns(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="registry_sources_runs",
        summary="List the looks at a source, the newest first",
        parameters=[ENVIRONMENT],
        responses={200: RunSerializer(many=True), 404: ProblemSerializer},
    )
    def get(self, request: Request, source_id: UUID) -> Response:
        source = found(source_get(environment_of(request), source_id), "source")
        return Response(RunSerializer(runs_of(source)[:RUNS_SHOWN], many=True).data)


class RunDetail(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="registry_runs_get",
        summary="Read a look with what it made of each tool",
        parameters=[ENVIRONMENT],
        responses={200: RunDetailSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        return Response(RunDetailSerializer(found(run_get(environment_of(request), run_id), "run")).data)


class Drifts(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="registry_drifts_list",
        summary="List definitions that their sources have changed, the newest first",
        parameters=[ENVIRONMENT, DriftQuerySerializer],
        responses={200: DriftSerializer(many=True), 404: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        query = query_of(request, DriftQuerySerializer)
        rows = drifts_of(environment_of(request), state=query.get("state", ""))
        return Response(DriftSerializer(rows[:DRIFTS_SHOWN], many=True).data)


class DriftDetail(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="registry_drifts_get",
        summary="Read a changed definition",
        parameters=[ENVIRONMENT],
        responses={200: DriftSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, drift_id: UUID) -> Response:
        return Response(DriftSerializer(found(drift_get(environment_of(request), drift_id), "drift")).data)


class DriftAccept(APIView):
    permissions = {"POST": Permission.PUBLISH}

    @extend_schema(
        operation_id="registry_drifts_accept",
        summary="Take a changed definition over; agents see it once it is published",
        parameters=[ENVIRONMENT],
        request=None,
        responses={200: AcceptedToolSerializer, **REFUSED},
    )
    def post(self, request: Request, drift_id: UUID) -> Response:
        drift = found(drift_get(environment_of(request), drift_id), "drift")
        return Response(AcceptedToolSerializer(drift_accept(drift, by=principal_of(request))).data)


class DriftDismiss(APIView):
    permissions = {"POST": Permission.PUBLISH}

    @extend_schema(
        operation_id="registry_drifts_dismiss",
        summary="Go on with the definition that was accepted",
        parameters=[ENVIRONMENT],
        request=None,
        responses={200: ToolSerializer, **REFUSED},
    )
    def post(self, request: Request, drift_id: UUID) -> Response:
        drift = found(drift_get(environment_of(request), drift_id), "drift")
        return Response(ToolSerializer(drift_dismiss(drift, by=principal_of(request))).data)
