"""Another release: what it would change, and the switch to it."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.shared import ProblemSerializer
from apps.api.serializers.upgrade import (
    UpgradedSerializer,
    UpgradeRequestSerializer,
    UpgradeSerializer,
    upgrade_json,
)
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.firewall.engine.dialect import DIALECTS
from apps.policies.upgrading import draft_upgrade, releases_beside
from apps.registry.services import environment_set_dialect

REFUSED = {400: ProblemSerializer, 422: ProblemSerializer}


class UpgradePreview(APIView):
    """What changes for whom when the draft is read as another release, cause by cause."""

    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="upgrade_preview",
        summary="Preview what another release changes",
        parameters=[ENVIRONMENT, OpenApiParameter("to", description="The release; the other one when absent.")],
        responses={200: UpgradeSerializer, **REFUSED},
    )
    def get(self, request: Request) -> Response:
        environment = environment_of(request)
        release = _release(request.query_params.get("to") or releases_beside(environment)[0], "to")
        return Response(upgrade_json(environment.dialect, release, draft_upgrade(environment, release)))

    @extend_schema(
        operation_id="upgrade_make",
        summary="Have the draft speak another release; what is live stays until the next publication",
        parameters=[ENVIRONMENT],
        request=UpgradeRequestSerializer,
        responses={200: UpgradedSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        release = _release(body_of(request, UpgradeRequestSerializer)["release"], "release")
        changed = environment_set_dialect(environment_of(request), dialect=release, by=principal_of(request))
        return Response({"environment": changed.slug, "release": changed.dialect})


def _release(name: str, field: str) -> str:
    if name not in DIALECTS:
        raise ValidationError({field: [f"no release named `{name}` is spoken"]})
    return name
