"""Inside an installation: store a large policy, ask for each page of the menu, print seconds and questions as JSON."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")
django.setup()

from django.db import connection, transaction  # noqa: E402 - Django must be set up first
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext, override_settings  # noqa: E402
from django.urls import NoReverseMatch, reverse  # noqa: E402

from apps.accounts.models import User  # noqa: E402
from apps.console.menu import AUDIT_TABS, MENU, SEARCH_TABS  # noqa: E402
from apps.firewall.engine.context import CallContext  # noqa: E402
from apps.firewall.engine.decide import allowed_tools  # noqa: E402
from apps.policies.compiler import compile_draft  # noqa: E402
from apps.policies.models import Agent  # noqa: E402
from apps.policies.services import guardrail_create, policy_test_create, record_update  # noqa: E402
from apps.policies.services.publishing import publish  # noqa: E402
from apps.registry.services import environment_default  # noqa: E402
from bench._compile_rows import TOOLS, store  # noqa: E402
from bench.engine import population  # noqa: E402
from bench.guardrails import FORMS  # noqa: E402

WARM, ROUNDS, FUNNELS, RECOMPILED = 2, 12, 40, 3
TESTS = 50
AGENT = "agent-7"


def main() -> None:
    """Measure all of it."""
    environment = environment_default()
    with transaction.atomic():
        store(environment, population(TOOLS))
    publish(environment, by=None, message="the population", expected_live="")
    agent = Agent.objects.get(environment=environment, key=AGENT)
    admin, _made = User.objects.get_or_create(username="bench", defaults={"role": "admin"})
    record_update(agent, {"deny": ["exec"]}, by=admin, expected_version=agent.version)
    checks(environment, admin)
    browser = Client()
    browser.force_login(admin)
    with override_settings(ALLOWED_HOSTS=["*"]):
        found = {
            "pages": [page(browser, name, url) for name, url in urls()],
            "funnel": funnel(browser, agent),
            "recompiled": recompiled(environment),
        }
    sys.stdout.write(json.dumps(found))


def checks(environment: Any, admin: User) -> None:
    """Hold the draft to guardrails and policy tests."""
    for number, form in enumerate(FORMS):
        guardrail_create(environment, by=admin, name=f"guardrail {number}", form=form.to_json())
    for number in range(TESTS):
        context = {"agent_id": f"agent-{number}"}
        policy_test_create(
            environment, by=admin, name=f"case {number}", tool="read", context=context, verdict="allowed"
        )


def urls() -> Iterator[tuple[str, str]]:
    """List the pages of the menu and of its strips, an agent's, and the explorer in its states."""
    entries = [entry for section in (*MENU, AUDIT_TABS, SEARCH_TABS) for entry in section.entries]
    for name in dict.fromkeys(entry.url_name for entry in entries):
        try:
            url = reverse(name)
        except NoReverseMatch:
            continue
        yield name, url
    yield "agent", reverse("agent", args=[AGENT])
    yield "publish, reviewed already", f"{reverse('publish')}?now"
    yield "the blast radius of the review", reverse("publish-blast")
    why = f"agent={AGENT}&channel=telegram&group=-100000&sender=id:7&tool=exec&at=draft"
    yield "explorer, why", f"{reverse('explorer')}?{why}"
    yield "explorer, matrix", f"{reverse('explorer')}?view=matrix"


def page(browser: Client, name: str, url: str) -> dict[str, Any]:
    """Ask for one page so often."""
    times = []
    for number in range(WARM + ROUNDS):
        started = time.perf_counter()
        answer = browser.get(url)
        took = time.perf_counter() - started
        if answer.status_code != 200:
            raise RuntimeError(f"{url} answered {answer.status_code}")
        if number >= WARM:
            times.append(took)
    with CaptureQueriesContext(connection) as asked:
        browser.get(url)
    return {"name": name, "times": times, "queries": len(asked)}


def funnel(browser: Client, agent: Agent) -> list[float]:
    """Type into the deny list of an agent's page: each request holds another text."""
    url = reverse("agent-preview", args=[AGENT])
    times = []
    for number in range(WARM + FUNNELS):
        form = {"deny": f"exec\nread{'x' * number}", "version": str(agent.version)}
        started = time.perf_counter()
        answer = browser.post(url, form, headers={"HX-Request": "true"})
        took = time.perf_counter() - started
        if answer.status_code != 200 or b"fl-row" not in answer.content:
            raise RuntimeError(f"{url} answered {answer.status_code}: {answer.content[:300]!r}")
        if number >= WARM:
            times.append(took)
    return times


def recompiled(environment: Any) -> list[float]:
    """Compile the rows and list what one agent may use."""
    return list(_timed(lambda: allowed_tools(compile_draft(environment), CallContext(agent_id=AGENT)), RECOMPILED))


def _timed(call: Callable[[], object], rounds: int) -> Iterator[float]:
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        yield time.perf_counter() - started


if __name__ == "__main__":
    main()
