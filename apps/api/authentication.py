"""Who calls: a bearer token, or the session of a signed-in person (with its CSRF check)."""

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.accounts.errors import AccountError
from apps.accounts.services import token_authenticate


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer oca_…`; an unusable token is a 401 whatever the reason, so that none can be guessed at."""

    def authenticate(self, request: Request) -> tuple[object, object] | None:
        kind, _, secret = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return None
        try:
            token = token_authenticate(secret.strip(), at=timezone.now())
        except AccountError as exc:
            raise AuthenticationFailed("the token is unknown, expired or revoked", code="token_invalid") from exc
        return token, token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - the library's signature
        return "Bearer"
