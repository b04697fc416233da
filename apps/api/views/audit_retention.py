"""The end of records for programs: retention, purges, legal holds, and the erasure of one subject."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, found, principal_of
from apps.api.scope import installation_of
from apps.api.serializers.audit_retention import (
    DaysSerializer,
    ErasureAskSerializer,
    ErasurePreviewSerializer,
    ErasureSerializer,
    HoldAskSerializer,
    HoldSerializer,
    HoldsSerializer,
    PurgePreviewSerializer,
    ReasonSerializer,
    RetentionClassSerializer,
    SubjectSerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.audit.retention.classes import (
    CLASSES,
    RetentionClass,
    purge_preview,
    retention_class,
    retention_classes,
    retention_set,
)
from apps.audit.retention.erasing import erasure_access, erasure_preview, erasure_request, erasures
from apps.audit.retention.holds import hold_access, hold_lift, hold_place, holds_active, holds_lifted
from apps.audit.retention.purging import purge_request, purges
from apps.audit.tasks import erasure_enqueue, purge_enqueue

MANAGE = Permission.AUDIT_MANAGE
REFUSED = {404: ProblemSerializer, 422: ProblemSerializer}


class _WholeLedger(APIView):
    """Classes, holds and subjects know no environment: a token of one finds nothing here."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        installation_of(request)


class Retention(_WholeLedger):
    permissions = {"GET": MANAGE}

    @extend_schema(
        operation_id="audit_retention_list",
        summary="List the classes of records: how long each is kept, and the floor",
        responses=RetentionClassSerializer(many=True),
    )
    def get(self, _: Request) -> Response:
        return Response(RetentionClassSerializer(retention_classes(), many=True).data)


class RetentionDetail(_WholeLedger):
    permissions = {"GET": MANAGE, "PATCH": MANAGE}

    @extend_schema(
        operation_id="audit_retention_preview",
        summary="Say what a purge of a class would take now, and how far the last one is",
        responses={200: PurgePreviewSerializer, **REFUSED},
    )
    def get(self, request: Request, name: str) -> Response:
        return Response(_purge(request, _class(name).name))

    @extend_schema(
        operation_id="audit_retention_set",
        summary="Say how many days a class is kept; null for ever",
        request=DaysSerializer,
        responses={200: RetentionClassSerializer, **REFUSED},
    )
    def patch(self, request: Request, name: str) -> Response:
        days = body_of(request, DaysSerializer)["days"]
        kept = retention_set(principal_of(request), _class(name).name, days=days, at=timezone.now())
        return Response(RetentionClassSerializer(kept).data)


class RetentionPurge(_WholeLedger):
    permissions = {"POST": MANAGE}

    @extend_schema(
        operation_id="audit_retention_purge",
        summary="Purge a class; a worker takes what no longer is kept. Read the preview again to see how much is left",
        request=None,
        responses={202: PurgePreviewSerializer, **REFUSED},
    )
    def post(self, request: Request, name: str) -> Response:
        run = purge_request(principal_of(request), _class(name).name, at=timezone.now())
        answer = _purge(request, name)
        purge_enqueue(run.pk)
        return Response(answer, status=status.HTTP_202_ACCEPTED)


class Holds(_WholeLedger):
    permissions = {"GET": MANAGE, "POST": MANAGE}

    @extend_schema(
        operation_id="audit_holds_list",
        summary="List the legal holds that hold, and those lifted last",
        responses=HoldsSerializer,
    )
    def get(self, _: Request) -> Response:
        return Response(HoldsSerializer({"holds": holds_active(), "lifted": holds_lifted()}).data)

    @extend_schema(
        operation_id="audit_holds_create",
        summary="Keep records from going; it holds when this answers",
        request=HoldAskSerializer,
        responses={201: HoldSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        hold = hold_place(principal_of(request), at=timezone.now(), **body_of(request, HoldAskSerializer))
        return Response(HoldSerializer(hold).data, status=status.HTTP_201_CREATED)


class HoldLift(_WholeLedger):
    permissions = {"POST": MANAGE}

    @extend_schema(
        operation_id="audit_holds_lift",
        summary="Let go of a hold; the first time counts",
        request=ReasonSerializer,
        responses={200: HoldSerializer, **REFUSED},
    )
    def post(self, request: Request, hold_id: UUID) -> Response:
        reason = body_of(request, ReasonSerializer)["reason"]
        principal = principal_of(request)
        hold = hold_lift(principal, hold_access(principal, hold_id), reason=reason, at=timezone.now())
        return Response(HoldSerializer(hold).data)


class Erasures(_WholeLedger):
    permissions = {"GET": MANAGE, "POST": MANAGE}

    @extend_schema(
        operation_id="audit_erasures_list",
        summary="List the newest erasures",
        responses=ErasureSerializer(many=True),
    )
    def get(self, _: Request) -> Response:
        return Response(ErasureSerializer(erasures(limit=100), many=True).data)

    @extend_schema(
        operation_id="audit_erasures_create",
        summary="Erase what the calls of one sender were given and answered, everywhere; it cannot be taken back",
        request=ErasureAskSerializer,
        responses={202: ErasureSerializer, 409: ProblemSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        erasure = erasure_request(principal_of(request), at=timezone.now(), **body_of(request, ErasureAskSerializer))
        erasure_enqueue(erasure.pk)
        return Response(ErasureSerializer(erasure).data, status=status.HTTP_202_ACCEPTED)


class ErasurePreview(_WholeLedger):
    permissions = {"POST": MANAGE}

    @extend_schema(
        operation_id="audit_erasures_preview",
        summary="Say how much of a subject there is, and where; nothing goes",
        request=SubjectSerializer,
        responses={200: ErasurePreviewSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        preview = erasure_preview(principal_of(request), **body_of(request, SubjectSerializer))
        elsewhere = [{"label": label, "count": count} for label, count in preview.elsewhere]
        return Response(ErasurePreviewSerializer(asdict(preview) | {"elsewhere": elsewhere}).data)


class ErasureDetail(_WholeLedger):
    permissions = {"GET": MANAGE}

    @extend_schema(
        operation_id="audit_erasures_get",
        summary="See how far an erasure is",
        responses={200: ErasureSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, erasure_id: UUID) -> Response:
        return Response(ErasureSerializer(erasure_access(principal_of(request), erasure_id)).data)


def _purge(request: Request, name: str) -> Any:
    preview = asdict(purge_preview(principal_of(request), name))
    return PurgePreviewSerializer(preview | {"run": next(iter(purges(name, limit=1)), None)}).data


def _class(name: str) -> RetentionClass:
    return found(retention_class(name) if name in CLASSES else None, "class of records")
