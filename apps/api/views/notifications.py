"""Webhooks that are told of requests which nobody answers, and what became of messages."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.notifications import (
    ChoicesSerializer,
    DeliverySerializer,
    WebhookChangeSerializer,
    WebhookSerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.notifications.people import person_behind, preference_of, preference_save
from apps.notifications.selectors import deliveries_recent
from apps.notifications.webhooks import webhook_access, webhook_add, webhook_change, webhook_remove, webhooks


class Choices(APIView):
    permissions = {"GET": Permission.APPROVALS_READ, "PATCH": Permission.APPROVALS_RESOLVE}

    @extend_schema(
        operation_id="notification_choices_get",
        summary="Read how one wants to be told of requests; of a token, its person",
        responses={200: ChoicesSerializer, 422: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        return Response(ChoicesSerializer(preference_of(person_behind(principal_of(request)))).data)

    @extend_schema(
        operation_id="notification_choices_update",
        summary="Change how one wants to be told; members that are left out stay",
        request=ChoicesSerializer,
        responses={200: ChoicesSerializer, 422: ProblemSerializer},
    )
    def patch(self, request: Request) -> Response:
        principal = principal_of(request)
        person = person_behind(principal)
        now = preference_of(person)
        wanted = {"email": now.email, "language": now.language, "quiet": now.quiet}
        wanted |= body_of(request, ChoicesSerializer, changes=now)
        return Response(ChoicesSerializer(preference_save(person, by=principal, **wanted)).data)


class Webhooks(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="webhooks_list",
        summary="List the addresses that are told of requests which nobody answers",
        parameters=[ENVIRONMENT],
        responses=WebhookSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(WebhookSerializer(webhooks(environment_of(request)), many=True).data)

    @extend_schema(
        operation_id="webhooks_add",
        summary="Add such an address",
        parameters=[ENVIRONMENT],
        request=WebhookSerializer,
        responses={201: WebhookSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        wanted = body_of(request, WebhookSerializer)
        row = webhook_add(environment_of(request), by=principal_of(request), **wanted)
        return Response(WebhookSerializer(row).data, status=status.HTTP_201_CREATED)


class WebhookDetail(APIView):
    permissions = {
        "GET": Permission.POLICY_READ,
        "PATCH": Permission.POLICY_WRITE,
        "DELETE": Permission.POLICY_WRITE,
    }

    @extend_schema(
        operation_id="webhooks_get",
        summary="Read a webhook by its name",
        parameters=[ENVIRONMENT],
        responses={200: WebhookSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, name: str) -> Response:
        return Response(WebhookSerializer(webhook_access(principal_of(request), environment_of(request), name)).data)

    @extend_schema(
        operation_id="webhooks_update",
        summary="Change a webhook",
        parameters=[ENVIRONMENT],
        request=WebhookChangeSerializer,
        responses={200: WebhookSerializer, 404: ProblemSerializer, 409: ProblemSerializer, 422: ProblemSerializer},
    )
    def patch(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        row = webhook_access(principal, environment_of(request), name, write=True)
        wanted = body_of(request, WebhookChangeSerializer, changes=row)
        version = wanted.pop("version", None)
        return Response(WebhookSerializer(webhook_change(row, expected_version=version, by=principal, **wanted)).data)

    @extend_schema(
        operation_id="webhooks_remove",
        summary="Remove a webhook",
        parameters=[ENVIRONMENT],
        responses={204: None, 404: ProblemSerializer},
    )
    def delete(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        webhook_remove(webhook_access(principal, environment_of(request), name, write=True), by=principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Deliveries(APIView):
    permissions = {"GET": Permission.APPROVALS_READ}

    @extend_schema(
        operation_id="deliveries_list",
        summary="List the latest messages about requests that nobody answered",
        parameters=[ENVIRONMENT],
        responses=DeliverySerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(DeliverySerializer(deliveries_recent(environment_of(request)), many=True).data)
