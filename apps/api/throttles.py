"""How often one token or person may ask: a token has its own rate, people share one."""

from typing import TYPE_CHECKING, cast

from django.contrib.auth.models import AnonymousUser
from django.core.cache import caches
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from apps.accounts.access import Principal
from apps.accounts.models import ApiToken

if TYPE_CHECKING:
    from rest_framework.views import APIView  # at run time a circle: its class attributes name this module

PEOPLE_PER_MINUTE = 600
STRANGERS_PER_MINUTE = 60
AHEAD_S = 5.0


class PrincipalThrottle(SimpleRateThrottle):
    """Count requests a minute by token, by person, or by address for who is neither."""

    rate = f"{PEOPLE_PER_MINUTE}/min"
    cache = caches["default"]

    num_requests: int
    duration: int

    def allow_request(self, request: Request, view: "APIView") -> bool:
        principal = cast(Principal, request.user)
        if isinstance(principal, ApiToken):
            self.num_requests = principal.rate_per_minute
        elif isinstance(principal, AnonymousUser):
            self.num_requests = STRANGERS_PER_MINUTE
        return super().allow_request(request, view)

    def throttle_failure(self) -> bool:
        """Refuse; requests of a time to come are of a clock that was set back since, and count as made just now."""
        if self.history[0] > self.now + AHEAD_S:
            self.history = [min(each, self.now) for each in self.history]
            self.cache.set(self.key, self.history, self.duration)
        return super().throttle_failure()

    def get_cache_key(self, request: Request, view: "APIView") -> str:  # noqa: ARG002 - the signature of the library
        principal = cast(Principal, request.user)
        if isinstance(principal, AnonymousUser):
            return f"throttle:{self.get_ident(request)}"
        return f"throttle:{type(principal).__name__}:{principal.pk}"
