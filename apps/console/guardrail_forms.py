"""The form of a guardrail: selects and lists of names that together read as one sentence."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.forms import ConsoleForm
from apps.console.policy_forms import NamesField
from apps.firewall.engine.guardrail_form import DEPTH_MOST, GuardrailForm, GuardrailFormError
from apps.policies.models import GuardrailSeverity

if TYPE_CHECKING:
    from apps.policies.models import Guardrail

MEMBERS: Final = (
    "requires", "tools", "agents", "channels", "place", "groups", "sender", "senders", "sandboxed", "min_depth", "ask",
)  # fmt: skip
SANDBOXED: Final[Mapping[str, bool | None]] = {"": None, "inside": True, "outside": False}


class GuardrailEditForm(ConsoleForm):
    """One guardrail; version 0 is a new one."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput, required=False)
    name = forms.CharField(label=_("Name"), max_length=200)
    description = forms.CharField(
        label=_("Why"), max_length=2000, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    severity = forms.ChoiceField(
        label=_("When it fails"), choices=GuardrailSeverity.choices, initial=GuardrailSeverity.BLOCKING
    )
    is_enabled = forms.BooleanField(label=_("In force"), required=False, initial=True)
    requires = forms.ChoiceField(
        label=_("Demands"),
        choices=[
            ("never", _("may never use")),
            ("always", _("may always use")),
            ("asks", _("use only when a person is asked")),
        ],
    )
    tools = NamesField(label=_("Tools"), required=True, vocabulary="tool-words")
    agents = NamesField(label=_("Agents"), vocabulary="agent-words")
    channels = NamesField(label=_("Channels"), vocabulary="channel-words")
    place = forms.ChoiceField(
        label=_("Where"),
        choices=[
            ("anywhere", _("anywhere")),
            ("group", _("in groups")),
            ("direct", _("in direct conversations")),
        ],
    )
    groups = NamesField(label=_("These groups only"), vocabulary="group-words")
    sender = forms.ChoiceField(
        label=_("Who speaks"),
        choices=[
            ("anybody", _("anybody")),
            ("non_owner", _("anybody but known owners")),
            ("owner", _("owners")),
            ("named", _("these senders")),
        ],
    )
    senders = NamesField(label=_("These senders"), vocabulary="sender-words")
    sandboxed = forms.ChoiceField(
        label=_("Sandbox"),
        required=False,
        choices=[("", _("inside and outside")), ("inside", _("inside a sandbox")), ("outside", _("outside sandboxes"))],
    )
    min_depth = forms.IntegerField(
        label=_("Sub-agents from depth"), min_value=0, max_value=DEPTH_MOST, required=False, initial=0
    )
    ask = forms.ChoiceField(
        label=_("A person is asked"),
        required=False,
        choices=[("on-miss", _("about what no list admits")), ("always", _("about every command"))],
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not any(name in self.errors for name in MEMBERS):
            try:
                cleaned["form"] = self._form(cleaned).to_json()
            except GuardrailFormError as error:
                self.add_error(error.field if error.field in self.fields else None, error.message)
        return cleaned

    def values(self) -> dict[str, Any]:
        """Return the fields of the record."""
        names = ("name", "description", "severity", "is_enabled", "form")
        return {name: self.cleaned_data[name] for name in names}

    def form_typed(self) -> GuardrailForm | str:
        """Return the form as it stands, whatever else is missing; a text says why it says nothing yet."""
        given = self.data if self.is_bound else self.initial
        cleaned = {}
        for name in MEMBERS:
            value = self.fields[name].prepare_value(given.get(name, self.fields[name].initial))
            try:
                cleaned[name] = self.fields[name].clean(value if value is not None else "")
            except forms.ValidationError as error:
                return f"{self.fields[name].label}: {error.messages[0]}"
        try:
            return self._form(cleaned)
        except GuardrailFormError as error:
            return error.message

    def field_of(self, path: str) -> str | None:
        """Name the field that stands for a place in a record; mistakes of the form as a whole stand above."""
        return None if path == "form" else super().field_of(path)

    @staticmethod
    def _form(cleaned: Mapping[str, Any]) -> GuardrailForm:
        members = {name: cleaned[name] for name in MEMBERS}
        members |= {
            "sandboxed": SANDBOXED[cleaned["sandboxed"]],
            "min_depth": cleaned["min_depth"] or 0,
            "ask": cleaned["ask"] or "on-miss",
        }
        if members["requires"] != "asks":
            members["ask"] = "on-miss"
        if members["sender"] != "named":
            members["senders"] = []
        return GuardrailForm.from_json(members)


def initial_of(guardrail: "Guardrail") -> dict[str, Any]:
    """Fill the form from a record; what it cannot read stays empty."""
    names = ("version", "name", "description", "severity", "is_enabled")
    known = {name: getattr(guardrail, name) for name in names}
    try:
        return known | form_initial(GuardrailForm.from_json(guardrail.form))
    except GuardrailFormError:
        return known


def form_initial(form: GuardrailForm) -> dict[str, Any]:
    """Fill the fields of the form proper."""
    words = {value: word for word, value in SANDBOXED.items()}
    return {name: getattr(form, name) for name in MEMBERS} | {"sandboxed": words[form.sandboxed]}
