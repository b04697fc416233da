"""What a request is about: the principal behind it, and the environment it names."""

from typing import TYPE_CHECKING, Any, cast

from rest_framework.exceptions import NotFound
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.accounts.access import Permission, Principal, may, may_environment, require_agents
from apps.registry.selectors import environments

if TYPE_CHECKING:
    from rest_framework.views import APIView  # at run time a circle: its class attributes name this module


class NeedsPermission(BasePermission):
    """Let through who has the permission that the view's table names for the method.

    A view without an entry for a method answers nobody: forgetting one closes the door. So it is for tokens that are
    bound to agents: they reach the methods that a view names in `bound`, where it shows and changes only what is
    theirs, and no others.
    """

    def has_permission(self, request: Request, view: "APIView") -> bool:
        table: dict[str, Permission] = getattr(view, "permissions", {})
        method = "GET" if request.method in {"HEAD", "OPTIONS"} else request.method or ""
        wanted, principal = table.get(method), cast(Principal, request.user)
        if wanted is None or not may(principal, wanted):
            return False
        if method not in getattr(view, "bound", ()):
            require_agents(principal, ())
        return True


def environment_of(request: Request) -> Any:
    """Find the environment that `?environment=` names; the first one when it names none.

    Raises:
        NotFound: there is none, or the token belongs to another one.
    """
    wanted = request.query_params.get("environment", "")
    for environment in environments():
        if may_environment(cast(Principal, request.user), environment.slug) and wanted in {"", environment.slug}:
            return environment
    raise NotFound(f"no environment `{wanted}`" if wanted else "no environment")


def installation_of(request: Request) -> Principal:
    """Give the principal of a request about the installation as a whole.

    Raises:
        NotFound: the token belongs to one environment.
    """
    principal = cast(Principal, request.user)
    if not may_environment(principal, ""):
        raise NotFound("this is about all environments, and the token is for one")
    return principal
