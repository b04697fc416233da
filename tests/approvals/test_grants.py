"""Standing grants: what "always" keeps, who may use it, how it ends."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.approvals.drafts import GrantScope
from apps.approvals.errors import GrantNotFoundError, GrantScopeError
from apps.approvals.grants import grant_narrow, grant_revoke, grant_used, params_digest
from apps.approvals.models import Approval, Grant
from apps.approvals.selectors import grant_covering, grants_for, grants_standing
from apps.approvals.services import approval_resolve
from apps.audit.drafts import EntryDecision
from apps.audit.errors import AuditUnavailableError
from apps.audit.models import Entry
from apps.firewall.identifiers import new_id
from tests.approvals.conftest import ARGV, NOON

pytestmark = pytest.mark.django_db

SOON = NOON + timedelta(seconds=9)
Ask = Callable[..., Approval]


@pytest.fixture
def always(ask: Ask, operator: Any) -> Callable[..., Grant]:
    """Answer "always" to a request and give the grant."""

    def make(scope: GrantScope | None = None, **fields: Any) -> Grant:
        approval = approval_resolve(ask(**fields), decision="allow-always", by=operator, at=SOON, scope=scope)
        return Grant.objects.get(approval=approval)

    return make


def test_always_covers_exactly_these_arguments_of_this_agent(always: Callable[..., Grant]) -> None:
    grant = always()
    assert (grant.agent, grant.tool, grant.pattern, grant.argv) == ("ops-runner", "exec", "/usr/bin/curl", ARGV)
    assert (grant.entry.pattern, grant.entry.argv, grant.entry.arg_pattern) == ("/usr/bin/curl", ARGV, None)
    assert (grant.created_by_label, grant.expires_at, grant.uses) == ("Operator", SOON + timedelta(days=30), 0)
    told = Entry.objects.get(kind="grant_created", approval_id=grant.approval_id)
    assert told.actor == "user:operator" and told.changes is not None and told.changes["pattern"] == "/usr/bin/curl"


def test_one_without_an_end_is_said_so(always: Callable[..., Grant]) -> None:
    assert always(GrantScope(days=None)).expires_at is None


@pytest.mark.usefixtures("empty_ledger")
def test_a_narrower_rule_takes_the_place_of_a_grant(always: Callable[..., Grant], colleague: Any) -> None:
    broad = always(GrantScope(arg_pattern="^.*$", every_agent=True, days=7))

    narrower = grant_narrow(broad, r"^-fsS https://status\.example/health$", by=colleague, at=SOON)

    broad.refresh_from_db()
    assert (broad.revoked_by_label, list(grants_standing())) == (str(colleague), [narrower])
    assert (narrower.agent, narrower.pattern, narrower.expires_at) == ("", broad.pattern, broad.expires_at)
    assert [entry.kind for entry in Entry.objects.order_by("seq")][-2:] == ["grant_created", "grant_revoked"]
    with pytest.raises(GrantNotFoundError):
        grant_narrow(broad, "^a$", by=colleague, at=SOON)


@pytest.mark.parametrize(
    "pattern", ["a", r"^(?=a)a+$", "^(", "", "^a|.*$", r"^a\$", r"^[\s\S]*$", "^(?s:.*)$", "^[^a]*$"]
)
def test_a_pattern_that_cannot_be_kept_narrows_nothing(
    pattern: str, always: Callable[..., Grant], colleague: Any
) -> None:
    broad = always(GrantScope(arg_pattern="^.*$"))
    with pytest.raises(GrantScopeError):
        grant_narrow(broad, pattern, by=colleague, at=SOON)
    assert list(grants_standing()) == [broad]


@pytest.mark.parametrize("pattern", ["^.*$", "^status.*$", "^(status|diff)$", "^stop$"])
def test_what_may_be_broader_is_no_narrower_rule(pattern: str, always: Callable[..., Grant], colleague: Any) -> None:
    broad = always(GrantScope(arg_pattern="^sta(tus|sh)( -s)?$"))
    with pytest.raises(GrantScopeError):
        grant_narrow(broad, pattern, by=colleague, at=SOON)
    assert list(grants_standing()) == [broad]
    assert grant_narrow(broad, "^status -s$", by=colleague, at=SOON).arg_pattern == "^status -s$"


@pytest.mark.parametrize("pattern", [r"^[a-z]+( \d{1,3})?$", "^status( .*)?$", r"^(a|b) \w*$"])
def test_a_rule_for_anything_takes_any_of_one_line(pattern: str, always: Callable[..., Grant], colleague: Any) -> None:
    broad = always(GrantScope(arg_pattern="^.*$"))
    assert grant_narrow(broad, pattern, by=colleague, at=SOON).arg_pattern == pattern


def test_a_rule_for_one_call_cannot_become_one_for_more(always: Callable[..., Grant], colleague: Any) -> None:
    exact = always()
    with pytest.raises(GrantScopeError):
        grant_narrow(exact, "^.*$", by=colleague, at=SOON)
    assert list(grants_standing()) == [exact]


def test_arguments_with_secrets_are_kept_sealed_and_shown_masked(always: Callable[..., Grant]) -> None:
    argv = ["curl", "-H", "Authorization: Bearer sk-live-canary-0123456789abcdefXYZ"]
    grant = always(action={"argv": argv}, argv=argv, command=" ".join(argv))
    row = Grant.objects.values().get(pk=grant.pk)
    assert "canary" not in str({name: value for name, value in row.items() if name != "sealed_argv"})
    assert b"canary" not in bytes(row["sealed_argv"] or b"") and grant.argv == tuple(argv)


def test_a_scope_may_reach_every_agent_name_a_pattern_and_end(always: Callable[..., Grant]) -> None:
    grant = always(GrantScope(arg_pattern=r"^-fsS https://status\.example/.*$", every_agent=True, days=30))
    assert (grant.agent, grant.argv, grant.expires_at) == ("", None, SOON + timedelta(days=30))
    assert grant.entry.arg_pattern == r"^-fsS https://status\.example/.*$"


@pytest.mark.parametrize("pattern", ["status", "^(", r"^(?=x).*$", "^" + "a" * 600 + "$"])
def test_a_pattern_that_is_open_or_cannot_be_bounded_is_refused(ask: Ask, operator: Any, pattern: str) -> None:
    approval = ask()
    with pytest.raises(GrantScopeError):
        approval_resolve(approval, decision="allow-always", by=operator, at=SOON, scope=GrantScope(arg_pattern=pattern))
    assert Approval.objects.get(pk=approval.pk).is_pending and not Grant.objects.exists()


@pytest.mark.parametrize("path", ["", "curl", "/tmp/*/curl", "/tmp/cur?"])
def test_a_program_without_a_plain_real_path_gets_no_grant(ask: Ask, operator: Any, path: str) -> None:
    with pytest.raises(GrantScopeError, match="real path"):
        approval_resolve(ask(resolved_path=path), decision="allow-always", by=operator, at=SOON)


def test_a_request_without_arguments_gets_no_exact_grant(ask: Ask, operator: Any) -> None:
    with pytest.raises(GrantScopeError, match="arguments"):
        approval_resolve(ask(action={"tool": "exec"}), decision="allow-always", by=operator, at=SOON)


def test_a_grant_for_another_tool_covers_exactly_its_params(always: Callable[..., Grant]) -> None:
    params = {"path": "notes.txt", "text": "hello"}
    grant = always(kind="tool", tool="write", action={"params": params}, params=params, title="Write notes.txt")
    assert (grant.tool, grant.params_digest, grant.shown) == ("write", params_digest(params), "Write notes.txt")
    assert params_digest({"text": "hello", "path": "notes.txt"}) == grant.params_digest


def test_an_answer_to_one_plugin_is_none_to_another(always: Callable[..., Grant], environment: Any) -> None:
    params = {"path": "notes.txt"}
    asked = EntryDecision(verdict="ask", layer="hooks", rule="gate", reason="a gate")
    grant = always(kind="tool", tool="write", action={"params": params}, params=params, asked=asked)

    def covering(asker: str, **given: Any) -> Grant | None:
        return grant_covering(environment, "ops-runner", tool="write", params=given, asked_by=asker, at=SOON)

    assert covering("gate", path="notes.txt") == grant
    assert covering("gate", path="other.txt") is None
    assert covering("other", path="notes.txt") is None


def test_only_commands_take_a_pattern(ask: Ask, operator: Any) -> None:
    with pytest.raises(GrantScopeError, match="only commands"):
        approval_resolve(
            ask(kind="tool", tool="write"),
            decision="allow-always",
            by=operator,
            at=SOON,
            scope=GrantScope(arg_pattern="^a$"),
        )


def test_grants_hold_for_their_agent_until_they_end(always: Callable[..., Grant], environment: Any) -> None:
    own, shared = always(), always(GrantScope(every_agent=True, days=1))
    assert set(grants_for(environment, "ops-runner", at=SOON)) == {own, shared}
    assert grants_for(environment, "other", at=SOON) == [shared]
    assert grants_for(environment, "other", at=SOON + timedelta(days=1)) == []
    assert grants_for(environment, "ops-runner", at=SOON, tool="write") == []


def test_a_revoked_grant_holds_no_longer(always: Callable[..., Grant], environment: Any, operator: Any) -> None:
    grant = always()
    grant_revoke(grant, by=operator, at=SOON)
    again = grant_revoke(grant, by=operator, at=SOON + timedelta(days=1))
    assert again.revoked_at == SOON and again.revoked_by_label == "Operator"
    assert grants_for(environment, "ops-runner", at=SOON) == [] and not grants_standing(environment)
    assert Entry.objects.filter(kind="grant_revoked", approval_id=grant.approval_id).count() == 1


def test_each_use_is_counted_and_told(always: Callable[..., Grant], environment: Any) -> None:
    grant, call_id = always(), new_id()
    grant_used(grant, at=SOON, call_id=call_id, session_key="agent:ops-runner:main")
    grant.refresh_from_db()
    assert (grant.uses, grant.last_used_at) == (1, SOON)
    told = Entry.objects.get(call_id=call_id)
    assert (told.kind, told.agent, told.session_key) == ("grant_used", "ops-runner", "agent:ops-runner:main")


def test_a_use_that_cannot_be_told_is_no_use(always: Callable[..., Grant], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_draft: object) -> None:
        raise AuditUnavailableError("no")

    grant = always()
    monkeypatch.setattr("apps.approvals.grants.entry_record", refuse)
    with pytest.raises(AuditUnavailableError):
        grant_used(grant, at=SOON, call_id=new_id())
    grant.refresh_from_db()
    assert grant.uses == 0
