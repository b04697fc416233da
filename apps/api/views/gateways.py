"""OpenClaw Gateways for programs: list them, enrol one, revoke it, clear its alarms."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.gateways import (
    AlarmSerializer,
    EnrolmentMadeSerializer,
    EnrolmentSerializer,
    GatewayDetailSerializer,
    GatewaySerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.openclaw_gateways.access import alarm_access, gateway_access
from apps.openclaw_gateways.alarms import alarm_clear
from apps.openclaw_gateways.selectors import alarms_of, calls_newest, gateways
from apps.openclaw_gateways.services import enrolment_create, gateway_revoke
from apps.policies.selectors import live_publication

ANSWERS: dict[int, Any] = {200: GatewayDetailSerializer, 403: ProblemSerializer, 404: ProblemSerializer}


def _told(found: Any) -> Response:
    """Answer with a gateway, its alarms and its latest calls."""
    found.newest_calls, found.alarms_now = calls_newest(found), alarms_of(found)
    found.alarms_standing = len(found.alarms_now)
    return Response(GatewayDetailSerializer(found).data)


class Gateways(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="gateways_list",
        summary="List OpenClaw Gateways by name",
        parameters=[ENVIRONMENT],
        responses=GatewaySerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(GatewaySerializer(gateways(environment_of(request)), many=True).data)


class GatewayEnrolments(APIView):
    permissions = {"POST": Permission.GATEWAYS_MANAGE}

    @extend_schema(
        operation_id="gateway_enrolments_create",
        summary="Make a token that enrols one gateway within the hour",
        parameters=[ENVIRONMENT],
        request=EnrolmentSerializer,
        responses={201: EnrolmentMadeSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        environment = environment_of(request)
        wanted = body_of(request, EnrolmentSerializer)
        made, secret = enrolment_create(environment, name=wanted["name"], by=principal_of(request), at=timezone.now())
        told = {
            "name": made.name,
            "environment": environment.slug,
            "secret": secret,
            "expires_at": made.expires_at,
            "is_published": live_publication(environment) is not None,
        }
        return Response(EnrolmentMadeSerializer(told).data, status=201)


class GatewayDetail(APIView):
    permissions = {"GET": Permission.POLICY_READ, "DELETE": Permission.GATEWAYS_MANAGE}

    @extend_schema(operation_id="gateways_get", summary="Read one gateway, its alarms and calls", responses=ANSWERS)
    def get(self, request: Request, gateway_id: UUID) -> Response:
        return _told(gateway_access(principal_of(request), gateway_id))

    @extend_schema(
        operation_id="gateways_revoke",
        summary="End a gateway and its token; whatever its agents ask from now on is blocked there",
        responses=ANSWERS,
    )
    def delete(self, request: Request, gateway_id: UUID) -> Response:
        principal = principal_of(request)
        found = gateway_access(principal, gateway_id, write=True)
        return _told(gateway_revoke(found, by=principal, at=timezone.now()))


class GatewayAlarmClear(APIView):
    permissions = {"POST": Permission.GATEWAYS_MANAGE}

    @extend_schema(
        operation_id="gateway_alarms_clear",
        summary="Say that a person has seen to an alarm",
        request=None,
        responses={200: AlarmSerializer, 403: ProblemSerializer, 404: ProblemSerializer},
    )
    def post(self, request: Request, alarm_id: UUID) -> Response:
        principal = principal_of(request)
        return Response(
            AlarmSerializer(alarm_clear(alarm_access(principal, alarm_id), by=principal, at=timezone.now())).data
        )
