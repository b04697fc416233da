"""Rate limits and breakers: what holds now, and what it did."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, found, principal_of, version_of
from apps.api.scope import environment_of
from apps.api.serializers.limits import (
    BreakerClosedSerializer,
    BreakerCloseSerializer,
    BreakerPolicyChangeSerializer,
    BreakerPolicySerializer,
    CounterSerializer,
    RateLimitChangeSerializer,
    RateLimitSerializer,
    ToolBreakerSerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.api.views.records import VERSION
from apps.api.views.registry.tools import REFUSED
from apps.limits.selectors import breaker_policy, counters_in_use, rate_limit_get, rate_limits, tool_breakers
from apps.limits.services import (
    breaker_close,
    breaker_policy_save,
    rate_limit_create,
    rate_limit_delete,
    rate_limit_save,
)

COUNTERS_SHOWN = 200


class RateLimits(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="limits_rates_list",
        summary="List the rate limits",
        parameters=[ENVIRONMENT],
        responses=RateLimitSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(RateLimitSerializer(rate_limits(environment_of(request)), many=True).data)

    @extend_schema(
        operation_id="limits_rates_create",
        summary="Add a rate limit; it holds at once",
        parameters=[ENVIRONMENT],
        request=RateLimitSerializer,
        responses={201: RateLimitSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        wanted = body_of(request, RateLimitSerializer)
        limit = rate_limit_create(environment_of(request), by=principal_of(request), **wanted)
        return Response(RateLimitSerializer(limit).data, status=status.HTTP_201_CREATED)


class RateLimitDetail(APIView):
    permissions = {
        "GET": Permission.POLICY_READ,
        "PATCH": Permission.POLICY_WRITE,
        "DELETE": Permission.POLICY_WRITE,
    }

    @extend_schema(
        operation_id="limits_rates_get",
        summary="Read a rate limit",
        parameters=[ENVIRONMENT],
        responses={200: RateLimitSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, rate_id: UUID) -> Response:
        return Response(RateLimitSerializer(found(rate_limit_get(environment_of(request), rate_id), "rate limit")).data)

    @extend_schema(
        operation_id="limits_rates_update",
        summary="Change a rate limit; `version` is the one that was seen",
        parameters=[ENVIRONMENT],
        request=RateLimitChangeSerializer,
        responses={200: RateLimitSerializer, **REFUSED},
    )
    def patch(self, request: Request, rate_id: UUID) -> Response:
        limit = found(rate_limit_get(environment_of(request), rate_id), "rate limit")
        values = body_of(request, RateLimitChangeSerializer)
        version = values.pop("version")
        return Response(
            RateLimitSerializer(
                rate_limit_save(limit, expected_version=version, by=principal_of(request), **values)
            ).data
        )

    @extend_schema(
        operation_id="limits_rates_delete",
        summary="Remove a rate limit",
        parameters=[ENVIRONMENT, VERSION],
        responses={204: None, **REFUSED},
    )
    def delete(self, request: Request, rate_id: UUID) -> Response:
        limit = found(rate_limit_get(environment_of(request), rate_id), "rate limit")
        rate_limit_delete(limit, expected_version=version_of(request), by=principal_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class RateUse(APIView):
    permissions = {"GET": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="limits_use",
        summary="List whose calls count now, the fullest first",
        parameters=[ENVIRONMENT],
        responses=CounterSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        rows = counters_in_use(environment_of(request), at=timezone.now(), most=COUNTERS_SHOWN)
        return Response(CounterSerializer(rows, many=True).data)


class Breaker(APIView):
    permissions = {"GET": Permission.POLICY_READ, "PATCH": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="limits_breaker_get",
        summary="Read when tools on other servers are left alone",
        parameters=[ENVIRONMENT],
        responses={200: BreakerPolicySerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        return Response(BreakerPolicySerializer(breaker_policy(environment_of(request))).data)

    @extend_schema(
        operation_id="limits_breaker_update",
        summary="Change when tools on other servers are left alone",
        parameters=[ENVIRONMENT],
        request=BreakerPolicyChangeSerializer,
        responses={200: BreakerPolicySerializer, **REFUSED},
    )
    def patch(self, request: Request) -> Response:
        values = body_of(request, BreakerPolicyChangeSerializer)
        version = values.pop("version")
        saved = breaker_policy_save(
            environment_of(request), expected_version=version, by=principal_of(request), **values
        )
        return Response(BreakerPolicySerializer(saved).data)


class ToolBreakers(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="limits_breakers_list",
        summary="List tools that failed last, those that are left alone first",
        parameters=[ENVIRONMENT],
        responses=ToolBreakerSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(ToolBreakerSerializer(tool_breakers(environment_of(request)), many=True).data)


class ToolBreakerClose(APIView):
    permissions = {"POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="limits_breakers_close",
        summary="Let calls of a tool through again before its pause is over",
        parameters=[ENVIRONMENT],
        request=BreakerCloseSerializer,
        responses={200: BreakerClosedSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        wanted = body_of(request, BreakerCloseSerializer)
        closed = breaker_close(environment_of(request), wanted["tool"], by=principal_of(request))
        return Response(BreakerClosedSerializer({"closed": closed}).data)
