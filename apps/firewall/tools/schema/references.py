"""Replace local references by what they point to, so that a provider receives a schema that stands by itself."""

from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.tools.schema.changes import Cause, ChangeLog
from apps.firewall.tools.schema.limits import Budget, escape
from apps.firewall.tools.schema.releases import (
    ANNOTATIONS,
    DEFINITIONS,
    LISTS,
    LITERAL,
    MAPS,
    NULLABLE,
    SCHEMAS,
)
from apps.firewall.tools.schema.values import with_annotations

ABSENT: Final = object()
_TABLES: Final = ("$defs", "definitions")

Scope = dict[tuple[str, str], Any]
"""Definitions in sight: (table, name) -> schema, the nearest one of each name."""


def replace_references(schema: Any, log: ChangeLog) -> Any:
    """Return a schema without local references.

    A reference inside itself becomes a schema that describes any value. One that leads nowhere stays, and then the
    definitions stay, too, as they were written.

    Raises:
        SchemaRefusedError: the references make it too large or too deep.
    """
    return _Walk(schema, log, Budget()).visit(schema, {}, frozenset(), "")


def leads_somewhere(reference: str, root: Any) -> bool:
    """Say whether a reference points into a document."""
    return reference == "#" or _target(reference, {}, root) is not ABSENT


def unescape(step: str) -> str:
    """Read one step of a JSON Pointer."""
    return step.replace("~1", "/").replace("~0", "~")


@dataclass(slots=True)
class _Walk:
    root: Any
    log: ChangeLog
    budget: Budget
    unresolved: bool = False

    def visit(self, node: Any, scope: Scope, stack: frozenset[str], path: str) -> Any:
        if not isinstance(node, dict | list):
            return node
        self.budget.enter(path)
        if isinstance(node, list):
            result: Any = [self.visit(each, scope, stack, f"{path}/{index}") for index, each in enumerate(node)]
        else:
            scope = _extended(scope, node)
            reference = node.get("$ref")
            if isinstance(reference, str) and reference:
                result = self._follow(node, reference, scope, stack, path)
            else:
                result = self._descend(node, scope, stack, path)
        self.budget.leave()
        return result

    def _follow(self, node: dict[str, Any], reference: str, scope: Scope, stack: frozenset[str], path: str) -> Any:
        if reference in stack:
            self.log.converted(path, "$ref", Cause.REFERENCE_CYCLE)
            return {}
        target = _target(reference, scope, self.root)
        if target is ABSENT:
            self.unresolved = self.unresolved or reference.startswith("#/")
            return dict(node)
        self.log.converted(path, "$ref", Cause.REFERENCE_REPLACED)
        result = self.visit(target, scope, stack | {reference}, path)
        if not isinstance(result, dict):
            return result
        result = with_annotations(node, dict(result), ANNOTATIONS)
        if node.get(NULLABLE) is True:
            result[NULLABLE] = True
        return result

    def _descend(self, node: dict[str, Any], scope: Scope, stack: frozenset[str], path: str) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in node.items():
            if key in DEFINITIONS:
                continue
            if key in LITERAL or not isinstance(value, dict | list):
                result[key] = value
            elif key in MAPS and isinstance(value, dict):
                result[key] = {
                    name: self.visit(each, scope, stack, f"{path}/{key}/{escape(name)}") for name, each in value.items()
                }
            elif key in (SCHEMAS if isinstance(value, dict) else LISTS):
                result[key] = self.visit(value, scope, stack, f"{path}/{key}")
            else:
                result[key] = value
        for key in DEFINITIONS:
            if key in node and self.unresolved:
                result[key] = node[key]
            elif key in node:
                self.log.removed(path, key, Cause.DEFINITIONS_UNUSED)
        return result


def _extended(scope: Scope, node: dict[str, Any]) -> Scope:
    own = {
        (table, name): schema
        for table in _TABLES
        if isinstance(node.get(table), dict)
        for name, schema in node[table].items()
    }
    return {**scope, **own} if own else scope


def _target(reference: str, scope: Scope, root: Any) -> Any:
    """Return what a local reference points to, definitions in sight before the document; ABSENT if nothing."""
    if not reference.startswith("#/"):
        return ABSENT
    steps = reference[2:].split("/")
    if steps[0] in _TABLES and len(steps) > 1 and steps[1]:
        defined = scope.get((steps[0], unescape(steps[1])), ABSENT)
        if defined is not ABSENT:
            rest = steps[2:]
            return _inside(defined, [] if rest == [""] else rest)
    return _inside(root, steps)


def _inside(value: Any, steps: list[str]) -> Any:
    for step in steps:
        name = unescape(step)
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and _is_position(name) and int(name) < len(value):
            value = value[int(name)]
        else:
            return ABSENT
    return value


def _is_position(step: str) -> bool:
    return step == "0" or (step.isascii() and step.isdigit() and not step.startswith("0") and len(step) < 10)
