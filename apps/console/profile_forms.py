"""Forms of profiles of one's own."""

from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.forms import ConsoleForm
from apps.console.policy_forms import DraftForm, NamesField, names_wanted

LISTS: Final = ("allow", "deny")


def _label() -> forms.CharField:
    return forms.CharField(label=_("Label"), max_length=200, required=False)


class ProfileNewForm(ConsoleForm):
    """A new profile."""

    key = forms.CharField(
        label=_("Name"),
        max_length=128,
        widget=forms.TextInput(attrs={"placeholder": "night-shift", "spellcheck": "false", "autocomplete": "off"}),
    )
    label = _label()

    def changes(self) -> dict[str, Any]:
        return self.cleaned_data


class ProfileForm(DraftForm):
    """What a profile holds. Its name stays: records take it by that."""

    label = _label()
    description = forms.CharField(
        label=_("Description"), max_length=2000, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    allow = NamesField(label=_("Allow"))
    deny = NamesField(label=_("Deny"))

    def __init__(self, *args: Any, record: Any, **kwargs: Any) -> None:
        self.record = record
        names = ("version", "label", "description", *LISTS)
        kwargs.setdefault("initial", {name: getattr(record, name) for name in names})
        super().__init__(*args, auto_id="f-%s", **kwargs)

    def changes(self) -> dict[str, Any]:
        words = {name: self.cleaned_data[name] for name in ("label", "description") if name in self.data}
        lists = {name: self.cleaned_data[name] for name in LISTS if name in self.data}
        return words | names_wanted(self.record, lists)

    def values(self) -> dict[str, Any]:
        """Return the lists as they are typed; what was not sent, or cannot be read, as it is stored."""
        self.full_clean()
        typed = self.cleaned_data if self.is_bound else {}
        return {
            name: typed[name] if name in typed and name in self.data else getattr(self.record, name) for name in LISTS
        }
