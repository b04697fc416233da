"""How requests are to be answered: how long people have, who answers, teams, deputies."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, found, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.approvals import (
    AnswerPolicyChangeSerializer,
    AnswerPolicySerializer,
    AnswerRuleChangeSerializer,
    AnswerRuleMoveSerializer,
    AnswerRuleSerializer,
    DeputySerializer,
    TeamChangeSerializer,
    TeamSerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.approvals.answering import (
    answer_policy,
    answer_policy_save,
    answer_rule_add,
    answer_rule_change,
    answer_rule_move,
    answer_rule_remove,
    answer_rules,
    deputies,
    deputised,
    deputy_end,
    deputy_name,
)
from apps.approvals.teams import team_access, team_add, team_change, team_remove, teams


def _rules(environment: Any) -> Any:
    return answer_rules(environment).select_related("environment")


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
        return Response(AnswerRuleSerializer(_rules(environment_of(request)), many=True).data)

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
    permissions = {
        "GET": Permission.APPROVALS_READ,
        "PATCH": Permission.POLICY_WRITE,
        "DELETE": Permission.POLICY_WRITE,
    }

    @extend_schema(
        operation_id="answer_rules_get",
        summary="Read a rule by its name",
        parameters=[ENVIRONMENT],
        responses={200: AnswerRuleSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, name: str) -> Response:
        rule = found(_rules(environment_of(request)).filter(name=name).first(), "rule")
        return Response(AnswerRuleSerializer(rule).data)

    @extend_schema(
        operation_id="answer_rules_update",
        summary="Change a rule",
        parameters=[ENVIRONMENT],
        request=AnswerRuleChangeSerializer,
        responses={200: AnswerRuleSerializer, 404: ProblemSerializer, 409: ProblemSerializer, 422: ProblemSerializer},
    )
    def patch(self, request: Request, name: str) -> Response:
        rule = found(_rules(environment_of(request)).filter(name=name).first(), "rule")
        wanted = body_of(request, AnswerRuleChangeSerializer, changes=rule)
        version = wanted.pop("version", None)
        changed = answer_rule_change(rule, expected_version=version, by=principal_of(request), **wanted)
        return Response(AnswerRuleSerializer(changed).data)

    @extend_schema(
        operation_id="answer_rules_remove",
        summary="Remove a rule by its name",
        parameters=[ENVIRONMENT],
        responses={204: None, 404: ProblemSerializer},
    )
    def delete(self, request: Request, name: str) -> Response:
        rule = found(_rules(environment_of(request)).filter(name=name).first(), "rule")
        answer_rule_remove(rule, by=principal_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class AnswerRuleMove(AnswerRuleDetail):
    """Moves a rule; any other method means one that an earlier version let be called `…/move`."""

    permissions = {**AnswerRuleDetail.permissions, "POST": Permission.POLICY_WRITE}

    @extend_schema(exclude=True, parameters=[ENVIRONMENT])
    def get(self, request: Request, name: str) -> Response:
        return super().get(request, f"{name}/move")

    @extend_schema(exclude=True, parameters=[ENVIRONMENT], request=AnswerRuleChangeSerializer)
    def patch(self, request: Request, name: str) -> Response:
        return super().patch(request, f"{name}/move")

    @extend_schema(exclude=True, parameters=[ENVIRONMENT])
    def delete(self, request: Request, name: str) -> Response:
        return super().delete(request, f"{name}/move")

    @extend_schema(
        operation_id="answer_rules_move",
        summary="Have a rule asked before another one",
        parameters=[ENVIRONMENT],
        request=AnswerRuleMoveSerializer,
        responses={200: AnswerRuleSerializer(many=True), 404: ProblemSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request, name: str) -> Response:
        environment = environment_of(request)
        rule = found(_rules(environment).filter(name=name).first(), "rule")
        answer_rule_move(rule, by=principal_of(request), **body_of(request, AnswerRuleMoveSerializer))
        return Response(AnswerRuleSerializer(_rules(environment), many=True).data)


class Teams(APIView):
    permissions = {"GET": Permission.APPROVALS_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="teams_list",
        summary="List the teams",
        parameters=[ENVIRONMENT],
        responses=TeamSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(TeamSerializer(teams(environment_of(request)), many=True).data)

    @extend_schema(
        operation_id="teams_add",
        summary="Add a team",
        parameters=[ENVIRONMENT],
        request=TeamSerializer,
        responses={201: TeamSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        wanted = body_of(request, TeamSerializer)
        team = team_add(environment_of(request), by=principal_of(request), **wanted)
        return Response(TeamSerializer(team).data, status=status.HTTP_201_CREATED)


class TeamDetail(APIView):
    permissions = {
        "GET": Permission.APPROVALS_READ,
        "PATCH": Permission.POLICY_WRITE,
        "DELETE": Permission.POLICY_WRITE,
    }

    @extend_schema(
        operation_id="teams_get",
        summary="Read a team by its name",
        parameters=[ENVIRONMENT],
        responses={200: TeamSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, name: str) -> Response:
        return Response(TeamSerializer(team_access(principal_of(request), environment_of(request), name)).data)

    @extend_schema(
        operation_id="teams_update",
        summary="Change a team",
        parameters=[ENVIRONMENT],
        request=TeamChangeSerializer,
        responses={200: TeamSerializer, 404: ProblemSerializer, 409: ProblemSerializer, 422: ProblemSerializer},
    )
    def patch(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        team = team_access(principal, environment_of(request), name, write=True)
        wanted = body_of(request, TeamChangeSerializer, changes=team)
        version = wanted.pop("version", None)
        return Response(TeamSerializer(team_change(team, expected_version=version, by=principal, **wanted)).data)

    @extend_schema(
        operation_id="teams_remove",
        summary="Remove a team that no rule names",
        parameters=[ENVIRONMENT],
        responses={204: None, 404: ProblemSerializer, 409: ProblemSerializer},
    )
    def delete(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        team_remove(team_access(principal, environment_of(request), name, write=True), by=principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Deputies(APIView):
    permissions = {"GET": Permission.APPROVALS_READ, "POST": Permission.APPROVALS_RESOLVE}

    @extend_schema(
        operation_id="deputies_list",
        summary="List who answers in whose place now; it holds in every environment",
        parameters=[ENVIRONMENT],
        responses=DeputySerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        environment_of(request)
        return Response(DeputySerializer(deputies(timezone.now()), many=True).data)

    @extend_schema(
        operation_id="deputies_name",
        summary="Name who answers in one's own place",
        parameters=[ENVIRONMENT],
        request=DeputySerializer,
        responses={201: DeputySerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        principal = principal_of(request)
        environment_of(request)
        wanted = body_of(request, DeputySerializer)
        row = deputy_name(
            deputised(principal),
            deputy=wanted["deputy"]["username"],
            until=wanted["until"],
            at=timezone.now(),
            by=principal,
        )
        return Response(DeputySerializer(row).data, status=status.HTTP_201_CREATED)


class DeputyDetail(APIView):
    permissions = {"DELETE": Permission.APPROVALS_RESOLVE}

    @extend_schema(
        operation_id="deputies_end",
        summary="Have nobody answer in somebody's place any more",
        parameters=[ENVIRONMENT],
        responses={204: None, 403: ProblemSerializer, 404: ProblemSerializer},
    )
    def delete(self, request: Request, deputy_id: int) -> Response:
        environment_of(request)
        row = found(deputies(timezone.now()).filter(pk=deputy_id).first(), "deputy")
        deputy_end(row, by=principal_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
