"""Requests to publish as the review shows them: the one that is open, and how the last ones ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.accounts.access import Permission, may
from apps.console.gate import ConsoleRequest
from apps.policies.rules_of_release import publish_requests

ENDED_SHOWN: Final = 3
LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "waiting": ("ask", "users"),
    "scheduled": ("info", "clock"),
    "done": ("allow", "circle-check"),
    "withdrawn": ("", "arrow-back-up"),
    "refused": ("deny", "circle-x"),
    "stale": ("ask", "git-branch"),
    "expired": ("ask", "clock-x"),
}
"""State -> class of its label, icon."""


@dataclass(frozen=True, slots=True)
class RequestShown:
    """A request, how it looks, and whether whoever looks may confirm it."""

    request: Any
    css: str
    icon: str
    may_confirm: bool


def requests_shown(request: ConsoleRequest) -> dict[str, Any]:
    """List the last requests of the chosen environment for its review."""
    environment: Any = request.environment
    found = list(publish_requests(environment)[: ENDED_SHOWN + 1])
    shown = [_shown(each, request) for each in found]
    return {
        "open_request": next((each for each in shown if each.request.is_open), None),
        "ended_requests": [each for each in shown if not each.request.is_open][:ENDED_SHOWN],
    }


def _shown(found: Any, request: ConsoleRequest) -> RequestShown:
    is_others = found.asked_by_id != request.user.pk
    may_confirm = found.state == "waiting" and is_others and may(request.user, Permission.PUBLISH)
    return RequestShown(found, *LOOKS[found.state], may_confirm)
