"""What a look brings home: new tools, gone ones, broken ones; a source that fails changes nothing."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.errors import PermissionDeniedError
from apps.audit.errors import AuditUnavailableError
from apps.audit.models import Entry
from apps.firewall.identifiers import new_id
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.discovery.found import Failure
from apps.firewall.tools.discovery.found import Look as LookAt
from apps.registry import selectors, services
from apps.registry.errors import SourceBusyError
from apps.registry.models import DefinitionDrift, DiscoveryRun, DiscoverySource, Environment, Plugin, Tool
from tests import database
from tests.gateway.test_calls import nobody_may_write_entries
from tests.registry.conftest import broken, found

pytestmark = pytest.mark.django_db
Look = Callable[..., DiscoveryRun]


def tool(environment: Environment, name: str) -> Tool:
    return Tool.objects.select_related("plugin", "discovery_source").get(environment=environment, name=name)


def outcomes(run: DiscoveryRun) -> dict[str, tuple[str, str]]:
    return {
        finding["tool"] or finding["key"]: (finding["outcome"], finding.get("code", "")) for finding in run.findings
    }


def test_what_is_ready_is_offered_with_what_runs_it(environment: Environment, look: Look) -> None:
    run = look(found("files__list", timeout_ms=3000), found("files__get"))

    row = tool(environment, "files__list")
    assert (row.state, row.source, row.server_name) == ("active", "mcp", "files")
    assert row.executor == {"kind": "mcp", "source": "files", "tool": "files__list"}
    assert row.traits == {"timeout_ms": 3000}
    assert (run.state, run.found, run.added) == ("completed", 2, 2)
    assert {"files__list", "files__get"} <= {each.name for each in selectors.tools_offered(environment)}


def test_a_source_that_wants_a_review_leaves_its_tools_waiting(
    environment: Environment, source: DiscoverySource, look: Look, admin: Any
) -> None:
    services.source_save(source, on_new="review")
    look(found("files__list"))
    row = tool(environment, "files__list")
    assert row.state == "initialised"
    look(found("files__list"))
    assert tool(environment, "files__list").state == "initialised"
    assert services.tool_set_state(tool(environment, "files__list"), state="active", by=admin).is_offered


def test_looking_again_changes_nothing(environment: Environment, look: Look) -> None:
    look(found("files__list"))
    before = tool(environment, "files__list").version
    run = look(found("files__list"))
    assert outcomes(run) == {"files__list": ("same", "")}
    assert tool(environment, "files__list").version == before


def test_a_broken_tool_is_kept_with_its_cause_and_stops_no_other(environment: Environment, look: Look) -> None:
    half = replace(found("files__half"), failure=Failure(stage="initialise", code="crashed", message="it crashed"))
    run = look(broken("bad.py"), half, found("files__list"))

    assert outcomes(run) == {
        "bad.py": ("broken", "import_failed"),
        "files__half": ("broken", "crashed"),
        "files__list": ("added", ""),
    }
    assert (run.found, run.added, run.broken) == (3, 1, 2)
    row = tool(environment, "files__half")
    assert (row.state, row.state_reason) == ("registered", "it crashed")


def test_what_was_broken_is_offered_when_it_is_mended(environment: Environment, look: Look) -> None:
    failure = Failure(stage="load", code="crashed", message="it crashed")
    look(replace(found("files__list"), failure=failure))
    look(found("files__list", description="Mended."))
    row = tool(environment, "files__list")
    assert (row.state, row.state_reason, row.description) == ("active", "", "Mended.")


def test_what_nothing_can_run_stays_registered_with_the_reason(environment: Environment, look: Look) -> None:
    run = look(replace(found("files__list"), executor=None))
    assert outcomes(run) == {"files__list": ("broken", "no_executor")}
    assert tool(environment, "files__list").state == "registered"


def test_what_breaks_later_goes_on_as_it_was_accepted(environment: Environment, look: Look) -> None:
    look(found("files__list"), found("files__get"))
    run = look(broken("files__list"), found("files__get"))
    assert tool(environment, "files__list").state == "active"
    assert run.removed == 0


def test_what_is_gone_is_unregistered_and_comes_back(environment: Environment, look: Look) -> None:
    look(found("files__list"), found("files__get"))
    run = look(found("files__get"))
    assert outcomes(run)["files__list"] == ("removed", "gone")
    assert tool(environment, "files__list").state == "unregistered"
    assert outcomes(look(found("files__list"), found("files__get")))["files__list"] == ("added", "")
    assert tool(environment, "files__list").state == "active"


def test_what_a_person_took_away_stays_away(environment: Environment, look: Look, admin: Any) -> None:
    look(found("files__list"))
    services.tool_set_state(tool(environment, "files__list"), state="unregistered", reason="never again", by=admin)
    run = look(found("files__list"))
    assert outcomes(run) == {"files__list": ("same", "unregistered")}
    assert tool(environment, "files__list").state == "unregistered"


@pytest.mark.parametrize("state", ["disabled", "quarantined"])
def test_vanishing_and_coming_back_does_not_lift_what_a_person_set(
    environment: Environment, look: Look, admin: Any, state: str
) -> None:
    look(found("files__list"))
    services.tool_set_state(tool(environment, "files__list"), state=state, by=admin)
    look()
    look(found("files__list"))
    assert tool(environment, "files__list").state == state


def test_a_source_that_fails_changes_nothing(environment: Environment, look: Look) -> None:
    look(found("files__list"))
    run = look(failure=Failure(stage="discover", code="unreachable", message="it does not answer"))
    assert (run.state, run.error_code, run.error_message) == ("failed", "unreachable", "it does not answer")
    assert tool(environment, "files__list").state == "active"


def test_a_source_that_says_unchanged_changes_nothing(environment: Environment, look: Look) -> None:
    look(found("files__list"), etag='"1"')
    run = look(is_unchanged=True, etag='"1"')
    assert (run.state, run.etag) == ("completed", '"1"')
    assert tool(environment, "files__list").state == "active"


@pytest.mark.parametrize(
    ("name", "code"),
    [("exec", "name_taken"), ("Bash", "name_alias"), ("has space", "bad_name")],
)
def test_a_name_that_cannot_be_had_is_a_broken_tool(environment: Environment, look: Look, name: str, code: str) -> None:
    run = look(found(name), found("files__list"))
    assert outcomes(run)[name] == ("broken", code)
    assert tool(environment, "files__list").state == "active"


def test_of_two_tools_with_one_name_the_first_counts(environment: Environment, look: Look) -> None:
    run = look(found("files__list"), found("FILES__list", description="Another."))
    assert outcomes(run) == {"files__list": ("added", ""), "FILES__list": ("broken", "name_twice")}


def test_no_source_takes_the_tool_of_another(environment: Environment, look: Look) -> None:
    look(found("files__list"))
    other = services.source_create(environment, key="evil", kind="mcp_stdio", settings={"command": ["/bin/true"]})
    run = look(found("files__list", description="Mine."), of=other)
    assert outcomes(run) == {"files__list": ("broken", "name_taken")}
    assert tool(environment, "files__list").discovery_source is not other


def test_an_imported_list_is_taken_up_by_its_source(environment: Environment, look: Look) -> None:
    definition = found("files__list").definition
    assert definition is not None
    services.tools_import(environment, [definition], source="mcp", server_name="files")
    run = look(found("files__list"))
    row = tool(environment, "files__list")
    assert outcomes(run) == {"files__list": ("same", "")}
    assert (row.state, row.executor["kind"], row.discovery_source_id) == ("active", "mcp", run.source_id)


def test_tools_of_a_folder_belong_to_a_plugin_that_policies_can_name(environment: Environment, look: Look) -> None:
    folder = services.source_create(
        environment, key="house-tools", kind="folder", settings={"scan_directories": ["/srv/tools"]}
    )
    look(found("shout"), of=folder)
    row = tool(environment, "shout")
    assert (row.source, row.plugin and row.plugin.key) == ("plugin", "house-tools")


def test_a_manifest_cannot_pass_its_tools_off_as_anothers(environment: Environment, look: Look) -> None:
    theirs = services.plugin_save(environment, key="trusted")
    services.tools_import(environment, [Definition(name="find")], source="plugin", plugin=theirs)
    plugins = services.source_create(
        environment, key="plugins", kind="openclaw_plugins", settings={"scan_directories": ["/srv/plugins"]}
    )
    run = look(replace(found("steal"), plugin="Trusted"), of=plugins)
    assert outcomes(run) == {"steal": ("broken", "plugin_taken")}
    assert Plugin.objects.filter(environment=environment).count() == 1


def test_optional_tools_are_marked(environment: Environment, look: Look) -> None:
    look(replace(found("files__list"), is_optional=True))
    assert tool(environment, "files__list").is_optional


@pytest.mark.skipif(not database.HAS_TWO_ROLES, reason="needs a role of its own for the application")
def test_a_look_is_stored_whole_or_not_at_all(environment: Environment, source: DiscoverySource, look: Look) -> None:
    """The ledger refuses the entry of the look, by when everything that was found has been written."""
    look(found("files__list"))
    run = services.run_start(source)
    with nobody_may_write_entries(), pytest.raises(AuditUnavailableError):
        services.run_take(run, LookAt(found=(found("files__list", description="Changed."), found("files__get"))))

    assert [each.name for each in Tool.objects.filter(discovery_source=source)] == ["files__list"]
    assert tool(environment, "files__list").description == "Does files__list."
    assert not DefinitionDrift.objects.exists()
    run.refresh_from_db()
    assert (run.state, run.findings) == ("running", [])


# --- one look at a time ---


def test_a_source_is_looked_through_by_one_at_a_time(source: DiscoverySource) -> None:
    services.run_start(source)
    with pytest.raises(SourceBusyError):
        services.run_start(source)


def test_the_look_of_a_process_that_is_gone_does_not_hold_the_source(source: DiscoverySource) -> None:
    lost = services.run_start(source)
    DiscoveryRun.objects.filter(pk=lost.pk).update(boot=new_id())
    services.run_start(source)
    lost.refresh_from_db()
    assert (lost.state, lost.error_code) == ("failed", "process_gone")


def test_runs_of_gone_processes_are_closed_at_start(source: DiscoverySource) -> None:
    lost = services.run_start(source)
    assert services.runs_close_orphaned(timezone.now()) == 0
    DiscoveryRun.objects.filter(pk=lost.pk).update(boot=None)
    assert services.runs_close_orphaned(timezone.now()) == 1


def test_a_source_is_due_when_its_interval_is_over(source: DiscoverySource, look: Look) -> None:
    assert services.sources_due(timezone.now()) == []
    services.source_save(source, interval_s=60)
    assert services.sources_due(timezone.now()) == [source.pk]
    look()
    assert services.sources_due(timezone.now()) == []
    assert services.sources_due(timezone.now() + timedelta(seconds=61)) == [source.pk]
    services.source_save(source, is_enabled=False)
    assert services.sources_due(timezone.now() + timedelta(seconds=61)) == []


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_only_who_writes_policies_looks(source: DiscoverySource, name: str, request: pytest.FixtureRequest) -> None:
    with pytest.raises(PermissionDeniedError):
        services.source_look(source, by=request.getfixturevalue(name))


def test_a_look_that_changed_something_is_in_the_ledger(environment: Environment, look: Look) -> None:
    run = look(found("files__list"))
    changes = Entry.objects.filter(kind="source_change", status="looked").latest("at").changes or {}
    assert (changes["run"], changes["added"]) == (run.shown_id, 1)


def test_what_a_source_cannot_be_asked_is_a_failed_run(source: DiscoverySource) -> None:
    run = services.source_look(source)
    assert run.state == "failed"
    assert run.error_code


def test_a_tool_that_its_file_switches_off_goes_and_comes_back_and_nothing_is_broken(
    environment: Environment, look: Look
) -> None:
    def state() -> str:
        return Tool.objects.get(environment=environment, name="files__list").state

    look(found("files__list"), found("files__read"))

    run = look(
        broken("files__list", code="not_enabled", message="the file says `enabled: false`"), found("files__read")
    )
    assert [each["outcome"] for each in run.findings if each["key"] == "files__list"] == ["disabled", "removed"]
    assert (run.broken, run.removed, state()) == (0, 1, "unregistered")

    look(found("files__list"), found("files__read"))
    assert state() == "active"


@pytest.mark.parametrize("key", ["browser", "exec", "message", "cron", "group-of-mine"])
def test_a_source_may_have_a_key_by_which_policies_mean_something_else(environment: Environment, key: str) -> None:
    from apps.registry.services.lists import is_policy_word

    source = services.source_create(environment, key=key, kind="folder", settings={"scan_directories": ["/srv/tools"]})
    for outcome in ("added", "same"):
        run = services.run_take(services.run_start(source), LookAt(found=(found("page_open"),)))
        assert outcomes(run) == {"page_open": (outcome, "")}

    row = Tool.objects.select_related("plugin").get(environment=environment, name="page_open")
    assert row.plugin is not None
    assert row.plugin.key == (f"{key}-tools" if is_policy_word(environment, key) else key)
    assert (row.state, row.discovery_source_id) == ("active", source.pk)


def test_the_id_made_for_such_a_source_is_not_taken_from_another(environment: Environment) -> None:
    settings = {"scan_directories": ["/srv/tools"]}
    other = services.source_create(environment, key="browser-tools", kind="folder", settings=settings)
    services.run_take(services.run_start(other), LookAt(found=(found("tab_open"),)))
    source = services.source_create(environment, key="browser", kind="folder", settings=settings)
    run = services.run_take(services.run_start(source), LookAt(found=(found("page_open"),)))
    assert outcomes(run) == {"page_open": ("broken", "plugin_taken")}
