"""What each provider's models are told of a tool, what was changed or stripped on the way, and why."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.console.changes import Line
from apps.console.schema_diff import diff_of
from apps.firewall.errors import FirewallError
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.presenting import Presented, previews
from apps.firewall.tools.providers import PROVIDERS
from apps.firewall.tools.schema import Change

PATHS_SHOWN: Final = 6
SCHEMA_MEMBERS: Final = ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema")
FIRST: Final = "gemini"
"""The provider whose tab is open at first: it strips most."""

LABELS: Final[Mapping[str, str]] = {
    "openai-chat": "OpenAI",
    "openai-responses": "OpenAI Responses",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
}
"""Names short enough for a row of tabs; a provider that is new here is called as it calls itself."""

REASONS: Final[Mapping[str, Promise]] = {
    "reference_replaced": gettext_lazy("replaced by what it points to"),
    "reference_cycle": gettext_lazy("points to itself, so any value is described here"),
    "reference_unresolved": gettext_lazy("leads nowhere inside the schema"),
    "definitions_unused": gettext_lazy("no reference needs it any more"),
    "openapi_keyword": gettext_lazy("belongs to OpenAPI, not to JSON Schema"),
    "nullable_type": gettext_lazy("null became one of the types"),
    "nullable_union": gettext_lazy("null became one of the variants"),
    "root_not_object": gettext_lazy("parameters must be an object"),
    "root_without_properties": gettext_lazy("providers want an object to name its properties, even none"),
    "root_union": gettext_lazy("providers refuse a union at the root, so its variants became one object"),
    "root_union_open": gettext_lazy("the variants were not closed, so the merged object is open"),
    "root_union_required": gettext_lazy("required is what every variant requires"),
    "root_keyword_lost": gettext_lazy("does not survive the merging of the variants"),
    "root_properties_lost": gettext_lazy("replaced by the properties of the variants"),
    "root_refused": gettext_lazy("the provider does not accept it at the root"),
    "property_merged": gettext_lazy("the values of several variants were joined"),
    "property_first_kept": gettext_lazy("several variants describe it differently, the first one counts"),
    "property_name": gettext_lazy("the provider accepts only letters, digits, `_`, `.` and `-` in names of parameters"),
    "items_missing": gettext_lazy("providers want an array to describe its items"),
    "items_empty": gettext_lazy("the model refuses an empty description of items"),
    "all_of_merged": gettext_lazy("the provider does not accept it, so its parts became one schema"),
    "not_json_schema": gettext_lazy("it breaks the rules of JSON Schema, and the provider checks them"),
    "gemini_keyword": gettext_lazy("Gemini does not accept it"),
    "gemini_properties": gettext_lazy("Gemini wants an object here"),
    "gemini_refused": gettext_lazy("Gemini refuses a request that holds it"),
    "gemini_one_type": gettext_lazy("Gemini accepts one type, the first one is left"),
    "gemini_place": gettext_lazy("Gemini wants a schema here"),
    "const_as_enum": gettext_lazy("Gemini knows a single value only as a list of one"),
    "enum_as_text": gettext_lazy("Gemini accepts only texts as values"),
    "enum_without_values": gettext_lazy("no value is left that Gemini accepts"),
    "type_without_null": gettext_lazy("Gemini knows no type null, the value becomes optional"),
    "type_beside_union": gettext_lazy("Gemini accepts no type beside a union"),
    "union_without_null": gettext_lazy("Gemini knows no type null, the value becomes optional"),
    "union_as_enum": gettext_lazy("a union of single values became a list of values"),
    "union_single": gettext_lazy("the one variant stands for the union"),
    "union_as_type": gettext_lazy("Gemini accepts no union, so only the type of its first variant is left"),
    "union_open": gettext_lazy("Gemini accepts no union, and its variants have no type to keep"),
    "required_empty": gettext_lazy("Gemini refuses an empty list"),
    "required_undeclared": gettext_lazy("Gemini refuses required names that are no properties"),
    "model_keyword": gettext_lazy("the model does not accept it"),
    "grammar_pattern": gettext_lazy("llama.cpp cannot turn it into a grammar"),
    "grammar_length": gettext_lazy("llama.cpp cannot repeat a rule that often"),
}
KINDS: Final[Mapping[str, Promise]] = {
    "removed": gettext_lazy("Stripped:"),
    "converted": gettext_lazy("Converted:"),
    "merged": gettext_lazy("Merged:"),
    "added": gettext_lazy("Added:"),
}


@dataclass(frozen=True, slots=True)
class ChangeShown:
    """The same thing done in some places: `minLength ×3`, why, and where."""

    label: str
    count: int
    reason: str
    paths: tuple[str, ...]

    @property
    def more(self) -> int:
        return self.count - len(self.paths)


@dataclass(frozen=True, slots=True)
class Preview:
    """One provider's tab.

    Attributes:
        badge, css: how much was changed, in a word and a colour.
        kinds: changes by what happened, each with its heading.
    """

    key: str
    label: str
    badge: str
    css: str
    kinds: list[tuple[str, str, list[ChangeShown]]]
    remarks: list[str]
    lines: list[Line]
    sent: Any
    is_open: bool = False


def previews_of(definition: Definition, release: str) -> tuple[list[Preview], str]:
    """Show a tool as each provider gets it.

    Returns:
        The tabs; or none, and why no provider can be told of the tool.
    """
    try:
        presented = previews(definition, release=release)
    except FirewallError as error:
        return [], error.message
    shown = [_preview(key, definition, each) for key, each in presented.items()]
    opened = next((each.key for each in shown if each.key == FIRST), shown[0].key if shown else "")
    return [replace(each, is_open=each.key == opened) for each in shown], ""


def _preview(key: str, definition: Definition, presented: Presented) -> Preview:
    badge, css = _badge(presented)
    return Preview(
        key=key,
        label=LABELS.get(key, PROVIDERS[key].LABEL),
        badge=badge,
        css=css,
        kinds=_kinds(presented.changes),
        remarks=[remark.message for remark in presented.remarks],
        lines=diff_of(definition.parameters, _schema_in(presented.sent)) if presented.changes else [],
        sent=presented.sent,
    )


def _badge(presented: Presented) -> tuple[str, str]:
    removed = sum(change.kind == "removed" for change in presented.changes)
    total = len(presented.changes) + len(presented.remarks)
    if not total:
        return _("as is"), "allow"
    if removed:
        return ngettext("%(number)s stripped", "%(number)s stripped", removed) % {"number": removed}, "ask"
    return ngettext("%(number)s change", "%(number)s changes", total) % {"number": total}, ""


def _kinds(changes: Iterable[Change]) -> list[tuple[str, str, list[ChangeShown]]]:
    groups: dict[str, dict[str, list[Change]]] = {}
    for change in changes:
        groups.setdefault(str(change.kind), {}).setdefault(change.label, []).append(change)
    return [
        (kind, str(heading), [_change(label, members) for label, members in groups[kind].items()])
        for kind, heading in KINDS.items()
        if kind in groups
    ]


def _change(label: str, members: list[Change]) -> ChangeShown:
    first = members[0]
    reason = REASONS.get(str(first.cause))
    paths = dict.fromkeys(_place(each.path) for each in members)
    return ChangeShown(label, len(members), str(reason or first.reason), tuple(paths)[:PATHS_SHOWN])


def _place(pointer: str) -> str:
    """Write a JSON Pointer as people write paths: `edits[].text`."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    text = ""
    skip = False
    for at, step in enumerate(steps):
        if skip:
            skip = False
            text += f".{step}" if text else step
        elif step == "properties" and at + 1 < len(steps):
            skip = True
        elif step == "items":
            text += "[]"
        else:
            text += f"/{step}"
    return text or _("the root")


def _schema_in(sent: Any) -> Any:
    """Find the schema in what a provider is sent."""
    if not isinstance(sent, Mapping):
        return {}
    for member in SCHEMA_MEMBERS:
        if isinstance(sent.get(member), Mapping):
            return sent[member]
    inner = sent.get("function")
    return _schema_in(inner) if isinstance(inner, Mapping) else {}
