"""The environments of this installation."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission, may_environment
from apps.api.reading import principal_of
from apps.api.serializers.shared import EnvironmentSerializer
from apps.api.view import APIView
from apps.registry.selectors import environments


class Environments(APIView):
    permissions = {"GET": Permission.POLICY_READ}
    bound = ("GET",)

    @extend_schema(
        operation_id="environments_list",
        summary="List environments",
        responses=EnvironmentSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        principal = principal_of(request)
        shown = [environment for environment in environments() if may_environment(principal, environment.slug)]
        return Response(EnvironmentSerializer(shown, many=True).data)
