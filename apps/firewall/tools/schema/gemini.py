"""Clean a schema for Gemini, whose function declarations know a small part of JSON Schema.

Source: conformance README, section `schema.jsonl`; the recorded `gemini_clean` rows.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from apps.firewall.tools.schema.changes import Cause, ChangeLog
from apps.firewall.tools.schema.limits import Budget, escape
from apps.firewall.tools.schema.references import unescape
from apps.firewall.tools.schema.releases import ANNOTATIONS, Release
from apps.firewall.tools.schema.values import enum_text, is_truthy, members, unique, with_annotations

_UNIONS: Final = ("anyOf", "oneOf")
_TABLES: Final = ("$defs", "definitions")

Scope = dict[str, Any]
"""Definitions in sight by name, whichever table they stand in."""


@dataclass(slots=True)
class GeminiCleaner:
    """One pass over one schema."""

    release: Release
    log: ChangeLog
    budget: Budget = field(default_factory=Budget)

    def clean(self, schema: Any) -> Any:
        """Return what Gemini receives.

        Raises:
            SchemaRefusedError: references make it too large or too deep.
        """
        return self._visit(schema, {}, frozenset(), "")

    def _visit(self, node: Any, scope: Scope, stack: frozenset[str], path: str) -> Any:
        if not isinstance(node, dict | list):
            return node
        self.budget.enter(path)
        if isinstance(node, list):
            result: Any = [self._visit(each, scope, stack, f"{path}/{index}") for index, each in enumerate(node)]
        else:
            for table in _TABLES:
                if isinstance(node.get(table), dict):
                    scope = {**scope, **node[table]}
            reference = node.get("$ref")
            if isinstance(reference, str) and reference:
                result = self._follow(node, reference, scope, stack, path)
            else:
                result = self._schema(node, scope, stack, path)
        self.budget.leave()
        return result

    def _follow(self, node: dict[str, Any], reference: str, scope: Scope, stack: frozenset[str], path: str) -> Any:
        if reference in stack:
            self.log.converted(path, "$ref", Cause.REFERENCE_CYCLE)
            return {}
        target = _target(reference, scope)
        if not is_truthy(target):
            self.log.removed(path, "$ref", Cause.REFERENCE_UNRESOLVED)
            return with_annotations(node, {}, ANNOTATIONS)
        self.log.converted(path, "$ref", Cause.REFERENCE_REPLACED)
        result = self._visit(target, scope, stack | {reference}, path)
        return with_annotations(node, dict(result), ANNOTATIONS) if isinstance(result, dict) else result

    def _schema(self, node: dict[str, Any], scope: Scope, stack: frozenset[str], path: str) -> Any:
        start = self.log.mark()
        unions: dict[str, list[Any]] = {}
        for key in _UNIONS:
            if not isinstance(node.get(key), list):
                continue
            variants = [
                self._visit(each, scope, stack, f"{path}/{key}/{index}") for index, each in enumerate(node[key])
            ]
            without_null = [variant for variant in variants if not _is_null(variant)]
            simple = self._simplified(node, key, without_null, len(without_null) < len(variants), path, start)
            if simple is not None:
                return simple[0]
            unions[key] = without_null
        before = self.log.mark()
        cleaned = self._members(node, unions, scope, stack, path)
        for key, variants in unions.items():
            flat = self._flattened(node, cleaned, key, variants, path, (start, before))
            if flat is not None:
                return self._with_declared(flat, path)
            if len(variants) < len(node[key]):
                self.log.converted(path, key, Cause.UNION_WITHOUT_NULL)
        return self._with_declared(cleaned, path)

    def _simplified(
        self, node: dict[str, Any], key: str, variants: list[Any], has_null: bool, path: str, start: int
    ) -> tuple[Any] | None:
        """Return what a union of single values, or of one schema and null, comes to."""
        literals = _literals(variants)
        if literals is not None:
            self.log.forget(start)
            self._lost_beside(node, key, path)
            self.log.converted(path, key, Cause.UNION_AS_ENUM)
            return (with_annotations(node, literals, ANNOTATIONS),)
        if not has_null or len(variants) != 1:
            return None
        self._lost_beside(node, key, path)
        self.log.converted(path, key, Cause.UNION_WITHOUT_NULL)
        lone = variants[0]
        return (with_annotations(node, dict(lone), ANNOTATIONS) if isinstance(lone, dict) else lone,)

    def _flattened(
        self,
        node: dict[str, Any],
        cleaned: dict[str, Any],
        key: str,
        variants: list[Any],
        path: str,
        marks: tuple[int, int],
    ) -> dict[str, Any] | None:
        """Return what stands for a union that is left: its one variant, else the type that the variants share.

        Args:
            marks: places in the log before the node, and before its members beside unions.
        """
        schemas = [variant for variant in variants if isinstance(variant, dict | list)]
        if not schemas:
            return None
        if len(schemas) == 1:
            self.log.forget(marks[1])
            result = dict(members(schemas[0]))
            cause = Cause.UNION_SINGLE
        else:
            self.log.forget(marks[0])
            kind = _type_of_union(schemas)
            result = {} if kind is None else {"type": kind}
            cause = Cause.UNION_OPEN if kind is None else Cause.UNION_AS_TYPE
        self._lost_beside(node, key, path)
        self.log.converted(path, key, cause)
        return with_annotations(cleaned, result, ANNOTATIONS)

    def _lost_beside(self, node: dict[str, Any], key: str, path: str) -> None:
        for name in node:
            if name != key and name not in ANNOTATIONS and name not in _TABLES:
                self.log.removed(path, name, Cause.BESIDE_UNION)

    def _members(
        self, node: dict[str, Any], unions: dict[str, list[Any]], scope: Scope, stack: frozenset[str], path: str
    ) -> dict[str, Any]:
        cleaned: dict[str, Any] = {}
        for key, value in node.items():
            if key in self.release.gemini_removed:
                cause = Cause.DEFINITIONS_UNUSED if key in _TABLES else Cause.GEMINI_KEYWORD
                self.log.removed(path, key, cause)
            elif key in unions:
                cleaned[key] = unions[key]
            elif key == "properties":
                cleaned[key] = self._properties(value, scope, stack, f"{path}/properties")
            elif key == "items" or (key == "allOf" and isinstance(value, list)):
                cleaned[key] = self._visit(value, scope, stack, f"{path}/{key}")
            elif key in ("const", "enum"):
                self._values(cleaned, key, value, path)
            elif key == "type":
                self._type(cleaned, value, bool(unions), path)
            elif key == "required" and value == [] and self.release.gemini_required_declared:
                self.log.removed(path, key, Cause.REQUIRED_EMPTY)
            else:
                cleaned[key] = value
        return cleaned

    def _properties(self, value: Any, scope: Scope, stack: frozenset[str], path: str) -> Any:
        if isinstance(value, list) and not self.release.gemini_properties_object:
            value = dict(members(value))
        if isinstance(value, dict):
            return {name: self._visit(each, scope, stack, f"{path}/{escape(name)}") for name, each in value.items()}
        if not self.release.gemini_properties_object:
            return value
        self.log.converted(path.removesuffix("/properties"), "properties", Cause.GEMINI_PROPERTIES)
        return {}

    def _values(self, cleaned: dict[str, Any], key: str, value: Any, path: str) -> None:
        """Note the values that a place admits: texts, without repetition, in the newer release."""
        if not self.release.gemini_enum_texts:
            cleaned["enum"] = [value] if key == "const" else value
            if key == "const":
                self.log.converted(path, key, Cause.CONST_AS_ENUM)
            return
        given = [value] if key == "const" else value if isinstance(value, list) else []
        texts = list(dict.fromkeys(text for text in map(enum_text, given) if text is not None))
        if not texts:
            self.log.removed(path, key, Cause.ENUM_WITHOUT_VALUES)
            return
        cleaned["enum"] = texts
        if key == "const":
            self.log.converted(path, key, Cause.CONST_AS_ENUM)
        elif texts != given:
            self.log.converted(path, key, Cause.ENUM_AS_TEXT)

    def _type(self, cleaned: dict[str, Any], value: Any, beside_union: bool, path: str) -> None:
        if beside_union:
            self.log.removed(path, "type", Cause.TYPE_BESIDE_UNION)
            return
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            kinds = [each for each in value if each != "null"]
            if len(kinds) < len(value):
                self.log.converted(path, "type", Cause.TYPE_WITHOUT_NULL)
            value = kinds[0] if len(kinds) == 1 else kinds
        cleaned["type"] = value

    def _with_declared(self, schema: dict[str, Any], path: str) -> dict[str, Any]:
        """Return the schema with those required names only that are properties."""
        required = schema.get("required")
        if not self.release.gemini_required_declared or not isinstance(required, list):
            return schema
        properties = schema.get("properties")
        if not isinstance(properties, dict) and schema.get("type") != "object":
            return schema
        declared = properties if isinstance(properties, dict) else {}
        kept = [name for name in required if isinstance(name, str) and name in declared]
        if kept == required:
            return schema
        self.log.removed(path, "required", Cause.REQUIRED_UNDECLARED)
        result = {**schema, "required": kept}
        if not kept:
            del result["required"]
        return result


def _target(reference: str, scope: Scope) -> Any:
    """Return the definition that a reference names; None if it names none."""
    for table in _TABLES:
        prefix = f"#/{table}/"
        if reference.startswith(prefix):
            return scope.get(unescape(reference[len(prefix) :]))
    return None


def _is_null(variant: Any) -> bool:
    """Say whether a variant admits null and nothing else."""
    if not isinstance(variant, dict):
        return False
    if "const" in variant and variant["const"] is None:
        return True
    values = variant.get("enum")
    if isinstance(values, list) and len(values) == 1:
        return values[0] is None
    return variant.get("type") in ("null", ["null"])


def _literals(variants: list[Any]) -> dict[str, Any] | None:
    """Return one list of values for variants that admit a single value each, all of one type."""
    kinds: set[str] = set()
    values: list[Any] = []
    for variant in variants:
        if not isinstance(variant, dict) or not isinstance(variant.get("type"), str) or not variant["type"]:
            return None
        kinds.add(variant["type"])
        listed = variant.get("enum")
        if "const" in variant:
            values.append(variant["const"])
        elif isinstance(listed, list) and len(listed) == 1:
            values.append(listed[0])
        else:
            return None
    return {"type": kinds.pop(), "enum": values} if len(kinds) == 1 else None


def _type_of_union(schemas: list[Any]) -> Any:
    """Return the type that all typed variants share, else the first variant's; None if that has none."""
    kinds = [schema.get("type") if isinstance(schema, dict) else None for schema in schemas]
    given = unique(kind for kind in kinds if is_truthy(kind))
    if len(given) == 1:
        return given[0]
    return kinds[0] if is_truthy(kinds[0]) else None
