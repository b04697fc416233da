"""Which environment a person looks at: the one kept in the session, else the first."""

from typing import TYPE_CHECKING, Any

from django.http import HttpRequest

from apps.registry.selectors import environments

if TYPE_CHECKING:
    from apps.registry.models import Environment

SESSION_KEY = "environment"


def environments_of(request: HttpRequest) -> "list[Environment]":
    """List the environments, read once for a request."""
    known: list[Environment] | None = getattr(request, "_environments", None)
    if known is None:
        known = list(environments())
        request._environments = known  # type: ignore[attr-defined]
    return known


def chosen_environment(request: HttpRequest) -> "Environment | None":
    """Find the environment of this session; None in an installation that has none yet."""
    known = environments_of(request)
    wanted = request.session.get(SESSION_KEY)
    for environment in known:
        if environment.slug == wanted:
            return environment
    return known[0] if known else None


def slug_of_session(session: Any) -> str:
    """Find which environment a session looks at, for a socket; empty when there is none yet."""
    wanted = session.get(SESSION_KEY)
    slugs = [environment.slug for environment in environments()]
    if wanted in slugs:
        return str(wanted)
    return slugs[0] if slugs else ""
