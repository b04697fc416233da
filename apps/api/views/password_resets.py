"""Links to a new password for programs: which are open, whose, and who made them; withdrawing one."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access import Permission, actor_of
from apps.accounts.selectors import password_reset_get, password_resets_open
from apps.accounts.services import password_reset_revoke
from apps.accounts.telling import Told, tell
from apps.api.reading import found
from apps.api.scope import installation_of
from apps.api.serializers.password_resets import PasswordResetSerializer
from apps.api.serializers.shared import ProblemSerializer
from apps.api.view import APIView


class PasswordResets(APIView):
    permissions = {"GET": Permission.USERS_MANAGE}

    @extend_schema(
        operation_id="password_resets_list",
        summary="List the links to a new password that may still be used",
        responses=PasswordResetSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        installation_of(request)
        return Response(PasswordResetSerializer(password_resets_open(timezone.now()), many=True).data)


class PasswordResetDetail(APIView):
    permissions = {"DELETE": Permission.USERS_MANAGE}

    @extend_schema(
        operation_id="password_resets_withdraw",
        summary="Withdraw a link to a new password",
        responses={204: None, 404: ProblemSerializer},
    )
    @transaction.atomic
    def delete(self, request: Request, reset_id: UUID) -> Response:
        principal = installation_of(request)
        reset = found(password_reset_get(reset_id), "link")
        was_open = reset.revoked_at is None and reset.used_at is None
        password_reset_revoke(reset, by=principal, at=timezone.now())
        if was_open:
            changes = {"user": reset.user.username}
            tell(Told(kind="user_change", status="reset_link_withdrawn", actor=actor_of(principal), changes=changes))
        return Response(status=status.HTTP_204_NO_CONTENT)
