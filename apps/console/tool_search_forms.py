"""Forms of tool search: a labelled query, a query to try, and the settings of the draft."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.console.agents import Conflict, ConflictField
from apps.console.forms import ConsoleForm
from apps.console.tool_search import MODE_WORDS
from apps.firewall.tools.search.settings import (
    BLOCK,
    CODE_TIMEOUT_MS,
    DEFAULT_LIMIT,
    MAX_LIMIT,
    MEMBERS,
    ToolSearchSettings,
    read_tool_search,
)
from apps.policies.document.findings import Findings
from apps.policies.document.tool_search import tool_search
from apps.policies.selectors import live_snapshot

if TYPE_CHECKING:
    from apps.policies.errors import ConflictError
    from apps.policies.models import GlobalPolicy
    from apps.registry.models import Environment

PLACE: Final = ("tools", BLOCK)
PLACE_NAME: Final = ".".join(PLACE)
UNSET, OFF = "", "off"
NUMBERS: Final[Mapping[str, str]] = {
    "code_timeout_ms": "codeTimeoutMs",
    "search_default_limit": "searchDefaultLimit",
    "max_search_limit": "maxSearchLimit",
}
"""Field of the form -> member of the block."""
CHOICES: Final[tuple[tuple[str, Promise], ...]] = (
    (UNSET, gettext_lazy("Not set: the release's own way")),
    (OFF, gettext_lazy("Off: models see every tool")),
    ("tools", gettext_lazy("Tools: search, describe and call")),
    ("directory", gettext_lazy("Directory: the same, and a list of names")),
    ("code", gettext_lazy("Code: JavaScript that searches and calls")),
)
NUMBER_MOST: Final = 2**31 - 1


class LabelForm(ConsoleForm):
    """A query and the tools that it means; names stand one a line, or with commas."""

    query = forms.CharField(label=gettext_lazy("Query"), max_length=512)
    tools = forms.CharField(label=gettext_lazy("Means these tools"), max_length=4_000)

    @property
    def names(self) -> list[str]:
        return str(self.cleaned_data["tools"]).replace(",", " ").split()


class TryForm(ConsoleForm):
    """A query, and whose model asks it."""

    agent = forms.ChoiceField(label=gettext_lazy("Agent"))
    session = forms.CharField(label=gettext_lazy("Session key"), max_length=500, required=False)
    query = forms.CharField(label=gettext_lazy("What the model searches for"), max_length=512)

    def __init__(self, *args: Any, agents: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["agent"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = [(name, name) for name in agents]
        for name in ("session", "query"):
            self.fields[name].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}


class SettingsForm(ConsoleForm):
    """The block `tools.toolSearch` of the draft."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    mode = forms.ChoiceField(label=gettext_lazy("Mode"), choices=CHOICES, required=False, widget=forms.RadioSelect)
    code_timeout_ms = forms.IntegerField(label="codeTimeoutMs", required=False, max_value=NUMBER_MOST)
    search_default_limit = forms.IntegerField(label="searchDefaultLimit", required=False, max_value=NUMBER_MOST)
    max_search_limit = forms.IntegerField(label="maxSearchLimit", required=False, max_value=NUMBER_MOST)

    def value(self, stored: Any) -> Any:
        """Write the block that the form says; what means the same as the stored one stays as that is written."""
        said = self.cleaned_data
        if all(said[name] == each for name, each in fields_of(stored).items()):
            return stored
        numbers = {member: said[name] for name, member in NUMBERS.items() if said[name] is not None}
        strangers = {name: each for name, each in stored.items() if name not in MEMBERS} if _is_block(stored) else {}
        if said["mode"] == UNSET:
            return None
        if said["mode"] == OFF:
            return {"enabled": False, **numbers, **strangers} if numbers or strangers else False
        return {"mode": said["mode"], **numbers, **strangers}


