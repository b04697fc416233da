"""What the page of the kill switch shows."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.approvals.selectors import approvals_pending
from apps.console.forms import ConsoleForm
from apps.halts.conditions import name_kept, rows_met
from apps.halts.models import Scope
from apps.halts.selectors import halts_holding, halts_past, processes
from apps.policies.selectors import agents, channels
from apps.registry.selectors import tools_offered
from apps.sessions.selectors import sessions_since

if TYPE_CHECKING:
    from apps.halts.models import Halt
    from apps.registry.models import Environment

    HaltRecord: TypeAlias = Halt

PAST_SHOWN: Final = 20
RECENT: Final = timedelta(hours=1)


class HaltForm(ConsoleForm):
    """What to stop."""

    scope = forms.ChoiceField(label=_("What"), choices=Scope.choices, initial=Scope.AGENT)
    name = forms.CharField(
        label=_("Which one"),
        max_length=512,
        required=False,
        widget=forms.TextInput(attrs={"list": "names", "autocomplete": "off"}),
    )
    reason = forms.CharField(label=_("Why"), max_length=500)
    ends_running = forms.BooleanField(label=_("End what runs now, too"), required=False, initial=True)


@dataclass(frozen=True, slots=True)
class Consequence:
    """What a stop would meet now."""

    requests: int
    sessions: int


def consequence_of(environment: "Environment", scope: str, name: str, *, at: datetime) -> Consequence:
    """Count what a stop would meet: requests that would freeze, and sessions with a call within the last hour."""
    kept = name_kept(environment, scope, name)
    return Consequence(
        requests=approvals_pending(environment).filter(rows_met(scope, kept)).count(),
        sessions=sessions_since(environment, at - RECENT).filter(rows_met(scope, kept, tool="last_tool")).count(),
    )


def page_of(environment: "Environment", *, at: datetime) -> dict[str, Any]:
    """Everything that holds, who holds to it, and what was lifted."""
    known = processes(at=at)
    return {
        "halts": list(halts_holding(environment)),
        "past": halts_past(environment, most=PAST_SHOWN),
        "processes": known,
        "heard": sum(each.has_heard for each in known),
    }


def names_of(environment: "Environment") -> dict[str, list[str]]:
    """Suggest names of each scope."""
    return {
        "agent": list(agents(environment).values_list("key", flat=True)),
        "channel": list(channels(environment).values_list("key", flat=True)),
        "tool": list(tools_offered(environment).values_list("name", flat=True)),
    }
