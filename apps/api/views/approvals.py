"""Requests that wait for a person, and answers to them."""

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
from apps.api.serializers.approvals import (
    AnswerPolicyChangeSerializer,
    AnswerPolicySerializer,
    AnswerRuleSerializer,
    ApprovalSerializer,
    ResolveSerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.views.parameters import ENVIRONMENT, STATE
from apps.approvals.access import approval_access
from apps.approvals.answering import (
    answer_policy,
    answer_policy_save,
    answer_rule_add,
    answer_rule_remove,
    answer_rules,
)
from apps.approvals.drafts import GrantScope
from apps.approvals.selectors import approvals_pending, approvals_recent
from apps.approvals.services import approval_resolve

RECENT_LIMIT = 200


class Approvals(APIView):
    permissions = {"GET": Permission.APPROVALS_READ}

    @extend_schema(
        operation_id="approvals_list",
        summary="List requests that wait, or that ended last",
        parameters=[ENVIRONMENT, STATE],
        responses=ApprovalSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        environment = environment_of(request)
        if request.query_params.get("state", "pending") == "recent":
            found = approvals_recent(environment, limit=RECENT_LIMIT)
        else:
            found = list(approvals_pending(environment)[:RECENT_LIMIT])
        return Response(ApprovalSerializer(found, many=True).data)


class Answering(APIView):
    permissions = {"GET": Permission.APPROVALS_READ, "PATCH": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="answering_get",
        summary="Read how long people have to answer",
        parameters=[ENVIRONMENT],
        responses=AnswerPolicySerializer,
    )
    def get(self, request: Request) -> Response:
        return Response(AnswerPolicySerializer(answer_policy(environment_of(request))).data)

    @extend_schema(
        operation_id="answering_update",
        summary="Change how long people have to answer",
        parameters=[ENVIRONMENT],
        request=AnswerPolicyChangeSerializer,
        responses={200: AnswerPolicySerializer, 409: ProblemSerializer, 422: ProblemSerializer},
    )
    def patch(self, request: Request) -> Response:
        wanted = body_of(request, AnswerPolicyChangeSerializer)
        saved = answer_policy_save(
            environment_of(request),
            wait_s=wanted["wait_s"],
            expected_version=wanted["version"],
            by=principal_of(request),
        )
        return Response(AnswerPolicySerializer(saved).data)


class AnswerRules(APIView):
    permissions = {"GET": Permission.APPROVALS_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="answer_rules_list",
        summary="List who answers what, in the order in which the rules are asked",
        parameters=[ENVIRONMENT],
        responses=AnswerRuleSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(AnswerRuleSerializer(answer_rules(environment_of(request)), many=True).data)

    @extend_schema(
        operation_id="answer_rules_add",
        summary="Add a rule behind the others",
        parameters=[ENVIRONMENT],
        request=AnswerRuleSerializer,
        responses={201: AnswerRuleSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        wanted = body_of(request, AnswerRuleSerializer)
        rule = answer_rule_add(environment_of(request), by=principal_of(request), **wanted)
        return Response(AnswerRuleSerializer(rule).data, status=status.HTTP_201_CREATED)


class AnswerRuleDetail(APIView):
    permissions = {"DELETE": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="answer_rules_remove",
        summary="Remove a rule by its name",
        parameters=[ENVIRONMENT],
        responses={204: None, 404: ProblemSerializer},
    )
    def delete(self, request: Request, name: str) -> Response:
        rule = found(answer_rules(environment_of(request)).filter(name=name).first(), "rule")
        answer_rule_remove(rule, by=principal_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ApprovalDetail(APIView):
    permissions = {"GET": Permission.APPROVALS_READ}

    @extend_schema(
        operation_id="approvals_get",
        summary="Read one request",
        responses={200: ApprovalSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, approval_id: UUID) -> Response:
        return Response(ApprovalSerializer(approval_access(principal_of(request), approval_id)).data)


class ApprovalResolve(APIView):
    permissions = {"POST": Permission.APPROVALS_RESOLVE}

    @extend_schema(
        operation_id="approvals_resolve",
        summary="Answer a request; the first answer wins",
        request=ResolveSerializer,
        responses={200: ApprovalSerializer, 404: ProblemSerializer, 409: ProblemSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request, approval_id: UUID) -> Response:
        principal = principal_of(request)
        approval = approval_access(principal, approval_id, write=True)
        wanted = body_of(request, ResolveSerializer)
        scope = wanted.get("scope")
        approval = approval_resolve(
            approval,
            decision=wanted["decision"],
            by=principal,
            at=timezone.now(),
            reason=wanted["reason"],
            scope=GrantScope(**scope) if scope else None,
        )
        return Response(ApprovalSerializer(approval).data)
