"""What normalisation did to a schema, one entry a place, so that a person can see what a provider does not receive."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class ChangeKind(StrEnum):
    """What happened to a keyword."""

    REMOVED = "removed"
    CONVERTED = "converted"
    ADDED = "added"
    MERGED = "merged"


class Cause(StrEnum):
    """Why; the values are stable, doors translate them."""

    REFERENCE_REPLACED = "reference_replaced"
    REFERENCE_CYCLE = "reference_cycle"
    REFERENCE_UNRESOLVED = "reference_unresolved"
    DEFINITIONS_UNUSED = "definitions_unused"
    OPENAPI_KEYWORD = "openapi_keyword"
    NULLABLE_TYPE = "nullable_type"
    NULLABLE_UNION = "nullable_union"
    ROOT_NOT_OBJECT = "root_not_object"
    ROOT_WITHOUT_PROPERTIES = "root_without_properties"
    ROOT_UNION = "root_union"
    ROOT_UNION_OPEN = "root_union_open"
    ROOT_UNION_REQUIRED = "root_union_required"
    ROOT_KEYWORD_LOST = "root_keyword_lost"
    ROOT_PROPERTIES_LOST = "root_properties_lost"
    PROPERTY_MERGED = "property_merged"
    PROPERTY_FIRST_KEPT = "property_first_kept"
    ITEMS_MISSING = "items_missing"
    ITEMS_EMPTY = "items_empty"
    GEMINI_KEYWORD = "gemini_keyword"
    GEMINI_PROPERTIES = "gemini_properties"
    CONST_AS_ENUM = "const_as_enum"
    ENUM_AS_TEXT = "enum_as_text"
    ENUM_WITHOUT_VALUES = "enum_without_values"
    TYPE_WITHOUT_NULL = "type_without_null"
    TYPE_BESIDE_UNION = "type_beside_union"
    UNION_WITHOUT_NULL = "union_without_null"
    UNION_AS_ENUM = "union_as_enum"
    UNION_SINGLE = "union_single"
    UNION_AS_TYPE = "union_as_type"
    UNION_OPEN = "union_open"
    BESIDE_UNION = "beside_union"
    REQUIRED_EMPTY = "required_empty"
    REQUIRED_UNDECLARED = "required_undeclared"
    MODEL_KEYWORD = "model_keyword"
    GRAMMAR_PATTERN = "grammar_pattern"
    GRAMMAR_LENGTH = "grammar_length"
    ROOT_REFUSED = "root_refused"
    ALL_OF_MERGED = "all_of_merged"
    PROPERTY_NAME = "property_name"
    NOT_JSON_SCHEMA = "not_json_schema"
    GEMINI_REFUSED = "gemini_refused"
    GEMINI_ONE_TYPE = "gemini_one_type"
    GEMINI_PLACE = "gemini_place"


REASONS: Final = MappingProxyType(
    {
        Cause.REFERENCE_REPLACED: "replaced by what it points to",
        Cause.REFERENCE_CYCLE: "points to itself, so any value is described here",
        Cause.REFERENCE_UNRESOLVED: "leads nowhere inside the schema",
        Cause.DEFINITIONS_UNUSED: "no reference needs it any more",
        Cause.OPENAPI_KEYWORD: "belongs to OpenAPI, not to JSON Schema",
        Cause.NULLABLE_TYPE: "null became one of the types",
        Cause.NULLABLE_UNION: "null became one of the variants",
        Cause.ROOT_NOT_OBJECT: "parameters must be an object",
        Cause.ROOT_WITHOUT_PROPERTIES: "providers want an object to name its properties, even none",
        Cause.ROOT_UNION: "providers refuse a union at the root, so its variants became one object",
        Cause.ROOT_UNION_OPEN: "the variants were not closed, so the merged object is open",
        Cause.ROOT_UNION_REQUIRED: "required is what every variant requires",
        Cause.ROOT_KEYWORD_LOST: "does not survive the merging of the variants",
        Cause.ROOT_PROPERTIES_LOST: "replaced by the properties of the variants",
        Cause.PROPERTY_MERGED: "the values of several variants were joined",
        Cause.PROPERTY_FIRST_KEPT: "several variants describe it differently, the first one counts",
        Cause.ITEMS_MISSING: "providers want an array to describe its items",
        Cause.ITEMS_EMPTY: "the model refuses an empty description of items",
        Cause.GEMINI_KEYWORD: "Gemini does not accept it",
        Cause.GEMINI_PROPERTIES: "Gemini wants an object here",
        Cause.CONST_AS_ENUM: "Gemini knows a single value only as a list of one",
        Cause.ENUM_AS_TEXT: "Gemini accepts only texts as values",
        Cause.ENUM_WITHOUT_VALUES: "no value is left that Gemini accepts",
        Cause.TYPE_WITHOUT_NULL: "Gemini knows no type null, the value becomes optional",
        Cause.TYPE_BESIDE_UNION: "Gemini accepts no type beside a union",
        Cause.UNION_WITHOUT_NULL: "Gemini knows no type null, the value becomes optional",
        Cause.UNION_AS_ENUM: "a union of single values became a list of values",
        Cause.UNION_SINGLE: "the one variant stands for the union",
        Cause.UNION_AS_TYPE: "Gemini accepts no union, so only the type of its first variant is left",
        Cause.UNION_OPEN: "Gemini accepts no union, and its variants have no type to keep",
        Cause.BESIDE_UNION: "Gemini accepts nothing beside a union",
        Cause.REQUIRED_EMPTY: "Gemini refuses an empty list",
        Cause.REQUIRED_UNDECLARED: "Gemini refuses required names that are no properties",
        Cause.MODEL_KEYWORD: "the model does not accept it",
        Cause.GRAMMAR_PATTERN: "llama.cpp cannot turn it into a grammar",
        Cause.GRAMMAR_LENGTH: "llama.cpp cannot repeat a rule that often",
        Cause.ROOT_REFUSED: "the provider does not accept it at the root",
        Cause.ALL_OF_MERGED: "the provider does not accept it, so its parts became one schema",
        Cause.PROPERTY_NAME: "the provider accepts only letters, digits, `_`, `.` and `-` in names of parameters",
        Cause.NOT_JSON_SCHEMA: "it breaks the rules of JSON Schema, and the provider checks them",
        Cause.GEMINI_REFUSED: "Gemini refuses a request that holds it",
        Cause.GEMINI_ONE_TYPE: "Gemini accepts one type, the first one is left",
        Cause.GEMINI_PLACE: "Gemini wants a schema here",
    }
)

_LABELS: Final = MappingProxyType(
    {
        Cause.REFERENCE_REPLACED: "{} → schema",
        Cause.REFERENCE_CYCLE: "{} → any value",
        Cause.NULLABLE_TYPE: "{} → type null",
        Cause.NULLABLE_UNION: "{} → variant null",
        Cause.ROOT_UNION: "{} → one object",
        Cause.CONST_AS_ENUM: "{} → enum",
        Cause.ENUM_AS_TEXT: "{} → text",
        Cause.TYPE_WITHOUT_NULL: "{} null → optional",
        Cause.UNION_WITHOUT_NULL: "{} null → optional",
        Cause.UNION_AS_ENUM: "{} → enum",
        Cause.UNION_SINGLE: "{} → its one variant",
        Cause.UNION_AS_TYPE: "{} → type",
        Cause.UNION_OPEN: "{} → any value",
        Cause.GEMINI_PROPERTIES: "{} → object",
        Cause.ROOT_WITHOUT_PROPERTIES: "{} → object",
        Cause.REQUIRED_UNDECLARED: "{} undeclared",
        Cause.ALL_OF_MERGED: "{} → one schema",
        Cause.GEMINI_ONE_TYPE: "{} → first type",
    }
)


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that normalisation did.

    Args:
        path: JSON Pointer to the schema that held the keyword (`/properties/owner`), or to where it stands now.
        keyword: the keyword it happened to (`minLength`); of a merged property its name.
        cause: why, as a stable code.
    """

    path: str
    kind: ChangeKind
    keyword: str
    cause: Cause

    @property
    def reason(self) -> str:
        """Why, as the rest of a sentence that begins with the keyword."""
        return REASONS[self.cause]

    @property
    def label(self) -> str:
        """The keyword, and what became of it: `minLength`, `anyOf null → optional`."""
        return _LABELS.get(self.cause, "{}").format(self.keyword)


