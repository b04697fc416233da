"""What the shell around every page shows."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import cached_property

from apps.accounts.access import Permission, may
from apps.approvals.selectors import approvals_pending, in_time
from apps.console.environments import environments_of
from apps.console.kept_forms import form_kept
from apps.console.menu import Link, ShownSection, audit_tabs, menu_of, search_tabs
from apps.console.palette import Option, palette_of
from apps.policies.selectors import live_publication


@dataclass
class Shell:
    """Menu, environment, live snapshot, waiting requests; each is read when a template first asks."""

    request: HttpRequest
    version: str = settings.VERSION

    @cached_property
    def is_signed_in(self) -> bool:
        user = getattr(self.request, "user", None)
        return bool(user is not None and user.is_authenticated)

    @cached_property
    def menu(self) -> list[ShownSection]:
        return menu_of(self.request)

    @cached_property
    def palette(self) -> list[Option]:
        """What the palette offers before a text is typed."""
        return palette_of(self.request) if self.is_signed_in else []

    @cached_property
    def quick(self) -> list[Link]:
        return [link for section in self.menu for link in section.links if link.is_quick][:4]

    @cached_property
    def audit_tabs(self) -> list[Link]:
        """The pages of the ledger, for the strip above each of them."""
        return audit_tabs(self.request) if self.is_signed_in else []

    @cached_property
    def search_tabs(self) -> list[Link]:
        """The pages of tool search, for the strip above each of them."""
        return search_tabs(self.request) if self.is_signed_in else []

    @cached_property
    def environment(self) -> Any:
        return getattr(self.request, "environment", None) or None

    @cached_property
    def environments(self) -> list[Any]:
        """The choice of environments; empty while there is nothing to choose."""
        known = environments_of(self.request)
        return known if len(known) > 1 else []

    @cached_property
    def may_see_approvals(self) -> bool:
        return self.is_signed_in and may(self.request.user, Permission.APPROVALS_READ)

    @cached_property
    def pending(self) -> int:
        """How many requests wait now."""
        if not self.may_see_approvals or self.environment is None:
            return 0
        return approvals_pending(self.environment).filter(in_time(timezone.now())).count()

    @cached_property
    def may_read_policy(self) -> bool:
        return self.is_signed_in and may(self.request.user, Permission.POLICY_READ)

    @cached_property
    def may_stop(self) -> bool:
        """Whether the kill switch stands in the top bar."""
        return self.is_signed_in and self.environment is not None and may(self.request.user, Permission.CALLS_STOP)

    @cached_property
    def live(self) -> Any:
        """The publication that gateways enforce; None before the first one."""
        if not self.may_read_policy or self.environment is None:
            return None
        return live_publication(self.environment)

    @cached_property
    def kept_form(self) -> dict[str, Any] | None:
        """What the person typed on this page before the session ended."""
        return form_kept(self.request) if self.is_signed_in else None

    @cached_property
    def server_time_ms(self) -> int:
        return round(timezone.now().timestamp() * 1000)


def shell(request: HttpRequest) -> dict[str, Shell]:
    """Give templates `shell`."""
    return {"shell": Shell(request)}
