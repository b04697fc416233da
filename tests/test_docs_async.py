"""docs/async.md says the figures, statuses and codes that the code has."""

from pathlib import Path

import pytest

from apps.gateway.queue import callbacks, rows, settling, taking
from apps.gateway.runtime_api import calls, deferring, events

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "async.md").read_text(encoding="utf-8")
WORDS = {8: "eight"}


@pytest.mark.parametrize(
    "said",
    [
        f"{rows.QUEUE_LIMIT:,} calls wait",
        f"runs {WORDS[taking.AT_ONCE]} calls at once",
        f"at most {callbacks.TIME_LIMIT_S:.0f} s",
        f"({calls.END_WAIT_MS:,} when absent)",
        *(f"`{each}`" for each in deferring.ON_DISCONNECT),
        *(f"{code} " for code in (events.NO_TOKEN, events.NOT_ALLOWED, events.NOT_FOUND, events.TOO_MANY)),
    ],
)
def test_it_states_what_holds(said: str) -> None:
    assert said in PAGE


def test_it_states_the_pauses_between_attempts() -> None:
    assert list(callbacks.BACK_OFF_S) == [5, 30, 120, 600, 3600]
    assert "5 s, 30 s, 2 min,\n10 min and 1 h" in PAGE
    assert settling.QUEUE_WINDOW.total_seconds() == 3600 and "within an hour" in PAGE
