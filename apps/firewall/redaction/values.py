"""Masking a JSON value: by the names of its fields, then every text by the rules for texts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from apps.firewall.redaction import commands, formats
from apps.firewall.redaction.masks import MASK, MODE_OFF, MaskNote, MaskOptions, mask_of
from apps.firewall.redaction.names import is_secret_field, is_secret_name
from apps.firewall.redaction.patterns import usable
from apps.firewall.redaction.placeholders import is_variable
from apps.firewall.redaction.text import DEFAULT_OPTIONS, LIMIT_CHARACTERS, mask_text

DEPTH_LIMIT = 64
CARD_NUMBERS_FROM = 10**13
# `{"name": "API_KEY", "value": "…"}`: the one names, the other holds.
NAMING_FIELDS = ("name", "key", "field", "header")
HOLDING_FIELDS = ("value", "val", "content")


@dataclass(frozen=True, slots=True)
class MaskedValue:
    """A JSON value without its secrets, and what was taken out."""

    value: Any
    notes: tuple[MaskNote, ...]


def mask_value(
    value: Any,
    *,
    key: bytes,
    options: MaskOptions = DEFAULT_OPTIONS,
    sensitive_fields: Collection[str] = (),
    path: str = "",
) -> MaskedValue:
    """Take the secrets out of a JSON value; the value itself stays as it was.

    Args:
        value: what JSON can hold; anything else is masked as its text.
        key: of the installation, for the hashes in the masks.
        sensitive_fields: further names of fields, in any case, or paths such as `auth.pin` (without indexes).
        path: where the value stands, for the notes, for example `params`.
    """
    if options.mode == MODE_OFF:
        return MaskedValue(value, ())
    masker = _Masker(key, options, frozenset(field.lower() for field in sensitive_fields))
    return MaskedValue(masker.walk(value, path, "", depth=0), tuple(masker.notes))


class _Masker:
    """One walk through one value."""

    def __init__(self, key: bytes, options: MaskOptions, fields: frozenset[str]) -> None:
        self.notes: list[MaskNote] = []
        self._key = key
        self._options = options
        self._fields = fields
        self._left = LIMIT_CHARACTERS
        self._is_built_in = usable(options.patterns) is None

    def walk(self, value: Any, path: str, place: str, *, depth: int) -> Any:
        """Mask a value at a path; `place` is the path inside the value without indexes."""
        kind = type(value)
        if kind is str and depth < DEPTH_LIMIT:
            return self._text(value, path)
        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int):
            return value if abs(value) < CARD_NUMBERS_FROM else self._number(value, path)
        if depth >= DEPTH_LIMIT:
            return self._too_deep(value, path)
        if kind is dict or isinstance(value, Mapping):
            return self._mapping(value, path, place, depth=depth)
        if isinstance(value, list | tuple):
            return self._list(value, path, place, depth=depth)
        return self._text(str(value), path)

    def _text(self, text: str, path: str) -> str:
        masked = mask_text(text, key=self._key, options=self._options, path=path, limit_characters=max(0, self._left))
        # One value is bounded as a whole, not only each of its texts.
        self._left -= len(text)
        self.notes += masked.notes
        return masked.text

    def _number(self, value: int, path: str) -> int | str:
        shown = str(value)
        masked = self._text(shown, path)
        return value if masked == shown else masked

    def _whole(self, text: str, path: str, rule: str) -> str:
        if not text or MASK.fullmatch(text):
            return text
        mask, digest = mask_of(text, key=self._key)
        self.notes.append(MaskNote(path, rule, len(text), digest))
        return mask

    def _too_deep(self, value: Any, path: str) -> str:
        # The text of a container could itself be nested too deeply to be made.
        return self._whole(value if isinstance(value, str) else type(value).__name__, path, "too_deep")

    def _mapping(self, mapping: Mapping[Any, Any], path: str, place: str, *, depth: int) -> dict[str, Any]:
        masked: dict[str, Any] = {}
        held = self._held_field(mapping)
        for name, value in mapping.items():
            name = str(name)
            shown = self._name(name, path)
            here, inner = _joined(path, shown), _joined(place, name.lower())
            if self._is_field(name, inner, value) or name == held:
                masked[shown] = self._leaves(value, here, depth=depth + 1)
            else:
                masked[shown] = self.walk(value, here, inner, depth=depth + 1)
        return masked

    def _is_secret(self, name: str, place: str) -> bool:
        if name.lower() in self._fields or place in self._fields:
            return True
        return self._is_built_in and is_secret_name(name)

    def _is_field(self, name: str, place: str, value: Any) -> bool:
        if name.lower() in self._fields or place in self._fields:
            return True
        return self._is_built_in and is_secret_field(name, value)

    def _held_field(self, mapping: Mapping[Any, Any]) -> str | None:
        for naming in NAMING_FIELDS:
            named = mapping.get(naming)
            if isinstance(named, str) and self._is_secret(named, named.lower()):
                return next((holding for holding in HOLDING_FIELDS if holding in mapping), None)
        return None

    def _name(self, name: str, path: str) -> str:
        """A secret may stand as the name of a field, too."""
        return self._text(name, _joined(path, "(name)")) if len(name) >= 8 else name

    def _list(self, items: list[Any] | tuple[Any, ...], path: str, place: str, *, depth: int) -> list[Any]:
        masked: list[Any] = []
        is_value = False
        parts = self._parts(items)
        is_wallet = self._is_built_in and formats.is_wallet(list(items))
        for index, item in enumerate(items):
            here = f"{path}[{index}]"
            if is_wallet:
                masked.append(self._whole(item, here, "wallet_words"))
                continue
            if index in parts and not is_value:
                begin = parts[index]
                masked.append(item[:begin] + self._whole(item[begin:], here, "program_option"))
                continue
            if is_value and isinstance(item, str):
                masked.append(self._whole(item, here, "option"))
                is_value = False
                continue
            masked.append(self.walk(item, here, place, depth=depth + 1))
            # `["--token", "…"]`: an argument list, where the value is the next item.
            is_value = isinstance(item, str) and item.startswith("-") and self._is_secret(item.lstrip("-"), "")
        return masked

    def _parts(self, items: list[Any] | tuple[Any, ...]) -> dict[int, int]:
        """Say which items of an argument list hold a secret, and from which character on."""
        if not self._is_built_in or len(items) < 2 or not all(isinstance(item, str) for item in items):
            return {}
        words = items[: commands.WORDS_AT_MOST]
        return {index: begin for index, begin in commands.secret_parts(words) if not is_variable(items[index], begin)}

    def _leaves(self, value: Any, path: str, *, depth: int) -> Any:
        """Mask every text and number below a field that holds a secret."""
        if value is None or isinstance(value, bool):
            return value
        if depth >= DEPTH_LIMIT:
            return self._too_deep(value, path)
        if isinstance(value, Mapping):
            names = {str(name): self._name(str(name), path) for name in value}
            return {
                names[str(name)]: self._leaves(inner, _joined(path, names[str(name)]), depth=depth + 1)
                for name, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._leaves(item, f"{path}[{index}]", depth=depth + 1) for index, item in enumerate(value)]
        return self._whole(str(value), path, "field")


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
