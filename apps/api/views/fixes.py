"""The smallest fix of a verdict, and edits of single entries that are put into the draft."""

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.fixes import (
    DraftEditsSerializer,
    DraftFixSerializer,
    EditedRecordSerializer,
    FixAskSerializer,
    fix_json,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.firewall.engine.context import CallContext, ContextError
from apps.policies.draft_fixes import DraftEdit, draft_fix, draft_fix_diff
from apps.policies.services import draft_edit


class ExplainFix(APIView):
    permissions = {"POST": Permission.EXPLAIN}

    @extend_schema(
        operation_id="explain_fix",
        summary="Find the fewest edits of the draft's lists that flip the verdict on a tool in a context",
        parameters=[ENVIRONMENT],
        request=FixAskSerializer,
        responses={200: DraftFixSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        environment = environment_of(request)
        asked = body_of(request, FixAskSerializer)
        try:
            context = CallContext.from_json(asked["context"])
        except ContextError as exc:
            raise ValidationError({f"context.{exc.field}": [exc.message]}) from exc
        fix = draft_fix(environment, context, asked["tool"])
        diff = draft_fix_diff(environment, context, fix) if asked["with_blast"] else None
        return Response(fix_json(fix, diff))


class DraftEdits(APIView):
    permissions = {"POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="draft_edits",
        summary="Add entries to lists of the draft and remove others, all of them or none",
        parameters=[ENVIRONMENT],
        request=DraftEditsSerializer,
        responses={
            200: EditedRecordSerializer(many=True),
            404: ProblemSerializer,
            409: ProblemSerializer,
            422: ProblemSerializer,
        },
    )
    def post(self, request: Request) -> Response:
        environment = environment_of(request)
        edits = [DraftEdit(**edit) for edit in body_of(request, DraftEditsSerializer)["edits"]]
        edited = draft_edit(environment, edits, by=principal_of(request))
        return Response(EditedRecordSerializer(edited, many=True).data)
