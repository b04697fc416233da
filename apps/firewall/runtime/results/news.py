"""News of a running call as callers and pages see them: masked, short, the end of an output from a line's beginning."""

from typing import Any, Final

from apps.firewall.redaction import mask_text
from apps.firewall.redaction.masks import MASK, MASK_START
from apps.firewall.runtime.results.rules import ResultRules
from apps.firewall.tools.progress import Progress

MESSAGE_LIMIT: Final = 500
OUTPUT_LIMIT: Final = 4_000


def shown_news(news: Progress, rules: ResultRules) -> dict[str, Any]:
    """Write news as JSON: `message`, `done`, `total` and `output`, those that say something."""
    told = {
        "message": mask_text(news.message, key=rules.key).text[:MESSAGE_LIMIT],
        "done": news.done,
        "total": news.total,
        "output": _end_of(mask_text(news.output, key=rules.key).text, is_cut=news.is_cut),
    }
    return {name: value for name, value in told.items() if value not in ("", None)}


def _end_of(masked: str, *, is_cut: bool) -> str:
    """Keep the end. What an earlier cut left at the beginning may be half a secret: it goes first."""
    begin = len(masked) - OUTPUT_LIMIT
    if begin <= 0:
        # Of a cut output the masked copy can only be this short where masks took the place of much text.
        return masked[masked.find("\n") + 1 :] if is_cut else masked
    mask = masked.rfind(MASK_START, 0, begin)
    found = MASK.match(masked, mask) if mask >= 0 else None
    if found is not None and found.end() > begin:
        begin = found.end()
    line = masked.find("\n", begin, begin + 500)
    return masked[line + 1 if line >= 0 else begin :]
