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


@pytest.mark.parametrize(
    ("pain", "field", "said"),
    [
        ("profile_hides_an_allow", "allow", "the profile leaves out `exec`"),
        ("deny_above_the_allow", "also_allow", "the global `deny` takes `browser` away"),
        ("deny_that_is_shadowed", "deny", "the global `deny` has `exec` already"),
        ("agent_without_any_tool", "allow", "this agent has no tool"),
    ],
)
def test_an_agent_page_says_it_beside_the_list(
    pain: str, field: str, said: str, client_of: ClientOf, admin: Any, environment: Any
) -> None:
    document_import(environment, (FOLDER / f"{pain}.json5").read_text(), by=admin)

    page = client_of(admin).get("/agents/main/").content.decode()

    _, _, remarks = page.partition(f'id="remarks-{field}"')
    assert said in remarks.partition("</div>")[0]


def test_an_agent_being_typed_is_reviewed_before_it_is_saved(client_of: ClientOf, admin: Any, environment: Any) -> None:
    document_import(environment, '{"agents": {"entries": {"main": {}}}, "tools": {"deny": ["browser"]}}', by=admin)

    typed = {"allow": "browser", "profile": "", "version": "1"}
    answer = client_of(admin).post("/agents/main/preview/", typed, headers={"HX-Request": "true"})

    assert answer.status_code == 200
    assert "the global `deny` takes `browser` away" in answer.content.decode()
