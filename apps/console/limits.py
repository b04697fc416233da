"""What the page of limits shows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django import forms
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.console.forms import ConsoleForm
from apps.firewall.runtime.limits.breaker import BreakerRule
from apps.limits.breaking import breaker_of
from apps.limits.models import Per
from apps.limits.selectors import (
    CounterUse,
    breaker_policy,
    counters_in_use,
    counters_refused,
    rate_limits,
    tool_breakers,
)

if TYPE_CHECKING:
    from apps.limits.models import RateCounter, RateLimit, ToolBreaker
    from apps.registry.models import Environment

    LimitRecord: TypeAlias = RateLimit

COUNTERS_READ: Final = 500
SUBJECTS_SHOWN: Final = 5
REFUSALS_SHOWN: Final = 10
PER_WORDS: Final[Mapping[str, Promise]] = {
    Per.EVERYBODY: gettext_lazy("by everybody together"),
    Per.TOOL: gettext_lazy("of each tool"),
    Per.AGENT: gettext_lazy("by each agent"),
    Per.SENDER: gettext_lazy("by each sender"),
    Per.SESSION: gettext_lazy("in each session"),
}


@dataclass(frozen=True, slots=True)
class Bar:
    """One subject of a rate: how much of it is used now."""

    subject: str
    used: int
    per_minute: int

    @property
    def percent(self) -> int:
        return min(100, round(100 * self.used / self.per_minute))

    @property
    def is_full(self) -> bool:
        return self.used >= self.per_minute


@dataclass(frozen=True, slots=True)
class RateRow:
    """A rate limit and its fullest subjects."""

    record: "RateLimit"
    bars: tuple[Bar, ...]
    left: int

    @property
    def words(self) -> Promise:
        return PER_WORDS[self.record.per]


@dataclass(frozen=True, slots=True)
class BreakerRow:
    """A tool that failed last."""

    record: "ToolBreaker"
    state: str
    wait_s: int


class RateForm(ConsoleForm):
    """One rate limit. Names stand one a line, or with commas."""

    version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(label=gettext_lazy("Name"), max_length=100)
    per_minute = forms.IntegerField(label=gettext_lazy("Calls a minute"), min_value=1, max_value=1_000_000)
    per = forms.ChoiceField(label=gettext_lazy("Counted"), choices=list(PER_WORDS.items()))
    tools = forms.CharField(label=gettext_lazy("Tools"), initial="*", max_length=20_000)
    agents = forms.CharField(label=gettext_lazy("Agents"), initial="*", max_length=20_000)
    is_enabled = forms.BooleanField(label=gettext_lazy("In force"), required=False, initial=True)

    def values(self) -> dict[str, Any]:
        """Give the fields of the record."""
        cleaned = self.cleaned_data
        fields = {name: cleaned[name] for name in ("name", "per_minute", "per", "is_enabled")}
        return fields | {name: _names(cleaned[name]) for name in ("tools", "agents")}


class BreakerForm(ConsoleForm):
    """The breaker's rule."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    failures = forms.IntegerField(label=gettext_lazy("Failures in a row"), min_value=1, max_value=1000)
    pause_s = forms.IntegerField(label=gettext_lazy("Pause in seconds"), min_value=1, max_value=86_400)
    is_enabled = forms.BooleanField(label=gettext_lazy("Leave failing tools alone"), required=False)

    def values(self) -> dict[str, Any]:
        """Give the fields of the record."""
        return {name: self.cleaned_data[name] for name in ("failures", "pause_s", "is_enabled")}


def rate_form(record: "RateLimit") -> dict[str, Any]:
    """Give the form's values of a record."""
    fields: dict[str, Any] = {name: getattr(record, name) for name in ("version", "name", "per_minute", "per")}
    lists = {name: ", ".join(getattr(record, name)) for name in ("tools", "agents")}
    return fields | lists | {"is_enabled": record.is_enabled}


def breaker_form(environment: "Environment") -> dict[str, Any]:
    """Give the form's values of the breaker's rule."""
    policy = breaker_policy(environment)
    return {name: getattr(policy, name) for name in ("version", "failures", "pause_s", "is_enabled")}


def page_of(environment: "Environment") -> dict[str, Any]:
    """Gather what the page shows besides its forms."""
    at = timezone.now()
    uses = counters_in_use(environment, at=at, most=COUNTERS_READ)
    limits = list(rate_limits(environment))
    return {
        "rates": [_rate_row(limit, uses) for limit in limits],
        "breakers": list(_breaker_rows(environment, at)),
        "refusals": [_refusal(row, limits) for row in counters_refused(environment, most=REFUSALS_SHOWN)],
    }


def _rate_row(limit: "RateLimit", uses: list[CounterUse]) -> RateRow:
    mine = [use for use in uses if use.counter.rate == str(limit.pk) and round(use.used)]
    bars = [Bar(_subject(use.counter.subject), round(use.used), limit.per_minute) for use in mine]
    return RateRow(limit, tuple(bars[:SUBJECTS_SHOWN]), max(0, len(bars) - SUBJECTS_SHOWN))


def _subject(subject: str) -> str:
    return subject or _("everybody")


def _breaker_rows(environment: "Environment", at: datetime) -> Iterator[BreakerRow]:
    policy = breaker_policy(environment)
    rule = BreakerRule(policy.failures, policy.pause_s)
    for row in tool_breakers(environment):
        breaker = breaker_of(row)
        state = breaker.state(rule, at)
        wait_s = 0 if state != "open" else max(1, round((breaker.next_try(rule) - at).total_seconds()))
        yield BreakerRow(row, state, wait_s)


def _refusal(row: "RateCounter", limits: list["RateLimit"]) -> dict[str, Any]:
    names = {str(limit.pk): limit.name for limit in limits}
    name = names.get(row.rate, _("removed")) if row.rate else _("the tool's own rate")
    return {"rate": name, "subject": _subject(row.subject), "refused": row.refused, "at": row.refused_at}


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(text.replace(",", " ").split()))
