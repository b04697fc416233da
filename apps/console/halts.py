"""What the page of the kill switch shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from apps.console.forms import ConsoleForm, Refusal
from apps.gateway.gateways_held import gateways_held
from apps.gateway.stop_effect import StopEffect, stop_effect, stop_effects, stop_names
from apps.halts.errors import HaltUnknownError
from apps.halts.models import Scope
from apps.halts.selectors import halts_holding, halts_past, processes
from apps.openclaw_gateways.models import Standing
from apps.openclaw_gateways.selectors import gateways

if TYPE_CHECKING:
    from apps.halts.models import Halt
    from apps.registry.models import Environment

    HaltRecord: TypeAlias = Halt

PAST_SHOWN: Final = 20
LISTED: Final = 1_000
"""More names than this are typed, with suggestions, instead of chosen from a list."""
NAMES_SHOWN: Final = 12
EVERYTHING: Final = str(Scope.ENVIRONMENT)

Names: TypeAlias = Mapping[str, Sequence[str]]
"""Scope -> the names that exist."""


class HaltForm(ConsoleForm):
    """What to stop: only what exists can be chosen."""

    target = forms.CharField(label=_("What to stop"), max_length=600)
    reason = forms.CharField(label=_("Why"), max_length=500)
    ends_running = forms.BooleanField(label=_("End what runs now, too"), required=False, initial=True)

    def __init__(self, *args: Any, names: Names, **options: Any) -> None:
        super().__init__(*args, **options)
        self._names = names
        self.fields["target"].widget = _widget(names)

    @property
    def suggested(self) -> list[str]:
        """Suggestions for a target that is typed; none where it is chosen from a list."""
        if isinstance(self.fields["target"].widget, forms.Select):
            return []
        return [f"{scope}:{name}" for scope, known in self._names.items() for name in known]

    def clean_target(self) -> str:
        target = str(self.cleaned_data["target"])
        scope, _colon, name = target.partition(":")
        if scope not in Scope.values or (scope == EVERYTHING) == bool(name.strip()):
            raise ValidationError(_now("Choose what to stop from the list."))
        return target

    def take_refusal(self, error: Refusal) -> None:
        if isinstance(error, HaltUnknownError):
            self.add_error("target", error.details[0]["message"])
        else:
            super().take_refusal(error)

    @property
    def wanted(self) -> dict[str, Any]:
        """What is to be stopped, as the service takes it."""
        scope, _colon, name = self.cleaned_data["target"].partition(":")
        return {
            "scope": scope,
            "name": name,
            "reason": self.cleaned_data["reason"],
            "ends_running": self.cleaned_data["ends_running"],
        }


def _widget(names: Names) -> forms.Widget:
    """A list of what exists; a text with suggestions where a list would be too long to read."""
    if sum(map(len, names.values())) > LISTED:
        return forms.TextInput(attrs={"class": "form-control", "list": "targets", "autocomplete": "off"})
    groups: list[tuple[Any, Any]] = [("", _("Choose…")), (EVERYTHING, _("Everything in this environment"))]
    titles = {"agent": _("Agents"), "channel": _("Channels"), "tool": _("Tools")}
    for scope, known in names.items():
        groups.append((titles[scope], [(f"{scope}:{name}", name) for name in known]))
    return forms.Select(choices=groups, attrs={"class": "form-select"})


@dataclass(frozen=True, slots=True)
class Consequence:
    """What a stop would meet now, and whom from then on.

    Attributes:
        agents: whose calls it refuses, the first of them; `agent_count` says how many there are.
        silent: gateways that have not reported for a while: what runs there may go on.
    """

    scope: str
    effect: StopEffect
    agents: tuple[str, ...]
    agent_count: int
    silent: tuple[str, ...]


def consequence_of(environment: "Environment", scope: str, name: str, *, at: datetime) -> Consequence:
    """Say what a stop would do, before anybody presses."""
    effect = stop_effect(environment, scope, name, at=at)
    met = [effect.name] if scope == Scope.AGENT else stop_names(environment)["agent"]
    return Consequence(
        scope=scope,
        effect=effect,
        agents=tuple(met[:NAMES_SHOWN]),
        agent_count=len(met),
        silent=tuple(each.name for each in gateways(environment) if each.standing(at) == Standing.SILENT),
    )


def page_of(environment: "Environment", *, at: datetime) -> dict[str, Any]:
    """Everything that holds, who holds to it, and what was lifted."""
    known, halts = processes(at=at), list(halts_holding(environment))
    effects = stop_effects(environment, [(halt.scope, halt.name) for halt in halts], at=at)
    for halt, effect in zip(halts, effects, strict=True):
        halt.meets = effect  # type: ignore[attr-defined]
    held = gateways_held(environment, at=at)
    return {
        "gateways": held,
        "silent": sum(not each.reports for each in held),
        "not_yet": [each.name for each in held if each.reports and not each.holds],
        "halts": halts,
        "past": halts_past(environment, most=PAST_SHOWN),
        "processes": known,
        "heard": sum(each.has_heard for each in known),
    }
