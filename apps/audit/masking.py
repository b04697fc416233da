"""The one place where the ledger meets the masker: secrets end here, before anything is hashed or stored."""

from collections.abc import Sequence
from typing import Any, Final

from apps.audit.chain import canonical, storable
from apps.firewall.redaction import MaskNote, is_plain_json, is_plain_value, mask_text, mask_value
from apps.keys.installation import mask_key

NULL: Final = b"null"


class Masker:
    """Masks the values of one entry and remembers what it masked."""

    def __init__(self, sensitive_fields: tuple[str, ...] = ()) -> None:
        self._sensitive_fields = sensitive_fields
        self._key = mask_key()
        self._notes: list[MaskNote] = []

    def fresh(self) -> "Masker":
        """Give one that masks alike and remembers nothing."""
        return Masker(self._sensitive_fields)

    def value(self, name: str, value: Any) -> Any:
        """Mask one JSON value, and bring it into the form that the database gives back unchanged."""
        if value is None:
            return None
        masked = mask_value(value, key=self._key, sensitive_fields=self._sensitive_fields, path=name)
        self._notes += masked.notes
        return storable(masked.value)

    def written(self, name: str, value: Any) -> bytes:
        """Mask one JSON value and write it in its one form."""
        if value is None:
            return NULL
        if not self._sensitive_fields and is_plain_value(value):
            try:
                text = canonical(value)
            except UnicodeEncodeError:
                return canonical(self.value(name, value))
            if is_plain_json(text):
                return text
        return canonical(self.value(name, value))

    def masked(self, value: Any, notes: tuple[MaskNote, ...]) -> Any:
        """Take a JSON value that was masked with the installation's key before, and what was noted then."""
        self._notes += notes
        return storable(value)

    def text(self, text: str) -> str:
        """Mask a text that is a column of its own."""
        return str(storable(mask_text(text, key=self._key).text)) if text else ""

    def placed(self, text: str, places: Sequence[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
        """Mask a text, and say where places (start, end) of it stand in what is left; none when they cannot be told."""
        masked = mask_text(text, key=self._key)
        kept = str(storable(masked.text))
        if len(kept) != len(masked.text):
            return kept, []
        return kept, [(masked.place(start), masked.place(end, is_end=True)) for start, end in places]

    def record(self) -> list[dict[str, Any]]:
        """Tell what was masked, without telling it: a path may be made of a secret that stood as a name."""
        return [note.to_json() | {"path": self.text(note.path)} for note in self._notes]
