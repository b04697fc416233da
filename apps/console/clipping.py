"""Large values for a card: what is left out is counted, and can be read elsewhere."""

from dataclasses import dataclass, field
from typing import Any, Final

TEXT_LIMIT: Final = 2000
TOTAL_LIMIT: Final = 12_000


@dataclass(slots=True)
class Clipped:
    """A JSON value within a budget of characters.

    Args:
        left_out: how many characters of its texts, and how many of its members, are not in `value`.
    """

    value: Any
    left_out: int = 0
    _budget: int = field(default=TOTAL_LIMIT, repr=False)

    def take(self, value: Any) -> Any:
        if isinstance(value, str):
            kept = value[: max(0, min(TEXT_LIMIT, self._budget))]
            self._spend(len(kept) + 2)
            self.left_out += len(value) - len(kept)
            return value if len(kept) == len(value) else f"{kept}…"
        if isinstance(value, list):
            kept_items = []
            for number, item in enumerate(value):
                if self._budget <= 0:
                    self.left_out += len(value) - number
                    break
                kept_items.append(self.take(item))
            return kept_items
        if isinstance(value, dict):
            members: dict[str, Any] = {}
            for number, (name, item) in enumerate(value.items()):
                if self._budget <= 0:
                    self.left_out += len(value) - number
                    break
                members[self.take(str(name))] = self.take(item)
            return members
        self._spend(8)
        return value

    def _spend(self, characters: int) -> None:
        self._budget -= characters


def clipped_value(value: Any) -> Clipped:
    """Bring a JSON value down to what a card can show."""
    clipped = Clipped(None)
    clipped.value = clipped.take(value)
    return clipped
