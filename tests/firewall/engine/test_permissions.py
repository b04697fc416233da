"""Grants of permissions: every permission of a tool needs one that holds, and what is not known fulfils nothing."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.grants import Grant, read_grant, write_grant
from apps.firewall.engine.permissions import Caller, Needs, PermissionRules, Resource, caller_of
from apps.firewall.engine.senders import Sender
from apps.firewall.engine.snapshot import Snapshot, SnapshotError, build_snapshot, load_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry

DIALECT = dialect_named("2026.9")
ANNA = Caller(
    agent="bot",
    token="tok_1",
    role="operator",
    session="agent:bot:telegram:direct:1001",
    sender=Sender(id="1001", username="anna", channel="telegram"),
    is_owner=True,
)
NOBODY = Caller()


def grant(*permissions: str, key: str = "g", **members: Any) -> Grant:
    return Grant(key=key, permissions=permissions or ("db:read",), **members)


def verdict(needs: Needs, caller: Caller, *grants: Grant) -> list[str]:
    return [answer.verdict for answer in PermissionRules(DIALECT, grants).answers(needs, caller)]


def touching(**resources: str) -> Needs:
    found = tuple(Resource(kind, value) for kind, value in resources.items())
    return Needs(permissions=("db:read",), kinds=frozenset(resources), resources=found)


READ = Needs(permissions=("db:read",))


@pytest.mark.parametrize(
    "condition",
    [
        {"agent": "bot"},
        {"agent": "b*"},
        {"agent": "*"},
        {"token": "tok_1"},
        {"sender": "id:1001"},
        {"sender": "username:@Anna"},
        {"sender": "channel:telegram:1001"},
        {"owner": True},
        {"role": "operator"},
        {"session": "agent:bot:telegram:*"},
        {"agent": "bot", "owner": True, "session": "*:direct:*"},
    ],
)
def test_a_condition_that_holds_grants_and_what_is_not_known_fulfils_none(condition: Mapping[str, Any]) -> None:
    assert verdict(READ, ANNA, grant(**condition)) == ["granted"]
    assert verdict(READ, NOBODY, grant(**condition)) == ["missing"]


@pytest.mark.parametrize(
    "condition",
    [
        {"agent": "other"},
        {"agent": "bo"},
        {"token": "tok_2"},
        {"sender": "id:1002"},
        {"sender": "channel:slack:1001"},
        {"role": "admin"},
        {"session": "agent:bot"},
        {"agent": "bot", "role": "admin"},
        {},
    ],
)
def test_one_condition_that_does_not_hold_is_enough_and_a_grant_without_any_is_for_nobody(
    condition: Mapping[str, Any],
) -> None:
    assert verdict(READ, ANNA, grant(**condition)) == ["missing"]


def test_every_permission_needs_a_grant() -> None:
    needs = Needs(permissions=("db:read", "net:fetch"))

    assert verdict(needs, ANNA, grant("db:*", agent="bot")) == ["granted", "missing"]
    assert verdict(needs, ANNA, grant("db:*", agent="bot"), grant("net:fetch", owner=True)) == ["granted", "granted"]
    assert verdict(needs, ANNA, grant("DB:read", "net:*", agent="bot")) == ["granted", "granted"]


def test_a_stranger_who_is_not_known_to_be_no_owner_is_none() -> None:
    assert verdict(READ, Caller(is_owner=False), grant(owner=True)) == ["missing"]
    assert verdict(READ, Caller(is_owner=None), grant(owner=True)) == ["missing"]


@pytest.mark.parametrize(
    ("kind", "patterns", "fits", "refused"),
    [
        (
            "path",
            ("/srv/data/**", "notes/*.md"),
            ("/srv/data/a/b.csv", "/srv/data", "/srv//data/./x", "notes/a.md"),
            (
                "/srv/data/../secret",
                "/srv/database",
                "srv/data/x",
                "/etc/passwd",
                "notes/a/b.md",
                "notes/../a.md",
                "/notes/a.md",
                "/srv/data/\n",
                "",
            ),
        ),
        (
            "domain",
            ("*.example.com", "api.test"),
            ("a.example.com", "a.b.EXAMPLE.com", "api.test."),
            ("example.com", "example.com.evil.org", "xapi.test"),
        ),
        ("database", ("orders", "stock_*"), ("orders", "stock_2026"), ("Orders", "orders2", "hr")),
    ],
)
def test_a_limited_grant_covers_what_fits_a_pattern(
    kind: str, patterns: tuple[str, ...], fits: tuple[str, ...], refused: tuple[str, ...]
) -> None:
    limited = grant(agent="bot", resources={kind: patterns})

    for value in fits:
        assert verdict(touching(**{kind: value}), ANNA, limited) == ["granted"], value
    for value in refused:
        assert verdict(touching(**{kind: value}), ANNA, limited) == ["missing"], value


def test_one_grant_must_cover_the_whole_call() -> None:
    needs = Needs(
        permissions=("db:read",),
        kinds=frozenset({"database"}),
        resources=(Resource("database", "orders"), Resource("database", "hr")),
    )
    orders, both = (
        grant(key="orders", agent="bot", resources={"database": ("orders",)}),
        grant(key="both", agent="bot", resources={"database": ("orders", "hr")}),
    )

    (answer,) = PermissionRules(DIALECT, [orders]).answers(needs, ANNA)

    assert (answer.verdict, answer.resource) == ("missing", Resource("database", "hr"))
    assert verdict(needs, ANNA, orders, both) == ["granted"]


def test_a_limited_grant_does_not_hold_for_a_call_that_names_no_such_resource() -> None:
    limited = grant(agent="bot", resources={"database": ("*",)})

    (answer,) = PermissionRules(DIALECT, [limited]).answers(READ, ANNA)

    assert answer.verdict == "missing"
    assert answer.remedy == "a grant of `db:read` to the agent `bot` that is not limited to a database"


def test_a_denial_names_what_is_missing_and_what_would_grant_it() -> None:
    rules = PermissionRules(DIALECT, [grant(agent="bot", resources={"database": ("orders",)})])

    (resource,) = rules.answers(touching(database="hr"), ANNA)
    (permission,) = rules.answers(touching(database="hr"), Caller(agent="other"))

    assert resource.reason == "`db:read` is granted to this caller, but not for the database `hr`"
    assert resource.remedy == "a grant of `db:read` to the agent `bot` for the database `hr`"
    assert permission.reason == "`db:read` is not granted to this caller"
    assert permission.remedy == "a grant of `db:read` to the agent `other` for the database `hr`"


def test_a_hidden_value_is_told_to_nobody() -> None:
    rules = PermissionRules(DIALECT, [grant(agent="bot", resources={"database": ("orders",)})])
    needs = Needs(permissions=("db:read",), resources=(Resource("database", "s3cret", "(hidden)"),))

    (answer,) = rules.answers(needs, ANNA)

    assert "s3cret" not in answer.reason + answer.remedy


def test_without_params_a_limited_grant_depends_on_them() -> None:
    limited = grant(agent="bot", key="orders", resources={"database": ("orders",)})
    unknown = Needs(permissions=("db:read",), kinds=frozenset({"database"}), resources=None)

    (answer,) = PermissionRules(DIALECT, [limited]).answers(unknown, ANNA)

    assert (answer.verdict, answer.grants) == ("depends", ("orders",))
    assert verdict(unknown, ANNA, limited, grant(agent="bot")) == ["granted"]
    assert verdict(unknown, NOBODY, limited) == ["missing"]
    assert verdict(Needs(permissions=("db:read",), resources=None), ANNA, limited) == ["missing"]


# --- properties ---

NAMES = some.sampled_from(["db:read", "db:write", "net:fetch", "calc:execute"])
PATTERNS = some.sampled_from(["db:read", "db:*", "*", "net:*", "*:read"])
WHO = some.fixed_dictionaries(
    {},
    optional={
        "agent": some.sampled_from(["bot", "*", "other"]),
        "token": some.sampled_from(["tok_1", "tok_2"]),
        "sender": some.sampled_from(["id:1001", "id:2", "*"]),
        "owner": some.just(True),
        "role": some.sampled_from(["operator", "viewer"]),
        "session": some.sampled_from(["*", "agent:bot:*", "x"]),
    },
)
LIMITS = some.dictionaries(
    some.sampled_from(["path", "domain", "database"]),
    some.lists(some.sampled_from(["*", "**", "a", "/a/**", "*.b"]), min_size=1, max_size=2).map(tuple),
    max_size=2,
)
GRANTS = some.builds(
    lambda permissions, who, resources: Grant(key="g", permissions=tuple(permissions), resources=resources, **who),
    some.lists(PATTERNS, min_size=1, max_size=2),
    WHO,
    LIMITS,
)
NEEDS = some.builds(
    lambda permissions, found: Needs(
        permissions=tuple(permissions),
        kinds=frozenset(kind for kind, _ in found),
        resources=tuple(Resource(kind, value) for kind, value in found),
    ),
    some.lists(NAMES, min_size=1, max_size=3, unique=True),
    some.lists(
        some.tuples(
            some.sampled_from(["path", "domain", "database"]), some.sampled_from(["a", "b", "/a/b", "x.b", "..", "/"])
        ),
        max_size=3,
    ),
)
CALLERS = some.sampled_from([ANNA, NOBODY, Caller(agent="other", is_owner=False)])


def granted(needs: Needs, caller: Caller, grants: list[Grant]) -> set[str]:
    answers = PermissionRules(DIALECT, grants).answers(needs, caller)
    return {answer.permission for answer in answers if answer.verdict == "granted"}


@settings(max_examples=200)
@given(NEEDS, CALLERS, some.lists(GRANTS, max_size=4), GRANTS)
def test_one_more_grant_never_takes_a_permission(
    needs: Needs, caller: Caller, grants: list[Grant], more: Grant
) -> None:
    assert granted(needs, caller, grants) <= granted(needs, caller, [*grants, more])


@settings(max_examples=200)
@given(NEEDS, CALLERS, some.lists(GRANTS, max_size=4), some.randoms())
def test_the_order_of_grants_does_not_matter(needs: Needs, caller: Caller, grants: list[Grant], random: Any) -> None:
    shuffled = list(grants)
    random.shuffle(shuffled)

    assert granted(needs, caller, grants) == granted(needs, caller, shuffled)


@settings(max_examples=200)
@given(NEEDS, CALLERS, some.lists(GRANTS, max_size=4))
def test_a_permission_is_given_exactly_when_one_grant_gives_it_alone(
    needs: Needs, caller: Caller, grants: list[Grant]
) -> None:
    alone = [granted(needs, caller, [each]) for each in grants]

    assert granted(needs, caller, grants) == set().union(*alone)


@settings(max_examples=100)
@given(NEEDS, CALLERS, GRANTS)
def test_what_is_granted_without_params_is_granted_with_any(needs: Needs, caller: Caller, one: Grant) -> None:
    unknown = Needs(permissions=needs.permissions, kinds=needs.kinds, resources=None)

    assert granted(unknown, caller, [one]) <= granted(needs, caller, [one])


@given(GRANTS)
def test_a_grant_comes_back_from_its_stored_form(one: Grant) -> None:
    assert read_grant(json.loads(json.dumps(write_grant(one)))) == one


# --- in a snapshot ---


def snapshot(*grants: Grant, **source: Any) -> Snapshot:
    return build_snapshot(
        SnapshotSource(
            tools=[ToolEntry("orders", traits={"permissions": ["db:read"]})],
            agents=[AgentSource("bot"), AgentSource("other")],
            owners=["telegram:1001"],
            grants=grants,
            **source,
        )
    )


def test_grants_are_part_of_the_snapshot_whatever_their_order() -> None:
    one, two = grant(key="a", agent="bot"), grant(key="b", owner=True, resources={"path": ("/srv/**",)})

    forth, back = snapshot(one, two), snapshot(two, one)

    assert forth.digest == back.digest != snapshot().digest
    again = load_snapshot(forth.to_bytes(), expected_digest=forth.digest)
    assert again.permissions.grants == (one, two)


def test_without_grants_a_snapshot_holds_no_member_for_them() -> None:
    assert not {"grants", "filters"} & set(snapshot().document)


def test_an_earlier_format_grants_nothing() -> None:
    document = snapshot().document | {"format": 2}

    earlier = load_snapshot(json.dumps(document).encode())

    assert earlier.permissions.grants == ()
    assert earlier.document["format"] == 3


def test_a_kind_of_resource_that_nobody_knows_makes_no_snapshot() -> None:
    with pytest.raises(SnapshotError, match="unknown kind of resource: `moon`"):
        snapshot(grant(agent="bot", resources={"moon": ("*",)}))


def test_a_caller_is_read_as_the_decision_reads_it() -> None:
    live = snapshot()
    context = CallContext(
        session_key="agent:bot:telegram:direct:1001", sender_id="1001", channel="telegram", agent_id="bot"
    )

    caller = caller_of(live.engine, context, token="tok_1", role="operator")

    assert (caller.agent, caller.token, caller.role, caller.is_owner) == ("bot", "tok_1", "operator", True)
    assert caller.sender == Sender(id="1001", channel="telegram")
    assert caller.session == context.session_key
