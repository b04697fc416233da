"""How allauth behaves here: nobody signs up by themselves, and a sign-in leaves its origin in the session."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from apps.accounts.session_store import ORIGIN_KEY
from apps.events.notices import announce


class AccountAdapter(DefaultAccountAdapter):
    """People join by invitation only, and sign in by username."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002 - allauth's signature
        return False

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Count failures by user name and address: who guesses shuts out himself, not the person he guesses at."""
        return f"{self.get_client_ip(request)}:{str(credentials.get('username', '')).casefold()}"

    def login(self, request: HttpRequest, user: AbstractBaseUser) -> None:
        """Sign in, or leave everything as it was: a sign-in that cannot be put on record is none.

        The form that was sent stays good, so that it can be sent again.
        """
        token = request.META.get("CSRF_COOKIE")
        try:
            super().login(request, user)
        except Exception:
            request.session.flush()
            request.user = AnonymousUser()
            request.META["CSRF_COOKIE"] = token
            request.META["CSRF_COOKIE_NEEDS_UPDATE"] = False
            raise
        request.session[ORIGIN_KEY] = origin_of(request, self.get_client_ip(request))

    def logout(self, request: HttpRequest) -> None:
        """Sign out, and have the sockets of the session look whether they may stay."""
        user_id = request.user.pk
        super().logout(request)
        if user_id is not None:
            announce("session.ended", id=user_id)


def origin_of(request: HttpRequest, ip: str | None) -> dict[str, Any]:
    """Say where a sign-in came from, for the list of sessions."""
    return {"ip": ip, "user_agent": request.headers.get("User-Agent", "")[:300]}
