"""Sessions of agents for programs: list them, read one, end it, bound it."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission, actor_of, may_agent
from apps.api.reading import body_of, limit_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.commands import BackgroundCommandSerializer, BackgroundCommandsSerializer
from apps.api.serializers.sessions import (
    BudgetsSerializer,
    EndSerializer,
    SessionDetailSerializer,
    SessionPageSerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.firewall.runtime.sessions import Budgets
from apps.gateway.background.errors import CommandUnknownError
from apps.gateway.background.killing import command_kill
from apps.gateway.background.selectors import command_of_session, commands_of_session
from apps.sessions.access import agents_of, session_access
from apps.sessions.selectors import PAGE, STATES, SessionFilters, loop_state, session_runs, sessions
from apps.sessions.services import session_budgets_set, session_end, session_reopen
from apps.sessions.tree import descendants

TEXTS = ("agent", "channel", "sender")
FILTERS = [
    ENVIRONMENT,
    *(OpenApiParameter(name, OpenApiTypes.STR) for name in TEXTS),
    OpenApiParameter("state", OpenApiTypes.STR, enum=STATES),
    OpenApiParameter("q", OpenApiTypes.STR, description="A part of the session key."),
    OpenApiParameter("after", OpenApiTypes.STR, description="Cursor from `older`."),
    OpenApiParameter("limit", OpenApiTypes.INT, default=PAGE, description="At most 200."),
]
ANSWERS: dict[int, Any] = {
    200: SessionDetailSerializer,
    403: ProblemSerializer,
    404: ProblemSerializer,
    422: ProblemSerializer,
}


def _asked(request: Request, session_id: UUID, *, write: bool = False) -> Any:
    return session_access(principal_of(request), session_id, write=write)


def _told(request: Request, session: Any) -> Response:
    """Answer with a session and all that belongs to it and may be seen."""
    session.newest_runs = session_runs(session)
    session.sub_sessions = [each for each in descendants(session) if may_agent(principal_of(request), each.agent)]
    session.loop_state = loop_state(session)
    return Response(SessionDetailSerializer(session).data)


class Sessions(APIView):
    permissions = {"GET": Permission.AUDIT_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="sessions_list",
        summary="List the sessions of agents, the one used last first",
        parameters=FILTERS,
        responses={200: SessionPageSerializer, 422: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        query = request.query_params
        filters = SessionFilters(
            agents=agents_of(principal_of(request)),
            state=query.get("state", ""),
            text=query.get("q", ""),
            **{name: query.get(name, "") for name in TEXTS},
        )
        page = sessions(
            environment_of(request),
            filters,
            after=query.get("after", ""),
            limit=limit_of(request, default=PAGE, most=200),
        )
        return Response(SessionPageSerializer(page).data)


class SessionDetail(APIView):
    permissions = {"GET": Permission.AUDIT_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="sessions_get", summary="Read one session, its runs and sub-sessions", responses=ANSWERS
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        return _told(request, _asked(request, session_id))


class SessionEnd(APIView):
    permissions = {"POST": Permission.SESSIONS_MANAGE}
    bound = ("POST",)

    @extend_schema(
        operation_id="sessions_end",
        summary="End a session and its sub-sessions: their calls are refused from now on",
        request=EndSerializer,
        responses=ANSWERS,
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        session = _asked(request, session_id, write=True)
        wanted = body_of(request, EndSerializer)
        ended = session_end(session, by=principal_of(request), at=timezone.now(), reason=wanted["reason"])
        return _told(request, ended)


class SessionReopen(APIView):
    permissions = {"POST": Permission.SESSIONS_MANAGE}
    bound = ("POST",)

    @extend_schema(
        operation_id="sessions_reopen",
        summary="Let calls into an ended session again",
        request=None,
        responses=ANSWERS,
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        session = _asked(request, session_id, write=True)
        return _told(request, session_reopen(session, by=principal_of(request), at=timezone.now()))


class SessionCommands(APIView):
    permissions = {"GET": Permission.AUDIT_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="session_commands_list",
        summary="List the background commands of a session, those that run first; ended ones for 30 minutes",
        responses={200: BackgroundCommandsSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        rows = commands_of_session(_asked(request, session_id))
        return Response(BackgroundCommandsSerializer({"rows": rows}).data)


class SessionCommandKill(APIView):
    permissions = {"POST": Permission.SESSIONS_MANAGE}
    bound = ("POST",)

    @extend_schema(
        operation_id="session_commands_kill",
        summary="End a background command; the process that holds it does so at once, and then its end is on record",
        request=None,
        responses={202: BackgroundCommandSerializer, 403: ProblemSerializer, 404: ProblemSerializer},
    )
    def post(self, request: Request, session_id: UUID, command_id: UUID) -> Response:
        session = _asked(request, session_id, write=True)
        row = command_of_session(session, command_id)
        if row is None:
            raise CommandUnknownError("this session has no such background command")
        command_kill(command_id, by=actor_of(principal_of(request)))
        return Response(BackgroundCommandSerializer(command_of_session(session, command_id) or row).data, status=202)


class SessionBudgets(APIView):
    permissions = {"PUT": Permission.SESSIONS_MANAGE}
    bound = ("PUT",)

    @extend_schema(
        operation_id="sessions_budgets",
        summary="Bound what a session may do in all; a member that is absent or null is no bound",
        request=BudgetsSerializer,
        responses=ANSWERS,
    )
    def put(self, request: Request, session_id: UUID) -> Response:
        session = _asked(request, session_id, write=True)
        budgets = Budgets(**body_of(request, BudgetsSerializer))
        return _told(request, session_budgets_set(session, budgets, by=principal_of(request), at=timezone.now()))
