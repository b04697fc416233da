"""Policy tests for programs: list, add, read, change, remove, run."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission, may_environment, require
from apps.api.reading import body_of, found, principal_of, query_of, version_of
from apps.api.scope import environment_of
from apps.api.serializers.policy_tests import (
    PolicyTestChangeSerializer,
    PolicyTestNewSerializer,
    PolicyTestRunSerializer,
    PolicyTestSerializer,
    RunQuerySerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.explain import snapshot_at
from apps.api.views.parameters import ENVIRONMENT
from apps.api.views.records import VERSION
from apps.api.views.registry.tools import REFUSED
from apps.audit.looks import look_record
from apps.audit.selectors import call_record
from apps.policies.proving import policy_test_get, policy_tests, policy_tests_run
from apps.policies.recorded_cases import case_fields
from apps.policies.selectors import live_snapshot
from apps.policies.services import policy_test_create, policy_test_delete, policy_test_save


class PolicyTests(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="policy_tests_list",
        summary="List the policy tests, by name",
        parameters=[ENVIRONMENT],
        responses=PolicyTestSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(PolicyTestSerializer(policy_tests(environment_of(request)), many=True).data)

    @extend_schema(
        operation_id="policy_tests_create",
        summary="Add a policy test, of a recorded call if one is named; no publication may fail it from now on",
        parameters=[ENVIRONMENT],
        request=PolicyTestNewSerializer,
        responses={201: PolicyTestSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        environment = environment_of(request)
        wanted = body_of(request, PolicyTestNewSerializer)
        if "call" in wanted:
            wanted = _of_call(request, environment, wanted["call"]) | wanted | {"origin": "call"}
        test = policy_test_create(environment, by=principal_of(request), **wanted)
        return Response(PolicyTestSerializer(test).data, status=status.HTTP_201_CREATED)


def _of_call(request: Request, environment: Any, call_id: UUID) -> dict[str, Any]:
    principal = principal_of(request)
    require(principal, Permission.AUDIT_READ)
    call = call_record(call_id)
    if call is None or call.environment != environment.slug or not may_environment(principal, call.environment):
        raise NotFound("the ledger knows no such call")
    look_record(principal, environment=call.environment, call_id=call.id)
    return case_fields(call, live_snapshot(environment))


class PolicyTestDetail(APIView):
    permissions = {
        "GET": Permission.POLICY_READ,
        "PATCH": Permission.POLICY_WRITE,
        "DELETE": Permission.POLICY_WRITE,
    }

    @extend_schema(
        operation_id="policy_tests_get",
        summary="Read a policy test",
        parameters=[ENVIRONMENT],
        responses={200: PolicyTestSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, test_id: UUID) -> Response:
        return Response(PolicyTestSerializer(_asked(request, test_id)).data)

    @extend_schema(
        operation_id="policy_tests_update",
        summary="Change a policy test, or switch it off or on; `version` is the one that was seen",
        parameters=[ENVIRONMENT],
        request=PolicyTestChangeSerializer,
        responses={200: PolicyTestSerializer, **REFUSED},
    )
    def patch(self, request: Request, test_id: UUID) -> Response:
        test = _asked(request, test_id)
        wanted = body_of(request, PolicyTestChangeSerializer)
        version = wanted.pop("version")
        saved = policy_test_save(test, expected_version=version, by=principal_of(request), **wanted)
        return Response(PolicyTestSerializer(saved).data)

    @extend_schema(
        operation_id="policy_tests_delete",
        summary="Remove a policy test",
        parameters=[ENVIRONMENT, VERSION],
        responses={204: None, **REFUSED},
    )
    def delete(self, request: Request, test_id: UUID) -> Response:
        test = _asked(request, test_id)
        policy_test_delete(test, expected_version=version_of(request), by=principal_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _asked(request: Request, test_id: UUID) -> Any:
    return found(policy_test_get(environment_of(request), test_id), "policy test")


class PolicyTestRun(APIView):
    permissions = {"GET": Permission.EXPLAIN}

    @extend_schema(
        operation_id="policy_tests_run",
        summary="Ask a snapshot every policy test, and say which records of the draft decided how many",
        parameters=[ENVIRONMENT, RunQuerySerializer],
        responses={200: PolicyTestRunSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        environment = environment_of(request)
        snapshot = snapshot_at(environment, query_of(request, RunQuerySerializer)["at"])
        run = policy_tests_run(environment, snapshot, with_records=True)
        return Response(PolicyTestRunSerializer(run).data)
