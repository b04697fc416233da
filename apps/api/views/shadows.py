"""Shadow rules for programs: have a change watched, read its counter, stop it, put it into the draft."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission, may
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.shadows import ShadowAskSerializer, ShadowDetailSerializer, ShadowSerializer
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.policies.draft_fixes import DraftEdit
from apps.policies.shadows.drafting import shadow_draft
from apps.policies.shadows.starting import (
    KEPT,
    WATCHED_MOST,
    shadow_access,
    shadow_delete,
    shadow_start,
    shadow_start_edits,
    shadow_stop,
    shadows_of,
)


class Shadows(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="shadows_list",
        summary="List the shadow rules of an environment with their counters, newest first",
        parameters=[ENVIRONMENT],
        responses=ShadowSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        found = shadows_of(environment_of(request))[: KEPT + WATCHED_MOST]
        return Response(ShadowSerializer(found, many=True).data)

    @extend_schema(
        operation_id="shadows_create",
        summary="Watch a change without enforcing it: each call from now on is held against it",
        parameters=[ENVIRONMENT],
        request=ShadowAskSerializer,
        responses={201: ShadowDetailSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        asked = body_of(request, ShadowAskSerializer)
        environment = environment_of(request)
        begun: dict[str, Any] = {"by": principal_of(request), "at": timezone.now()}
        if "edits" in asked:
            made = shadow_start_edits(environment, [DraftEdit(**edit) for edit in asked["edits"]], **begun)
        else:
            made = shadow_start(environment, asked["kind"], asked["record"], **begun)
        return _detail(request, made, status=status.HTTP_201_CREATED)


class ShadowDetail(APIView):
    permissions = {"GET": Permission.POLICY_READ, "DELETE": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="shadows_get",
        summary="See what a shadow rule would have done, by tool and agent",
        responses={200: ShadowDetailSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, shadow_id: UUID) -> Response:
        return _detail(request, shadow_access(principal_of(request), shadow_id))

    @extend_schema(
        operation_id="shadows_delete",
        summary="Take a shadow rule away with what it counted",
        responses={204: None, 404: ProblemSerializer},
    )
    def delete(self, request: Request, shadow_id: UUID) -> Response:
        principal = principal_of(request)
        shadow_delete(shadow_access(principal, shadow_id, write=True), by=principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ShadowStop(APIView):
    permissions = {"POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="shadows_stop",
        summary="Watch a change no longer; what was counted stays",
        request=None,
        responses={200: ShadowDetailSerializer, 404: ProblemSerializer, 409: ProblemSerializer},
    )
    def post(self, request: Request, shadow_id: UUID) -> Response:
        principal = principal_of(request)
        found = shadow_stop(shadow_access(principal, shadow_id, write=True), by=principal, at=timezone.now())
        return _detail(request, found)


class ShadowDraft(APIView):
    permissions = {"POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="shadows_draft",
        summary="Put the change of a shadow rule into the draft; it is watched until it is live",
        request=None,
        responses={
            200: ShadowDetailSerializer,
            404: ProblemSerializer,
            409: ProblemSerializer,
            422: ProblemSerializer,
        },
    )
    def post(self, request: Request, shadow_id: UUID) -> Response:
        principal = principal_of(request)
        found = shadow_access(principal, shadow_id, write=True)
        shadow_draft(found, by=principal)
        return _detail(request, found)


def _detail(request: Request, shadow: Any, *, status: int = 200) -> Response:
    names_calls = may(principal_of(request), Permission.AUDIT_READ)
    return Response(ShadowDetailSerializer(shadow, context={"names_calls": names_calls}).data, status=status)
