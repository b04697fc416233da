"""The policy commands: one line per mistake, a failing exit, and files that only their owner reads."""

import io
import json
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.policies.selectors import agents, draft_snapshot, live_publication
from apps.policies.services import publish_rule_save, record_update
from apps.registry.services import environment_create

SAMPLE = Path(__file__).parent.parent / "samples" / "openclaw.full.json5"

pytestmark = pytest.mark.django_db


def run(*words: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(*words, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_import_export_lint_and_publish_go_together(environment: Any, tmp_path: Path) -> None:
    out, err = run("policy", "import", str(SAMPLE))
    assert out.startswith("imported into `production`:") and "gateway: kept as it is" in err
    target = tmp_path / "out.json"
    run("policy", "export", "--output", str(target))
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert json.loads(target.read_text())["gateway"]["auth"]["token"] == "test-gateway-token"
    assert "test-gateway-token" not in run("policy", "export", "--masked")[0]
    assert "[old_name]" in run("policy", "lint")[0]
    assert run("policy", "publish", "-m", "from the command line")[0].startswith("published v1")
    live = live_publication(environment)
    assert live is not None and live.actor == "system"


def test_what_is_live_already_is_published_again_by_force_only(environment: Any) -> None:
    run("policy", "import", str(SAMPLE))
    assert run("policy", "publish", "-m", "first")[0].splitlines()[1:] == ["heard by 0 of 0 processes that run calls"]
    live = live_publication(environment)
    assert live is not None
    err = io.StringIO()
    with pytest.raises(CommandError, match="nothing changed"):
        call_command("policy", "publish", "-m", "again", stderr=err)
    assert "[nothing_changed]" in err.getvalue()
    at = (timezone.now() + timedelta(days=1)).isoformat()
    with pytest.raises(CommandError, match="nothing changed"):
        call_command("policy", "publish", "-m", "later", "--at", at, stderr=err)
    assert live_publication(environment) == live
    assert run("policy", "publish", "-m", "again", "--force")[0].startswith("published v2")


def test_a_draft_that_moved_since_it_was_reviewed_is_not_published(environment: Any) -> None:
    run("policy", "import", str(SAMPLE))
    reviewed = draft_snapshot(environment).digest
    agent = agents(environment)[0]
    record_update(agent, {"deny": ["exec"]}, by=None, expected_version=agent.version)
    with pytest.raises(CommandError, match="the draft has changed since it was reviewed"):
        run("policy", "publish", "-m", "x", "--expected-draft", reviewed)
    assert live_publication(environment) is None
    assert run("policy", "publish", "-m", "x", "--expected-draft", draft_snapshot(environment).digest)[0]


def test_a_bad_file_fails_with_one_line_per_mistake(environment: Any, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json5"
    bad.write_text('{ tools: { deny: "exec", profile: "codng" } }')
    err = io.StringIO()
    with pytest.raises(CommandError, match="mistakes"):
        call_command("policy", "import", str(bad), stderr=err)
    assert [line.partition(":")[0] for line in err.getvalue().splitlines()] == ["tools.deny", "tools.profile"]


@pytest.mark.parametrize("more", [(), ("--check",)])
def test_a_bad_guards_file_names_every_mistake_and_changes_nothing(
    environment: Any, tmp_path: Path, more: tuple[str, ...]
) -> None:
    file = tmp_path / "guards.json"
    file.write_text('{"permissionGrants": {"reads": {"permissions": ["db:read"], "agent": "main"}}}')
    assert "1 created" in run("policy", "import", "--guards", str(file))[0]
    before = run("policy", "export", "--guards")[0]
    file.write_text('{"permissionGrants": {"a": {"agnt": "b"}}, "contentFilters": {"c": {"pattern": "("}}, "more": {}}')

    err = io.StringIO()
    with pytest.raises(CommandError, match="mistakes"):
        call_command("policy", "import", "--guards", str(file), *more, stderr=err)

    places = [line.partition(": ")[0] for line in err.getvalue().splitlines()]
    assert places == ["guards:permissionGrants.a.agnt", "guards:contentFilters.c.pattern", "guards:more"]
    assert run("policy", "export", "--guards")[0] == before


def test_a_check_imports_nothing(environment: Any) -> None:
    run("policy", "import", str(SAMPLE), "--check")
    with pytest.raises(CommandError):
        run("policy", "lint")


def test_a_stale_publication_fails(environment: Any) -> None:
    run("policy", "import", str(SAMPLE))
    with pytest.raises(CommandError, match="in the meantime"):
        run("policy", "publish", "-m", "x", "--expected-live", "0" * 64)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("policy", "import", "/no/such/file"), "cannot read"),
        (
            (
                "policy",
                "import",
            ),
            "name a file",
        ),
        (("policy", "export", "--approvals"), "no exec approvals"),
        (("policy", "lint", "--environment", "nowhere"), "no environment"),
        (("policy", "publish", "-m", " "), "cannot be published"),
    ],
)
def test_a_command_says_what_is_wrong(environment: Any, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run(*words)


def test_an_upgrade_is_told_and_made_only_when_asked(environment: Any) -> None:
    run("policy", "import", str(SAMPLE))
    told, _ = run("policy", "upgrade")
    assert "2026.9 -> 2026.2" in told
    assert "  catalogue: " in told
    environment.refresh_from_db()
    assert environment.dialect == "2026.9"

    assert "speaks 2026.2" in run("policy", "upgrade", "--to", "2026.2", "--apply")[0]

    environment.refresh_from_db()
    assert environment.dialect == "2026.2"


def test_publishing_waits_for_its_time_or_a_second_person(environment: Any, admin: Any) -> None:
    run("policy", "import", str(SAMPLE))
    with pytest.raises(CommandError, match="offset"):
        run("policy", "publish", "-m", "later", "--at", "2099-01-01T00:00:00")
    with pytest.raises(CommandError):
        run("policy", "publish", "-m", "later", "--at", "2020-01-01T00:00:00+00:00")
    at = (timezone.now() + timedelta(days=1)).isoformat()
    assert run("policy", "publish", "-m", "later", "--at", at)[0].startswith("scheduled: preq_")
    publish_rule_save(environment, by=admin, needs_second_person=True, hours=1)
    assert run("policy", "publish", "-m", "now")[0].startswith("waiting: preq_")
    assert live_publication(environment) is None


def test_another_environment_is_promoted_by_name(environment: Any) -> None:
    staging = environment_create(slug="staging")
    run("policy", "import", str(SAMPLE), "--environment", "staging")
    with pytest.raises(CommandError, match="nothing is live"):
        run("policy", "promote", "--from", "staging", "-m", "up")
    run("policy", "publish", "-m", "tried", "--environment", "staging")
    assert run("policy", "promote", "--from", "staging", "-m", "up")[0].startswith("published v1 of `production`")
    assert live_publication(staging) is not None
