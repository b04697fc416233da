"""Guardrails for programs: list, add, read, change, remove, check, accept."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, found, principal_of, query_of, version_of
from apps.api.scope import environment_of
from apps.api.serializers.guardrails import (
    AcceptanceSerializer,
    AcceptSerializer,
    GuardrailChangeSerializer,
    GuardrailCheckSerializer,
    GuardrailNewSerializer,
    GuardrailSerializer,
)
from apps.api.serializers.policy_tests import RunQuerySerializer
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.explain import snapshot_at
from apps.api.views.parameters import ENVIRONMENT
from apps.api.views.records import VERSION
from apps.api.views.registry.tools import REFUSED
from apps.policies.guardrails import guardrail_get, guardrails, guardrails_checked
from apps.policies.selectors import publication_get
from apps.policies.services import guardrail_accept, guardrail_create, guardrail_delete, guardrail_save


class Guardrails(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="guardrails_list",
        summary="List the guardrails, by name",
        parameters=[ENVIRONMENT],
        responses=GuardrailSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(GuardrailSerializer(guardrails(environment_of(request)), many=True).data)

    @extend_schema(
        operation_id="guardrails_create",
        summary="Add a guardrail; no publication may fail it from now on",
        parameters=[ENVIRONMENT],
        request=GuardrailNewSerializer,
        responses={201: GuardrailSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        environment = environment_of(request)
        wanted = body_of(request, GuardrailNewSerializer)
        made = guardrail_create(environment, by=principal_of(request), **wanted)
        return Response(GuardrailSerializer(made).data, status=status.HTTP_201_CREATED)


class GuardrailDetail(APIView):
    permissions = {
        "GET": Permission.POLICY_READ,
        "PATCH": Permission.POLICY_WRITE,
        "DELETE": Permission.POLICY_WRITE,
    }

    @extend_schema(
        operation_id="guardrails_get",
        summary="Read a guardrail",
        parameters=[ENVIRONMENT],
        responses={200: GuardrailSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, guardrail_id: UUID) -> Response:
        return Response(GuardrailSerializer(_asked(request, guardrail_id)).data)

    @extend_schema(
        operation_id="guardrails_update",
        summary="Change a guardrail, or switch it off or on; `version` is the one that was seen",
        parameters=[ENVIRONMENT],
        request=GuardrailChangeSerializer,
        responses={200: GuardrailSerializer, **REFUSED},
    )
    def patch(self, request: Request, guardrail_id: UUID) -> Response:
        guardrail = _asked(request, guardrail_id)
        wanted = body_of(request, GuardrailChangeSerializer)
        version = wanted.pop("version")
        saved = guardrail_save(guardrail, expected_version=version, by=principal_of(request), **wanted)
        return Response(GuardrailSerializer(saved).data)

    @extend_schema(
        operation_id="guardrails_delete",
        summary="Remove a guardrail and what was accepted of it",
        parameters=[ENVIRONMENT, VERSION],
        responses={204: None, **REFUSED},
    )
    def delete(self, request: Request, guardrail_id: UUID) -> Response:
        guardrail = _asked(request, guardrail_id)
        guardrail_delete(guardrail, expected_version=version_of(request), by=principal_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class GuardrailCheck(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="guardrails_check",
        summary="Hold every guardrail against a snapshot, over all contexts",
        parameters=[ENVIRONMENT, RunQuerySerializer],
        responses={200: GuardrailCheckSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        environment = environment_of(request)
        snapshot = snapshot_at(environment, query_of(request, RunQuerySerializer)["at"])
        results = guardrails_checked(environment, snapshot)
        told = {"digest": snapshot.digest, "stops": any(each.stops for each in results), "results": results}
        return Response(GuardrailCheckSerializer(told).data)


class GuardrailAccept(APIView):
    permissions = {"POST": Permission.PUBLISH}

    @extend_schema(
        operation_id="guardrails_accept",
        summary="Accept, with a reason, what fails of a guardrail that does not block",
        parameters=[ENVIRONMENT],
        request=AcceptSerializer,
        responses={200: AcceptanceSerializer, **REFUSED},
    )
    def post(self, request: Request, guardrail_id: UUID) -> Response:
        guardrail = _asked(request, guardrail_id)
        wanted = body_of(request, AcceptSerializer)
        publication_id = wanted.pop("publication", None)
        if publication_id is not None:
            wanted["publication"] = found(publication_get(publication_id), "publication")
        accepted = guardrail_accept(guardrail, by=principal_of(request), **wanted)
        return Response(AcceptanceSerializer(accepted).data)


def _asked(request: Request, guardrail_id: UUID) -> Any:
    return found(guardrail_get(environment_of(request), guardrail_id), "guardrail")
