"""Known pains of operators, on the pages where they are mended."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.policies.services import document_import

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]
FOLDER = Path(__file__).parent.parent / "policies" / "pains"
SAID = {
    "exec_full_without_asking": "every command runs",
    "exec_allowlist_without_entries": "the allowlist of the approvals has no entry",
}


@pytest.mark.parametrize(
    ("pain", "path"),
    [
        ("deny_of_everything", "tools.deny"),
        ("profile_hides_an_allow", "agents.entries.main.tools.allow"),
        ("sender_falls_through_to_star", "tools.toolsBySender.@bob"),
        ("provider_that_no_agent_uses", "tools.byProvider.antropic"),
        ("elevated_without_allow_from", "tools.elevated.allowFrom"),
    ],
)
def test_the_review_names_the_field(pain: str, path: str, client_of: ClientOf, admin: Any, environment: Any) -> None:
    document_import(environment, (FOLDER / f"{pain}.json5").read_text(), by=admin)

    page = client_of(admin).get("/publish/").content.decode()

    _, _, findings = page.partition('id="findings"')
    assert path in findings.partition("</section>")[0]


@pytest.mark.parametrize("pain", SAID)
def test_the_exec_rules_say_it_beside_the_mode(pain: str, client_of: ClientOf, admin: Any, environment: Any) -> None:
    document_import(environment, (FOLDER / f"{pain}.json5").read_text(), by=admin)

    page = client_of(admin).get("/exec-rules/").content.decode()

    _, _, field = page.partition('name="mode"')
    assert SAID[pain] in field.partition("<select")[0]
