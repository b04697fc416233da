"""Asynchronous calls for programs: list them, read one, end any call, and the key that signs callbacks."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import principal_of
from apps.api.scope import environment_of
from apps.api.serializers.async_calls import (
    AsyncCallDetailSerializer,
    AsyncCallPageSerializer,
    AsyncCallSerializer,
    CallbackKeySerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.firewall.identifiers import read_id, show_id
from apps.gateway.queue.cancelling import call_cancel, call_environment
from apps.gateway.queue.selectors import PAGE, async_call, async_calls
from apps.keys.callbacks import callback_key_id, callback_public_key

STATES = ["", "open", "awaiting_approval", "queued", "running", "done"]


class AsyncCalls(APIView):
    permissions = {"GET": Permission.AUDIT_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="async_calls_list",
        summary="List asynchronous calls, newest first",
        parameters=[
            ENVIRONMENT,
            OpenApiParameter("state", OpenApiTypes.STR, enum=STATES, description="`open`: all that have not ended."),
            OpenApiParameter("after", OpenApiTypes.STR, description="`older` of the page before."),
        ],
        responses={200: AsyncCallPageSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        state, after = request.query_params.get("state", ""), request.query_params.get("after", "")
        if state not in STATES:
            raise NotFound(f"no state `{state}`")
        page: dict[str, Any] = {"state": state, "after": _cursor(after), "limit": PAGE + 1}
        found = async_calls(environment_of(request), viewer=principal_of(request), **page)
        older = show_id("call", found[PAGE - 1].pk) if len(found) > PAGE else None
        return Response({"rows": AsyncCallSerializer(found[:PAGE], many=True).data, "older": older})


def _cursor(text: str) -> UUID | None:
    try:
        return read_id("call", text) if text else None
    except ValueError:
        raise NotFound("`after` is no cursor of this list") from None


class AsyncCallDetail(APIView):
    permissions = {"GET": Permission.AUDIT_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="async_calls_get",
        summary="Read one asynchronous call, with the attempts at its callback",
        parameters=[ENVIRONMENT],
        responses={200: AsyncCallDetailSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, call_id: UUID) -> Response:
        found = async_call(environment_of(request), call_id, viewer=principal_of(request))
        if found is None:
            raise NotFound("no such asynchronous call")
        return Response(AsyncCallDetailSerializer(found).data)


class CallCancel(APIView):
    permissions = {"POST": Permission.CALLS_MAKE}
    bound = ("POST",)

    @extend_schema(
        operation_id="audit_calls_cancel",
        summary="Ask for the end of a call, wherever it runs; a token ends its own, a person any",
        request=None,
        responses={202: None, 404: ProblemSerializer},
    )
    def post(self, request: Request, call_id: UUID) -> Response:
        principal = principal_of(request)
        slug = call_environment(principal, call_id)
        by = str(getattr(principal, "actor", ""))
        call_cancel(call_id, by=by, environment=slug, at=timezone.now())
        return Response(status=202)


class CallbackKey(APIView):
    permissions = {"GET": Permission.CALLS_MAKE}
    bound = ("GET",)

    @extend_schema(
        operation_id="callback_key_get",
        summary="Give the public key that checks the signatures of callbacks",
        parameters=[ENVIRONMENT],
        responses=CallbackKeySerializer,
    )
    def get(self, request: Request) -> Response:
        environment_of(request)  # the key is the installation's; who asks belongs to an environment
        key = callback_public_key().decode("ascii")
        return Response({"algorithm": "ed25519", "key_id": callback_key_id(), "public_key": key})
