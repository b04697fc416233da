"""Forms of what decides about commands: settings, words of the approvals document, who may have them elevated."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.console.forms import ConsoleForm
from apps.console.policy_forms import NamesField, names_wanted
from apps.console.safe_bin_profiles import ProfilesField, profiles_wanted
from apps.policies.models import ElevatedLevel, ExecAsk, ExecHost, ExecMode, ExecSecurity

YES_OR_NO: Final = (("yes", _("Yes")), ("no", _("No")))
OF_TRUTH: Final[Mapping[Any, str]] = {True: "yes", False: "no", None: ""}
LISTS: Final = ("safe_bins", "safe_bin_trusted_dirs")
PROFILES: Final = "safe_bin_profiles"
LINES_LIMIT: Final = 2000


INHERITED: Final = _("Inherit")
SILENT: Final = _("Says nothing")


def _words(label: Any, choices: Any, unset: Any = INHERITED) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, required=False, choices=[("", unset), *choices])


class PartForm(ConsoleForm):
    """A form for one record of the page. Version 0 is a record that is not there yet."""

    WORDS: tuple[str, ...] = ()
    TRUTHS: tuple[str, ...] = ()

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(self, *args: Any, inherits: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if inherits:
            return
        for field in self.fields.values():
            if isinstance(field, forms.ChoiceField):
                field.choices = [("", SILENT), *list(field.choices)[1:]]  # type: ignore[arg-type]

    @classmethod
    def initial_of(cls, record: Any) -> dict[str, Any]:
        """Return what stands in a record, as the fields show it."""
        values: dict[str, Any] = {name: getattr(record, name, None) or "" for name in cls.WORDS}
        values |= {name: OF_TRUTH[getattr(record, name, None)] for name in cls.TRUTHS}
        return values | {"version": record.version if record is not None else 0}

    def changes(self, record: Any) -> dict[str, Any]:  # noqa: ARG002 - lists of some forms need it
        """Return the wanted values by column, of what was sent."""
        wanted: dict[str, Any] = {name: self.cleaned_data[name] or None for name in self.WORDS if name in self.data}
        truths = {"yes": True, "no": False}
        return wanted | {name: truths.get(self.cleaned_data[name]) for name in self.TRUTHS if name in self.data}


class ExecForm(PartForm):
    """How commands are judged, and where they run."""

    WORDS = ("host", "mode", "security", "ask")
    TRUTHS = ("strict_inline_eval",)

    host = _words(_("Host"), ExecHost.choices)
    mode = _words(_("Mode"), ExecMode.choices)
    security = _words(_("Security"), ExecSecurity.choices)
    ask = _words(_("Ask"), ExecAsk.choices)
    strict_inline_eval = _words(_("Ask for code in arguments"), YES_OR_NO)
    safe_bins = NamesField(label=_("Safe programs"))
    safe_bin_profiles = ProfilesField(label=_("Argument profiles of safe programs"))
    safe_bin_trusted_dirs = NamesField(label=_("Folders of safe programs"))

    @classmethod
    def initial_of(cls, record: Any) -> dict[str, Any]:
        return super().initial_of(record) | {name: getattr(record, name, None) for name in (*LISTS, PROFILES)}

    def changes(self, record: Any) -> dict[str, Any]:
        lists = {name: self.cleaned_data[name] for name in LISTS if name in self.data}
        wanted = super().changes(record) | names_wanted(record, lists)
        if PROFILES in self.data:
            wanted[PROFILES] = profiles_wanted(record, self.cleaned_data[PROFILES])
        return wanted


class ApprovalsForm(PartForm):
    """The words of the exec approvals document: its defaults, those of every agent, or of one."""

    WORDS = ("security", "ask", "ask_fallback")
    TRUTHS = ("auto_allow_skills",)

    security = _words(_("Security"), ExecSecurity.choices, SILENT)
    ask = _words(_("Ask"), ExecAsk.choices, SILENT)
    ask_fallback = _words(_("When nobody answers"), ExecSecurity.choices, SILENT)
    auto_allow_skills = _words(_("Allow programs of skills"), YES_OR_NO, SILENT)


class AgentElevatedForm(PartForm):
    """Who may have an agent's commands elevated: one sender a line, the channel before a colon. It can only narrow."""

    TRUTHS = ("elevated_enabled",)

    elevated_enabled = _words(_("Elevated commands"), (("yes", _("Allowed")), ("no", _("Switched off"))))
    elevated_allow_from = forms.CharField(
        label=_("Who may"),
        required=False,
        max_length=200_000,
        widget=forms.Textarea(
            attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off", "class": "form-control mono"}
        ),
    )

    @classmethod
    def initial_of(cls, record: Any) -> dict[str, Any]:
        listed = getattr(record, "elevated_allow_from", None) or {}
        lines = [f"{channel}: {sender}" for channel, senders in listed.items() for sender in senders or [""]]
        return super().initial_of(record) | {"elevated_allow_from": "\n".join(line.rstrip() for line in lines)}

    def clean_elevated_allow_from(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        lines = [line.strip() for line in self.cleaned_data["elevated_allow_from"].splitlines() if line.strip()]
        if len(lines) > LINES_LIMIT:
            raise forms.ValidationError(_("At most %(number)s lines."), params={"number": LINES_LIMIT})
        for line in lines:
            channel, colon, sender = (part.strip() for part in line.partition(":"))
            if not colon or not channel:
                raise forms.ValidationError(_("No channel before a colon: %(line)s"), params={"line": line})
            senders = found.setdefault(channel, [])
            if sender and sender not in senders:
                senders.append(sender)
        return found

    def changes(self, record: Any) -> dict[str, Any]:
        wanted = super().changes(record)
        if "elevated_allow_from" not in self.data:
            return wanted
        before = getattr(record, "elevated_allow_from", None)
        listed = _as_before(self.cleaned_data["elevated_allow_from"], before or {})
        return wanted | {"elevated_allow_from": None if not listed and not before else listed}


class ElevatedForm(AgentElevatedForm):
    """The same of every agent, and how elevated such commands are."""

    WORDS = ("elevated_default",)

    elevated_default = _words(_("Level"), ElevatedLevel.choices)


def _as_before(listed: Mapping[str, list[str]], before: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Keep entries that were numbers as numbers."""
    return {
        channel: [_number(sender, before.get(channel) or []) for sender in senders]
        for channel, senders in listed.items()
    }


def _number(sender: str, before: list[Any]) -> Any:
    return next((each for each in before if isinstance(each, int) and str(each) == sender), sender)
