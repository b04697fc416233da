"""Plugins that bring tools, and the groups of the core catalogue."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, found, principal_of
from apps.api.scope import environment_of
from apps.api.serializers.registry import PluginChangeSerializer, PluginSerializer, ToolGroupSerializer
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.api.views.registry.tools import REFUSED
from apps.registry.selectors import groups_of, plugin_find, plugins_of
from apps.registry.services import plugin_save


class Plugins(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="registry_plugins_list",
        summary="List every plugin that brings tools",
        parameters=[ENVIRONMENT],
        responses=PluginSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(PluginSerializer(plugins_of(environment_of(request)), many=True).data)

    @extend_schema(
        operation_id="registry_plugins_save",
        summary="Add a plugin, or replace what is said of the one with this key",
        parameters=[ENVIRONMENT],
        request=PluginSerializer,
        responses={201: PluginSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        wanted = body_of(request, PluginSerializer)
        plugin = plugin_save(environment_of(request), by=principal_of(request), **wanted)
        return Response(PluginSerializer(plugin).data, status=status.HTTP_201_CREATED)


class PluginDetail(APIView):
    permissions = {"GET": Permission.POLICY_READ, "PATCH": Permission.POLICY_WRITE}

    @extend_schema(
        operation_id="registry_plugins_get",
        summary="Read a plugin",
        parameters=[ENVIRONMENT],
        responses={200: PluginSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, key: str) -> Response:
        return Response(PluginSerializer(found(plugin_find(environment_of(request), key), "plugin")).data)

    @extend_schema(
        operation_id="registry_plugins_update",
        summary="Change a plugin; calls to the tools of one that is switched off are refused at once",
        parameters=[ENVIRONMENT],
        request=PluginChangeSerializer,
        responses={200: PluginSerializer, **REFUSED},
    )
    def patch(self, request: Request, key: str) -> Response:
        environment = environment_of(request)
        plugin = found(plugin_find(environment, key), "plugin")
        values = body_of(request, PluginChangeSerializer)
        version = values.pop("version")
        kept = {name: getattr(plugin, name) for name in ("name", "description", "release", "is_enabled")}
        saved = plugin_save(
            environment, key=plugin.key, expected_version=version, by=principal_of(request), **{**kept, **values}
        )
        return Response(PluginSerializer(saved).data)


class Groups(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="registry_groups_list",
        summary="List the tool groups of the release, such as `group:fs`",
        parameters=[ENVIRONMENT],
        responses=ToolGroupSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(ToolGroupSerializer(groups_of(environment_of(request)), many=True).data)
