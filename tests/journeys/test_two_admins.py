"""Two admins edit one record: the second sees what the first saved, loses nothing that was typed, and decides."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import DEMO, Installation, Visitor

pytestmark = pytest.mark.journey

AGENT = "docs-writer"


@pytest.fixture(scope="module")
def imported(installation: Installation) -> Installation:
    installation.manage(
        "policy", "import", str(DEMO / "openclaw.json"), "--approvals", str(DEMO / "exec-approvals.json")
    )
    return installation


@pytest.mark.slow
def test_the_second_sees_the_other_version_and_resolves_it(imported: Installation, sign_in: Any) -> None:
    first = sign_in("admin")
    _makes_an_admin(first, "operator")
    second = sign_in("operator")
    ours, theirs = (who.open(f"/agents/{AGENT}/") for who in (first, second))
    _deny(ours, "cron")
    _save(ours)
    expect(ours.locator("#policy")).to_contain_text("Saved to the draft.")

    _deny(theirs, "browser")
    _choose_profile(theirs, "coding")
    _save(theirs)
    conflict = theirs.locator("#policy .conflict")
    expect(conflict).to_contain_text("Somebody changed this agent while you were editing. Nothing was saved yet.")
    deny = conflict.get_by_role("group", name=re.compile("^Deny"))
    expect(deny.locator("label").filter(has_text="Take theirs")).to_contain_text("cron")
    expect(deny.locator("label").filter(has_text="Keep mine")).to_contain_text("browser")
    expect(deny.get_by_label("Keep mine")).to_be_checked()
    _is_typed(theirs, "browser")
    second.check_access()
    _saw(first, "cron", but_not="browser")

    deny.get_by_label("Take theirs").check()
    _save(theirs)
    expect(theirs.locator("#policy")).to_contain_text("Saved to the draft.")
    expect(theirs.locator("#policy .conflict")).to_have_count(0)
    _saw(first, "cron", but_not="browser")
    expect(first.page.get_by_role("radio", name="coding", exact=True)).to_be_checked()


def _makes_an_admin(admin: Visitor, username: str) -> None:
    page = admin.open("/users/")
    page.get_by_role("row").filter(has_text=username).get_by_role("link").click()
    page.get_by_role("combobox", name="Role").select_option("admin")
    page.get_by_role("button", name="Save role").click()
    expect(page.get_by_role("combobox", name="Role")).to_have_value("admin")


def _deny(page: Page, name: str) -> None:
    page.get_by_role("combobox", name="Deny").fill(name)
    page.get_by_role("combobox", name="Deny").press("Enter")


def _choose_profile(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name, exact=True).check(force=True)


def _save(page: Page) -> None:
    page.get_by_role("button", name="Save to draft").click()


def _is_typed(page: Page, name: str) -> None:
    """What was typed stands in its field still, and in the choice of profile."""
    expect(page.locator("#f-deny")).to_have_value(re.compile(name))
    expect(page.get_by_role("radio", name="coding", exact=True)).to_be_checked()


def _saw(visitor: Visitor, name: str, *, but_not: str) -> None:
    """The draft holds one entry and not the other."""
    page = visitor.open(f"/agents/{AGENT}/")
    expect(page.locator("#f-deny")).to_have_value(re.compile(name))
    expect(page.locator("#f-deny")).not_to_have_value(re.compile(but_not))
