"""Compiled schemas: made once, kept by digest."""

from collections import OrderedDict
from threading import Lock
from typing import Final, TypeAlias

import jsonschema_rs

from apps.firewall.errors import FirewallError
from apps.firewall.tools.definition import JsonObject, schema_digest
from apps.firewall.tools.formats import FORMATS

CACHED_SCHEMAS: Final = 1024

Validator: TypeAlias = jsonschema_rs.Draft202012Validator


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


def _compile(schema: JsonObject) -> Validator:
    try:
        # Offline: a `$ref` must not make us open an address. RegexOptions: the engine without backtracking, so that
        # no pattern can hold us up.
        return Validator(
            dict(schema),
            formats=FORMATS.checks(),
            validate_formats=True,
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(),
            email_options=jsonschema_rs.EmailOptions(allow_display_text=False),
        )
    except (ValueError, RecursionError, jsonschema_rs.ReferencingError) as exc:
        raise SchemaError(f"the tool's schema cannot be used: {str(exc).splitlines()[0]}") from exc


_validators = _Validators()


def validator_of(schema: JsonObject, digest: str | None = None) -> Validator:
    """Give the compiled form of a schema.

    Args:
        digest: identity of the schema (`schema_digest`), when the caller has it at hand.
    Raises:
        SchemaError: the schema is broken.
    """
    return _validators.get(schema, digest or schema_digest(schema))
