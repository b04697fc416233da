"""The form of a record with settings: one field for each setting of its kind, secrets by their masks."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.console.forms import ConsoleForm
from apps.registry.models import OnDrift, OnNew, SourceKind
from apps.registry.source_settings import SETTINGS, SecretShown, Setting, secrets_shown
from apps.texts import read_json

if TYPE_CHECKING:
    from apps.registry.models import DiscoverySource
    from apps.registry.source_settings import Sealed

PREFIX: Final = "set_"
SECRET: Final = "$secret"  # noqa: S105 - the member that names a secret
RARE: Final = frozenset(
    {
        "ca",
        "allow_domains",
        "deny_domains",
        "allow_networks",
        "ports",
        "schemes",
        "signing_algorithm",
        "signing_key",
        "signing_key_id",
        "versions",
        "usage_url",
        "limits",
        "start_timeout_ms",
    }
)
USUAL_OF_OWN: Final = frozenset({"allow_domains", "deny_domains"})
OF_THE_WEB: Final = frozenset({SourceKind.OWN_HTTP, SourceKind.OWN_BROWSER})
SECRETS: Final = f"{PREFIX}secrets"
"""Field of the texts that configs of the tools found name; such sources have no other secrets."""
WITH_SECRETS: Final = frozenset({SourceKind.FILE, SourceKind.FOLDER, SourceKind.ENTRY_POINTS})
SEVERAL_LINES: Final = frozenset({"ca"})
ALGORITHMS: Final = (("", gettext_lazy("None")), ("hmac-sha256", "HMAC-SHA256"), ("ed25519", "Ed25519"))
_PAIR: Final = re.compile(r"\A\s*([^=\s][^=]*?)\s*=\s?(.*)\Z")
INTERVALS: Final = (
    (0, gettext_lazy("Only when somebody asks")),
    (60, gettext_lazy("Every minute")),
    (300, gettext_lazy("Every 5 minutes")),
    (900, gettext_lazy("Every 15 minutes")),
    (3600, gettext_lazy("Every hour")),
    (86_400, gettext_lazy("Every day")),
)


def mask_text(secret: SecretShown) -> str:
    """Write what stands for a secret; given back unchanged it keeps the secret."""
    return f"[masked {secret.length} characters, {secret.hash}]"


class LinesField(forms.CharField):
    """One entry a line."""

    widget = forms.Textarea

    def clean(self, value: Any) -> Any:
        text = super().clean(value) or ""
        return [line.strip() for line in text.splitlines() if line.strip()]


class NumbersField(LinesField):
    """One whole number a line."""

    def clean(self, value: Any) -> Any:
        lines = super().clean(value)
        if not all(line.isascii() and line.isdigit() and len(line) < 10 for line in lines):
            raise forms.ValidationError(_("One whole number a line."))
        return [int(line) for line in lines]


class PairsField(forms.CharField):
    """NAME=value, one a line."""

    widget = forms.Textarea

    def clean(self, value: Any) -> Any:
        pairs: dict[str, str] = {}
        for line in (super().clean(value) or "").splitlines():
            if not line.strip():
                continue
            found = _PAIR.match(line)
            if found is None:
                raise forms.ValidationError(_("NAME=value, one a line."))
            pairs[found[1]] = found[2]
        return pairs


class CountsField(PairsField):
    """NAME=number, one a line."""

    def clean(self, value: Any) -> Any:
        pairs = super().clean(value)
        if not all(text.isascii() and text.isdigit() and len(text) < 19 for text in pairs.values()):
            raise forms.ValidationError(_("NAME=number, one a line."))
        return {name: int(text) for name, text in pairs.items()}


class ConfigField(forms.CharField):
    """A JSON object."""

    widget = forms.Textarea

    def clean(self, value: Any) -> Any:
        text = super().clean(value) or ""
        try:
            return read_json(text) if text.strip() else {}
        except ValueError as exc:
            raise forms.ValidationError(_("This is not JSON: %(cause)s") % {"cause": exc}) from exc


@dataclass(frozen=True, slots=True)
class Kept:
    """What a record holds already: its settings, and its secrets by the mask that stands for them."""

    settings: Mapping[str, Any]
    masks: Mapping[str, str]

    @classmethod
    def of(cls, source: "Sealed | None") -> "Kept":
        if source is None:
            return cls({}, {})
        return cls(source.settings, {secret.name: mask_text(secret) for secret in secrets_shown(source)})

    def shown(self, value: Any) -> Any:
        """Put masks where settings name secrets."""
        if isinstance(value, Mapping):
            name = value.get(SECRET)
            if len(value) == 1 and isinstance(name, str):
                return self.masks.get(name, "")
            return {member: self.shown(each) for member, each in value.items()}
        return value

    def stored(self, text: str, name: str) -> Any:
        """Return the reference that a mask stands for, else the text itself: a new secret."""
        reference = self.settings.get(name.partition(".")[0])
        for step in name.split(".")[1:]:
            reference = reference.get(step) if isinstance(reference, Mapping) else None
        is_same = isinstance(reference, Mapping) and self.masks.get(str(reference.get(SECRET))) == text
        return reference if is_same else text


class SettingsForm(ConsoleForm):
    """The settings of one kind of record: one field for each, secrets by the masks that stand for them."""

    version = forms.IntegerField(min_value=0, required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, kind: str, record: "Sealed | None" = None, **kwargs: Any) -> None:
        self.kind, self.record, self.kept = kind, record, Kept.of(record)
        kwargs["initial"] = self._initial() | (kwargs.get("initial") or {})
        super().__init__(*args, **kwargs)
        for setting in SETTINGS[kind]:
            for name, field in _fields_of(setting):
                self.fields[PREFIX + name] = field

    def _initial(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for setting in SETTINGS[self.kind]:
            held = self.kept.settings.get(setting.name, setting.default)
            held = held if setting.shape == "config" else self.kept.shown(held)
            values |= {PREFIX + name: value for name, value in _shown(setting, held)}
        if self.record is not None:
            own = [name for name in self.base_fields if hasattr(self.record, name)]
            values |= {name: getattr(self.record, name) for name in own}
        return values

    @property
    def usual_fields(self) -> list[forms.BoundField]:
        """The settings that most records need."""
        return [self[name] for name in self._setting_names if name.removeprefix(PREFIX) not in self.rare]

    @property
    def rare_fields(self) -> list[forms.BoundField]:
        """The settings that few records need; they are folded away while none of them says anything."""
        return [self[name] for name in self._setting_names if name.removeprefix(PREFIX) in self.rare]

    @property
    def has_rare(self) -> bool:
        return any(field.value() or field.errors for field in self.rare_fields)

    @property
    def rare(self) -> frozenset[str]:
        return RARE - USUAL_OF_OWN if self.kind in OF_THE_WEB else RARE

    @property
    def _setting_names(self) -> list[str]:
        return [name for name in self.fields if name.startswith(PREFIX)]

    def settings(self) -> dict[str, Any]:
        """Return the settings as the service takes them: new secrets in clear, kept ones by reference."""
        found = {setting.name: self._value(setting) for setting in SETTINGS[self.kind]}
        return {name: value for name, value in found.items() if value not in (None, "", [], {})}

    def _value(self, setting: Setting) -> Any:
        given = self.cleaned_data
        if setting.shape == "signing":
            algorithm, key = given[f"{PREFIX}signing_algorithm"], given[f"{PREFIX}signing_key"]
            if not algorithm:
                return None
            members = {"algorithm": algorithm, "key": self.kept.stored(key, "signing.key")}
            return members | ({"key_id": given[f"{PREFIX}signing_key_id"]} if given[f"{PREFIX}signing_key_id"] else {})
        value = given[PREFIX + setting.name]
        if not setting.is_secret:
            return value
        if setting.shape == "named":
            return {name: self.kept.stored(text, f"{setting.name}.{name}") for name, text in value.items()}
        return self.kept.stored(value, setting.name) if value else None

    def field_of(self, path: str) -> str | None:
        if path.startswith("secrets") and SECRETS in self.fields:
            return SECRETS
        plain = re.sub(r"\[\d+\].*", "", path)
        for head in ("settings.", "secrets."):
            plain = plain.removeprefix(head)
        parts = plain.split(".")
        for name in (parts[0], PREFIX + parts[0], PREFIX + "_".join(parts[:2]), f"{PREFIX}{parts[0]}_key"):
            if name in self.fields:
                return name
        return None


class SourceForm(SettingsForm):
    """A source of one kind: what every source has, and the settings of the kind."""

    key = forms.SlugField(label=gettext_lazy("Key"), max_length=63)
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200, required=False)
    interval_s = forms.TypedChoiceField(label=gettext_lazy("Look"), coerce=int, choices=INTERVALS, initial=0)
    on_new = forms.ChoiceField(label=gettext_lazy("A new tool"), choices=OnNew.choices, initial=OnNew.ACTIVATE)
    on_drift = forms.ChoiceField(label=gettext_lazy("A changed definition"), choices=OnDrift.choices)
    is_enabled = forms.BooleanField(label=gettext_lazy("Switched on"), required=False, initial=True)

    def __init__(self, *args: Any, kind: str, source: "DiscoverySource | None" = None, **kwargs: Any) -> None:
        super().__init__(*args, kind=kind, record=source, **kwargs)
        if kind in WITH_SECRETS:
            self.fields[SECRETS] = _secrets()
        if source is not None:
            del self.fields["key"]
            self._keep_interval(source.interval_s)

    def _keep_interval(self, seconds: int) -> None:
        field = self.fields["interval_s"]
        assert isinstance(field, forms.TypedChoiceField)  # noqa: S101 - declared above
        if seconds not in dict(INTERVALS):
            field.choices = [*INTERVALS, (seconds, _("Every %(number)s s") % {"number": seconds})]

    def _initial(self) -> dict[str, Any]:
        masks = "\n".join(f"{name}={mask}" for name, mask in self.kept.masks.items())
        return super()._initial() | {SECRETS: masks}

    def secrets(self) -> dict[str, str | None]:
        """Return the secrets of tools that change: new texts, None for what is gone; a mask keeps its secret."""
        if self.kind not in WITH_SECRETS:
            return {}
        given, kept = self.cleaned_data[SECRETS], self.kept.masks
        changed = {name: text for name, text in given.items() if text != kept.get(name)}
        return changed | dict.fromkeys(kept.keys() - given.keys())

    def options(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("name", "interval_s", "on_new", "on_drift", "is_enabled")}


def _shown(setting: Setting, value: Any) -> Iterator[tuple[str, Any]]:
    if setting.shape == "signing":
        members = value if isinstance(value, Mapping) else {}
        for part in ("algorithm", "key", "key_id"):
            yield f"signing_{part}", members.get(part, "")
    elif setting.shape == "config":
        yield setting.name, json.dumps(value, ensure_ascii=False, indent=2) if value else ""
    elif isinstance(value, list):
        yield setting.name, "\n".join(map(str, value))
    elif isinstance(value, Mapping):
        yield setting.name, "\n".join(f"{name}={each}" for name, each in value.items())
    else:
        yield setting.name, value


def _fields_of(setting: Setting) -> Iterator[tuple[str, forms.Field]]:
    if setting.shape == "signing":
        yield (
            "signing_algorithm",
            forms.ChoiceField(
                label=gettext_lazy("Requests are signed"),
                choices=ALGORITHMS,
                required=False,
                widget=forms.Select(attrs={"class": "form-select"}),
            ),
        )
        yield "signing_key", _text(setting, label=gettext_lazy("Key of the signature"))
        yield "signing_key_id", _text(setting, label=gettext_lazy("Name of that key"))
        return
    yield setting.name, FIELDS[setting.shape](setting)


def _text(setting: Setting, label: Any = None) -> forms.Field:
    attributes = {"spellcheck": "false", "autocomplete": "off", "class": "form-control mono"}
    return forms.CharField(
        label=label or setting.label,
        help_text="" if label else setting.hint,
        required=setting.is_required and label is None,
        max_length=16_000,
        widget=forms.Textarea(attrs=attributes | {"rows": 2})
        if setting.name in SEVERAL_LINES
        else forms.TextInput(attrs=attributes),
    )


def _area(field: type[forms.CharField], note: Any, *, rows: int = 2) -> Any:
    def make(setting: Setting) -> forms.Field:
        attributes = {"rows": rows, "spellcheck": "false", "autocomplete": "off", "class": "form-control mono"}
        return field(
            label=setting.label,
            help_text=setting.hint or note,
            required=setting.is_required,
            max_length=64_000,
            widget=forms.Textarea(attrs=attributes),
        )

    return make


def _secrets() -> forms.Field:
    note = gettext_lazy("NAME=value, one a line: what a tool file calls ${NAME}. Only the tool sees it.")
    setting = Setting("secrets", "named", gettext_lazy("Secrets of tools"), note)
    made: forms.Field = FIELDS["named"](setting)
    return made


def _flag(setting: Setting) -> forms.Field:
    box = forms.CheckboxInput(attrs={"class": "form-check-input"})
    return forms.BooleanField(label=setting.label, help_text=setting.hint, required=False, widget=box)


def _number(setting: Setting) -> forms.Field:
    box = forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off", "class": "form-control mono"})
    return forms.IntegerField(label=setting.label, help_text=setting.hint, required=setting.is_required, widget=box)


_ONE_A_LINE: Final = gettext_lazy("One a line.")
FIELDS: Final[Mapping[str, Any]] = {
    "text": _text,
    "url": _text,
    "path": _text,
    "paths": _area(LinesField, _ONE_A_LINE),
    "texts": _area(LinesField, _ONE_A_LINE),
    "numbers": _area(NumbersField, _ONE_A_LINE),
    "named": _area(PairsField, gettext_lazy("NAME=value, one a line.")),
    "config": _area(ConfigField, gettext_lazy("A JSON object."), rows=8),
    "number": _number,
    "counts": _area(CountsField, gettext_lazy("NAME=number, one a line.")),
    "flag": _flag,
}
"""Shape of a setting -> its field."""
