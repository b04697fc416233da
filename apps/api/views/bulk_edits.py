"""Bulk edits for programs: ask for one, see how far it is and what came of each agent."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.bulk_edits import BulkAskSerializer, BulkEditDetailSerializer, BulkEditSerializer
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.policies.bulk.asking import KEPT, bulk_access, bulk_edits, bulk_request
from apps.policies.bulk.changes import BulkChange
from apps.policies.selectors import agents
from apps.policies.tasks import bulk_enqueue


class BulkEdits(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="bulk_edits_list",
        summary="List the bulk edits of an environment, newest first",
        parameters=[ENVIRONMENT],
        responses=BulkEditSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(BulkEditSerializer(bulk_edits(environment_of(request))[: KEPT * 2], many=True).data)

    @extend_schema(
        operation_id="bulk_edits_create",
        summary="Change many agents of the draft alike; a worker makes it row by row",
        parameters=[ENVIRONMENT],
        request=BulkAskSerializer,
        responses={202: BulkEditSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        asked, environment = body_of(request, BulkAskSerializer), environment_of(request)
        change = BulkChange.read(environment, asked)
        chosen = agents(environment)
        if "agents" in asked:
            chosen = chosen.filter(key__in=asked["agents"])
        edit = bulk_request(environment, list(chosen), change, by=principal_of(request), at=timezone.now())
        bulk_enqueue(edit.pk)
        return Response(BulkEditSerializer(edit).data, status=status.HTTP_202_ACCEPTED)


class BulkEditDetail(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="bulk_edits_get",
        summary="See how far a bulk edit is, and what came of each agent",
        responses={200: BulkEditDetailSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, edit_id: UUID) -> Response:
        return Response(BulkEditDetailSerializer(bulk_access(principal_of(request), edit_id)).data)
