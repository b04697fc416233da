"""A catalogue of tools as one Markdown page: for people who choose tools, and for those who write prompts."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from apps.firewall.tools.definition import Definition, Example
from apps.firewall.tools.lint.params import Param, params_of

LIMITS: Mapping[str, str] = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "above {}",
    "exclusiveMaximum": "below {}",
    "multipleOf": "multiple of {}",
    "minLength": "{} characters or more",
    "maxLength": "{} characters at most",
    "minItems": "{} items or more",
    "maxItems": "{} items at most",
    "pattern": "matches `{}`",
    "format": "as {}",
    "default": "default {}",
}
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>|#~"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """A tool and what its registry says of it: where it comes from and its state, in words for people."""

    definition: Definition
    source: str
    state: str


def catalogue_markdown(entries: Iterable[CatalogueEntry], *, title: str) -> str:
    """Render tools by section and name.

    What authors wrote is text, never markup: their pipes, brackets and tags are escaped.
    """
    ordered = sorted(entries, key=lambda entry: (entry.definition.section, entry.definition.name))
    lines = [f"# {_text(title)}", "", f"{len(ordered)} tool{'s' * (len(ordered) != 1)}.", ""]
    for section, members in groupby(ordered, key=lambda entry: entry.definition.section):
        lines += [f"## {_text(section or 'other')}", ""]
        for entry in members:
            lines += _tool(entry)
    return "\n".join(lines).rstrip() + "\n"


def _tool(entry: CatalogueEntry) -> Iterator[str]:
    definition = entry.definition
    yield from (f"### {_code(definition.name)}", "")
    yield from (_text(definition.description) or "No description.", "")
    facts = [f"source {_text(entry.source)}", f"state {_text(entry.state)}"]
    if definition.version:
        facts.append(f"version {_text(definition.version)}")
    if definition.owner_only:
        facts.append("for the owner only")
    if definition.permissions:
        facts.append(f"permissions {', '.join(map(_code, definition.permissions))}")
    if definition.successor:
        facts.append(f"replaced by {_code(definition.successor)}")
    yield from (f"*{'; '.join(facts)}*", "")
    params = list(params_of(definition.parameters))
    if params:
        yield from ("| Parameter | Type | Meaning and limits |", "|---|---|---|")
        for param in params:
            yield _row(param)
        yield ""
    for example in definition.examples:
        yield from _example(example)


def _row(param: Param) -> str:
    name = f"{_code(param.path)}{' (required)' if param.is_required else ''}"
    said = param.schema.get("description")
    limits = [
        words.format(_value(param.schema[keyword])) for keyword, words in LIMITS.items() if keyword in param.schema
    ]
    meaning = ". ".join(
        part for part in (_text(said).rstrip(".") if isinstance(said, str) else "", ", ".join(limits)) if part
    )
    return f"| {name} | {_text(type_words(param.schema))} | {meaning} |"


def type_words(schema: Mapping[str, Any]) -> str:
    """Say a schema's type in a few words: `list of string`, `one of low, high`, `integer or null`."""
    if isinstance(schema.get("enum"), list):
        return f"one of {', '.join(_value(value) for value in schema['enum'])}"
    if "const" in schema:
        return f"always {_value(schema['const'])}"
    kind, items = schema.get("type"), schema.get("items")
    if kind == "array" and isinstance(items, Mapping):
        return f"list of {type_words(items)}"
    if isinstance(kind, list):
        return " or ".join(str(each) for each in kind)
    variants = schema.get("anyOf") or schema.get("oneOf")
    if kind is None and isinstance(variants, list):
        return " or ".join(type_words(each) for each in variants if isinstance(each, Mapping))
    return str(kind or "any")


def _example(example: Example) -> Iterator[str]:
    yield from (f"Example{': ' + _text(example.description) if example.description else ''}", "")
    shown = (
        {"parameters": example.parameters}
        if example.result is None
        else {"parameters": example.parameters, "result": example.result}
    )
    text = json.dumps(shown, indent=2, ensure_ascii=False)
    fence = "`" * max(3, _longest_ticks(text) + 1)
    yield from (f"{fence}json", text, fence, "")


def _longest_ticks(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


def _text(text: str) -> str:
    return " ".join(text.split()).translate(_SPECIAL)


def _code(text: str) -> str:
    """Show a text as code; one that holds a backtick or a pipe is escaped text instead."""
    plain = " ".join(text.split())
    return _text(plain) if "`" in plain or "|" in plain else f"`{plain}`"


def _value(value: Any) -> str:
    return _text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
