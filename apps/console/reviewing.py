"""Whether the review of a draft can be shown with its page, or is worked out while the page waits for it."""

from typing import Any, Final

from django.http import HttpRequest

from apps.firewall.engine.snapshot import SnapshotError
from apps.policies.guardrails import guardrails_known
from apps.policies.selectors import draft_is_reviewed, draft_is_small, draft_snapshot

AT_ONCE: Final = 2_000
"""Agents, groups and rules by sender that are reviewed faster than a page is looked at."""
NOW: Final = "now"
"""What the address of the page says where the review is wanted with it, however long it takes."""


def review_waits(request: HttpRequest, environment: Any) -> bool:
    """Say whether the review takes longer than a page may."""
    if not {NOW, "all"}.isdisjoint(request.GET):
        return False
    return not _is_known(environment) and not draft_is_small(environment, most=AT_ONCE)


def _is_known(environment: Any) -> bool:
    if not draft_is_reviewed(environment):
        return False
    try:
        return guardrails_known(environment, draft_snapshot(environment))
    except SnapshotError:  # is said at once
        return True
