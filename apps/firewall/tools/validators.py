"""Compiled schemas: made once, kept by digest."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import islice
from threading import Lock
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import jsonschema_rs

from apps.firewall.errors import FirewallError
from apps.firewall.tools.definition import JsonObject, schema_digest
from apps.firewall.tools.formats import FORMATS, Check

CACHED_SCHEMAS: Final = 1024
PARTS_LIMIT: Final = 256
_ROOT_ID: Final = "urn:openclaw-admin:schema"

Validator: TypeAlias = jsonschema_rs.Draft202012Validator
Errors: TypeAlias = list[jsonschema_rs.ValidationError]


class SchemaError(FirewallError):
    """A tool's own schema cannot be used, so nothing can be checked against it."""

    code = "schema_invalid"


class _Validators:
    """Compiled schemas by digest and formats; the least recently used one makes room."""

    def __init__(self) -> None:
        self._compiled: OrderedDict[tuple[str, int], Validator] = OrderedDict()
        self._lock = Lock()

    def get(self, schema: JsonObject, digest: str) -> Validator:
        key = (digest, FORMATS.version)
        try:
            self._compiled.move_to_end(key)
            return self._compiled[key]
        except KeyError:  # not there, or just making room
            pass
        made = _compile(schema)
        with self._lock:
            self._compiled[key] = made
            while len(self._compiled) > CACHED_SCHEMAS:
                self._compiled.popitem(last=False)
        return made


def validator_with(schema: JsonObject, checks: Mapping[str, Check]) -> Validator:
    """Compile a schema with further formats, for one call.

    Raises:
        SchemaError: the schema is broken.
    """
    return _compile(schema, checks)


def _compile(schema: JsonObject, more: Mapping[str, Check] | None = None) -> Validator:
    try:
        # Offline: a `$ref` must not make us open an address. RegexOptions: the engine without backtracking, so that
        # no pattern can hold us up.
        return Validator(
            dict(schema),
            formats={**(_checks_for(schema) or {}), **more} if more else _checks_for(schema),
            validate_formats=True,
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(),
            email_options=jsonschema_rs.EmailOptions(allow_display_text=False),
        )
    except (ValueError, RecursionError, jsonschema_rs.ReferencingError) as exc:
        raise SchemaError(f"the tool's schema cannot be used: {str(exc).splitlines()[0]}") from exc


def _checks_for(schema: Any) -> dict[str, Check] | None:
    """Give those of our formats that a schema names anywhere: having any makes each call half as slow again."""
    checks = FORMATS.checks()
    found: dict[str, Check] = {}
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, Mapping):
            name = part.get("format")
            if isinstance(name, str) and name in checks:
                found[name] = checks[name]
            waiting.extend(part.values())
    return found or None


_validators = _Validators()


def validator_of(schema: JsonObject, digest: str | None = None) -> Validator:
    """Give the compiled form of a schema.

    Args:
        digest: identity of the schema (`schema_digest`), when the caller has it at hand.
    Raises:
        SchemaError: the schema is broken.
    """
    return _validators.get(schema, digest or schema_digest(schema))


def errors_of(validator: Validator, value: Any, *, limit: int) -> Errors:
    """List what is wrong with a value, so many errors at most."""
    return [error for error in islice(validator.iter_errors(value), limit) if not _is_there(error)]


def _is_there(error: jsonschema_rs.ValidationError) -> bool:
    """Say whether a member that is called missing is there: the library does so where the schema both requires and
    forbids it."""
    kind: Any = error.kind
    return kind.name == "required" and isinstance(error.instance, dict) and kind.property in error.instance


class SchemaParts:
    """Parts of one schema as validators, each compiled when it is first asked for.

    Compiling all of them at once takes minutes and gigabytes where parts refer to large others.
    """

    def __init__(self, schema: JsonObject) -> None:
        self._root = {**{name: part for name, part in schema.items() if name != "$schema"}, "$id": _ROOT_ID}
        self._made: dict[str, Validator | None] = {}

    def validator(self, path: Sequence[str | int]) -> Validator | None:
        """Give the validator of a part.

        Args:
            path: from the root of the schema, as errors have it in `schema_path`.
        Returns:
            None where a part cannot be used by itself, or too many were asked for already.
        """
        location = "".join(f"/{quote(str(step).replace('~', '~0').replace('/', '~1'))}" for step in path)
        if location not in self._made:
            if len(self._made) >= PARTS_LIMIT:
                return None
            self._made[location] = self._compiled(location)
        return self._made[location]

    def _compiled(self, location: str) -> Validator | None:
        try:
            return _compile({"$defs": {"root": self._root}, "$ref": f"{_ROOT_ID}#{location}"})
        except SchemaError:  # an `$id` of its own, say: what its references mean is known in place only
            return None
