"""Replays of past calls for programs: ask for one, see how far it is and what would change, end it."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.replays import (
    ReplayAskSerializer,
    ReplayDetailSerializer,
    ReplayRuleSerializer,
    ReplaySerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.explain import snapshot_at
from apps.api.views.parameters import ENVIRONMENT
from apps.policies.replays.asking import KEPT, replay_access, replay_cancel, replay_request, replays_of
from apps.policies.replays.proofs import replay_is_required, replay_require
from apps.policies.tasks import replay_enqueue


class Replays(APIView):
    permissions = {"GET": Permission.AUDIT_READ, "POST": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="replays_list",
        summary="List the replays of an environment, newest first",
        parameters=[ENVIRONMENT],
        responses=ReplaySerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        found = replays_of(environment_of(request))[: KEPT * 2]
        return Response(ReplaySerializer(found, many=True).data)

    @extend_schema(
        operation_id="replays_create",
        summary="Hold the calls of the last days against the draft; a worker counts what would change",
        parameters=[ENVIRONMENT],
        request=ReplayAskSerializer,
        responses={202: ReplaySerializer, 404: ProblemSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        asked = body_of(request, ReplayAskSerializer)
        environment = environment_of(request)
        snapshot = snapshot_at(environment, asked["at"])
        by = principal_of(request)
        replay = replay_request(environment, snapshot, days=asked["days"], by=by, at=timezone.now())
        replay_enqueue(replay.pk)
        return Response(ReplaySerializer(replay).data, status=status.HTTP_202_ACCEPTED)


class ReplayDetail(APIView):
    permissions = {"GET": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="replays_get",
        summary="See how far a replay is, and which calls would be decided otherwise, by agent, tool and rule",
        responses={200: ReplayDetailSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, replay_id: UUID) -> Response:
        return Response(ReplayDetailSerializer(replay_access(principal_of(request), replay_id)).data)


class ReplayCancel(APIView):
    permissions = {"POST": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="replays_cancel",
        summary="End a replay that goes on",
        request=None,
        responses={200: ReplaySerializer, 404: ProblemSerializer, 409: ProblemSerializer},
    )
    def post(self, request: Request, replay_id: UUID) -> Response:
        principal = principal_of(request)
        replay = replay_cancel(replay_access(principal, replay_id), by=principal, at=timezone.now())
        return Response(ReplaySerializer(replay).data)


class ReplayRequired(APIView):
    permissions = {"GET": Permission.POLICY_READ, "PUT": Permission.PUBLISH}

    @extend_schema(
        operation_id="replays_rule_get",
        summary="Say whether every door publishes only what was replayed",
        parameters=[ENVIRONMENT],
        responses=ReplayRuleSerializer,
    )
    def get(self, request: Request) -> Response:
        return _rule(environment_of(request))

    @extend_schema(
        operation_id="replays_rule_put",
        summary="Have every door publish only what was replayed, or leave that to the page of the review",
        parameters=[ENVIRONMENT],
        request=ReplayRuleSerializer,
        responses={200: ReplayRuleSerializer, 422: ProblemSerializer},
    )
    def put(self, request: Request) -> Response:
        environment = environment_of(request)
        asked = body_of(request, ReplayRuleSerializer)
        replay_require(environment, is_required=asked["is_required"], by=principal_of(request))
        return _rule(environment)


def _rule(environment: Any) -> Response:
    return Response({"is_required": replay_is_required(environment)})
