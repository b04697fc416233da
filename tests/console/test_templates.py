"""What every template keeps, so that the content security policy needs no exception."""

import re
from pathlib import Path

import pytest
from django.conf import settings

TEMPLATES = sorted((Path(settings.BASE_DIR) / "templates").rglob("*.html"))
SCRIPTS = sorted((Path(settings.BASE_DIR) / "static" / "js").glob("*.js"))
SHEETS = sorted((Path(settings.BASE_DIR) / "static" / "css").glob("*.css"))
ICONS = set((Path(settings.BASE_DIR) / "static" / "icons.txt").read_text().split())
FORBIDDEN = {
    "a style attribute": re.compile(r"\sstyle\s*=", re.IGNORECASE),
    "a style element": re.compile(r"<style\b", re.IGNORECASE),
    "an inline handler": re.compile(r"\son[a-z]+\s*=\s*[\"']", re.IGNORECASE),
    "an inline script": re.compile(r"<script(?![^>]*\bsrc=)[^>]*>", re.IGNORECASE),
    "the filter safe": re.compile(r"\|\s*safe\b"),
    "autoescape off": re.compile(r"autoescape\s+off"),
    "an htmx handler": re.compile(r"hx-on|js:|javascript:"),
    "another host": re.compile(r"(?:src|href)=[\"']https?://"),
}
ICON = re.compile(r"{%\s*icon\s+\"([a-z0-9-]+)\"")


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(settings.BASE_DIR)))
def test_a_template_holds_nothing_that_the_policy_forbids(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [what for what, pattern in FORBIDDEN.items() if pattern.search(text)] == []


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(settings.BASE_DIR)))
def test_each_icon_is_in_the_sprite(path: Path) -> None:
    assert set(ICON.findall(path.read_text(encoding="utf-8"))) <= ICONS


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(settings.BASE_DIR)))
def test_each_form_that_posts_carries_the_csrf_token(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    forms = re.findall(r"<form[^>]*method=\"post\".*?</form>", text, re.DOTALL)
    assert [form[:80] for form in forms if "{% csrf_token %}" not in form] == []


def test_icons_named_by_code_are_in_the_sprite() -> None:
    from apps.console.cards import VERDICTS
    from apps.console.hints import HINTS, OTHER
    from apps.console.menu import MENU

    named = {entry.icon for section in MENU for entry in section.entries}
    named |= {hint.icon for hint in [*HINTS.values(), OTHER]} | {verdict.icon for verdict in VERDICTS.values()}
    assert named <= ICONS


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_builds_no_code_from_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\beval\(|new Function|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write", text)


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.name)
def test_a_sheet_loads_nothing_from_elsewhere(path: Path) -> None:
    assert not re.search(r"@import|url\(\"?https?:", path.read_text(encoding="utf-8"))
