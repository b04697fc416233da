"""Forms of channel groups and of rules by sender."""

import hashlib
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.forms import ConsoleForm
from apps.console.policy_forms import LISTS, DraftForm, NamesField, names_wanted

KEY_LENGTH: Final = 512
TABLE_FILE_LIMIT: Final = 7 * 1024 * 1024
TABLE_TEXT_LIMIT: Final = 3 * 1024 * 1024
KINDS: Final = (
    ("groups", _("Group")),
    ("direct", _("Direct chat")),
    ("guilds", _("Guild")),
    ("teams", _("Team")),
    ("channels", _("Channel")),
    ("rooms", _("Room")),
)
SPACE_KINDS: Final = (("guilds", _("Guild")), ("teams", _("Team")))


def _word(label: Any, *, length: int = KEY_LENGTH, example: str = "", **kwargs: Any) -> forms.CharField:
    attrs = {"placeholder": example, "spellcheck": "false", "autocomplete": "off", "autocapitalize": "off"}
    return forms.CharField(label=label, max_length=length, widget=forms.TextInput(attrs=attrs), **kwargs)


class GroupNewForm(ConsoleForm):
    """A new group, and where it stands."""

    channel = _word(_("Channel"), length=128, example="telegram")
    account = _word(_("Account"), length=256, required=False, help_text=_("Only for a channel with several accounts."))
    kind = forms.ChoiceField(label=_("Kind"), choices=KINDS, initial="groups")
    space = _word(_("Guild or team around it"), required=False)
    space_kind = forms.ChoiceField(label=_("That is a"), choices=SPACE_KINDS, required=False)
    key = _word(_("Id"), example="-1001234567890", help_text=_("* stands for every group that is not named."))

    def changes(self) -> dict[str, Any]:
        """Return where the group stands; what was left empty stays away."""
        return {name: value for name, value in self.cleaned_data.items() if value}


class BlockForm(DraftForm):
    """A key and the three lists under it."""

    also_allow = NamesField(label=_("Also allow"))
    allow = NamesField(label=_("Allow"))
    deny = NamesField(label=_("Deny"))

    def __init__(self, *args: Any, record: Any = None, **kwargs: Any) -> None:
        self.record = record
        names = [name for name in self.base_fields if hasattr(record, name)]
        kwargs.setdefault("initial", {name: getattr(record, name) for name in names})
        super().__init__(*args, auto_id="f-%s", **kwargs)

    def values(self) -> dict[str, Any]:
        """Return what is typed; what was not sent, or cannot be read, as it is stored."""
        self.full_clean()
        typed = self.cleaned_data if self.is_bound else {}
        return {
            name: typed[name] if name in typed and name in self.data else getattr(self.record, name, None)
            for name in ("key", *LISTS)
        }

    def changes(self) -> dict[str, Any]:
        lists = {name: self.cleaned_data[name] for name in LISTS if name in self.data}
        return {"key": self.cleaned_data["key"]} | names_wanted(self.record, lists)


class GroupForm(BlockForm):
    """What a group says to everybody in it."""

    key = _word(_("Id"), strip=False)
    has_tools = forms.BooleanField(label=_("Answers by itself"), required=False)

    def values(self) -> dict[str, Any]:
        values = super().values()
        ticked = "has_tools" in self.data if self.is_bound else self.record.has_tools
        return values | {"has_tools": ticked or any(values[name] for name in LISTS)}

    def changes(self) -> dict[str, Any]:
        wanted = super().changes()
        says_something = any(wanted.get(name) for name in LISTS)
        wanted["has_tools"] = self.cleaned_data["has_tools"] or says_something
        if not wanted["has_tools"]:
            wanted |= dict.fromkeys(LISTS)
        return wanted


class SenderForm(BlockForm):
    """One rule by sender."""

    key = _word(_("Sender"), strip=False, example="id:5512094417")


class SenderTableForm(ConsoleForm):
    """A table of rules by sender, as a file or as text; the file wins."""

    file = forms.FileField(
        label=_("CSV as a file"),
        required=False,
        allow_empty_file=True,
        widget=forms.FileInput(attrs={"accept": ".csv,text/csv,text/plain"}),
    )
    text = forms.CharField(
        label=_("CSV as text"),
        required=False,
        strip=False,
        max_length=TABLE_TEXT_LIMIT,
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false", "class": "form-control mono code-input"}),
    )
    seen = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    def clean_file(self) -> bytes | None:
        """Read the file, up to a size."""
        file = self.cleaned_data["file"]
        if file is None:
            return None
        if (file.size or 0) > TABLE_FILE_LIMIT:
            raise forms.ValidationError(_("The file is larger than 7 MB."))
        content: bytes = file.read()
        return content

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.errors and not self.content:
            raise forms.ValidationError(_("Choose a file, or paste a text."))
        return cleaned

    @property
    def content(self) -> str | bytes:
        file: bytes | None = self.cleaned_data.get("file")
        return self.cleaned_data.get("text", "") if file is None else file

    @property
    def digest(self) -> str:
        """Name what was sent, so that only what was tried is taken."""
        content = self.content
        sent = content if isinstance(content, bytes) else content.encode()
        return hashlib.sha256(sent.replace(b"\r\n", b"\n")).hexdigest()  # browsers send line ends of their own
