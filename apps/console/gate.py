"""The gate before a page: who is signed in, and may they open it."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, cast

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import add_never_cache_headers

from apps.accounts.access import Permission, require
from apps.console.kept_forms import form_keep, page_of

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails

    from apps.accounts.models import User as User  # views take the type from here: models are not theirs
    from apps.registry.models import Environment


class ConsoleRequest(HttpRequest):
    """A request behind the gate: somebody is signed in, and one environment is chosen."""

    user: "User"
    htmx: "HtmxDetails"
    environment: "Environment | None"


P = ParamSpec("P")
Story = Callable[Concatenate[ConsoleRequest, P], HttpResponseBase]


def gate(permission: Permission | None = None) -> Callable[[Story[P]], Callable[..., HttpResponseBase]]:
    """Let a signed-in person with a permission reach a view; nothing behind it is kept by browsers or proxies.

    A fragment asked for without a session answers with a redirect of the whole page, not with a sign-in
    form inside a panel. A form sent without one is kept for the person who typed it.
    """

    def decorate(view: Story[P]) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if permission is not None:
                require(cast(ConsoleRequest, request).user, permission)
            response = view(cast(ConsoleRequest, request), *args, **kwargs)
            add_never_cache_headers(response)
            return response

        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.user.is_authenticated:
                return checked(request, *args, **kwargs)
            form_keep(request)
            if getattr(request, "htmx", False):
                return HttpResponse(status=401, headers={"HX-Refresh": "true"})
            return redirect_to_login(page_of(request) if request.method == "POST" else request.get_full_path())

        return guarded

    return decorate
