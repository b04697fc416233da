"""The policy as files of a repository: exported, compared, applied whole or not at all, and tested in a pipeline."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command

from apps.audit.models import Entry
from apps.policies.document.secrets import PLACEHOLDER
from apps.policies.files import FILES, draft_trees
from apps.policies.models import Agent, Guardrail, PolicyTest, Profile
from apps.policies.selectors import draft_changes, draft_snapshot, live_publication
from apps.policies.services import (
    document_import,
    files_apply,
    guardrail_create,
    permission_grant_create,
    policy_test_create,
    profile_create,
    publish,
)

SAMPLE = Path(__file__).parent.parent / "samples" / "openclaw.full.json5"
APPROVALS = {"version": 1, "agents": {"ops": {"allowlist": [{"pattern": "/**/ls"}]}}}
RULE = {"requires": "never", "tools": ["nothing_of_the_kind"], "agents": ["ops"]}
SECRET = "test-gateway-token"
Folder = Callable[[], Path]

pytestmark = pytest.mark.django_db


@pytest.fixture
def full(environment: Any, admin: Any) -> Any:
    """An environment with something in every file; nothing is live."""
    profile_create(environment, "night", by=admin, label="Night", allow=["read"], deny=[])
    document_import(environment, SAMPLE.read_text(), by=admin, approvals=json.dumps(APPROVALS))
    permission_grant_create(environment, "reads", by=admin, permissions=["db:read"], agent="ops")
    guardrail_create(environment, by=admin, name="no exec", form=RULE, severity="warning")
    context = {"agent_id": "ops"}
    policy_test_create(environment, by=admin, name="no such tool", tool="raed", verdict="denied", context=context)
    params = {"command": "curl -H 'Authorization: Bearer sk-proj-" + "a1B2c3D4" * 6 + "' https://a.example"}
    policy_test_create(
        environment, by=admin, name="off", tool="exec", verdict="asks", params=params, context=context, is_enabled=False
    )
    return environment


@pytest.fixture
def folder(full: Any, tmp_path: Path) -> Path:
    run("export", "--folder", str(tmp_path / "policy"))
    return tmp_path / "policy"


def run(*words: str) -> str:
    out = io.StringIO()
    call_command("policy", *words, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def status_of(*words: str) -> int:
    try:
        run(*words)
    except CommandError as error:
        return error.returncode
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def change(folder: Path, name: str, how: Callable[[Any], Any]) -> None:
    tree = json.loads((folder / name).read_text())
    how(tree)
    (folder / name).write_text(json.dumps(tree))


def deny_read(tree: Any) -> None:
    tree["agents"]["entries"]["ops"].setdefault("tools", {})["deny"] = ["read"]


def entries() -> int:
    return Entry.objects.count()


# --- there and back ---


def test_the_files_hold_everything_and_no_secret(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    texts = {path.name: path.read_text() for path in folder.iterdir()}
    assert all(text.endswith("}\n") for text in texts.values())
    assert SECRET not in "".join(texts.values()) and "sk-proj-" not in "".join(texts.values())
    assert PLACEHOLDER in texts["openclaw.json"]
    assert json.loads(texts["profiles.json"]) == {"night": {"label": "Night", "allow": ["read"], "deny": []}}
    assert list(json.loads(texts["policy-tests.json"])) == ["no such tool", "off"]
    assert json.loads(texts["policy-tests.json"])["off"]["enabled"] is False


def test_the_same_draft_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    run("export", "--folder", str(tmp_path / "again"))
    for name in FILES:
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_there_and_back_changes_nothing_and_leaves_no_trace(full: Any, folder: Path) -> None:
    before, trees, versions = entries(), draft_trees(full), list(Agent.objects.values_list("key", "version"))
    assert run("diff", str(folder)) == ""
    assert "nothing to change" in run("apply", str(folder), "--dry-run")
    assert "nothing to change" in run("apply", str(folder))
    assert (draft_trees(full), entries()) == (trees, before)
    assert list(Agent.objects.values_list("key", "version")) == versions
    assert {test.version for test in PolicyTest.objects.all()} == {1}


def test_a_file_in_another_form_changes_nothing(full: Any, folder: Path) -> None:
    for name in FILES:
        change(folder, name, lambda tree: tree)
    (folder / "README.md").write_text("ours")
    assert run("diff", str(folder)) == ""


def test_another_environment_becomes_what_the_files_say(full: Any, folder: Path) -> None:
    from apps.registry.models import Environment

    other = Environment.objects.create(slug="zoo", name="Zoo", dialect=full.dialect)
    change(folder, "openclaw.json", lambda tree: drop_secrets(tree))
    files_apply(other, {path.name: path.read_bytes() for path in folder.iterdir()}, by=None)
    ours, theirs = draft_trees(full), draft_trees(other)
    for name in ("exec-approvals.json", "guards.json", "profiles.json", "policy-tests.json", "guardrails.json"):
        assert theirs[name] == ours[name], name
    assert theirs["openclaw.json"]["agents"] == ours["openclaw.json"]["agents"]


def drop_secrets(tree: Any) -> None:
    """Take out each member that holds a placeholder: what another installation cannot know."""
    for key, value in list(tree.items()):
        if isinstance(value, dict):
            drop_secrets(value)
        elif PLACEHOLDER in json.dumps(value):
            del tree[key]


def test_an_export_takes_away_the_file_of_what_is_gone(environment: Any, tmp_path: Path) -> None:
    document_import(environment, SAMPLE.read_text(), by=None)
    (tmp_path / "exec-approvals.json").write_text("{}")
    assert "exec-approvals.json" not in run("export", "--folder", str(tmp_path))
    assert not (tmp_path / "exec-approvals.json").exists()


# --- diff ---


def test_a_diff_says_what_apply_would_change_and_changes_nothing(full: Any, folder: Path) -> None:
    before, trees = entries(), draft_trees(full)
    change(folder, "openclaw.json", deny_read)
    change(folder, "policy-tests.json", lambda tree: tree.pop("off"))
    told = run("diff", str(folder))
    lines = told.splitlines()
    assert "--- a/openclaw.json" in lines and "+++ b/policy-tests.json" in lines
    assert any(line.startswith("+") and '"read"' in line for line in lines)
    assert any(line.startswith("-") and '"off"' in line for line in lines)
    assert "--- a/guards.json" not in lines
    assert (draft_trees(full), entries()) == (trees, before)
    assert draft_snapshot(full).digest == draft_snapshot(full).digest


def test_a_changed_secret_shows_as_changed_and_not_as_itself(full: Any, folder: Path) -> None:
    def other(tree: Any) -> None:
        tree["gateway"]["auth"]["token"] = "another-gateway-token"

    change(folder, "openclaw.json", other)
    told = run("diff", str(folder))
    assert "+++ b/openclaw.json" in told
    assert SECRET not in told and "another-gateway-token" not in told
    assert "changed" in run("apply", str(folder))
    assert run("diff", str(folder)) == ""


def test_the_exit_code_tells_of_a_difference_where_it_is_asked(folder: Path) -> None:
    assert status_of("diff", str(folder), "--exit-code") == 0
    change(folder, "openclaw.json", deny_read)
    assert status_of("diff", str(folder)) == 0
    assert status_of("diff", str(folder), "--exit-code") == 1
    (folder / "openclaw.json").write_text("{")
    assert status_of("diff", str(folder), "--exit-code") == 2


# --- apply ---


def test_an_apply_changes_the_draft_in_one_step_on_record(empty_ledger: None, full: Any, folder: Path) -> None:
    change(folder, "openclaw.json", deny_read)
    change(folder, "profiles.json", lambda tree: tree.update(day={"allow": ["write"]}))
    change(folder, "policy-tests.json", lambda tree: tree.update({"more": {"tool": "read", "verdict": "denied"}}))
    change(folder, "guardrails.json", lambda tree: tree["no exec"].pop("severity"))
    before = entries()
    told = run("apply", str(folder))
    assert "1 created, 1 changed, 0 deleted" in told and "policy tests 1 created; guardrails 1 changed" in told
    assert Guardrail.objects.get().is_blocking
    assert Agent.objects.get(key="ops").deny == ["read"]
    assert sorted(Profile.objects.values_list("key", flat=True)) == ["day", "night"]
    made = PolicyTest.objects.get(name="more")
    assert (made.origin, made.made_by, made.environment) == ("hand", "system", full)
    assert entries() == before + 1
    entry = Entry.objects.get(changes__reason="apply")
    assert entry.changes is not None
    assert entry.changes["tests"] == {"created": ["more"], "changed": [], "deleted": []}


def test_a_dry_run_says_the_same_and_changes_nothing(full: Any, folder: Path) -> None:
    change(folder, "openclaw.json", deny_read)
    before, trees = entries(), draft_trees(full)
    told = run("apply", str(folder), "--dry-run")
    assert "would change `production`: records 0 created, 1 changed" in told and "+++ b/openclaw.json" in told
    assert (draft_trees(full), entries()) == (trees, before)
    assert [each.label for each in draft_changes(full) if each.field == "deny"] == []


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("openclaw.json", '{"tools": {"deny": "exec"}}', ["tools.deny"]),
        ("profiles.json", '{"coding": {"allow": []}}', ["profiles:coding"]),
        ("profiles.json", '{"x": {"alow": []}, "y": {"deny": "z"}}', ["profiles:x.alow", "profiles:y.deny"]),
        ("guards.json", '{"more": {}}', ["guards:more"]),
        ("policy-tests.json", '{"a": {"tool": "read"}}', ["tests:a.verdict"]),
        ("policy-tests.json", '{"a": {"tool": "read", "verdict": "denied", "contxt": {}}}', ["tests:a.contxt"]),
        (
            "policy-tests.json",
            '{"a": {"tool": "read", "verdict": "denied", "context": {"agent": "x"}}, "b": 7}',
            ["tests:a.context", "tests:b"],
        ),
        ("policy-tests.json", "[]", ["tests:"]),
        (
            "guardrails.json",
            '{"a": {"form": {}, "sevrity": "x"}, "b": 7}',
            ["guardrails:a.sevrity", "guardrails:a.form", "guardrails:b"],
        ),
    ],
)
def test_a_mistake_names_its_file_and_place_and_nothing_is_applied(
    name: str, text: str, places: list[str], full: Any, folder: Path
) -> None:
    trees, before, err = draft_trees(full), entries(), io.StringIO()
    change(folder, "openclaw.json", deny_read)
    (folder / name).write_text(text)
    with pytest.raises(CommandError, match="mistakes"):
        call_command("policy", "apply", str(folder), stdout=io.StringIO(), stderr=err)
    assert [line.partition(": ")[0] for line in err.getvalue().splitlines()] == places
    assert (draft_trees(full), entries()) == (trees, before)


def test_a_profile_of_the_files_may_be_named_at_once_and_one_that_is_gone_may_not(full: Any, folder: Path) -> None:
    def take(tree: Any) -> None:
        tree["agents"]["entries"]["ops"].setdefault("tools", {})["profile"] = "day"

    change(folder, "openclaw.json", take)
    with pytest.raises(CommandError):
        run("apply", str(folder))
    change(folder, "profiles.json", lambda tree: tree.update(day={"allow": ["write"]}))
    run("apply", str(folder))
    assert Agent.objects.get(key="ops").profile == "day"
    (folder / "profiles.json").write_text("{}")
    with pytest.raises(CommandError):
        run("apply", str(folder))


def test_a_file_that_is_absent_changes_nothing(full: Any, folder: Path) -> None:
    for name in set(FILES) - {"policy-tests.json"}:
        (folder / name).unlink()
    (folder / "policy-tests.json").write_text("{}")
    trees = draft_trees(full)
    assert "policy tests 2 deleted" in run("apply", str(folder))
    assert draft_trees(full) == trees | {"policy-tests.json": {}}


def test_a_folder_without_any_of_the_files_is_refused(environment: Any, tmp_path: Path) -> None:
    for words in (("apply", str(tmp_path)), ("diff", str(tmp_path)), ("apply", "/no/such/folder")):
        with pytest.raises(CommandError, match="holds none of"):
            run(*words)
    with pytest.raises(CommandError, match="name no other"):
        run("export", "--folder", str(tmp_path), "--guards")


def test_only_who_may_change_policy_applies(full: Any, folder: Path, viewer: Any) -> None:
    from apps.accounts.errors import PermissionDeniedError

    change(folder, "openclaw.json", deny_read)
    trees = draft_trees(full)
    with pytest.raises(PermissionDeniedError):
        files_apply(full, {path.name: path.read_bytes() for path in folder.iterdir()}, by=viewer)
    assert draft_trees(full) == trees


# --- test ---


@pytest.fixture
def failing(full: Any, admin: Any) -> Any:
    publish(full, by=admin, message="first", expected_live="")
    context = {"agent_id": "ops"}
    return policy_test_create(full, by=admin, name="no <read>", tool="read", verdict="denied", context=context)


def test_passing_tests_end_with_0_and_a_line_each(full: Any) -> None:
    told = run("test")
    assert "ok    no such tool\n1 of 1 policy tests pass, 1 off (" in told
    assert status_of("test") == 0


def test_a_failing_one_ends_with_1_and_its_reason(failing: Any) -> None:
    out = io.StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("policy", "test", stdout=out)
    assert end.value.code == 1
    assert (
        "FAIL  no <read>: the policy test `no <read>` expects `denied`, and the answer is `allowed`" in out.getvalue()
    )
    assert status_of("test", "--at", "live") == 1


def test_a_report_for_pipelines_is_xml_with_a_failure(failing: Any, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert status_of("test", "--format", "junit", "--output", str(report)) == 1
    suite = ElementTree.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert {case.get("name"): case.find("failure") is not None for case in suite} == {
        "no <read>": True,
        "no such tool": False,
    }


def test_what_cannot_run_ends_with_2(full: Any, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"a": {}}')
    assert live_publication(full) is None
    for words in (("--at", "live"), ("--snapshot", str(bad)), ("--cases", str(bad)), ("--environment", "nowhere")):
        assert status_of("test", *words) == 2, words
    assert status_of("test", "--folder", str(tmp_path)) == 2


def test_a_folder_is_tested_before_it_is_applied(failing: Any, full: Any, folder: Path) -> None:
    trees = draft_trees(full)
    assert status_of("test", "--folder", str(folder)) == 1
    change(folder, "openclaw.json", deny_read)
    assert status_of("test", "--folder", str(folder)) == 0
    assert draft_trees(full) == trees


def test_cases_and_a_snapshot_of_files_need_nothing_stored(failing: Any, full: Any, tmp_path: Path) -> None:
    snapshot, cases = tmp_path / "snapshot.json", tmp_path / "cases.json"
    snapshot.write_bytes(draft_snapshot(full).to_bytes())
    cases.write_text('{"reads": {"tool": "read", "verdict": "allowed", "context": {"agent_id": "ops"}}}')
    assert "1 of 1 policy tests pass" in run("test", "--snapshot", str(snapshot), "--cases", str(cases))
    assert "1 of 1 policy tests pass" in run("test", "--cases", str(cases))
    assert status_of("test", "--snapshot", str(snapshot)) == 1


def test_coverage_lists_records_without_a_test(full: Any) -> None:
    told = run("test", "--coverage")
    assert "bare  permissionGrants.reads: no test was decided here" in told
