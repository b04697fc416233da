"""Hooks: who is asked before calls and told after them."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission
from apps.api.reading import body_of, found, principal_of, version_of
from apps.api.scope import environment_of
from apps.api.serializers.hooks import (
    HookChangeSerializer,
    HookCreateSerializer,
    HookFailureSerializer,
    HookPolicyChangeSerializer,
    HookPolicySerializer,
    HookSerializer,
    HookTrialSerializer,
    HookTryRequestSerializer,
    InstalledPluginSerializer,
)
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView
from apps.api.views.parameters import ENVIRONMENT
from apps.api.views.records import VERSION
from apps.api.views.registry.tools import REFUSED
from apps.registry.hooks import hook_try, installed_plugins
from apps.registry.selectors import hook_failures, hook_find, hook_policy, hooks_of
from apps.registry.services import environment_plugin, hook_create, hook_delete, hook_policy_save, hook_save


class Hooks(APIView):
    permissions = {"GET": Permission.POLICY_READ, "POST": Permission.PUBLISH}

    @extend_schema(
        operation_id="registry_hooks_list",
        summary="List the hooks, each with what came of it",
        parameters=[ENVIRONMENT],
        responses=HookSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(HookSerializer(hooks_of(environment_of(request)), many=True).data)

    @extend_schema(
        operation_id="registry_hooks_create",
        summary="Add a hook; it is asked from the next call on",
        parameters=[ENVIRONMENT],
        request=HookCreateSerializer,
        responses={201: HookSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        values = body_of(request, HookCreateSerializer)
        plugin = environment_plugin(environment_of(request), values.pop("plugin"))
        hook = hook_create(plugin, by=principal_of(request), **values)
        return Response(HookSerializer(hook).data, status=status.HTTP_201_CREATED)


class HookDetail(APIView):
    permissions = {"GET": Permission.POLICY_READ, "PATCH": Permission.PUBLISH, "DELETE": Permission.PUBLISH}

    @extend_schema(
        operation_id="registry_hooks_get",
        summary="Read a hook",
        parameters=[ENVIRONMENT],
        responses={200: HookSerializer, 404: ProblemSerializer},
    )
    def get(self, request: Request, name: str) -> Response:
        return Response(HookSerializer(found(hook_find(environment_of(request), name), "hook")).data)

    @extend_schema(
        operation_id="registry_hooks_update",
        summary="Change a hook, at once for every call; `version` is the one that was seen",
        parameters=[ENVIRONMENT],
        request=HookChangeSerializer,
        responses={200: HookSerializer, **REFUSED},
    )
    def patch(self, request: Request, name: str) -> Response:
        hook = found(hook_find(environment_of(request), name), "hook")
        values = body_of(request, HookChangeSerializer)
        version = values.pop("version")
        return Response(
            HookSerializer(hook_save(hook, expected_version=version, by=principal_of(request), **values)).data
        )

    @extend_schema(
        operation_id="registry_hooks_delete",
        summary="Remove a hook; calls that it would block run from now on",
        parameters=[ENVIRONMENT, VERSION],
        responses={204: None, **REFUSED},
    )
    def delete(self, request: Request, name: str) -> Response:
        hook = found(hook_find(environment_of(request), name), "hook")
        hook_delete(hook, expected_version=version_of(request), by=principal_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class HookPolicies(APIView):
    permissions = {"GET": Permission.POLICY_READ, "PATCH": Permission.PUBLISH}

    @extend_schema(
        operation_id="registry_hook_policy_get",
        summary="Read whether hooks that fail stop calls under release 2026.2, too",
        parameters=[ENVIRONMENT],
        responses=HookPolicySerializer,
    )
    def get(self, request: Request) -> Response:
        return Response(HookPolicySerializer(hook_policy(environment_of(request))).data)

    @extend_schema(
        operation_id="registry_hook_policy_update",
        summary="Say whether hooks that fail stop calls under release 2026.2, too, from the next call on",
        parameters=[ENVIRONMENT],
        request=HookPolicyChangeSerializer,
        responses={200: HookPolicySerializer, **REFUSED},
    )
    def patch(self, request: Request) -> Response:
        wanted = body_of(request, HookPolicyChangeSerializer)
        version = wanted.pop("version")
        saved = hook_policy_save(environment_of(request), expected_version=version, by=principal_of(request), **wanted)
        return Response(HookPolicySerializer(saved).data)


class HookFailures(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="registry_hooks_failures",
        summary="List what went wrong with a hook, the newest first; of each the last hundred are kept",
        parameters=[ENVIRONMENT],
        responses={200: HookFailureSerializer(many=True), 404: ProblemSerializer},
    )
    def get(self, request: Request, name: str) -> Response:
        hook = found(hook_find(environment_of(request), name), "hook")
        return Response(HookFailureSerializer(hook_failures(hook), many=True).data)


class HookTry(APIView):
    permissions = {"POST": Permission.PUBLISH}

    @extend_schema(
        operation_id="registry_hooks_try",
        summary="Ask a hook about a call that nobody makes; it counts nowhere",
        parameters=[ENVIRONMENT],
        request=HookTryRequestSerializer,
        responses={200: HookTrialSerializer, **REFUSED},
    )
    def post(self, request: Request, name: str) -> Response:
        hook = found(hook_find(environment_of(request), name), "hook")
        wanted = body_of(request, HookTryRequestSerializer)
        trial = hook_try(hook, tool=wanted["tool"], params=wanted.get("params", {}))
        return Response(HookTrialSerializer(trial).data)


class InstalledHooks(APIView):
    permissions = {"GET": Permission.POLICY_READ}

    @extend_schema(
        operation_id="registry_hooks_installed",
        summary="List the hooks that installed Python packages offer; none of their code is loaded",
        parameters=[ENVIRONMENT],
        responses=InstalledPluginSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        environment_of(request)  # packages belong to the installation; who asks, to an environment
        return Response(InstalledPluginSerializer(installed_plugins(), many=True).data)
