"""What a person says of how long records are kept, what must not go, and whose contents are erased."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.audit.retention.classes import LONGEST_DAYS
from apps.audit.retention.holds import REASON_LIMIT, TEXT_LIMIT
from apps.console.forms import ConsoleForm


def _text(label: Any, *, is_required: bool = False) -> forms.CharField:
    return forms.CharField(label=label, max_length=TEXT_LIMIT, required=is_required)


def _reason(label: Any) -> forms.CharField:
    return forms.CharField(label=label, max_length=REASON_LIMIT)


def _instant(label: Any) -> forms.DateTimeField:
    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    return forms.DateTimeField(label=label, required=False, widget=widget)


class DaysForm(ConsoleForm):
    """How long one class is kept; empty is for ever."""

    days = forms.IntegerField(label=_("Days"), min_value=1, max_value=LONGEST_DAYS, required=False)


class HoldForm(ConsoleForm):
    reason = _reason(_("Reason, such as the name of the case"))
    environment = _text(_("Environment"))
    agent = _text(_("Agent"))
    channel = _text(_("Channel"))
    sender = _text(_("Sender"))
    session_key = _text(_("Session"))
    since = _instant(_("Records from (UTC)"))
    until = _instant(_("Records before (UTC)"))


class LiftForm(ConsoleForm):
    reason = _reason(_("Reason"))


class SubjectForm(ConsoleForm):
    """Whose contents; nothing is erased by this one."""

    channel = _text(_("Channel"), is_required=True)
    sender = _text(_("Sender"), is_required=True)


class ErasureForm(SubjectForm):
    reason = _reason(_("Reason"))
    repeated = forms.CharField(label=_("The sender once more"), max_length=TEXT_LIMIT)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("sender") and cleaned.get("repeated") not in {None, cleaned["sender"]}:
            self.add_error("repeated", _("This is not the sender whose contents would go."))
        return cleaned
