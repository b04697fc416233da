"""Params that a schema refuses, mended where the validator points: coerced, and freed of what it does not know.

Only places that an error names are touched, so a valid value stays what it is, whatever the schema is made of. What
was coerced and did not help is put back: mistakes are told about what was sent.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, TypeAlias

import jsonschema_rs

from apps.firewall.tools.coercion import NOTHING, coerce, coerce_to_one_of
from apps.firewall.tools.misspelt import Spelling
from apps.firewall.tools.mistakes import Problem, path_text
from apps.firewall.tools.validators import Errors, SchemaParts, Validator, errors_of

ERRORS_LIMIT: Final = 10_000
ROUNDS: Final = 16
TRIED_VALUES: Final = 10_000
TRIAL_VALUES: Final = 5
WARNINGS_LIMIT: Final = 100
_UNIONS: Final = frozenset({"anyOf", "oneOf"})
_CHOICES: Final = frozenset({"type", "anyOf", "oneOf"})
_EXTRAS: Final = frozenset({"additionalProperties", "unevaluatedProperties"})

Place: TypeAlias = tuple[str | int, ...]


@dataclass(slots=True)
class Mended:
    """What became of params: the document, what was left out, and the errors that remain."""

    document: Any
    dropped: list[Place] = field(default_factory=list)
    errors: Errors = field(default_factory=list)


def mend(validator: Validator, params: dict[str, Any], *, parts: SchemaParts, drops: bool) -> Mended:
    """Mend params that are not valid.

    Args:
        params: stay as they are; the answer holds a copy.
        parts: of the validator's schema, for the forms of unions.
        drops: whether fields that the schema forbids are left out.
    """
    return _Work(validator, params, parts, _Budget(), drops=drops).run()


def drop_warnings(dropped: Iterable[Place], spelling: Spelling) -> list[Problem]:
    """Say what was left out, and what may have been meant."""
    warnings = []
    for place in islice(dropped, WARNINGS_LIMIT):
        text = path_text(place)
        message = f"`{text}` is not a parameter of this tool and was left out{spelling.meant(place)}"
        warnings.append({"path": text, "code": "unknown_field", "message": message})
    return warnings


class _Budget:
    """How much may be tried in one call: values looked at, where a trial by itself costs as much as a few."""

    def __init__(self) -> None:
        self._left = TRIED_VALUES

    @property
    def is_spent(self) -> bool:
        return self._left < 0

    def takes(self, value: Any) -> bool:
        """Count one more try with a value; whether there is enough left for it."""
        self._left -= TRIAL_VALUES + _size(value)
        return self._left >= 0


class _Work:
    """One value on its way to being valid."""

    def __init__(self, validator: Validator, value: Any, parts: SchemaParts, budget: _Budget, *, drops: bool) -> None:
        self._holder = [copied(value)]  # so that the value itself has a place, too
        self._validator = validator
        self._parts = parts
        self._budget = budget
        self._drops = drops
        self._dropped: list[Place] = []
        self._sent: dict[Place, Any] = {}

    def run(self) -> Mended:
        errors = self._look()
        for _ in range(ROUNDS):
            if not errors or not self._round(errors):
                break
            errors = self._look()
        if errors and self._put_back(errors):
            errors = self._look()
        return Mended(self._holder[0], self._dropped, errors)

    def _look(self) -> Errors:
        return errors_of(self._validator, self._holder[0], limit=ERRORS_LIMIT)

    def _round(self, errors: Errors) -> bool:
        """Coerce wherever that is possible; leave out only when nothing else helps: a wrong type makes a field unknown
        to the rules of `unevaluatedProperties`."""
        if sum(self._coerce(error) for error in errors):
            return True
        return self._drops and sum(self._drop(error, errors) for error in errors) > 0

    def _coerce(self, error: jsonschema_rs.ValidationError) -> bool:
        place = _place_of(error)
        value = value_at(self._holder, (0, *place))
        if place in self._sent or value is NOTHING:
            return False
        made = _candidate(value, error)
        if made is NOTHING and error.kind.name in _UNIONS:
            made = self._form(place, value, error)
        if made is NOTHING:
            return False
        self._sent[place] = value
        put(self._holder, (0, *place), made)
        return True

    def _form(self, place: Place, value: Any, error: jsonschema_rs.ValidationError) -> Any:
        """Mend a value into a form of its union: the first that takes it whole, else the one that drops least."""
        if self._budget.is_spent:
            return NOTHING
        forms: list[Errors] = getattr(error.kind, "context", [])
        if error.kind.name == "oneOf" and not all(forms):
            return NOTHING  # it has several of the forms already
        union = list(error.schema_path)
        whole = self._parts.validator(union[:-1])
        for drops in (False, True) if self._drops else (False,):
            fitting = []
            for index in range(len(forms)):
                form = self._parts.validator([*union, index])
                if form is None or whole is None or not self._budget.takes(value):
                    return NOTHING
                trial = _Work(form, value, self._parts, self._budget, drops=drops).run()
                if not trial.errors and whole.is_valid(trial.document):
                    fitting.append(trial)
            if fitting:
                best = min(fitting, key=lambda trial: len(trial.dropped))
                self._dropped += [(*place, *inner) for inner in best.dropped]
                return best.document
        return NOTHING

    def _drop(self, error: jsonschema_rs.ValidationError, errors: Errors) -> bool:
        kind: Any = error.kind
        if kind.name not in _EXTRAS:
            return False
        place = _place_of(error)
        object_there = value_at(self._holder, (0, *place))
        if not isinstance(object_there, dict):
            return False
        if kind.name == "unevaluatedProperties" and _is_broken_beneath(place, errors):
            return False
        names = [name for name in kind.unexpected if object_there.pop(name, NOTHING) is not NOTHING]
        self._dropped += [(*place, name) for name in names]
        return bool(names)

    def _put_back(self, errors: Errors) -> bool:
        """Put back what did not help: what is still no right type, and lists that were split into wrong items."""
        wrong = {_place_of(error) for error in errors if error.kind.name in _CHOICES}
        above = {place[:length] for place in wrong for length in range(len(place))}
        is_changed = False
        for place, sent in sorted(self._sent.items(), key=lambda item: len(item[0])):
            now = value_at(self._holder, (0, *place))
            was_split = isinstance(now, list) and isinstance(sent, str) and not sent.lstrip().startswith("[")
            if now is not NOTHING and (place in wrong or (was_split and place in above)):
                put(self._holder, (0, *place), sent)
                is_changed = True
        return is_changed


def _place_of(error: jsonschema_rs.ValidationError) -> Place:
    return tuple(error.instance_path)


def _is_broken_beneath(place: Place, errors: Errors) -> bool:
    """Say whether anything else is wrong there: then nobody knows which fields the rules would have reached."""
    return any(_place_of(each)[: len(place)] == place and each.kind.name not in _EXTRAS for each in errors)


def _size(value: Any) -> int:
    """Count the values in a value, itself included."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_size, inner))


def _candidate(value: Any, error: jsonschema_rs.ValidationError) -> Any:
    kind: Any = error.kind
    if kind.name == "type":
        return coerce(value, kind.types)
    if kind.name == "enum":
        return coerce_to_one_of(value, kind.options)
    if kind.name == "const":
        return coerce_to_one_of(value, [kind.expected_value])
    return NOTHING


def value_at(document: Any, place: Iterable[str | int]) -> Any:
    """Give what stands at a place; `NOTHING` when there is no such place."""
    value = document
    for step in place:
        is_index = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if not is_index and not (isinstance(value, dict) and step in value):
            return NOTHING
        value = value[step]
    return value


def put(document: Any, place: Place, value: Any) -> None:
    """Write a value at a place; where there is no such place nothing happens."""
    holder = value_at(document, place[:-1])
    if holder is not NOTHING:
        holder[place[-1]] = value


def copied(value: Any) -> Any:
    """Copy a JSON value with all that is in it."""
    if isinstance(value, dict):
        return {name: copied(inner) for name, inner in value.items()}
    return [copied(inner) for inner in value] if isinstance(value, list) else value
