"""Rules by sender from a table: what it would do row by row, whole or not at all, and hostile tables."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.policies.document.sender_table import ROWS_LIMIT, read_table, write_table
from apps.policies.errors import DocumentInvalidError
from apps.policies.models import Agent, ChannelGroup, SenderRule
from apps.policies.selectors import record_history, sender_rules
from apps.policies.services import agent_create, draft_start, group_place, senders_check, senders_import

TABLE = "key,allow,also_allow,deny\r\nid:7,read; exec,,\r\nusername:lead,,,exec\r\n*,,,group:runtime\r\n"
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
# What a spreadsheet spoils is refused: tests/policies/test_spreadsheets.py.
keys = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Nd"]), min_size=1, max_size=12)
names = st.none() | st.lists(texts | st.sampled_from(["a;b", "[x", " lead", "=1", "'x", ""]), max_size=3)


@pytest.fixture
def group(environment: Any, admin: Any) -> ChannelGroup:
    draft_start(environment, by=admin)
    return group_place(environment, "-100", by=admin, channel="telegram")


def rules(group: ChannelGroup) -> dict[str, tuple[Any, Any, Any]]:
    return {rule.key: (rule.allow, rule.also_allow, rule.deny) for rule in sender_rules(group.environment, group=group)}


def told(report: Any) -> list[tuple[int, str, str]]:
    return [(row.line, row.outcome, row.mistake.code if row.mistake else "") for row in report.rows]


@given(st.lists(st.tuples(keys | st.sampled_from(["=x", "'=x", "@lead", "+46", "\tx"]), names, names), max_size=5))
def test_what_is_written_is_read_again(rows: list[tuple[str, Any, Any]]) -> None:
    given_rules = [SimpleNamespace(key=key, allow=allow, also_allow=None, deny=deny) for key, allow, deny in rows]
    shown = [(key, {"allow": allow, "also_allow": None, "deny": deny}) for key, allow, deny in rows]
    read = read_table("".join(write_table(given_rules)))
    kept = [pair for pair in shown if pair[0].strip() or pair[1]["allow"] is not None or pair[1]["deny"] is not None]
    assert [(row.key, dict(row.lists)) for row in read if row.mistake is None] == kept


@pytest.mark.django_db
def test_a_dry_run_tells_and_writes_nothing(group: ChannelGroup) -> None:
    report = senders_check(group.environment, TABLE, group=group)
    assert report.counts == {"added": 3, "changed": 0, "unchanged": 0, "refused": 0}
    assert (report.may_be_applied, report.is_applied, SenderRule.objects.count()) == (True, False, 0)


@pytest.mark.django_db
def test_a_table_is_taken_once_and_again_changes_nothing(group: ChannelGroup, admin: Any) -> None:
    assert senders_import(group.environment, TABLE, by=admin, group=group).is_applied
    assert rules(group) == {
        "id:7": (["read", "exec"], None, None),
        "username:lead": (None, None, ["exec"]),
        "*": (None, None, ["group:runtime"]),
    }
    again = senders_import(group.environment, TABLE, by=admin, group=group)
    assert again.counts == {"added": 0, "changed": 0, "unchanged": 3, "refused": 0}
    assert set(SenderRule.objects.values_list("version", flat=True)) == {1}


@pytest.mark.django_db
def test_rules_that_are_there_are_changed_and_others_stay(group: ChannelGroup, admin: Any) -> None:
    senders_import(group.environment, TABLE, by=admin, group=group)
    more = "key;deny\nid:7;exec\nid:8;[]\n"
    report = senders_import(group.environment, more, by=admin, group=group)
    assert told(report) == [(2, "changed", ""), (3, "added", "")]
    assert rules(group)["id:7"] == (["read", "exec"], None, ["exec"])
    assert rules(group)["id:8"] == (None, None, [])
    assert len(rules(group)) == 4
    changed = SenderRule.objects.get(key="id:7")
    assert changed.version == 2
    assert record_history(changed)[0].actor == "user:admin"


@pytest.mark.django_db
def test_each_scope_has_its_own_rules(group: ChannelGroup, admin: Any) -> None:
    agent = agent_create(group.environment, "main", by=admin)
    senders_import(group.environment, TABLE, by=admin, agent=agent)
    senders_import(group.environment, "key,deny\nid:7,exec\n", by=admin)
    assert SenderRule.objects.filter(agent=agent).count() == 3
    assert SenderRule.objects.filter(agent=None, group=None).count() == 1
    assert rules(group) == {}


@pytest.mark.django_db
def test_an_import_leaves_one_entry_in_the_ledger(group: ChannelGroup, admin: Any, empty_ledger: None) -> None:
    before = Entry.objects.count()
    senders_import(group.environment, TABLE, by=admin, group=group)
    assert Entry.objects.count() == before + 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("id:7,exec,,", "repeated"),
        ("id:,exec,,", "never_reached"),
        ('=HYPERLINK("http://x"),exec,,', "formula"),
        ("id:9,=cmd,,", "formula"),
        ("id:9,read,exec,", "allow_and_also"),
        ('id:9,"[1, 2]",,', "wrong_type"),
        ('id:9,"[",,', "wrong_type"),
        (f"id:{'9' * 600},read,,", "too_long"),
        (f"id:9,{'r' * 600},,", "too_long"),
        ("id:9,read,,,surplus", "too_many"),
    ],
)
def test_a_row_is_refused_with_its_rule_and_then_nothing_is_taken(
    row: str, code: str, group: ChannelGroup, admin: Any
) -> None:
    table = f"{TABLE}{row}\n"
    report = senders_check(group.environment, table, group=group)
    assert told(report)[-1] == (5, "refused", code)
    assert not report.may_be_applied
    with pytest.raises(DocumentInvalidError) as refusal:
        senders_import(group.environment, table, by=admin, group=group)
    assert refusal.value.details[0]["path"].startswith("line 5")
    assert rules(group) == {}


@pytest.mark.django_db
def test_a_list_beside_one_that_is_there_is_refused(group: ChannelGroup, admin: Any) -> None:
    senders_import(group.environment, TABLE, by=admin, group=group)
    report = senders_check(group.environment, "key,also_allow\nid:7,write\n", group=group)
    assert told(report) == [(2, "refused", "allow_and_also")]


@pytest.mark.django_db
def test_keys_that_mean_the_same_are_remarked(group: ChannelGroup) -> None:
    report = senders_check(group.environment, "key,deny\nid:7,exec\n7,exec\n", group=group)
    assert [row.remark for row in report.rows] == ["", "means the same sender as `id:7`"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "missing"),
        ("allow,deny\nread,\n", "missing"),
        ("key,dney\nid:1,read\n", "unknown_key"),
        ("key,key\nid:1,id:2\n", "repeated"),
        ('key,deny\nid:1,"read\n', "unreadable"),
        ("key,deny\nid:1,re\0ad\n", "encoding"),
        (b"key,deny\nid:1,\xe9\n", "encoding"),
        ("key,deny\n".encode("utf-16"), "encoding"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_as_a_whole(content: str | bytes, code: str) -> None:
    with pytest.raises(DocumentInvalidError) as refusal:
        read_table(content)
    assert [detail["code"] for detail in refusal.value.details] == [code]


def test_a_table_longer_than_the_limit_is_refused() -> None:
    with pytest.raises(DocumentInvalidError, match="more than"):
        read_table("key\n" + "\n".join(f"id:{number}" for number in range(ROWS_LIMIT + 1)))


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfkey,deny\nid:1,read\n", "Key\tDeny\nid:1\tread\n"])
def test_a_mark_in_front_and_other_delimiters_are_read(content: str | bytes) -> None:
    assert [(row.key, row.lists["deny"]) for row in read_table(content)] == [("id:1", ["read"])]


@pytest.mark.django_db
@pytest.mark.slow
def test_thousands_of_rows_come_in_with_a_few_statements(
    group: ChannelGroup, admin: Any, django_assert_max_num_queries: Any
) -> None:
    table = "key,deny\n" + "".join(f"id:{number},exec\n" for number in range(5000))
    with django_assert_max_num_queries(25):
        senders_import(group.environment, table, by=admin, group=group)
    assert SenderRule.objects.count() == 5000
    changed = table.replace(",exec", ",read")
    with django_assert_max_num_queries(25):
        report = senders_import(group.environment, changed, by=admin, group=group)
    assert report.counts["changed"] == 5000


@pytest.mark.django_db
def test_the_command_tries_imports_and_exports(group: ChannelGroup, tmp_path: Path) -> None:
    file = tmp_path / "senders.csv"
    file.write_bytes(TABLE.encode())
    out = io.StringIO()
    command = ("policy", "senders", "import", str(file), "--group", "telegram.groups.-100")
    call_command(*command, stdout=out)
    assert out.getvalue() == "dry run: 3 added, 0 changed, 0 unchanged, 0 refused\n"
    assert SenderRule.objects.count() == 0
    call_command(*command, "--apply", stdout=io.StringIO())
    out = io.StringIO()
    call_command("policy", "senders", "export", "--group", "telegram.groups.-100", stdout=out)
    assert out.getvalue() == TABLE
    assert Agent.objects.count() == 0


@pytest.mark.django_db
def test_the_command_names_each_mistake_and_fails(group: ChannelGroup, tmp_path: Path) -> None:
    file = tmp_path / "senders.csv"
    file.write_text("key,deny\nid:,exec\n")
    err = io.StringIO()
    with pytest.raises(CommandError, match="mistakes"):
        call_command("policy", "senders", "import", str(file), stderr=err, stdout=io.StringIO())
    assert err.getvalue().startswith("line 2.key: can match nobody")
    with pytest.raises(CommandError, match="no group"):
        call_command("policy", "senders", "export", "--group", "telegram.groups.-9")
