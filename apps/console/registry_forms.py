"""Forms of the catalogue: a tool's move to another state."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.forms import ConsoleForm


class StateForm(ConsoleForm):
    """Why a tool goes to another state; a version that is left out takes whatever is there."""

    to = forms.CharField(max_length=16, widget=forms.HiddenInput)
    version = forms.IntegerField(min_value=0, required=False, widget=forms.HiddenInput)
    reason = forms.CharField(label=_("Reason"), max_length=500, required=False)
    successor = forms.CharField(label=_("Successor"), max_length=128, required=False)

    def members(self) -> dict[str, Any]:
        """Return what the service takes beside the state."""
        return {
            "reason": self.cleaned_data["reason"],
            "successor": self.cleaned_data["successor"],
            "expected_version": self.cleaned_data["version"],
        }


class EnabledForm(ConsoleForm):
    """Whether a plugin is on."""

    enabled = forms.TypedChoiceField(choices=[("yes", "yes"), ("no", "no")], coerce=lambda value: value == "yes")
    version = forms.IntegerField(min_value=0, required=False, widget=forms.HiddenInput)


class DriftForm(ConsoleForm):
    """An administrator's word about a changed definition; `digest` is of the one that was looked at."""

    decision = forms.ChoiceField(choices=[("accept", "accept"), ("dismiss", "dismiss")])
    digest = forms.CharField(max_length=64)
