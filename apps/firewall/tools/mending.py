"""Params that a schema refuses, mended where the validator points: coerced, and freed of what it does not know.

Only places that an error names are touched, so a valid value stays what it is, whatever the schema is made of. What
was coerced and did not help is put back: mistakes are told about what was sent.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, TypeAlias

import jsonschema_rs

from apps.firewall.tools.coercion import NOTHING, coerce, coerce_to_one_of
from apps.firewall.tools.mistakes import Path, Problem, path_text
from apps.firewall.tools.validators import Validator

ERRORS_LIMIT: Final = 10_000
ROUNDS: Final = 16
UNION_TRIALS: Final = 200
UNION_ROUNDS: Final = 4
WARNINGS_LIMIT: Final = 100
_UNIONS: Final = frozenset({"anyOf", "oneOf"})
_CHOICES: Final = frozenset({"type", "anyOf", "oneOf"})
_EXTRAS: Final = frozenset({"additionalProperties", "unevaluatedProperties"})

Errors: TypeAlias = list[jsonschema_rs.ValidationError]
Place: TypeAlias = tuple[str | int, ...]


@dataclass(slots=True)
class Mended:
    """What became of params: the document, what was left out, and the errors that remain."""

    document: Any
    dropped: list[Place] = field(default_factory=list)
    errors: Errors = field(default_factory=list)


def mend(validator: Validator, params: dict[str, Any], *, drops: bool) -> Mended:
    """Mend params that are not valid.

    Args:
        params: stay as they are; the answer holds a copy.
        drops: whether fields that the schema forbids are left out.
    """
    work = _Work(validator, copied(params), drops=drops)
    work.run()
    return Mended(work.document, work.dropped, work.errors)


def drop_warnings(dropped: Iterable[Place], known: Iterable[str]) -> list[Problem]:
    """Say what was left out, and what may have been meant."""
    names = list(known)
    warnings = []
    for place in islice(dropped, WARNINGS_LIMIT):
        text = path_text(place)
        message = f"`{text}` is not a parameter of this tool and was left out"
        near = get_close_matches(str(place[-1])[:100], names, n=1, cutoff=0.8) if len(place) == 1 else []
        if near:
            message += f"; did you mean `{near[0]}`?"
        warnings.append({"path": text, "code": "unknown_field", "message": message})
    return warnings


class _Work:
    """One document on its way to being valid."""

    def __init__(self, validator: Validator, document: Any, *, drops: bool) -> None:
        self.document = document
        self.dropped: list[Place] = []
        self.errors: Errors = []
        self._validator = validator
        self._drops = drops
        self._sent: dict[Place, Any] = {}
        self._trials = UNION_TRIALS

    def run(self) -> None:
        self.errors = self._look()
        for _ in range(ROUNDS):
            if not self.errors or not self._round():
                break
            self.errors = self._look()
        if self.errors and self._put_back():
            self.errors = self._look()

    def _look(self) -> Errors:
        return list(islice(self._validator.iter_errors(self.document), ERRORS_LIMIT))

    def _round(self) -> bool:
        """Coerce wherever that is possible; leave out only when nothing else helps: a wrong type makes a field unknown
        to the rules of `unevaluatedProperties`."""
        mended = [place for error in self.errors if (place := self._coerce(error)) is not None]
        if mended:
            return True
        return self._drops and sum(self._drop(error) for error in self.errors) > 0

    def _coerce(self, error: jsonschema_rs.ValidationError) -> Place | None:
        place = tuple(error.instance_path)
        if not place or place in self._sent:
            return None
        value = value_at(self.document, place)
        if value is NOTHING:
            return None
        made = _candidate(value, error)
        if made is NOTHING and error.kind.name in _UNIONS:
            made = self._branch(place, error)
        if made is NOTHING:
            return None
        self._sent[place] = value
        put(self.document, place, made)
        return place

    def _branch(self, place: Place, error: jsonschema_rs.ValidationError) -> Any:
        """Find the first form of a union that the value can be mended into."""
        branches: list[Errors] = getattr(error.kind, "context", [])
        if error.kind.name == "oneOf" and not all(branches):
            return NOTHING  # it has several of the forms already
        for drops in (False, True) if self._drops else (False,):
            trials = (self._trial(place, index, branches[index], drops=drops) for index in range(len(branches)))
            fitting = [trial for trial in trials if trial is not None]
            if fitting:
                made, dropped = min(fitting, key=lambda trial: len(trial[1]))
                self.dropped += dropped
                return made
        return NOTHING

    def _trial(self, place: Place, index: int, errors: Errors, *, drops: bool) -> tuple[Any, list[Place]] | None:
        """Mend the value into one form; None when that is not possible. The document stays as it was."""
        value = value_at(self.document, place)
        dropped: list[Place] = []
        try:
            for _ in range(UNION_ROUNDS):
                self._trials -= 1
                if self._trials < 0 or not errors:
                    return None
                shell = copied(value_at(self.document, place))
                mended = self._mended(shell, place, errors, dropped if drops else None)
                if mended is NOTHING:
                    return None
                put(self.document, place, mended)
                left = [each for each in self._look() if _starts(each.instance_path, place)]
                if not left:
                    return mended, dropped
                if len(left) != 1 or tuple(left[0].instance_path) != place or left[0].kind.name not in _UNIONS:
                    return None
                context: list[Errors] = getattr(left[0].kind, "context", [])
                errors = context[index] if index < len(context) else []
        finally:
            put(self.document, place, value)
        return None

    def _mended(self, value: Any, place: Place, errors: Errors, dropped: list[Place] | None) -> Any:
        """Mend a value by the errors of one form; `NOTHING` when one of them cannot be mended.

        Args:
            dropped: takes what is left out; None when nothing may be.
        """
        holder = [value]
        for error in errors:
            inner: Place = (0, *tuple(error.instance_path)[len(place) :])
            current = value_at(holder, inner)
            if current is NOTHING:
                continue
            made = _candidate(current, error)
            if made is not NOTHING:
                put(holder, inner, made)
            elif dropped is not None and error.kind.name in _EXTRAS:
                kind: Any = error.kind
                for name in kind.unexpected:
                    current.pop(name, None)
                    dropped.append((*tuple(error.instance_path), name))
            else:
                return NOTHING
        return holder[0]

    def _drop(self, error: jsonschema_rs.ValidationError) -> bool:
        kind: Any = error.kind
        if kind.name not in _EXTRAS:
            return False
        place = tuple(error.instance_path)
        holder = value_at(self.document, place)
        if not isinstance(holder, dict) or (kind.name == "unevaluatedProperties" and self._is_broken_beneath(place)):
            return False
        names = [name for name in kind.unexpected if holder.pop(name, NOTHING) is not NOTHING]
        self.dropped += [(*place, name) for name in names]
        return bool(names)

    def _is_broken_beneath(self, place: Place) -> bool:
        """Say whether anything else is wrong there: then nobody knows which fields its rules would have reached."""
        return any(_starts(each.instance_path, place) and each.kind.name not in _EXTRAS for each in self.errors)

    def _put_back(self) -> bool:
        """Put back what did not help: what is still no right type, and lists that were split into wrong items."""
        wrong = [tuple(error.instance_path) for error in self.errors if error.kind.name in _CHOICES]
        is_changed = False
        for place, sent in sorted(self._sent.items(), key=lambda item: len(item[0])):
            now = value_at(self.document, place)
            was_split = isinstance(now, list) and isinstance(sent, str) and not sent.lstrip().startswith("[")
            if any(each == place or (was_split and _starts(each, place)) for each in wrong) and now is not NOTHING:
                put(self.document, place, sent)
                is_changed = True
        return is_changed


def _candidate(value: Any, error: jsonschema_rs.ValidationError) -> Any:
    kind: Any = error.kind
    if kind.name == "type":
        return coerce(value, kind.types)
    if kind.name == "enum":
        return coerce_to_one_of(value, kind.options)
    if kind.name == "const":
        return coerce_to_one_of(value, [kind.expected_value])
    return NOTHING


def _starts(path: Path, place: Place) -> bool:
    return tuple(path[: len(place)]) == place


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
