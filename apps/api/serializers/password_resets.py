"""Links to a new password, without their secrets."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.accounts.models import PasswordReset


class PasswordResetSerializer(serializers.ModelSerializer[PasswordReset]):
    """An open link: whose password it sets, and who made it; null at the command line."""

    id = serializers.CharField(source="shown_id", read_only=True)
    user = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    created_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)

    class Meta:
        model = PasswordReset
        fields: ClassVar = ["id", "user", "created_by", "created_at", "expires_at"]
        read_only_fields: ClassVar = fields
