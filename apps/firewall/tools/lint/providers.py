"""What model providers refuse, strip or change in a definition, told by what normalisation for each of them does."""

from collections.abc import Iterator
from typing import Final

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.lint.findings import Finding, found
from apps.firewall.tools.providers import anthropic, gemini, openai_chat
from apps.firewall.tools.schema import Change, ChangeKind, Family, SchemaRefusedError, normalized
from apps.firewall.tools.schema.changes import Cause
from apps.firewall.tools.wire_names import wire_name

PROVIDERS: Final = {
    "OpenAI": ("openai", Family.OPENAI),
    "Anthropic": ("anthropic", Family.ANTHROPIC),
    "Gemini": ("google", Family.GEMINI),
}
"""Name for people -> name of the provider in a context, and whose endpoint it is."""
NAME_RULES: Final = {"OpenAI": openai_chat.NAMES, "Anthropic": anthropic.NAMES, "Gemini": gemini.NAMES}

_CODES: Final[dict[Cause, str]] = {
    Cause.ROOT_UNION: "union_at_root",
    Cause.UNION_AS_TYPE: "union_nested",
    Cause.UNION_OPEN: "union_nested",
    Cause.UNION_AS_ENUM: "union_nested",
    Cause.UNION_WITHOUT_NULL: "union_nested",
    Cause.REFERENCE_REPLACED: "reference_resolved",
    Cause.REFERENCE_CYCLE: "reference_resolved",
    Cause.REFERENCE_UNRESOLVED: "reference_resolved",
}
_UNSAID: Final = frozenset(
    {"additionalProperties", "$schema", "$id", "$defs", "definitions", "title", "default", "examples", "sensitive"}
)
"""Keywords that mean little to a model: nothing is lost for it when they are stripped."""


def check_providers(definition: Definition) -> Iterator[Finding]:
    """Say once for each construct which providers do not take it as it is, the name first."""
    yield from _names(definition.name)
    yield from _constructs(definition)


def _names(name: str) -> Iterator[Finding]:
    changed: dict[str, list[str]] = {}
    for label, rule in NAME_RULES.items():
        told = wire_name(name, rule)
        if told != name:
            changed.setdefault(told, []).append(label)
    for told, providers in changed.items():
        yield found("name_changed_by_provider", "name", providers=_joined(providers), wire=told)


def _constructs(definition: Definition) -> Iterator[Finding]:
    seen: dict[tuple[str, str, str], list[str]] = {}
    for label, (provider, family) in PROVIDERS.items():
        try:
            changes = normalized(
                definition.parameters, digest=definition.schema_digest, provider=provider, family=family
            ).changes
        except SchemaRefusedError:
            return  # it cannot be sent to anybody; whoever reads the definition says why
        for change in changes:
            code = _code_of(change)
            if code is not None:
                providers = seen.setdefault((code, _param_of(change.path), change.keyword), [])
                if label not in providers:
                    providers.append(label)
    for (code, param, keyword), providers in seen.items():
        place = f"parameters.{param}" if param else "parameters"
        yield found(code, place, providers=_joined(providers), keyword=keyword, param=param)


def _code_of(change: Change) -> str | None:
    code = _CODES.get(change.cause)
    if code is not None:
        return code
    if change.kind is not ChangeKind.REMOVED or change.keyword in _UNSAID or change.keyword.startswith("x-"):
        return None
    return "format_stripped" if change.keyword == "format" else "keyword_stripped"


def _param_of(pointer: str) -> str:
    """Write a JSON Pointer into a schema as the param that it leads to: `/properties/a/items` is `a[]`."""
    param, steps = "", pointer.split("/")[1:]
    while steps:
        step = steps.pop(0).replace("~1", "/").replace("~0", "~")
        if step == "properties" and steps:
            name = steps.pop(0).replace("~1", "/").replace("~0", "~")
            param = f"{param}.{name}" if param else name
        elif step == "items":
            param += "[]"
    return param


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
