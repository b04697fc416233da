"""The kill switch for programs: what is stopped, stopping, and the way back."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission, bound_of, may_agent, require_agents
from apps.api.reading import body_of, found, principal_of, query_of
from apps.api.scope import environment_of
from apps.api.serializers.halts import (
    HaltMeetsSerializer,
    HaltPlaceSerializer,
    HaltSerializer,
    HaltsSerializer,
    StopEffectSerializer,
    StopNamesSerializer,
    StopQuerySerializer,
)
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.api.views.registry.tools import REFUSED
from apps.gateway.gateways_held import gateways_held
from apps.gateway.stop_effect import StopEffect, stop_effect, stop_effects, stop_names
from apps.halts.selectors import halt_get, halts_holding, halts_visible, processes
from apps.halts.services import halt_ask, halt_lift, halt_place


def _with_effect(halt: Any, effect: StopEffect) -> Any:
    halt.meets = effect
    return halt


def _asked(request: Request, halt_id: UUID) -> Any:
    """Find a stop of an environment, for who may see it."""
    return found(halt_get(environment_of(request), halt_id, viewer=principal_of(request)), "stop")


class Halts(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.CALLS_STOP}
    bound = ("GET", "POST")

    @extend_schema(
        operation_id="halts_list",
        summary="List what is stopped, and which processes and gateways hold to it",
        parameters=[ENVIRONMENT],
        responses=HaltsSerializer,
    )
    def get(self, request: Request) -> Response:
        environment, at = environment_of(request), timezone.now()
        principal = principal_of(request)
        known, halts = processes(at=at), list(halts_visible(principal, halts_holding(environment)))
        effects = stop_effects(environment, [(halt.scope, halt.name) for halt in halts], at=at)
        held = [] if bound_of(principal) else gateways_held(environment, at=at)
        shown = {
            "gateways": held,
            "halts": [_with_effect(halt, effect) for halt, effect in zip(halts, effects, strict=True)],
            "processes": [] if bound_of(principal) else known,
            "heard_by_all": all(each.has_heard for each in known) and all(each.holds for each in held if each.reports),
        }
        return Response(HaltsSerializer(shown).data)

    @extend_schema(
        operation_id="halts_place",
        summary="Stop everything, an agent, a channel or a tool, at once; the answer says what that met",
        parameters=[ENVIRONMENT],
        request=HaltPlaceSerializer,
        responses={201: HaltMeetsSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        wanted = body_of(request, HaltPlaceSerializer)
        environment, at = environment_of(request), timezone.now()
        halt = halt_place(environment, by=principal_of(request), at=at, **wanted)
        effect = stop_effect(environment, halt.scope, halt.name, at=timezone.now())
        return Response(HaltMeetsSerializer(_with_effect(halt, effect)).data, status=status.HTTP_201_CREATED)


class HaltEffect(APIView):
    permissions = {"GET": Permission.CALLS_STOP}
    bound = ("GET",)

    @extend_schema(
        operation_id="halts_effect",
        summary="Tell what a stop would meet, before it is placed",
        parameters=[ENVIRONMENT, StopQuerySerializer],
        responses={200: StopEffectSerializer, **REFUSED},
    )
    def get(self, request: Request) -> Response:
        environment, wanted = environment_of(request), query_of(request, StopQuerySerializer)
        require_agents(principal_of(request), [wanted["name"]] if wanted["scope"] == "agent" else [])
        effect = stop_effect(environment, wanted["scope"], wanted["name"], at=timezone.now())
        return Response(StopEffectSerializer(effect).data)


class HaltNames(APIView):
    permissions = {"GET": Permission.POLICY_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="halts_names",
        summary="List what can be stopped by its name",
        parameters=[ENVIRONMENT],
        responses=StopNamesSerializer,
    )
    def get(self, request: Request) -> Response:
        names, principal = stop_names(environment_of(request)), principal_of(request)
        if bound_of(principal):  # it can stop its own agents, and nothing that others use, too
            own = [name for name in names["agent"] if may_agent(principal, name)]
            names = {"agent": own, "channel": [], "tool": []}
        return Response(StopNamesSerializer(names).data)


class HaltAsk(APIView):
    permissions = {"POST": Permission.CALLS_STOP}
    bound = ("POST",)

    @extend_schema(
        operation_id="halts_ask",
        summary="Take the first step back: calls run again, each after a person's yes",
        parameters=[ENVIRONMENT],
        request=None,
        responses={200: HaltSerializer, **REFUSED},
    )
    def post(self, request: Request, halt_id: UUID) -> Response:
        halt = _asked(request, halt_id)
        return Response(HaltSerializer(halt_ask(halt, by=principal_of(request), at=timezone.now())).data)


class HaltLift(APIView):
    permissions = {"POST": Permission.CALLS_STOP}
    bound = ("POST",)

    @extend_schema(
        operation_id="halts_lift",
        summary="Let everything go on as the policy says",
        parameters=[ENVIRONMENT],
        request=None,
        responses={200: HaltSerializer, **REFUSED},
    )
    def post(self, request: Request, halt_id: UUID) -> Response:
        halt = _asked(request, halt_id)
        return Response(HaltSerializer(halt_lift(halt, by=principal_of(request), at=timezone.now())).data)
