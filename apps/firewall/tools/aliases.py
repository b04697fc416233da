"""How models speak to file tools, as each release understands it: other names, slips it mends, params it insists on.

Source: conformance README, `params` (`execute`, `schema_patch_2026_2`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from apps.firewall.errors import FirewallError
from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.mistakes import Problem
from apps.firewall.tools.readers import is_blank
from apps.firewall.tools.schema_walk import properties

OLDER: Final = "2026.2"
STRUCTURE_DEPTH: Final = 6

ALIASES: Final = {"path": "file_path", "oldText": "old_string", "newText": "new_string"}
"""Name that a file tool knows -> name that models trained on another agent use."""

_TAIL: Final = re.compile(r"</arg_value>>+\Z")
_OFFICE: Final = re.compile(r"\.(doc|ppt|xls)(?:odex|codex|xodex|xcodex)\Z", re.IGNORECASE)


class MissingParamsError(FirewallError):
    """A file tool was called without what it insists on."""

    code = "required_field_missing"


@dataclass(frozen=True, slots=True)
class Group:
    """One thing that a tool insists on.

    Args:
        keys: names under which it may come, the tool's own first.
        holds: says whether a value will do.
    """

    keys: tuple[str, ...]
    holds: Callable[[Any], bool]

    @property
    def label(self) -> str:
        return self.keys[0] if len(self.keys) == 1 else f"{self.keys[0]} ({' or '.join(self.keys)})"

    def is_met(self, params: Mapping[str, Any]) -> bool:
        return any(self.holds(params.get(key)) for key in self.keys)


@dataclass(frozen=True, slots=True)
class Manner:
    """How one release takes the params of one file tool."""

    groups: tuple[Group, ...]
    rewrite: Callable[[Mapping[str, Any]], dict[str, Any]] = field(default=dict)


def says_something(value: Any) -> bool:
    return isinstance(value, str) and not is_blank(value)


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_edit(value: Any) -> bool:
    return isinstance(value, Mapping) and says_something(value.get("oldText")) and is_text(value.get("newText"))


def are_edits(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_edit(each) for each in value)


def without_slips(params: Mapping[str, Any]) -> dict[str, Any]:
    """Take what models let slip off the end of a path: a closing tag, a garbled extension of an office document."""
    path = params.get("path")
    if not isinstance(path, str):
        return dict(params)
    mended = _OFFICE.sub(lambda found: f".{found[1].lower()}x", _TAIL.sub("", path))
    return {**params, "path": mended}


def in_own_names(params: Mapping[str, Any]) -> dict[str, Any]:
    """Give aliased params the tool's names, and make text of what came in parts."""
    renamed = dict(params)
    for name, alias in ALIASES.items():
        if alias in renamed and name not in renamed:
            renamed[name] = renamed.pop(alias)
    for name in ("content", "oldText", "newText"):
        text = text_of(renamed.get(name))
        if text is not None:
            renamed[name] = text
    return renamed


def text_of(value: Any, *, left: int = STRUCTURE_DEPTH) -> str | None:
    """Give the text of a text, of a part such as `{"text": …}`, or of a list of parts; None when there is none."""
    if isinstance(value, str):
        return value
    if left < 0:
        return None
    if isinstance(value, list):
        texts = [text for each in value if (text := text_of(each, left=left - 1)) is not None]
        return "".join(texts) if texts else None
    return _text_of_part(value, left) if isinstance(value, Mapping) else None


def _text_of_part(part: Mapping[str, Any], left: int) -> str | None:
    for name in ("text", "content"):
        if isinstance(part.get(name), str):
            return str(part[name])
    for name in ("content", "parts"):
        if isinstance(part.get(name), list):
            return text_of(part[name], left=left - 1)
    value = part.get("value")
    kinds = [part[name].lower() for name in ("type", "kind") if isinstance(part.get(name), str)]
    is_of_text = any("text" in kind for kind in kinds)
    return value if isinstance(value, str) and value and is_of_text else None


_OLD_PATH: Final = Group(("path", "file_path"), says_something)
MANNERS: Final[dict[str, dict[str, Manner]]] = {
    "2026.9": {
        "read": Manner((Group(("path",), says_something),), without_slips),
        "write": Manner((Group(("path",), says_something), Group(("content",), is_text)), without_slips),
        "edit": Manner((Group(("path",), says_something), Group(("edits",), are_edits)), without_slips),
    },
    OLDER: {
        "read": Manner((_OLD_PATH,), in_own_names),
        "write": Manner((_OLD_PATH, Group(("content",), says_something)), in_own_names),
        "edit": Manner(
            (
                _OLD_PATH,
                Group(("oldText", "old_string"), says_something),
                Group(("newText", "new_string"), is_text),
            ),
            in_own_names,
        ),
    },
}
"""Release -> tool -> how it takes its params."""


def file_tool_params(tool: str, params: Any, *, release: str) -> dict[str, Any]:
    """Give the params that reach a file tool of a release.

    Args:
        tool: `read`, `write` or `edit`.
    Raises:
        MissingParamsError: the tool would refuse them.
    """
    manner = MANNERS[release][tool]
    if not isinstance(params, Mapping | list):
        raise MissingParamsError(f"the parameters of `{tool}` are missing")
    taken = manner.rewrite(params) if isinstance(params, Mapping) else {}
    missing = [group.label for group in manner.groups if not group.is_met(taken)]
    if missing:
        raise MissingParamsError(f"`{tool}` needs {', '.join(missing)}")
    return taken


def manner_of(tool: str, names: Mapping[str, Any], release: str) -> Manner | None:
    """Give how a tool takes its params; None for any other tool, also one that only has such a name.

    Args:
        names: the properties of its schema.
    """
    manner = MANNERS.get(release, {}).get(tool)
    if manner is None or not all(group.keys[0] in names for group in manner.groups):
        return None
    return manner if not any(alias in names for alias in ALIASES.values()) else None


def missing_groups(manner: Manner, params: Mapping[str, Any]) -> list[Problem]:
    """List what a file tool insists on and did not get."""
    return [
        {
            "path": group.keys[0],
            "code": "required_field_missing",
            "message": f"`{group.keys[0]}` is required and must say something",
        }
        for group in manner.groups
        if not group.is_met(params)
    ]


def aliased_schema(tool: str, schema: JsonObject, *, release: str) -> JsonObject:
    """Give the schema that a release shows of a tool: of file tools the older one has the aliases in it, too."""
    if release != OLDER or manner_of(tool, properties(schema), release) is None:
        return schema
    shown: JsonObject = with_aliases(schema)
    return shown


def with_aliases(schema: Any) -> Any:
    """Give a tool's schema as the older release shows it: with the aliases, and none of them required."""
    if not isinstance(schema, Mapping) or not isinstance(schema.get("properties"), Mapping):
        return schema
    known = schema["properties"]
    added = {alias: known[name] for name, alias in ALIASES.items() if name in known and alias not in known}
    required = schema.get("required")
    names = [each for each in required if isinstance(each, str)] if isinstance(required, list) else []
    left = list(names)
    for name in ALIASES:
        if name in known and name in left:
            left.remove(name)  # once: a name that stands there twice stays required, as in the older release
    if not added and left == names:
        return schema
    return {**schema, "properties": {**known, **added}, "required": left}
