"""The kill switch for programs: what is stopped, stopping, and the way back."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.access import Permission
from apps.api.reading import body_of, found, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.halts import HaltPlaceSerializer, HaltSerializer, HaltsSerializer
from apps.api.views.parameters import ENVIRONMENT
from apps.api.views.registry.tools import REFUSED
from apps.halts.selectors import halt_get, halts_holding, processes
from apps.halts.services import halt_ask, halt_lift, halt_place


class Halts(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.CALLS_STOP}

    @extend_schema(
        operation_id="halts_list",
        summary="List what is stopped, and which processes hold to it",
        parameters=[ENVIRONMENT],
        responses=HaltsSerializer,
    )
    def get(self, request: Request) -> Response:
        known = processes(at=timezone.now())
        shown = {
            "halts": halts_holding(environment_of(request)),
            "processes": known,
            "heard_by_all": all(each.has_heard for each in known),
        }
        return Response(HaltsSerializer(shown).data)

    @extend_schema(
        operation_id="halts_place",
        summary="Stop everything, an agent, a channel or a tool, at once",
        parameters=[ENVIRONMENT],
        request=HaltPlaceSerializer,
        responses={201: HaltSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        wanted = body_of(request, HaltPlaceSerializer)
        halt = halt_place(environment_of(request), by=principal_of(request), at=timezone.now(), **wanted)
        return Response(HaltSerializer(halt).data, status=status.HTTP_201_CREATED)


class HaltAsk(APIView):
    permissions = {"POST": Permission.CALLS_STOP}

    @extend_schema(
        operation_id="halts_ask",
        summary="Take the first step back: calls run again, each after a person's yes",
        parameters=[ENVIRONMENT],
        request=None,
        responses={200: HaltSerializer, **REFUSED},
    )
    def post(self, request: Request, halt_id: UUID) -> Response:
        halt = found(halt_get(environment_of(request), halt_id), "stop")
        return Response(HaltSerializer(halt_ask(halt, by=principal_of(request), at=timezone.now())).data)


class HaltLift(APIView):
    permissions = {"POST": Permission.CALLS_STOP}

    @extend_schema(
        operation_id="halts_lift",
        summary="Let everything go on as the policy says",
        parameters=[ENVIRONMENT],
        request=None,
        responses={200: HaltSerializer, **REFUSED},
    )
    def post(self, request: Request, halt_id: UUID) -> Response:
        halt = found(halt_get(environment_of(request), halt_id), "stop")
        return Response(HaltSerializer(halt_lift(halt, by=principal_of(request), at=timezone.now())).data)
