"""Policy records of the working draft: list, read, create, change, delete. What is live changes only by publishing."""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view, inline_serializer
from rest_framework import serializers, status
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, limit_of, principal_of, version_of
from apps.api.scope import environment_of
from apps.api.serializers.records import RECORD_KINDS, RecordKind, record_of, records_of
from apps.api.serializers.shared import ProblemSerializer, VersionSerializer
from apps.api.view import APIView
from apps.api.views.parameters import CURSOR, ENVIRONMENT, LIMIT
from apps.policies.services.records import record_delete, record_update

VERSION = OpenApiParameter(
    "version", OpenApiTypes.INT, required=True, description="The version that the caller has seen."
)
REFUSED = {404: ProblemSerializer, 409: ProblemSerializer, 422: ProblemSerializer}


class RecordPages(CursorPagination):
    """Pages in the order of the document; `next` and `previous` are addresses."""

    page_size = 100
    page_size_query_param = "limit"
    max_page_size = 1000
    ordering = ("position", "id")

    def get_page_size(self, request: Request) -> int:
        return limit_of(request, default=self.page_size, most=self.max_page_size)


class Records(APIView):
    """The records of one kind."""

    kind: RecordKind
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.POLICY_WRITE}
    pagination_class = RecordPages

    def get(self, request: Request) -> Response:
        pages = self.pagination_class()
        page = pages.paginate_queryset(records_of(environment_of(request), self.kind.kind), request, view=self)
        return pages.get_paginated_response(self.kind.serializer(page, many=True).data)


class GrowingRecords(Records):
    """The records of a kind that programs may add to."""

    def post(self, request: Request) -> Response:
        create = self.kind.create
        assert create is not None  # noqa: S101 - the table below gives this class to kinds that can be made
        wanted = body_of(request, self.kind.serializer)
        values = {name.removesuffix("_id"): value for name, value in wanted.items()}
        record = create(environment_of(request), values, principal_of(request))
        return Response(self.kind.serializer(record).data, status=status.HTTP_201_CREATED)


class RecordDetail(APIView):
    """One record."""

    kind: RecordKind
    permissions = {
        "GET": Permission.POLICY_READ,
        "PATCH": Permission.POLICY_WRITE,
        "DELETE": Permission.POLICY_WRITE,
    }

    def get(self, request: Request, record_id: UUID) -> Response:
        return Response(self.kind.serializer(record_of(environment_of(request), self.kind.kind, record_id)).data)

    def patch(self, request: Request, record_id: UUID) -> Response:
        record = record_of(environment_of(request), self.kind.kind, record_id)
        version = body_of(request, VersionSerializer)["version"]
        wanted = body_of(request, self.kind.serializer, changes=record)
        record = record_update(record, wanted, by=principal_of(request), expected_version=version)
        return Response(self.kind.serializer(record).data)

    def delete(self, request: Request, record_id: UUID) -> Response:
        record = record_of(environment_of(request), self.kind.kind, record_id)
        version = version_of(request)
        record_delete(record, by=principal_of(request), expected_version=version)
        return Response(status=status.HTTP_204_NO_CONTENT)


def record_views(kind: RecordKind) -> tuple[Any, Any]:
    """Make the two views of a kind, each with its own words in the OpenAPI document."""
    stem = kind.path.replace("-", "_")
    name = kind.serializer.__name__
    words = {
        "get": extend_schema(
            operation_id=f"{stem}_list",
            summary=f"List {kind.title}",
            parameters=[ENVIRONMENT, LIMIT, CURSOR],
            responses=_page_of(kind),
        )
    }
    if kind.create:
        words["post"] = extend_schema(
            operation_id=f"{stem}_create",
            summary=f"Add to {kind.title}",
            parameters=[ENVIRONMENT],
            request=kind.serializer,
            responses={201: kind.serializer, **REFUSED},
        )
    listing = type(f"{name}List", (GrowingRecords if kind.create else Records,), {"kind": kind})
    detail = type(f"{name}Detail", (RecordDetail,), {"kind": kind})
    return extend_schema_view(**words)(listing), extend_schema_view(
        get=extend_schema(
            operation_id=f"{stem}_get",
            summary=f"Read one of {kind.title}",
            parameters=[ENVIRONMENT],
            responses={200: kind.serializer, 404: ProblemSerializer},
        ),
        patch=extend_schema(
            operation_id=f"{stem}_update",
            summary=f"Change one of {kind.title}; `version` is the one that was seen",
            parameters=[ENVIRONMENT],
            request=kind.changes,
            responses={200: kind.serializer, **REFUSED},
        ),
        delete=extend_schema(
            operation_id=f"{stem}_delete",
            summary=f"Delete one of {kind.title} and what belongs to it",
            parameters=[ENVIRONMENT, VERSION],
            responses={204: None, **REFUSED},
        ),
    )(detail)


def _page_of(kind: RecordKind) -> Any:
    return inline_serializer(
        f"{kind.serializer.__name__}Page",
        {
            "next": serializers.URLField(allow_null=True),
            "previous": serializers.URLField(allow_null=True),
            "results": kind.serializer(many=True),
        },
    )


RECORD_VIEWS = {kind.path: record_views(kind) for kind in RECORD_KINDS}
