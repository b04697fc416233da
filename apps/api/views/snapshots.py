"""What is live, what was, and publishing."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.policies import PublicationSerializer, PublishNowSerializer, RollbackSerializer
from apps.api.serializers.shared import ProblemSerializer
from apps.api.serializers.snapshots import SnapshotDifferenceSerializer, difference_json
from apps.api.view import APIView
from apps.api.views.explain import snapshot_at
from apps.api.views.parameters import ENVIRONMENT
from apps.firewall.identifiers import read_id
from apps.policies.selectors import publication_get, publications, snapshots_diff
from apps.policies.services.publishing import publish, rollback

HISTORY_LIMIT = 200
REFUSED = {409: ProblemSerializer, 422: ProblemSerializer}


class Snapshot(APIView):
    """The canonical bytes of a snapshot. Its digest is the ETag: who has it already gets 304."""

    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="snapshots_get",
        summary="Read a snapshot: `live`, `draft`, or by digest",
        parameters=[ENVIRONMENT],
        responses={200: OpenApiTypes.OBJECT, 304: None, 404: ProblemSerializer},
    )
    def get(self, request: Request, at: str) -> HttpResponse:
        snapshot = snapshot_at(environment_of(request), at)
        tag = f'"{snapshot.digest}"'
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        known = {part.strip().removeprefix("W/") for part in request.headers.get("If-None-Match", "").split(",")}
        if tag in known or "*" in known:
            return HttpResponse(status=status.HTTP_304_NOT_MODIFIED, headers=headers)
        return HttpResponse(snapshot.to_bytes(), content_type="application/json", headers=headers)


class SnapshotDifference(APIView):
    """Which blocks and tools two snapshots do not have in common, and who gains and loses what on the way."""

    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="snapshots_diff",
        summary="Compare two snapshots: each `live`, `draft`, or a digest",
        parameters=[ENVIRONMENT, OpenApiParameter("a", default="live"), OpenApiParameter("b", default="draft")],
        responses={200: SnapshotDifferenceSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        environment = environment_of(request)
        old = snapshot_at(environment, request.query_params.get("a", "live"))
        new = snapshot_at(environment, request.query_params.get("b", "draft"))
        return Response(difference_json(old, new, snapshots_diff(old, new)))


class Publications(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.PUBLISH}

    @extend_schema(
        operation_id="publications_list",
        summary="List publications, the live one first",
        parameters=[ENVIRONMENT],
        responses=PublicationSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        found = publications(environment_of(request))[:HISTORY_LIMIT]
        return Response(PublicationSerializer(found, many=True).data)

    @extend_schema(
        operation_id="publications_create",
        summary="Publish the draft",
        parameters=[ENVIRONMENT],
        request=PublishNowSerializer,
        responses={201: PublicationSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        environment = environment_of(request)
        wanted = body_of(request, PublishNowSerializer)
        may_repeat = wanted.pop("force")
        made = publish(environment, by=principal_of(request), may_repeat=may_repeat, **wanted)
        return Response(PublicationSerializer(made).data, status=status.HTTP_201_CREATED)


class Rollback(APIView):
    permissions = {"POST": Permission.PUBLISH}

    @extend_schema(
        operation_id="publications_rollback",
        summary="Make an earlier publication's snapshot live again",
        parameters=[ENVIRONMENT],
        request=RollbackSerializer,
        responses={201: PublicationSerializer, 404: ProblemSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        environment = environment_of(request)
        values = body_of(request, RollbackSerializer)
        publication = publication_asked(environment, values.pop("publication"))
        made = rollback(environment, publication, by=principal_of(request), **values)
        return Response(PublicationSerializer(made).data, status=status.HTTP_201_CREATED)


def publication_asked(environment: Any, shown: str) -> Any:
    try:
        publication = publication_get(read_id("pub", shown))
    except ValueError:
        publication = None
    if publication is None or publication.environment_id != environment.pk:
        raise NotFound("no such publication")
    return publication
