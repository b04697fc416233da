"""Many requests at once, for programs: similar ones, and one answer to several."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.approvals_many import BatchAnswerSerializer, BatchSerializer, PileSerializer
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.approvals.batch import batch_outlook, batch_resolve
from apps.approvals.piles import piles

PILES_MOST = 200


class SimilarApprovals(APIView):
    permissions = {"GET": Permission.APPROVALS_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="approvals_similar",
        summary="List what waits, similar requests as one with their number",
        parameters=[ENVIRONMENT],
        responses=PileSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        found = piles(environment_of(request), by=principal_of(request), at=timezone.now(), most=PILES_MOST)
        return Response(PileSerializer(found, many=True).data)


class ApprovalsBatch(APIView):
    permissions = {"POST": Permission.APPROVALS_RESOLVE}
    bound = ("POST",)

    @extend_schema(
        operation_id="approvals_batch",
        summary="Answer many requests at once, each by itself; or only tell what that would do",
        request=BatchSerializer,
        responses={200: BatchAnswerSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        wanted = body_of(request, BatchSerializer)
        answer: dict[str, Any] = {"decision": wanted["decision"], "by": principal_of(request), "at": timezone.now()}
        if wanted["dry_run"]:
            batch_id, items = None, batch_outlook(wanted["ids"], **answer)
        else:
            batch_id, items = batch_resolve(wanted["ids"], reason=wanted["reason"], **answer)
        shown = {"batch": batch_id, "applied": sum(item.counts for item in items), "items": items}
        return Response(BatchAnswerSerializer(shown).data)
