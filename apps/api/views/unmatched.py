"""Rules of what is live that no recorded call matched, and what goes with each of them."""

from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import principal_of, query_of
from apps.api.scope import environment_of
from apps.api.serializers.shared import ProblemSerializer
from apps.api.serializers.snapshots import BlastSerializer, blast_json
from apps.api.serializers.unmatched import (
    PAGE,
    PAGE_MOST,
    RuleAskSerializer,
    RuleCountSerializer,
    UnmatchedAskSerializer,
    UnmatchedPageSerializer,
)
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.policies.selectors import live_publication
from apps.policies.tasks import replay_enqueue
from apps.policies.unmatched import (
    STANDINGS,
    Counted,
    removal_diff,
    rule_count,
    rule_count_request,
    rule_located,
    rules_located,
)

FIGURES = ("rules", "never", "unknown", "idle", "vague")
PAGES = [
    OpenApiParameter("standing", enum=list(STANDINGS), description="`never` matched, or `unknown`."),
    OpenApiParameter("after", OpenApiTypes.INT, description="How many rules come before the page: `next` of another."),
    OpenApiParameter("limit", OpenApiTypes.INT, default=PAGE, description=f"At most {PAGE_MOST}."),
]
RULE = [
    OpenApiParameter("kind", required=True, description="Kind of the record."),
    OpenApiParameter("record", OpenApiTypes.UUID, required=True),
    OpenApiParameter("field", description="The list; left out for a whole rule."),
    OpenApiParameter("entry", description="The entry of the list."),
]


class UnmatchedRules(APIView):
    permissions = {"GET": Permission.AUDIT_READ, "POST": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="unmatched_rules_list",
        summary="List the rules of what is live that no recorded call of the last 30 days matched",
        parameters=[ENVIRONMENT, *PAGES],
        responses={200: UnmatchedPageSerializer, 400: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        asked, environment = query_of(request, UnmatchedAskSerializer), environment_of(request)
        count, counted = rule_count(environment)
        live = live_publication(environment)
        rules = counted.of(asked["standing"]) if counted is not None else ()
        end = asked["after"] + asked["limit"]
        page = {
            "count": count,
            "is_stale": count is not None and live is not None and count.live_digest != live.snapshot_id,
            "results": rules_located(environment, rules[asked["after"] : end]),
            "next": end if end < len(rules) else None,
            **_figures(counted),
        }
        return Response(UnmatchedPageSerializer(page).data)

    @extend_schema(
        operation_id="unmatched_rules_count",
        summary="Count which rules of what is live the recorded calls match; a worker does it",
        parameters=[ENVIRONMENT],
        request=None,
        responses={202: RuleCountSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        count = rule_count_request(environment_of(request), by=principal_of(request), at=timezone.now())
        replay_enqueue(count.pk)
        return Response(RuleCountSerializer(count).data, status=status.HTTP_202_ACCEPTED)


class UnmatchedEffect(APIView):
    permissions = {"GET": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="unmatched_rules_effect",
        summary="Say what taking a rule out of the draft changes over all contexts; null for a rule of commands",
        parameters=[ENVIRONMENT, *RULE],
        responses={200: BlastSerializer, 400: ProblemSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        environment = environment_of(request)
        diff = removal_diff(environment, rule_located(environment, **query_of(request, RuleAskSerializer)))
        return Response(None if diff is None else blast_json(diff))


def _figures(counted: Counted | None) -> dict[str, Any]:
    if counted is None:
        return dict.fromkeys(FIGURES)
    told = {name: getattr(counted, name) for name in FIGURES}
    return told | {"never": len(counted.never), "unknown": len(counted.unknown)}
