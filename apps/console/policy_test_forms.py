"""The form of a policy test: a situation as the explorer's, or a context as JSON where its fields cannot say it."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from apps.console.forms import ConsoleForm
from apps.console.layers import NAMES
from apps.console.situations import Situation, situation_of
from apps.firewall.engine.context import CallContext, ContextError
from apps.firewall.runtime.cases import CASE_LAYERS, EXEC_POLICY
from apps.policies.models.policy_tests import JSON_LIMIT, ExpectedVerdict
from apps.texts import read_json

if TYPE_CHECKING:
    from apps.policies.models import PolicyTest

LAYERS: Final[Mapping[str, Promise]] = {
    **NAMES,
    "optional": _("Optional tools"),
    "unknown_tool": _("No such tool"),
    "permissions": _("Permissions"),
    EXEC_POLICY: _("Exec settings"),
}


class JsonField(forms.CharField):
    """A JSON object; None where nothing is written."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, max_length=2 * JSON_LIMIT, **kwargs)
        self.widget.attrs |= {"rows": 4, "spellcheck": "false", "autocomplete": "off", "autocapitalize": "off"}

    def to_python(self, value: Any) -> dict[str, Any] | None:  # type: ignore[override]
        text = super().to_python(value)
        if not text or not text.strip():
            return None
        try:
            found = read_json(text)
        except ValueError as exc:
            raise forms.ValidationError(_("This is no JSON.")) from exc
        if not isinstance(found, dict):
            raise forms.ValidationError(_("This must be a JSON object."))
        return found

    def prepare_value(self, value: Any) -> Any:
        return json.dumps(value, indent=2, ensure_ascii=False) if isinstance(value, dict) else value


class PolicyTestForm(ConsoleForm):
    """One policy test; the situation is read beside the form's own fields, as the explorer's builder sends it."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput, required=False)
    call = forms.CharField(max_length=64, widget=forms.HiddenInput, required=False)
    origin = forms.CharField(max_length=8, widget=forms.HiddenInput, required=False)
    name = forms.CharField(label=_("Name"), max_length=200)
    tool = forms.CharField(
        label=_("Tool"),
        max_length=512,
        widget=forms.TextInput(attrs={"list": "tool-names", "spellcheck": "false", "autocomplete": "off"}),
    )
    verdict = forms.ChoiceField(label=_("Expected"), choices=ExpectedVerdict.choices)
    layer = forms.ChoiceField(label=_("Decided by"), required=False)
    params = JsonField(label=_("Parameters, as JSON"))
    context = JsonField(label=_("Context, as JSON"))
    is_enabled = forms.BooleanField(label=_("In force"), required=False, initial=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        layers = [(name, LAYERS.get(name, name)) for name in CASE_LAYERS]
        self.fields["layer"].choices = [("", _("whatever decides")), *layers]  # type: ignore[attr-defined]
        read = _situation(self.data) if self.is_bound else (self.initial["situation"], "")
        self.situation: Situation = read[0]
        self._mistake: str = read[1]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("context") is None and "context" not in self.errors:
            if self._mistake:
                self.add_error(None, self._mistake)
            cleaned["context"] = self.situation.context().to_json()
        return cleaned

    def values(self) -> dict[str, Any]:
        """Return the fields of the record."""
        names = ("name", "tool", "verdict", "layer", "params", "context", "is_enabled")
        return {name: self.cleaned_data[name] for name in names}


def _situation(given: Any) -> tuple[Situation, str]:
    try:
        return Situation.read(given.dict()), ""
    except ContextError as error:
        return Situation(), error.message


def initial_of(test: "PolicyTest") -> dict[str, Any]:
    """Fill the form from a record."""
    names = ("version", "name", "tool", "verdict", "layer", "params", "is_enabled")
    return {name: getattr(test, name) for name in names} | context_initial(CallContext.from_json(test.context))


def context_initial(context: CallContext) -> dict[str, Any]:
    """Fill the fields of the situation, or the JSON where they cannot say all of a context."""
    situation = situation_of(context)
    if situation is None:
        return {"situation": Situation(agent=context.agent_id or ""), "context": context.to_json()}
    return {"situation": situation}


def suggested_name(tool: str, situation: Situation, verdict: str) -> str:
    """Suggest a name: what happens to whose call."""
    words = {
        "allowed": _now("%(tool)s is allowed: %(where)s"),
        "denied": _now("%(tool)s is denied: %(where)s"),
        "asks": _now("%(tool)s asks: %(where)s"),
    }
    return (words[verdict] % {"tool": tool, "where": situation.title})[:200]
