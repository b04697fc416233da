"""How each release of OpenClaw treats schemas: its tables, and every rule in which it differs from the other.

Source: conformance README, section `schema.jsonl`, and the dump rows of that file.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from apps.firewall.errors import FirewallError

ANNOTATIONS: Final = ("description", "title", "default")
"""What a place says about itself; it outlives references and unions."""

MAPS: Final = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
SCHEMAS: Final = frozenset({"additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"})
LISTS: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
LITERAL: Final = frozenset({"const", "default", "enum", "examples"})
DEFINITIONS: Final = ("$defs", "definitions", "components")

OPENAPI_KEYWORDS: Final = frozenset({"discriminator", "externalDocs", "readOnly", "writeOnly", "xml", "example"})
NULLABLE: Final = "nullable"

# what older drafts add to the keywords under which schemas stand; only removal by name looks there
OLDER_MAPS: Final = frozenset({"dependencies"})
OLDER_SCHEMAS: Final = frozenset(
    {"additionalItems", "contentSchema", "unevaluatedItems", "unevaluatedProperties"},
)

GRAMMAR_REPEATS_LIMIT: Final = 2000

_VALUE_LIMITS: Final = frozenset(
    {
        *("minLength", "maxLength", "pattern", "format"),
        *("minimum", "maximum", "multipleOf"),
        *("minItems", "maxItems", "uniqueItems"),
        *("minProperties", "maxProperties", "patternProperties", "additionalProperties"),
    }
)
_GEMINI_REMOVED_2026_2: Final = _VALUE_LIMITS | {"$schema", "$id", "$ref", "$defs", "definitions", "examples"}
_GEMINI_MODEL: Final = re.compile(r"(?:^|[/:])gemini(?:$|[-/:.])")


class UnknownReleaseError(FirewallError):
    """No release of that name is known."""

    code = "unknown_release"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The rules of one release."""

    name: str
    full_pipeline: bool  # references, OpenAPI keywords, items and unsupported keywords; else object form and Gemini
    root_properties_join: bool  # properties beside a root union are merged with those of its variants
    gemini_by_model: bool  # the model's id and the schema profile count, beside the provider
    gemini_removed: frozenset[str]
    gemini_enum_texts: bool  # values become texts, what is none is dropped
    gemini_properties_object: bool  # what is no object of properties becomes an empty one
    gemini_required_declared: bool  # required names must be properties, an empty list goes


RELEASES: Final[Mapping[str, Release]] = MappingProxyType(
    {
        "2026.9": Release(
            name="2026.9",
            full_pipeline=True,
            root_properties_join=True,
            gemini_by_model=True,
            gemini_removed=_GEMINI_REMOVED_2026_2 | {"~optional", "not"},
            gemini_enum_texts=True,
            gemini_properties_object=True,
            gemini_required_declared=True,
        ),
        "2026.2": Release(
            name="2026.2",
            full_pipeline=False,
            root_properties_join=False,
            gemini_by_model=False,
            gemini_removed=_GEMINI_REMOVED_2026_2,
            gemini_enum_texts=False,
            gemini_properties_object=False,
            gemini_required_declared=False,
        ),
    }
)


def release_named(name: str) -> Release:
    """Return the rules of a release.

    Raises:
        UnknownReleaseError: no such release.
    """
    try:
        return RELEASES[name]
    except KeyError:
        raise UnknownReleaseError(f"no release named `{name}`, known are {', '.join(RELEASES)}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCompat:
    """What is known about a model's taste; the older release does not ask.

    Args:
        profile: `gemini`, `llamacpp`, or a name that means nothing here.
        unsupported: keywords the model refuses.
        omit_empty_items: the model refuses `items: {}`.
    """

    profile: str = ""
    unsupported: frozenset[str] = frozenset()
    omit_empty_items: bool = False


NO_COMPAT: Final = ModelCompat()


def read_compat(document: object) -> ModelCompat:
    """Read the `compat` block of a model as OpenClaw's configuration writes it; unusable members mean nothing."""
    if not isinstance(document, Mapping):
        return NO_COMPAT
    profile = document.get("toolSchemaProfile")
    keywords = document.get("unsupportedToolSchemaKeywords")
    return ModelCompat(
        profile=profile.strip().lower() if isinstance(profile, str) else "",
        unsupported=_keywords(keywords if isinstance(keywords, list) else ()),
        omit_empty_items=document.get("omitEmptyArrayItems") is True,
    )


def _keywords(listed: Iterable[Any]) -> frozenset[str]:
    return frozenset(each.strip() for each in listed if isinstance(each, str) and each.strip())


def wants_gemini(release: Release, *, provider: str, model: str, compat: ModelCompat) -> bool:
    """Say whether a model receives what is cleaned for Gemini."""
    provider = provider.lower()
    if "anthropic" in provider:
        return False
    if "google" in provider or "gemini" in provider:
        return True
    if not release.gemini_by_model:
        return False
    return compat.profile == "gemini" or _GEMINI_MODEL.search(model.strip().lower()) is not None
