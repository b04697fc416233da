"""The catalogue of an environment: what exists, whoever may use it."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.access import Permission
from apps.api.scope import environment_of
from apps.api.serializers.registry import PluginSerializer, ToolSerializer
from apps.api.views.parameters import ENVIRONMENT
from apps.registry.selectors import plugins_of, tools_of


class Tools(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="tools_list",
        summary="List every tool of the catalogue",
        parameters=[ENVIRONMENT],
        responses=ToolSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(ToolSerializer(tools_of(environment_of(request)), many=True).data)


class Plugins(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="plugins_list",
        summary="List every plugin that brings tools",
        parameters=[ENVIRONMENT],
        responses=PluginSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(PluginSerializer(plugins_of(environment_of(request)), many=True).data)