def fields_of(stored: Any) -> dict[str, Any]:
    """Read a block as the form shows it: what it says, not what holds."""
    settings = read_tool_search(stored, "")
    mode = settings.mode if settings.is_explicit else UNSET
    numbers = {name: stored.get(member) if _is_block(stored) else None for name, member in NUMBERS.items()}
    return {"mode": mode, **{name: each if _is_whole(each) else None for name, each in numbers.items()}}


def remarks_of(value: Any) -> dict[str, list[str]]:
    """Say what is wrong with a block, or is brought into its range, by the field of the form; `""` for the rest."""
    findings = Findings()
    if value is not None:
        tool_search(value, PLACE, findings)
    fields = {f"{PLACE_NAME}.{member}": name for name, member in NUMBERS.items()} | {f"{PLACE_NAME}.mode": "mode"}
    found: dict[str, list[str]] = {}
    for item in findings.items:
        field = fields.get(item.path, "")
        said = item.message if field else f"`{item.path}` {item.message}"
        found.setdefault(field, []).append(said)
    return found


@dataclass(frozen=True, slots=True)
class Side:
    """The block as the draft or what is live says it, and what holds by it."""

    name: str
    text: str
    settings: ToolSearchSettings | None

    @property
    def mode(self) -> str:
        if self.settings is None:
            return "–"
        return mode_words(self.settings)


def mode_words(settings: ToolSearchSettings) -> str:
    return str(_("Off")) if settings.mode == OFF else str(MODE_WORDS[settings.mode])


def written(value: Any) -> str:
    """Write a block as the document has it; empty where nothing is said."""
    return "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)


def settings_page(environment: "Environment", policy: "GlobalPolicy", value: Any) -> dict[str, Any]:
    """Lay the draft beside what is live, and say what publishing it does.

    Args:
        value: of the draft, or as it is being typed.
    """
    live = live_snapshot(environment)
    live_value = None if live is None else live.engine.settings.get(BLOCK)
    draft = Side(_("Draft"), written(value), read_tool_search(value, environment.dialect))
    now = Side(
        _("Live snapshot"), written(live_value), None if live is None else read_tool_search(live_value, live.dialect)
    )
    return {
        "policy": policy,
        "sides": [now, draft],
        "is_changed": live is not None and now.text != draft.text,
        "effect": _effect(now, draft),
        "remarks": remarks_of(value),
        "modes": CHOICES,
        "usual": {
            "code_timeout_ms": CODE_TIMEOUT_MS,
            "search_default_limit": DEFAULT_LIMIT,
            "max_search_limit": MAX_LIMIT,
        },
    }


def _effect(now: Side, draft: Side) -> str:
    """Say what publishing the draft does to runs that begin afterwards."""
    if now.settings is None:
        return _("Nothing is live yet. After publishing, runs are offered their tools in the mode %(mode)s.") % {
            "mode": draft.mode
        }
    assert draft.settings is not None  # noqa: S101 - a draft always says something
    if now.settings.mode != draft.settings.mode:
        sides = {"before": now.mode, "after": draft.mode}
        return _("Publishing changes the mode of new runs from %(before)s to %(after)s.") % sides
    limits = ("code_timeout_ms", "default_limit", "max_limit")
    if any(getattr(now.settings, name) != getattr(draft.settings, name) for name in limits):
        return _("Publishing keeps the mode %(mode)s and changes its limits.") % {"mode": draft.mode}
    return _("Publishing changes nothing here: runs stay in the mode %(mode)s.") % {"mode": draft.mode}


def conflict_of(error: "ConflictError") -> Conflict:
    """Lay both sides of a refused save beside each other, as the document writes them."""
    (sides,) = error.fields.values()
    theirs, yours = ((written(each),) if each is not None else () for each in (sides.theirs, sides.yours))
    field = ConflictField(BLOCK, PLACE_NAME, theirs, yours, "yours", is_open=True)
    return Conflict(error.current.version, [field])


def _is_block(value: Any) -> bool:
    return isinstance(value, dict)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
