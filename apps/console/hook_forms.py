"""The form of a hook: whose it is, when it is asked, of which tools it hears, and how it is reached."""

from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.console.forms import ConsoleForm
from apps.console.source_forms import ALGORITHMS, PREFIX, RARE, LinesField, SettingsForm
from apps.registry.models import HookKind, HookMoment
from apps.texts import read_json

if TYPE_CHECKING:
    from apps.firewall.runtime.hook_runners.workers import InstalledPlugin
    from apps.registry.models import Environment, Hook

SIGNING: Final = frozenset({"signing_algorithm", "signing_key", "signing_key_id"})
OPTIONS: Final = ("priority", "timeout_ms", "tools", "is_enabled")


class HookForm(SettingsForm):
    """A hook of one kind."""

    name = forms.SlugField(label=gettext_lazy("Name"), max_length=63)
    plugin = forms.ChoiceField(label=gettext_lazy("Plugin"))
    event = forms.ChoiceField(label=gettext_lazy("When"), choices=HookMoment.choices)
    priority = forms.IntegerField(label=gettext_lazy("Priority"), required=False, initial=0)
    timeout_ms = forms.IntegerField(label=gettext_lazy("Time limit (ms)"), required=False, min_value=1)
    tools = LinesField(label=gettext_lazy("Tools"), required=False, widget=forms.Textarea(attrs={"rows": 3}))
    is_enabled = forms.BooleanField(label=gettext_lazy("Switched on"), required=False, initial=True)

    def __init__(self, *args: Any, kind: str, environment: "Environment", hook: "Hook | None" = None, **more: Any):
        super().__init__(*args, kind=kind, record=hook, **more)
        if kind == HookKind.WEBHOOK:
            self._need_signature()
        if hook is not None:
            for name in ("name", "plugin", "event"):
                del self.fields[name]
            return
        field = self.fields["plugin"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = [(key, name or key) for key, name in plugins_named(environment)]

    def _need_signature(self) -> None:
        """A webhook without a signature is no choice."""
        algorithm = self.fields[f"{PREFIX}signing_algorithm"]
        assert isinstance(algorithm, forms.ChoiceField)  # noqa: S101 - made by its shape
        algorithm.choices = [each for each in ALGORITHMS if each[0]]
        algorithm.required = self.fields[f"{PREFIX}signing_key"].required = True

    def _initial(self) -> dict[str, Any]:
        values = super()._initial()
        if self.record is not None:
            values["tools"] = "\n".join(values["tools"])
        return values

    @property
    def rare(self) -> frozenset[str]:
        if self.kind != HookKind.WEBHOOK:
            return RARE | {"scan_directories"}
        return RARE - SIGNING | {"answer_key", "auth_token", "headers"}

    def offer(self, installed: "tuple[InstalledPlugin, ...]") -> None:
        """Let an entry point be chosen of those that are installed; any other can be written all the same."""
        names = [each.name for each in installed]
        if names and self.kind == HookKind.PYTHON:
            self.fields[f"{PREFIX}entry_point"].widget.attrs["list"] = "installed-hooks"

    def options(self) -> dict[str, Any]:
        given = {name: self.cleaned_data[name] for name in OPTIONS}
        return given | {"priority": given["priority"] or 0}


def plugins_named(environment: "Environment") -> list[tuple[str, str]]:
    from apps.registry.selectors import plugins_of

    return list(plugins_of(environment).values_list("key", "name"))


class HookPolicyForm(ConsoleForm):
    """How an environment takes hooks that fail."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    is_strict = forms.BooleanField(label=gettext_lazy("A hook that fails stops the call"), required=False)


class HookTryForm(ConsoleForm):
    """A made-up call to try a hook with."""

    tool = forms.CharField(label=gettext_lazy("Tool"), max_length=128, initial="read")
    params = forms.CharField(
        label=gettext_lazy("Parameters"),
        required=False,
        initial='{"path": "notes.txt"}',
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "class": "form-control mono"}),
    )

    def clean_params(self) -> dict[str, Any]:
        try:
            params = read_json(self.cleaned_data["params"] or "{}")
        except ValueError:
            params = None
        if not isinstance(params, dict):
            raise forms.ValidationError(_("A JSON object."))
        return params
