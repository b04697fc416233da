"""Forms of an agent's policy. Lists arrive as one name a line, or with commas; rules live in services."""

import re
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.forms import ConsoleForm

INHERIT: Final = "*inherit"
LISTS: Final = ("also_allow", "allow", "deny")
NAMES_LIMIT: Final = 2000
_BREAKS: Final = re.compile(r"[\n\r,]+")


class NamesField(forms.CharField):
    """A list of names; None when the member was absent and still says nothing."""

    widget = forms.Textarea

    def __init__(self, *, vocabulary: str = "", **kwargs: Any) -> None:
        """Make the field.

        Args:
            vocabulary: id of the element with the words to suggest, where a script turns the names into chips.
        """
        kwargs.setdefault("required", False)
        super().__init__(max_length=200_000, strip=False, **kwargs)
        self.has_chips = bool(vocabulary)
        self.widget.attrs |= {"rows": 3, "spellcheck": "false", "autocomplete": "off", "autocapitalize": "off"}
        if vocabulary:
            self.widget.attrs |= {"data-chips": True, "data-vocabulary": vocabulary}

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        text = super().to_python(value) or ""
        names = [name.strip() for name in _BREAKS.split(text)]
        found = list(dict.fromkeys(name for name in names if name))
        if len(found) > NAMES_LIMIT:
            raise forms.ValidationError(_("At most %(number)s names."), params={"number": NAMES_LIMIT})
        return found

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value


class VersionForm(ConsoleForm):
    """A form for one record: it knows which version the editor had before their eyes."""

    version = forms.IntegerField(min_value=1, widget=forms.HiddenInput)


class DraftForm(ConsoleForm):
    """A form for one record of the draft, or for a new one, which has the version 0."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput, required=False)

    def changes(self) -> dict[str, Any]:
        """Return the wanted values by field of the record."""
        raise NotImplementedError


class PolicyForm(VersionForm):
    """The agent's block: profile and lists, and its labels."""

    profile = forms.CharField(max_length=128, required=False, strip=False)
    also_allow = NamesField(label=_("Also allow"))
    allow = NamesField(label=_("Allow"))
    deny = NamesField(label=_("Deny"))
    labels = NamesField(label=_("Labels"))

    def changes(self, record: Any) -> dict[str, Any]:
        """Return the wanted values by field; an empty list where the member is absent leaves it absent."""
        wanted: dict[str, Any] = {}
        if "labels" in self.data:
            wanted["labels"] = self.cleaned_data["labels"]
        if self.data.get("profile") is not None:
            profile = self.cleaned_data["profile"]
            wanted["profile"] = None if profile == INHERIT else profile
        return wanted | names_wanted(record, {name: self.cleaned_data[name] for name in LISTS if name in self.data})


class SandboxForm(VersionForm):
    """The agent's lists for sandboxed sessions."""

    sandbox_also_allow = NamesField(label=_("Also allow"))
    sandbox_allow = NamesField(label=_("Allow"))
    sandbox_deny = NamesField(label=_("Deny"))

    def changes(self, record: Any) -> dict[str, Any]:
        names = (f"sandbox_{name}" for name in LISTS)
        return names_wanted(record, {name: self.cleaned_data[name] for name in names if name in self.data})


class ProviderForm(ConsoleForm):
    """One rule by provider. Version 0 is a new one."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput, required=False)
    key = forms.CharField(
        label=_("Provider or model"),
        max_length=512,
        widget=forms.TextInput(attrs={"placeholder": "openai/gpt-5.4", "spellcheck": "false"}),
    )
    profile = forms.ChoiceField(label=_("Profile"), required=False)
    also_allow = NamesField(label=_("Also allow"))
    allow = NamesField(label=_("Allow"))
    deny = NamesField(label=_("Deny"))

    def __init__(self, *args: Any, profiles: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(INHERIT, _("Inherit")), *((name, name) for name in profiles)]
        self.fields["profile"].choices = choices  # type: ignore[attr-defined]

    def changes(self, record: Any) -> dict[str, Any]:
        profile = self.cleaned_data["profile"]
        wanted: dict[str, Any] = {"profile": None if profile in {INHERIT, ""} else profile}
        return wanted | names_wanted(record, {name: self.cleaned_data[name] for name in LISTS})


class AgentForm(ConsoleForm):
    """A new agent."""

    key = forms.CharField(
        label=_("Id"),
        max_length=128,
        help_text=_("As in session keys: lower case, digits, hyphens."),
        widget=forms.TextInput(attrs={"placeholder": "release-bot", "spellcheck": "false", "autocomplete": "off"}),
    )
    name = forms.CharField(label=_("Name"), max_length=200, required=False)
    profile = forms.ChoiceField(label=_("Profile"), required=False)

    def __init__(self, *args: Any, profiles: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", _("Inherit")), *((name, name) for name in profiles)]
        self.fields["profile"].choices = choices  # type: ignore[attr-defined]

    def fields_given(self) -> dict[str, Any]:
        """Return what was filled in; what was left empty stays absent."""
        return {name: value for name in ("name", "profile") if (value := self.cleaned_data[name])}


def names_wanted(record: Any, lists: dict[str, list[str]]) -> dict[str, list[str] | None]:
    """Tell an absent list from an empty one: what said nothing before and says nothing now stays as it was."""
    wanted: dict[str, list[str] | None] = {}
    for name, names in lists.items():
        before = getattr(record, name, None)
        wanted[name] = names or (None if before else before)
    return wanted
