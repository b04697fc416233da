"""Bring a parameter schema into the form that a model's provider accepts.

Source: conformance README, section `schema.jsonl`.
"""

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.tools.schema.acceptance import Family
from apps.firewall.tools.schema.array_items import describe_items, omit_empty_items
from apps.firewall.tools.schema.changes import Change, ChangeLog
from apps.firewall.tools.schema.fitting import fit
from apps.firewall.tools.schema.gemini import GeminiCleaner
from apps.firewall.tools.schema.keywords import fit_grammar, remove_keywords
from apps.firewall.tools.schema.limits import SchemaRefusedError, measure
from apps.firewall.tools.schema.object_form import object_form_2026_2, object_form_2026_9
from apps.firewall.tools.schema.openapi import remove_openapi_keywords
from apps.firewall.tools.schema.references import replace_references
from apps.firewall.tools.schema.releases import (
    DEFINITIONS,
    NO_COMPAT,
    NULLABLE,
    OPENAPI_KEYWORDS,
    ModelCompat,
    Release,
    release_named,
    wants_gemini,
)

DEFAULT_RELEASE: Final = "2026.9"
_REFERENCE_NAMES: Final = frozenset({"$ref", *DEFINITIONS})
_OPENAPI_NAMES: Final = OPENAPI_KEYWORDS | {NULLABLE}


@dataclass(frozen=True, slots=True)
class Normalized:
    """A schema as a provider receives it, and what was done to it, in order.

    `schema` may share parts with the schema it was made from, and be shared by callers: do not change it.
    """

    schema: Any
    changes: tuple[Change, ...]


def normalize_schema(
    schema: Any,
    *,
    release: str = DEFAULT_RELEASE,
    provider: str = "",
    model: str = "",
    compat: ModelCompat | None = None,
    family: Family | None = None,
) -> Normalized:
    """Return a parameter schema as the provider of a model accepts it.

    Args:
        schema: JSON as it was read; a value that is no object comes back as it is.
        release: whose rules, `2026.9` or `2026.2`.
        provider: as in OpenClaw's configuration, in any case: `openai`, `google-vertex`.
        model: its id, with or without provider. The older release does not look at it, nor at `compat`.
        family: whose endpoint must accept the result: what OpenClaw's rules leave and it refuses goes as well. Without
            one the result is exactly OpenClaw's.
    Raises:
        SchemaRefusedError: too large, too deep, no JSON, or its references make it so.
        UnknownReleaseError: no such release.
    """
    rules = release_named(release)
    names = measure(schema).names
    log = ChangeLog()
    taste = compat or NO_COMPAT
    for_gemini = wants_gemini(rules, provider=provider, model=model, compat=taste)
    if not isinstance(schema, dict | list):
        result = schema
    elif rules.full_pipeline:
        result = _pipeline(schema, names, rules, taste, for_gemini, log)
    else:
        result = _object_and_gemini(schema, rules, for_gemini, log)
    if family is not None:
        result = fit(result, family, log)
    return Normalized(result, log.all())


def clean_for_gemini(schema: Any, *, release: str = DEFAULT_RELEASE) -> Normalized:
    """Return a schema cleaned for Gemini, without the other steps.

    Raises:
        SchemaRefusedError, UnknownReleaseError: as `normalize_schema`.
    """
    rules = release_named(release)
    measure(schema)
    log = ChangeLog()
    return Normalized(GeminiCleaner(rules, log).clean(schema), log.all())


def _pipeline(
    schema: Any, names: Set[str], rules: Release, compat: ModelCompat, for_gemini: bool, log: ChangeLog
) -> Any:
    """Run the steps of the newer release; those that look for names which are nowhere have nothing to do."""
    result = schema if names.isdisjoint(_REFERENCE_NAMES) else replace_references(schema, log)
    if not isinstance(result, dict | list):
        return result
    if not names.isdisjoint(_OPENAPI_NAMES):
        result = remove_openapi_keywords(result, log)
    result = object_form_2026_9(result, log)
    result = omit_empty_items(result, log) if compat.omit_empty_items else describe_items(result, log)
    if compat.profile == "llamacpp":
        result = fit_grammar(result, log)
    if for_gemini:
        result = GeminiCleaner(rules, log).clean(result)
    if compat.unsupported:
        result = remove_keywords(result, compat.unsupported, log)
    return result


def _object_and_gemini(schema: Any, rules: Release, for_gemini: bool, log: ChangeLog) -> Any:
    result, is_cleaned = object_form_2026_2(schema, log)
    return GeminiCleaner(rules, log).clean(result) if for_gemini and is_cleaned else result


class NormalizedCache:
    """Keeps normalised schemas by their text and the options, the latest used ones, up to a total size.

    Args:
        size_limit: characters of all schemas kept.
    """

    def __init__(self, *, size_limit: int) -> None:
        self._size_limit = size_limit
        self._size = 0
        self._kept: OrderedDict[tuple[Any, ...], tuple[Normalized, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[Any, ...]) -> Normalized | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: tuple[Any, ...], value: Normalized, size: int) -> None:
        """Keep a value; `size` is that of its schema in characters."""
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = (value, size)
            self._size += size
            while self._size > self._size_limit:
                _, (_, freed) = self._kept.popitem(last=False)
                self._size -= freed

    def __len__(self) -> int:
        return len(self._kept)


_CACHE: Final = NormalizedCache(size_limit=32 * 1024 * 1024)


def normalized(
    schema: Mapping[str, Any],
    *,
    digest: str = "",
    release: str = DEFAULT_RELEASE,
    provider: str = "",
    model: str = "",
    compat: ModelCompat | None = None,
    family: Family | None = None,
) -> Normalized:
    """Return the same as `normalize_schema`, from memory when it was asked before.

    Args:
        digest: names the schema, if the caller has such a name already; else it is made from the schema's text.
    Raises:
        SchemaRefusedError, UnknownReleaseError: as `normalize_schema`; refusals are not remembered.
    """
    key = (digest or _digest(schema), release, provider, model, compat or NO_COMPAT, family)
    found = _CACHE.get(key)
    if found is None:
        found = normalize_schema(schema, release=release, provider=provider, model=model, compat=compat, family=family)
        _CACHE.put(key, found, measure(schema).size)
    return found


def _digest(schema: Mapping[str, Any]) -> str:
    """Name a schema by its text; the order of its members counts, because it decides the order of the result's."""
    try:
        text = json.dumps(schema, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as exc:
        raise SchemaRefusedError(f"it is no JSON: {exc}") from exc
    return hashlib.sha256(text.encode()).hexdigest()
