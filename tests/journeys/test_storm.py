"""A storm of similar requests: one card, a bounded number of looks at it, one answer, and the agent is paused."""

from typing import Any

import pytest
from playwright.sync_api import Request, expect

from tests.journeys.conftest import Installation, queue_of

pytestmark = [pytest.mark.journey, pytest.mark.slow]
STORM, LOOKS_MOST, WAIT_MS = 1000, 200, 300_000
ASK = """
from django.db import transaction
from django.utils import timezone
from apps.approvals.drafts import ApprovalDraft
from apps.approvals.models import Approval
from apps.approvals.services import approval_request
from apps.events.notices import announce
from apps.firewall.identifiers import new_id
from apps.registry.services import environment_default

environment, words = environment_default(), ["touch", "/srv/data/0.csv"]
first = approval_request(
    ApprovalDraft(
        environment=environment, call_id=new_id(), kind="exec", tool="exec", agent="ops-runner",
        action={{"argv": words}}, argv=words, command=" ".join(words), params={{"command": " ".join(words)}},
    ),
    at=timezone.now(),
    timeout_s=7200,
)
rows = [Approval.objects.get(pk=first.pk) for _ in range({count} - 1)]
for number, row in enumerate(rows):
    row.pk, row.call_id, row.command = new_id(), new_id(), f"touch /srv/data/{{number}}.csv"
with transaction.atomic():
    Approval.objects.bulk_create(rows)
    for row in rows:
        announce("approval.requested", id=row.pk, environment=environment.slug)
"""


def test_a_thousand_are_one_card_and_one_answer_goes_to_many_of_them(installation: Installation, sign_in: Any) -> None:
    visitor = sign_in("operator")
    page = queue_of(visitor)
    looks: list[str] = []

    def count(request: Request) -> None:
        if "/approvals/" in request.url:
            looks.append(request.url)

    page.on("request", count)
    installation.manage("shell", "-c", ASK.format(count=STORM))
    expect(page.locator("#queue > .ap")).to_have_count(1, timeout=WAIT_MS)
    expect(page.locator("#queue > .ap")).to_contain_text("1,000 similar requests", timeout=WAIT_MS)
    assert len(looks) <= LOOKS_MOST
    page.remove_listener("request", count)
    visitor.check_access()

    page.keyboard.press("o")
    expect(page.get_by_role("heading", name="Similar requests")).to_be_visible(timeout=WAIT_MS)
    visitor.check_access()
    page.get_by_label("Reason, shown to the agents").fill("a loop")
    page.get_by_role("button", name="Check: deny").click()
    expect(page.get_by_text("50 of 50 would be denied")).to_be_visible(timeout=WAIT_MS)
    visitor.check_access()
    page.get_by_role("button", name="Deny 50 requests").click()
    expect(page.get_by_text("50 of 50 denied")).to_be_visible(timeout=WAIT_MS)

    pause = page.get_by_text("Agent ops-runner is paused:")
    expect(pause).to_be_visible(timeout=WAIT_MS)
    visitor.check_access()
    page.get_by_role("button", name="Let ops-runner ask again").click()
    expect(pause).to_have_count(0, timeout=WAIT_MS)
    visitor.open("/approvals/fatigue/")
    expect(page.get_by_role("heading", name="By person")).to_be_visible(timeout=WAIT_MS)
    visitor.check_access()
