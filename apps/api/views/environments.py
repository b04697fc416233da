"""The environments of this installation."""

from typing import cast

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.access import Permission, Principal, may_environment
from apps.api.serializers.shared import EnvironmentSerializer
from apps.registry.selectors import environments


class Environments(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="environments_list",
        summary="List environments",
        responses=EnvironmentSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        principal = cast(Principal, request.user)
        shown = [environment for environment in environments() if may_environment(principal, environment.slug)]
        return Response(EnvironmentSerializer(shown, many=True).data)
