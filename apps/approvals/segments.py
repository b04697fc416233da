"""The commands of a line as they are kept for people: masked, with their places in the masked line."""

from collections.abc import Sequence
from typing import Any, Final

from apps.audit.masking import Masker
from apps.firewall.engine.exec_policy import Part

PARTS_LIMIT: Final = 100
TEXT_LIMIT: Final = 400


def shown_line(masker: Masker, command: str, parts: Sequence[Part]) -> tuple[str, list[dict[str, Any]]]:
    """Mask a line and its commands.

    Returns:
        The masked line, and for each command `start` and `end` in it, `program`, `wrappers`, `by` (what admits it,
        empty when nothing does), `pattern`, `why` it asks (`code`, `text`; None when something admits it), and
        `stricter`: OpenClaw would not ask. No commands where their places in the masked line cannot be told.
    """
    standing = [part for part in parts[:PARTS_LIMIT] if command[part.start : part.end]]
    text, places = masker.placed(command, [(part.start, part.end) for part in standing])
    pairs = zip(standing, places, strict=False)
    return text, [{"start": start, "end": end} | _told(masker, part, command, text) for part, (start, end) in pairs]


def shown_piece(masker: Masker, piece: str, *, command: str, shown: str) -> str:
    """Mask a piece of a line; one that holds a part of what was masked in the line is not shown at all."""
    if piece and piece in command and piece not in shown:
        masked = masker.text(piece)
        return "…" if masked == piece else masked
    return masker.text(piece)


def _told(masker: Masker, part: Part, command: str, shown: str) -> dict[str, Any]:
    def told(piece: str) -> str:
        return shown_piece(masker, piece, command=command, shown=shown)[:TEXT_LIMIT]

    why = part.why
    return {
        "program": told(part.program),
        "wrappers": [told(word) for word in part.wrappers],
        "by": part.satisfied_by,
        "pattern": told(part.pattern),
        "why": None if why is None else {"code": why.code, "text": told(why.text)},
        "stricter": part.is_stricter,
    }
