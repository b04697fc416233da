"""A form that was sent after the session had ended is there again after signing in, with what was typed."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import DEMO, Installation
from tests.journeys.pictures import LOOKS, Pictures

pytestmark = pytest.mark.journey


PAGE = "/approvals/answering/"


@pytest.fixture(scope="module")
def published(installation: Installation) -> Installation:
    installation.manage(
        "policy", "import", str(DEMO / "openclaw.json"), "--approvals", str(DEMO / "exec-approvals.json")
    )
    installation.manage("policy", "publish", "-m", "the sample")
    return installation


@pytest.mark.parametrize("width", [1440, pytest.param(390, marks=pytest.mark.slow)])
def test_what_was_typed_comes_back_after_signing_in_again(published: Installation, sign_in: Any, width: int) -> None:
    page = sign_in("admin").open(PAGE)
    page.set_viewport_size({"width": width, "height": 844})
    teams = page.get_by_role("region", name="Teams")
    name, people = (teams.locator(f"form[action$='/teams/add/'] [name={each}]") for each in ("name", "people"))
    name.fill("Night shift")
    people.evaluate("each => { each.value = 'admin'; each.dispatchEvent(new Event('change', {bubbles: true})); }")
    page.context.clear_cookies(name="sessionid")
    page.evaluate("document.body.dispatchEvent(new CustomEvent('halt-placed'))")  # a part of the page is asked for anew
    expect(page.get_by_role("alert").filter(has_text="You have been signed out.")).to_be_visible()
    expect(name).to_have_value("Night shift")
    teams.get_by_role("button", name="Add team").click()

    expect(page).to_have_url(re.compile("/sign-in/"))
    page.get_by_label("User name").fill("admin")
    page.get_by_label("Password").fill(published.passwords["admin"])
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile(f"{PAGE}$"))
    expect(page.get_by_text("You had been signed out when you sent this form.")).to_be_visible()
    expect(name).to_have_value("Night shift")
    expect(people).to_have_value("admin")
    Pictures().take(page, "session-over", next(each for each in LOOKS if each.width == width))

    expect(teams.get_by_text("No team yet.")).to_be_visible()
