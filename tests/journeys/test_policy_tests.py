"""The explorer's answer becomes a policy test; a change that breaks it is seen, and not published while it stands."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import DEMO, Installation, Visitor

pytestmark = pytest.mark.journey

NAME = "docs writer reads the web"


@pytest.fixture(scope="module")
def published(installation: Installation) -> Installation:
    installation.manage(
        "policy", "import", str(DEMO / "openclaw.json"), "--approvals", str(DEMO / "exec-approvals.json")
    )
    installation.manage("policy", "publish", "-m", "the sample")
    return installation


@pytest.mark.slow
def test_what_must_hold_is_written_down_and_kept_from_breaking(published: Installation, sign_in: Any) -> None:
    admin = sign_in("admin")
    _makes_it_of_an_answer(admin)
    published.manage("policy", "test")
    _denies_the_tool(admin)
    _sees_it_fail(admin)
    _cannot_publish(admin)
    _switches_it_off(admin)


def _makes_it_of_an_answer(admin: Visitor) -> None:
    page = admin.open("/explorer/?agent=docs-writer&tool=web_fetch")
    page.get_by_role("link", name="Make a policy test of this").click()
    expect(page.locator("#answer")).to_contain_text("passes")
    page.wait_for_load_state()
    page.get_by_label("Expected").select_option("denied")
    expect(page.locator("#answer")).to_contain_text("fails")
    page.get_by_label("Expected").select_option("allowed")
    expect(page.locator("#answer")).not_to_contain_text("fails")
    page.get_by_label("Name").fill(NAME)
    admin.check_access()
    page.get_by_role("button", name="Add policy test").click()
    expect(page.get_by_text("the draft passes")).to_be_visible()
    expect(page.locator("#coverage")).to_contain_text("agents.entries.docs-writer")
    admin.check_access()


def _denies_the_tool(admin: Visitor) -> None:
    page = admin.open("/profiles/")
    token = page.locator("input[name=csrfmiddlewaretoken]").first.get_attribute("value") or ""
    agent = admin.url + "/agents/docs-writer/"
    page.goto(agent)
    version = page.locator("input[name=version]").first.get_attribute("value") or ""
    form: dict[str, str | float | bool] = {"csrfmiddlewaretoken": token, "version": version, "deny": "web_fetch"}
    answer = page.request.post(agent, form=form, headers={"Referer": agent})
    assert answer.ok, answer.status


def _sees_it_fail(admin: Visitor) -> None:
    page = admin.open("/policy-tests/?show=failing")
    expect(page.get_by_role("link", name=NAME)).to_be_visible()
    expect(page.locator("#tests")).to_contain_text("1 fails in the draft")
    expect(page.locator("#draft-pill")).to_contain_text("1")
    page.get_by_label("Name or tool").fill("nothing of this name")
    expect(page.get_by_text("No test fits")).to_be_visible()
    admin.open("/policy-tests/")
    admin.check_access()


def _cannot_publish(admin: Visitor) -> None:
    page = admin.open("/publish/")
    expect(page.locator("#policy-tests")).to_contain_text(NAME)
    expect(page.get_by_role("button", name="Publish v2")).to_be_disabled()
    expect(page.locator("#publish-do")).to_contain_text("Failing policy tests must be mended or switched off first.")
    admin.check_access()


def _switches_it_off(admin: Visitor) -> None:
    page = admin.open("/policy-tests/")
    page.get_by_role("button", name=f"Switch off {NAME}").click()
    expect(page.get_by_text("Switched off")).to_be_visible()
    admin.open("/publish/")
    expect(page.locator("#publish-form")).not_to_contain_text("Policy tests fail")