@dataclass(frozen=True, slots=True)
class ChangeCount:
    """How often the same thing happened: `minLength ×3`."""

    kind: ChangeKind
    label: str
    count: int
    reason: str

    def __str__(self) -> str:
        return self.label if self.count == 1 else f"{self.label} ×{self.count}"


def count_changes(changes: Iterable[Change]) -> tuple[ChangeCount, ...]:
    """Sum changes up by kind and label, in the order of their first appearance."""
    groups: dict[tuple[ChangeKind, str], list[Change]] = {}
    for change in changes:
        groups.setdefault((change.kind, change.label), []).append(change)
    return tuple(ChangeCount(kind, label, len(members), members[0].reason) for (kind, label), members in groups.items())


class ChangeLog:
    """Collects changes while a schema is walked; what befell a part that is dropped in the end can be forgotten."""

    __slots__ = ("_changes",)

    def __init__(self) -> None:
        self._changes: list[Change] = []

    def removed(self, path: str, keyword: str, cause: Cause) -> None:
        self._changes.append(Change(path, ChangeKind.REMOVED, keyword, cause))

    def converted(self, path: str, keyword: str, cause: Cause) -> None:
        self._changes.append(Change(path, ChangeKind.CONVERTED, keyword, cause))

    def added(self, path: str, keyword: str, cause: Cause) -> None:
        self._changes.append(Change(path, ChangeKind.ADDED, keyword, cause))

    def merged(self, path: str, keyword: str, cause: Cause) -> None:
        self._changes.append(Change(path, ChangeKind.MERGED, keyword, cause))

    def mark(self) -> int:
        """Return a place to go back to."""
        return len(self._changes)

    def forget(self, since: int) -> None:
        """Drop what was noted since a mark."""
        del self._changes[since:]

    def all(self) -> tuple[Change, ...]:
        return tuple(self._changes)
