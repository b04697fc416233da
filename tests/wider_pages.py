"""What tests do at the page that asks before a change is saved that lets more happen."""

from typing import Any

from django.test import Client


def widening_asked(answer: Any) -> list[str]:
    """Return what the page says that the change would widen."""
    assert answer.status_code == 200, answer.content.decode()
    page = answer.content.decode()
    assert "Nothing is saved yet." in page and "Save anyway" in page
    return list(answer.context["widens"])


def widening_confirmed(browser: Client, path: str, answer: Any) -> Any:
    """Press the red button of the page."""
    posted: dict[str, Any] = {}
    for name, value in answer.context["posted"]:
        posted.setdefault(name, []).append(value)
    return browser.post(path, posted | {"widens": answer.context["digest"]})


def post_wider(browser: Client, path: str, posted: dict[str, Any]) -> Any:
    """Send a form whose change widens something, and confirm it."""
    answer = browser.post(path, posted)
    assert widening_asked(answer)
    return widening_confirmed(browser, path, answer)
