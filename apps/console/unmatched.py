"""What the page of rules that never match shows: how far the count is, the rules, and what goes with each of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.console.blast import summed_up
from apps.console.record_pages import record_url
from apps.console.suggestions import page_of
from apps.policies.errors import RecordGoneError
from apps.policies.selectors import live_publication
from apps.policies.unmatched import (
    STANDINGS,
    LocatedRule,
    Standing,
    removal_diff,
    rule_count,
    rule_located,
    rules_located,
)

if TYPE_CHECKING:
    from apps.registry.models import Environment

PAGE: Final = 25
_LISTS: Final[Mapping[str, Promise]] = {
    "also_allow": _("entry of a list that allows besides"),
    "allow": _("entry of a list that allows"),
    "deny": _("entry of a list that denies"),
}
_WHOLE: Final[Mapping[str, Promise]] = {
    "sender": _("rule by sender"),
    "group": _("lists of a group"),
    "allowlist": _("command of an allowlist"),
}


@dataclass(frozen=True, slots=True)
class ShownRule:
    """One rule of the list, with the page of its record and the way to what its removal does."""

    rule: LocatedRule

    @property
    def sort(self) -> Promise | str:
        """What kind of rule it is."""
        if not self.rule.field:
            return _WHOLE.get(self.rule.kind, "")
        return next((name for end, name in _LISTS.items() if self.rule.field.endswith(end)), "")

    @property
    def url(self) -> str:
        return record_url(self.rule.kind, self.rule.record)

    @property
    def effect_url(self) -> str:
        if self.rule.record is None:
            return ""
        return f"{reverse('unmatched-effect')}?{urlencode(query_of(self.rule))}"


def query_of(rule: LocatedRule) -> dict[str, str]:
    """Name a rule in an address, and in the form that removes it."""
    return {"kind": rule.kind, "record": str(rule.record), "field": rule.field, "entry": rule.entry}


def rule_asked(environment: "Environment", given: Mapping[str, Any]) -> LocatedRule:
    """Find the rule that a request names.

    Raises:
        RecordGoneError: the draft has no such rule.
    """
    texts = {name: str(given.get(name, "")) for name in ("kind", "record", "field", "entry")}
    try:
        record = UUID(texts["record"])
    except ValueError as exc:
        raise RecordGoneError(gettext("the draft has no such rule any more")) from exc
    entry = "" if not texts["field"] else texts["entry"]
    return rule_located(environment, kind=texts["kind"], record=record, field=texts["field"], entry=entry)


def standing_of(given: Mapping[str, Any]) -> Standing:
    """Read which rules are looked at; what is no choice is those that never match."""
    return next((each for each in STANDINGS if each == given.get("standing")), "never")


def count_of(environment: "Environment") -> dict[str, Any]:
    """Gather how far the newest count is, and whether it still is of what is live."""
    count, counted = rule_count(environment)
    live = live_publication(environment)
    is_stale = count is not None and live is not None and count.live_digest != live.snapshot_id
    return {"count": count, "counted": counted, "is_stale": is_stale, "is_first": live is None}


def list_of(environment: "Environment", given: Mapping[str, Any]) -> dict[str, Any]:
    """Gather one page of rules; one that does not exist is the last."""
    context, standing = count_of(environment), standing_of(given)
    counted = context["counted"]
    rules = counted.of(standing) if counted is not None else ()
    last = max(1, -(-len(rules) // PAGE))
    page = min(page_of(given), last)
    located = rules_located(environment, rules[(page - 1) * PAGE : page * PAGE])
    return context | {
        "rows": [ShownRule(each) for each in located],
        "total": len(rules),
        "standing": standing,
        "page": page,
        "last": last,
    }


def effect_of(environment: "Environment", rule: LocatedRule) -> dict[str, Any]:
    """Show a rule with what its removal does over all contexts."""
    diff = removal_diff(environment, rule)
    return {
        "shown": ShownRule(rule),
        "posted": query_of(rule) | {"version": str(rule.version)},
        "blast": None if diff is None else summed_up(diff),
        "from_publication": gettext("the draft as it is"),
    }
