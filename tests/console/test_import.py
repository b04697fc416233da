"""Import: check or take over; each mistake at once, nothing changed, what was typed kept."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.console import release_forms
from apps.console.diagnostics import KINDS
from apps.policies.selectors import (
    agents,
    allowlist,
    content_filters,
    document_export,
    global_policy,
    guards_export,
    permission_grants,
)
from apps.policies.services import document_import

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]

GOOD = """{
  "agents": {"entries": {"main": {"tools": {"profile": "coding"}}}},
  "gateway": {"auth": {"token": "s3cret-token-1"}}
}"""
BAD = '{"tools": {"alow": ["x"]}, "agents": {"entries": {"a": 3, "<img src=x>": 4}}}'
APPROVALS = '{"version": 1, "agents": {"main": {"allowlist": [{"pattern": "/usr/bin/git"}]}}}'
GUARDS = """{
  "permissionGrants": {"reads": {"permissions": ["db:read"], "agent": "main"}},
  "contentFilters": {"cards": {"pattern": "[0-9]{16}", "where": "both", "action": "mask"}}
}"""


def _file(text: str, name: str = "openclaw.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode(), content_type="application/json")


def test_a_pasted_document_becomes_the_draft(client_of: ClientOf, admin: Any, environment: Any) -> None:
    answer = client_of(admin).post("/import/", {"text": GOOD, "action": "import"})
    assert (answer.status_code, answer.headers["location"]) == (302, "/import/?done")
    assert [agent.key for agent in agents(environment)] == ["main"]


def test_a_file_goes_before_a_text(client_of: ClientOf, admin: Any, environment: Any) -> None:
    client_of(admin).post("/import/", {"file": _file(GOOD), "text": BAD, "action": "import"})
    assert [agent.key for agent in agents(environment)] == ["main"]


def test_the_exec_approvals_come_on_their_own(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    browser.post("/import/", {"text": GOOD, "action": "import"})
    browser.post("/import/", {"approvals_file": _file(APPROVALS), "action": "import"})
    assert [entry.pattern for entry in allowlist(environment)] == ["/usr/bin/git"]
    assert agents(environment).count() == 1


def test_grants_and_filters_come_on_their_own_and_replace_those_of_the_draft(
    client_of: ClientOf, admin: Any, environment: Any
) -> None:
    browser = client_of(admin)
    browser.post("/import/", {"text": GOOD, "guards_text": GUARDS, "action": "import"})
    other = GUARDS.replace("cards", "numbers").replace("reads", "looks")
    page = browser.post("/import/", {"guards_file": _file(other), "action": "import"}, follow=True).content.decode()

    assert [grant.key for grant in permission_grants(environment)] == ["looks"]
    assert [each.key for each in content_filters(environment)] == ["numbers"]
    assert "Permission grants" in page and "Records: 2 new, 0 changed, 2 deleted" in page
    assert agents(environment).count() == 1
    exported = guards_export(environment)
    browser.post("/import/", {"guards_text": json.dumps(exported), "action": "import"})
    assert guards_export(environment) == exported


def test_every_mistake_of_grants_and_filters_is_listed_and_nothing_changes(
    client_of: ClientOf, admin: Any, environment: Any
) -> None:
    browser = client_of(admin)
    browser.post("/import/", {"text": GOOD, "guards_text": GUARDS, "action": "import"})
    before = guards_export(environment), document_export(environment)
    wrong = """{"permissionGrants": {"a": {"permisions": ["x"]}, "b": {"permissions": 3}},
        "contentFilters": {"c": {"pattern": "(", "action": "mask", "where": "both"}}}"""

    for action in ("import", "check"):
        answer = browser.post("/import/", {"text": BAD, "guards_text": wrong, "action": action})
        page = answer.content.decode()
        assert answer.status_code == 422
        for place in ("permissionGrants.a.permisions", "permissionGrants.b.permissions", "contentFilters.c.pattern"):
            assert f"guards:{place}" in page
        assert "agents.entries.a" in page
        assert "permisions" in page.partition("guards_text")[2]
    assert (guards_export(environment), document_export(environment)) == before


def test_the_report_groups_what_was_kept_and_shows_no_secret(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    page = browser.post("/import/", {"text": "// a note\n" + GOOD, "action": "import"}, follow=True).content.decode()
    assert "Secrets sealed" in page
    assert "gateway.auth.token" in page
    assert "Comments" in page
    assert "s3cret-token-1" not in page
    assert 'id="report"' not in browser.get("/import/").content.decode()


def test_a_server_that_nobody_knows_here_leads_to_the_page_that_adds_a_source(
    client_of: ClientOf, admin: Any, environment: Any
) -> None:
    text = '{"agents": {"entries": {"main": {}}}, "mcp": {"servers": {"robot": {"command": "x"}}}}'
    page = client_of(admin).post("/import/", {"text": text, "action": "import"}, follow=True).content.decode()
    assert "mcp.servers.robot" in page
    assert f'<a href="{reverse("source-new")}">Add a source</a>' in page


def test_every_mistake_is_listed_and_nothing_changes(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    browser.post("/import/", {"text": GOOD, "action": "import"})
    before = document_export(environment)
    answer = browser.post("/import/", {"text": BAD, "action": "import"})
    page = answer.content.decode()
    assert answer.status_code == 422
    for told in ("tools.alow", "unknown_key", "agents.entries.a", "wrong_type", "&lt;img src=x&gt;"):
        assert told in page
    assert "<img" not in page
    assert "&quot;alow&quot;" in page  # the text is still in its box
    assert document_export(environment) == before


def test_the_text_of_a_refused_file_moves_into_the_box(client_of: ClientOf, admin: Any, environment: Any) -> None:
    answer = client_of(admin).post("/import/", {"file": _file(BAD), "action": "import"})
    assert answer.status_code == 422
    assert "&quot;alow&quot;" in answer.content.decode()


@pytest.mark.parametrize(("text", "status", "told"), [(GOOD, 200, "This can be imported"), (BAD, 422, "unknown_key")])
def test_a_check_changes_nothing(
    client_of: ClientOf, admin: Any, environment: Any, text: str, status: int, told: str
) -> None:
    answer = client_of(admin).post("/import/", {"text": text, "action": "check"})
    assert answer.status_code == status
    assert told in answer.content.decode()
    assert global_policy(environment) is None


def test_bytes_that_are_no_text_are_one_mistake(client_of: ClientOf, admin: Any, environment: Any) -> None:
    file = SimpleUploadedFile("openclaw.json", b"\xff\xfe\x00{")
    answer = client_of(admin).post("/import/", {"file": file, "action": "import"})
    assert answer.status_code == 422
    assert "not_utf8" in answer.content.decode()


def test_nothing_chosen_is_said_so(client_of: ClientOf, admin: Any, environment: Any) -> None:
    answer = client_of(admin).post("/import/", {"action": "import"})
    assert answer.status_code == 422
    assert "Choose a file, or paste a text." in answer.content.decode()


def test_a_file_above_the_limit_is_refused(
    client_of: ClientOf, admin: Any, environment: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release_forms, "FILE_LIMIT_BYTES", 10)
    answer = client_of(admin).post("/import/", {"file": _file(GOOD), "action": "import"})
    assert answer.status_code == 422
    assert "larger than" in answer.content.decode()
    assert global_policy(environment) is None


def test_it_warns_before_it_replaces_a_draft(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    assert "replaces the draft" not in browser.get("/import/").content.decode()
    browser.post("/import/", {"text": GOOD, "action": "import"})
    assert "replaces the draft" in browser.get("/import/").content.decode()


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_only_who_may_change_policies_imports(
    client_of: ClientOf, environment: Any, name: str, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert browser.get("/import/").status_code == 403
    assert browser.post("/import/", {"text": GOOD, "action": "import"}).status_code == 403
    assert global_policy(environment) is None


EVERYTHING: dict[str, Any] = {
    "$include": "./more.json5",
    "meta": {"lastTouchedVersion": "2099.1.1"},
    "agents": {"list": [{"id": "main", "default": True, "deny": ["exec"]}, {"id": "ops"}]},
    "commands": {"ownerDisplay": "raw"},
    "gateway": {"auth": {"token": "__OPENCLAW_REDACTED__"}},
    "hooks": {"token": "canary"},
    "mcp": {"servers": {"robot": {"command": "x"}}},
    "tools": {
        "dney": ["exec"],
        "exec": {"security": "allowlist", "ask": "on-miss"},
        "sessions": {"visibility": "tree"},
        "toolSearch": {"maxSearchLimit": 100000},
    },
}


def test_each_kind_of_remark_has_a_title_and_says_what_it_means(environment: Any) -> None:
    approvals = {"version": 1, "denylist": [], "agents": {"nobody": {"security": "deny"}}}
    said = document_import(
        environment, "// a note\n" + json.dumps(EVERYTHING), approvals=json.dumps(approvals), by=None
    ).diagnostics
    said += document_import(environment, None, approvals='{"version": 1}', by=None).diagnostics

    codes = {each.code for each in said}
    assert len(codes) >= 16 and codes - set(KINDS) == set()
    assert all(kind.title and kind.meaning for kind in KINDS.values())
