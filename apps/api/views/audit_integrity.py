"""The ledger itself for programs: how it stands, what is signed, a walk over all of it."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.scope import installation_of
from apps.api.serializers.audit_integrity import (
    ChainPageSerializer,
    IntegritySerializer,
    StatementPageSerializer,
    StatementSerializer,
    VerificationSerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.audit.checkpoints import chains_newest
from apps.audit.errors import FilterError
from apps.audit.integrity import checkpoint_now, integrity
from apps.audit.statements import StatementKind, statements_page
from apps.audit.tasks import verification_enqueue
from apps.audit.verification_runs import verification_access, verification_request

PAGE = 100
REFUSED = {404: ProblemSerializer, 422: ProblemSerializer}
HIGHEST = 2**63 - 1


class Integrity(APIView):
    permissions = {"GET": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="audit_integrity",
        summary="Read how the ledger stands: figures, key, newest checkpoint, walks, witnesses, alarms",
        responses={200: IntegritySerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request) -> Response:
        installation_of(request)
        return Response(IntegritySerializer(integrity(timezone.now())).data)


class Chains(APIView):
    permissions = {"GET": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="audit_chains_list",
        summary="List chains, those of the youngest processes first",
        parameters=[OpenApiParameter("before", OpenApiTypes.UUID, description="`older` of the page before.")],
        responses={200: ChainPageSerializer, **REFUSED},
    )
    def get(self, request: Request) -> Response:
        installation_of(request)
        before = request.query_params.get("before", "")
        found = chains_newest(before=_chain(before) if before else None, limit=PAGE + 1)
        older = found[PAGE - 1].chain_id if len(found) > PAGE else None
        return Response(ChainPageSerializer({"rows": found[:PAGE], "older": older}).data)


class Statements(APIView):
    permissions = {"GET": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="audit_statements_list",
        summary="Read signed statements in their order: whoever keeps asking is a witness",
        parameters=[
            OpenApiParameter("after", OpenApiTypes.INT, description="Number after which to begin; 0 at first."),
            OpenApiParameter("kind", OpenApiTypes.STR, enum=[kind.value for kind in StatementKind]),
        ],
        responses={200: StatementPageSerializer, **REFUSED},
    )
    def get(self, request: Request) -> Response:
        installation_of(request)
        after, kind = _number(request.query_params.get("after", "0")), request.query_params.get("kind", "")
        if kind and kind not in set(StatementKind):
            raise _refusal("kind", "not a kind of statement")
        rows = statements_page(after=after, kind=kind, limit=PAGE)
        last = rows[-1].number if rows else after
        return Response({"rows": [each.document() for each in rows], "after": last})


class Checkpoints(APIView):
    permissions = {"POST": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="audit_checkpoints_create",
        summary="Sign the heads of all chains that moved since the last checkpoint; none when none did",
        request=None,
        responses={200: StatementSerializer(many=True), **REFUSED},
    )
    def post(self, request: Request) -> Response:
        made = checkpoint_now(installation_of(request))
        return Response([each.document() for each in made])


class Verifications(APIView):
    permissions = {"POST": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="audit_verifications_create",
        summary="Have the whole ledger walked; while a walk goes on, it is the one that is answered",
        request=None,
        responses={202: VerificationSerializer, 404: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        run = verification_request(installation_of(request), at=timezone.now())
        verification_enqueue(run.pk)
        return Response(VerificationSerializer(run).data, status=status.HTTP_202_ACCEPTED)


class VerificationDetail(APIView):
    permissions = {"GET": Permission.AUDIT_READ}

    @extend_schema(
        operation_id="audit_verifications_get",
        summary="See how far a walk is, and what it found",
        responses={200: VerificationSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        return Response(VerificationSerializer(verification_access(installation_of(request), run_id)).data)


def _chain(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise _refusal("before", "not a cursor of this list") from None


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text) <= HIGHEST):
        raise _refusal("after", "must be a whole number, 0 or more")
    return int(text)


def _refusal(path: str, message: str) -> Any:
    return FilterError([{"path": path, "code": "invalid", "message": f"{path}: {message}"}])
