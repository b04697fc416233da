"""Moments in which a slip does harm: each is asked about, refused, or shown in red before it happens."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Dialog, Locator, Page, expect

from tests.journeys.conftest import DEMO, Installation, Visitor, agent_calls, queue_of, save_to_draft

pytestmark = pytest.mark.journey

PHONE = {"width": 390, "height": 844}
AGENT = "ops-runner"
ASKING = "main"


@pytest.fixture(scope="module")
def published(installation: Installation) -> Installation:
    installation.manage(
        "policy", "import", str(DEMO / "openclaw.json"), "--approvals", str(DEMO / "exec-approvals.json")
    )
    installation.manage("policy", "publish", "-m", "the sample")
    return installation


@contextmanager
def answering(page: Page, *, accept: bool) -> Iterator[list[str]]:
    """Answer what the browser itself asks before a page is left."""
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept() if accept else dialog.dismiss()

    page.on("dialog", answer)
    yield asked
    page.remove_listener("dialog", answer)


def _leave(page: Page) -> None:
    page.get_by_role("navigation").get_by_role("link", name="Agents", exact=True).first.click()


def _choice(form: Locator, label: str) -> Locator:
    """The choice of a form under a label, which says of itself when it is optional."""
    return form.get_by_role("combobox", name=re.compile(rf"^{label}( optional)?$"))


def _save(page: Page, region: str, **choices: str) -> None:
    """Choose words in one form of the exec rules, and save that form."""
    form = page.get_by_role("region", name=re.compile(f"^{region}"))
    for label, choice in choices.items():
        _choice(form, label).select_option(choice)
    save_to_draft(page, form)
    for label, choice in choices.items():
        expect(_choice(form, label)).to_have_value(choice)


def test_unsaved_edits_ask_before_they_are_lost_and_survive_that_another_form_is_saved(
    published: Installation, sign_in: Any
) -> None:
    page = sign_in("admin").open("/agents/main/exec/")
    settings = page.get_by_role("region", name=re.compile("^Settings"))
    mode = _choice(settings, "Mode")
    other = "deny" if mode.input_value() != "deny" else "ask"
    mode.select_option(other)

    with answering(page, accept=False) as asked:
        _leave(page)
        expect(mode).to_have_value(other)
    assert asked == ["beforeunload"]

    _save(page, "Approvals", Security="deny")
    expect(mode).to_have_value(other)
    expect(settings).to_contain_text("Not saved yet: your edits were kept.")

    _save(page, "Settings", Mode=other)
    expect(settings).not_to_contain_text("Not saved yet")
    with answering(page, accept=True) as asked:
        _leave(page)
        page.wait_for_url(re.compile("/agents/$"))
    assert asked == []


def test_wider_exec_rules_stand_first_in_red_and_never_under_a_green_list(
    published: Installation, sign_in: Any
) -> None:
    admin: Visitor = sign_in("admin")
    page = admin.open(f"/agents/{AGENT}/exec/")
    _save(page, "Settings", Mode="full")
    _save(page, "Approvals", Security="full", Ask="off")
    page = admin.open("/publish/")
    changes = page.locator("#access-changes")
    expect(changes).to_contain_text("more run than today")
    first = changes.locator("tbody tr").first
    expect(first).to_have_class("access-wider")
    expect(first).to_contain_text(AGENT)
    expect(first).to_contain_text("runs without approval")
    expect(first).to_contain_text("rm -rf build")
    red = changes.get_by_role("alert").evaluate("note => getComputedStyle(note).backgroundColor")
    expect(first.get_by_role("rowheader")).to_have_css("background-color", red)
    above = changes.bounding_box(), page.locator(".blast").bounding_box()
    assert above[0] and above[1] and above[0]["y"] < above[1]["y"]
    expect(page.locator("#blast .blast-none")).to_have_count(0)
    check = page.locator(".pub-checks li").filter(has_text="More can run than today")
    expect(check.locator("a.c-deny")).to_be_visible()
    publish = page.get_by_role("button", name=re.compile("^Publish v"))
    expect(publish).to_have_class(re.compile("btn-deny-solid"))
    expect(publish).to_have_accessible_description(re.compile("lets? more run than today"))
    admin.check_access()


def test_a_mistyped_agent_cannot_be_stopped_and_a_stop_says_when_it_holds(
    published: Installation, sign_in: Any
) -> None:
    operator: Visitor = sign_in("operator")
    page = operator.open("/agents/")
    page.get_by_role("link", name="Kill switch").first.click()
    target = page.get_by_label("What to stop")
    page.get_by_label("Why").fill("it deletes things")
    target.evaluate("""select => { const option = new Option("ops-runer", "agent:ops-runer"); select.add(option);
        select.value = "agent:ops-runer"; }""")
    page.get_by_role("button", name="Stop…").click()
    expect(page.get_by_role("alert").first).to_contain_text("did you mean `ops-runner`?")
    expect(page.locator("main")).to_contain_text("Nothing is stopped")

    page.get_by_label("What to stop").select_option(f"agent:{AGENT}")
    page.get_by_role("button", name="Stop…").click()
    expect(page.get_by_role("heading", name="Stop calls?")).to_be_visible()
    expect(page.locator("main")).to_contain_text("pending requests freeze")
    expect(page.get_by_role("link", name="Cancel")).to_be_focused()
    operator.check_access()
    page.get_by_role("button", name="Stop now").click()
    expect(page.locator("#standing")).to_contain_text(re.compile("holds? to it."))
    expect(page.locator("#standing .note.allow")).to_be_visible()
    page.get_by_role("button", name="Lift").click()
    expect(page.locator("main")).to_contain_text("Nothing is stopped")


def test_always_confirms_on_a_phone_with_the_focus_on_cancel(published: Installation, sign_in: Any) -> None:
    secret = published.token("calls_make")
    operator: Visitor = sign_in("operator")
    page = queue_of(operator)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    running = threading.Thread(target=agent_calls, args=(published, secret, ASKING, "id -u"))
    running.start()
    card = page.get_by_role("article").filter(has_text="id -u")
    card.get_by_role("button", name=re.compile("^Allow always")).click()
    dialog = page.get_by_role("dialog", name="Allow always?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    for text in ("/id -u", "These exact arguments", f"only {ASKING}", "30 days, until "):
        expect(dialog).to_contain_text(text)
    box = dialog.bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
    assert box["y"] >= 0 and box["y"] + box["height"] <= PHONE["height"]
    page.keyboard.press("Enter")  # on Cancel
    expect(dialog).to_be_hidden()
    expect(card).to_have_attribute("data-state", "requested")

    card.get_by_role("button", name=re.compile("^Allow always")).click()
    dialog.get_by_role("button", name="Allow always").click()
    expect(page.locator("#recent")).to_contain_text("Allowed always")
    running.join(timeout=40)
    page.set_viewport_size({"width": 1440, "height": 1000})
    expect(page.locator("#today")).to_contain_text("1 allowed")


def test_a_limit_that_is_raised_is_asked_about_in_red_before_it_holds(published: Installation, sign_in: Any) -> None:
    admin: Visitor = sign_in("admin")
    page = admin.open("/limits/new/")
    page.get_by_label("Name").fill("calm")
    page.get_by_label("Calls a minute").fill("5")
    page.get_by_role("button", name="Add rate limit").click()
    page.get_by_role("link", name="calm").click()
    page.get_by_label("Calls a minute").fill("500")
    page.get_by_label("Agents").fill("main")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="This change allows more")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("5 calls a minute become 500.")
    expect(page.get_by_role("alert")).to_contain_text("all but main")
    expect(page.get_by_role("link", name="Cancel")).to_be_focused()
    admin.check_access()
    page.get_by_role("button", name="Save anyway").click()
    expect(page.locator("#limits")).to_contain_text("500")
