"""What an exception was, for the author of the tool that raised it: class, message, and the way to it."""

import traceback
from typing import Final

MESSAGE_LETTERS: Final = 1_000
TRACE_LETTERS: Final = 8_000
FRAMES: Final = 30
OURS: Final = ("/apps/firewall/tools/host.py", "/apps/firewall/tools/authoring/")


def cause_of(exc: BaseException) -> dict[str, str]:
    """Tell an exception: `exception`, `message`, `traceback`, each within its limit; our own frames are left out."""
    try:
        message = str(exc)
    except Exception:  # noqa: BLE001 - an author's own exception
        message = ""
    kind = type(exc)
    return {
        "exception": f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")[:200],
        "message": message[:MESSAGE_LETTERS],
        "traceback": _trace(exc),
    }


def _trace(exc: BaseException) -> str:
    try:
        told = traceback.TracebackException.from_exception(exc, limit=-FRAMES, compact=True)
        each: traceback.TracebackException | None = told
        for _ in range(FRAMES):
            if each is None:
                break
            each.stack[:] = [frame for frame in each.stack if not _is_ours(frame.filename)]
            each = each.__cause__ or each.__context__
        text = "".join(told.format())
    except Exception:  # noqa: BLE001 - an author's own exception may raise whatever is asked of it
        return ""
    if len(text) <= TRACE_LETTERS:
        return text
    half = TRACE_LETTERS // 2 - 20
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters …]\n{text[-half:]}"


def _is_ours(file: str) -> bool:
    return any(each in file for each in OURS)
