"""Inside an installation: have 1,000 requests wait, render the page of the queue, print the seconds as JSON."""

import json
import os
import sys
import time
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")

PENDING, WARM, ROUNDS, ROUNDS_ALONE = 1000, 2, 20, 3


def main() -> None:
    """Measure what waits as one pile, then all different, then similar ones with a card for each."""
    import django

    django.setup()
    from django.test import Client
    from django.test.utils import override_settings

    from apps.accounts.models import User
    from apps.approvals import piles
    from apps.approvals.models import Approval
    from apps.console import many

    pending(Approval)
    browser = Client()
    browser.force_login(User.objects.create(username="bench", role="operator"))
    with override_settings(ALLOWED_HOSTS=["*"]):
        found = {"similar": rendered(browser, ROUNDS)}
        rows = list(Approval.objects.filter(state="requested"))
        for number, row in enumerate(rows):
            row.shape = f"{number:064x}"
        Approval.objects.bulk_update(rows, ["shape"])
        found["different"] = rendered(browser, ROUNDS)
        piles.SIMILAR_FROM = many.CARDS_MOST = PENDING * PENDING  # type: ignore[misc]
        found["alone"] = rendered(browser, ROUNDS_ALONE)
    sys.stdout.write(json.dumps(found))


def pending(model: Any) -> None:
    """Ask once, as a call does, and have copies of it wait as well."""
    from django.utils import timezone

    from apps.approvals.drafts import ApprovalDraft
    from apps.approvals.services import approval_request
    from apps.audit.drafts import EntryDecision
    from apps.firewall.identifiers import new_id
    from apps.registry.services import environment_default

    argv = ["curl", "-fsS", "https://status.example/health"]
    first = approval_request(
        ApprovalDraft(
            environment=environment_default(), call_id=new_id(), kind="exec", tool="exec", action={"argv": argv},
            params={"command": " ".join(argv)}, agent="ops-runner", session_key="agent:ops-runner:main",
            command=" ".join(argv), argv=argv, resolved_path="/usr/bin/curl", cwd="/srv",
            evidence=[{"code": "network", "text": "status.example"}],
            asked=EntryDecision(verdict="ask", layer="exec_policy", rule="ask=on-miss", reason="not on the list"),
        ),
        at=timezone.now(), timeout_s=3600,
    )  # fmt: skip
    rows = [model.objects.get(pk=first.pk) for _ in range(PENDING - 1)]
    for number, row in enumerate(rows):
        row.pk, row.call_id, row.question_digest = new_id(), new_id(), ""
        row.command = f"curl -fsS https://status.example/health/{number}"
    model.objects.bulk_create(rows)


def rendered(browser: Any, rounds: int) -> list[float]:
    """Ask for the page so often; the seconds of each answer, and how many cards it holds last."""
    times = []
    for number in range(WARM + rounds):
        started = time.perf_counter()
        answer = browser.get("/approvals/")
        took = time.perf_counter() - started
        if answer.status_code != 200 or b'class="ap"' not in answer.content:
            raise RuntimeError(f"the page did not show the queue: {answer.status_code}")
        if number >= WARM:
            times.append(took)
    return times


if __name__ == "__main__":
    main()
