"""The headers that every page carries."""

from collections.abc import Callable
from typing import Any

from django.test import Client


def test_the_content_security_policy_has_no_unsafe_word(
    client_of: Callable[..., Client], viewer: Any, environment: Any
) -> None:
    for path in ("/approvals/", "/settings/", "/nothing/"):
        policy = client_of(viewer).get(path)["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "script-src 'self'" in policy
        assert "default-src 'none'" in policy


def test_pages_stand_in_no_frame(client: Client, db: None) -> None:
    answer = client.get("/sign-in/")
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_the_footer_names_the_version(client_of: Callable[..., Client], viewer: Any, environment: Any) -> None:
    from openclaw_admin import __version__

    assert f"OpenClaw Admin {__version__}" in client_of(viewer).get("/settings/").content.decode()
