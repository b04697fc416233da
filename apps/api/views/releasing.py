"""Publishing by two, publishing later, promoting."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission, may_environment
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.releasing import (
    PromotedSerializer,
    PromoteSerializer,
    PublishAskSerializer,
    PublishRequestSerializer,
    PublishRuleSerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.api.views.snapshots import publication_asked
from apps.firewall.identifiers import read_id
from apps.policies.rules_of_release import needs_second_person, publish_request_get, publish_requests, publish_rule
from apps.policies.selectors import publication_get
from apps.policies.services import (
    promote,
    publish_ask,
    publish_confirm,
    publish_rule_save,
    publish_withdraw,
    rollback_ask,
)

HISTORY_LIMIT = 200
REFUSED = {403: ProblemSerializer, 404: ProblemSerializer, 409: ProblemSerializer, 422: ProblemSerializer}


class PublishRules(APIView):
    permissions = {"GET": Permission.POLICY_READ, "PUT": Permission.PUBLISH}

    @extend_schema(
        operation_id="publish_rule_get",
        summary="Read how an environment publishes",
        parameters=[ENVIRONMENT],
        responses=PublishRuleSerializer,
    )
    def get(self, request: Request) -> Response:
        return Response(PublishRuleSerializer(publish_rule(environment_of(request))).data)

    @extend_schema(
        operation_id="publish_rule_put",
        summary="Say whether publishing takes a second person",
        parameters=[ENVIRONMENT],
        request=PublishRuleSerializer,
        responses={200: PublishRuleSerializer, **REFUSED},
    )
    def put(self, request: Request) -> Response:
        wanted = body_of(request, PublishRuleSerializer)
        return Response(
            PublishRuleSerializer(publish_rule_save(environment_of(request), by=principal_of(request), **wanted)).data
        )


class PublishRequests(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.PUBLISH}

    @extend_schema(
        operation_id="publish_requests_list",
        summary="List requests to publish, the newest first",
        parameters=[ENVIRONMENT],
        responses=PublishRequestSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        found = publish_requests(environment_of(request))[:HISTORY_LIMIT]
        return Response(PublishRequestSerializer(found, many=True).data)

    @extend_schema(
        operation_id="publish_requests_create",
        summary="Ask a second person, or for a time, to publish exactly this draft, or to go back to a publication",
        parameters=[ENVIRONMENT],
        request=PublishAskSerializer,
        responses={201: PublishRequestSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        environment, wanted = environment_of(request), body_of(request, PublishAskSerializer)
        by, at, back = principal_of(request), timezone.now(), wanted.pop("rollback_of", None)
        may_repeat = wanted.pop("force")
        if back is None:
            made = publish_ask(environment, by=by, at=at, may_repeat=may_repeat, **wanted)
        else:
            wanted.pop("publish_at", None)
            wanted.pop("expected_draft", None)
            made = rollback_ask(publication_asked(environment, back), by=by, at=at, **wanted)
        return Response(PublishRequestSerializer(made).data, status=status.HTTP_201_CREATED)


class PublishConfirm(APIView):
    permissions = {"POST": Permission.PUBLISH}

    @extend_schema(
        operation_id="publish_requests_confirm",
        summary="Be the second person: it goes live now, or at its time",
        parameters=[ENVIRONMENT],
        request=None,
        responses={200: PublishRequestSerializer, **REFUSED},
    )
    def post(self, request: Request, request_id: UUID) -> Response:
        wanted = _request(request, request_id)
        done = publish_confirm(wanted, by=principal_of(request), at=timezone.now())
        return Response(PublishRequestSerializer(done).data)


class PublishWithdraw(APIView):
    permissions = {"POST": Permission.PUBLISH}

    @extend_schema(
        operation_id="publish_requests_withdraw",
        summary="Take a request back",
        parameters=[ENVIRONMENT],
        request=None,
        responses={200: PublishRequestSerializer, **REFUSED},
    )
    def post(self, request: Request, request_id: UUID) -> Response:
        wanted = _request(request, request_id)
        return Response(
            PublishRequestSerializer(publish_withdraw(wanted, by=principal_of(request), at=timezone.now())).data
        )


class Promote(APIView):
    permissions = {"POST": Permission.PUBLISH}

    @extend_schema(
        operation_id="publications_promote",
        summary="Publish here what another environment has live",
        parameters=[ENVIRONMENT],
        request=PromoteSerializer,
        responses={201: PromotedSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        environment = environment_of(request)
        wanted = body_of(request, PromoteSerializer)
        source = _source(request, wanted.pop("publication"))
        made: Any = promote(environment, source, by=principal_of(request), at=timezone.now(), **wanted)
        key = "request" if needs_second_person(environment) else "publication"
        answer = {"publication": None, "request": None, key: made}
        return Response(PromotedSerializer(answer).data, status=status.HTTP_201_CREATED)


def _request(request: Request, request_id: UUID) -> Any:
    found = publish_request_get(environment_of(request), request_id)
    if found is None:
        raise NotFound("no such request")
    return found


def _source(request: Request, shown: str) -> Any:
    """Find a publication of any environment that the caller may see."""
    try:
        found = publication_get(read_id("pub", shown))
    except ValueError:
        found = None
    if found is None or not may_environment(principal_of(request), found.environment.slug):
        raise NotFound("no such publication")
    return found
