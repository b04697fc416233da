"""The live funnel: the engine's own answer about values that nobody saved."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.console.layers import NAMES
from apps.console.situations import Situation
from apps.firewall.engine.decide import explain
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.layers import layers_of
from apps.policies.models import Agent
from apps.policies.selectors import draft_snapshot

HTMX = {"HX-Request": "true"}
ClientOf = Callable[..., Client]
PAGE = "/agents/ops-runner/"
PREVIEW = f"{PAGE}preview/"
VALUES = {"version": "1", "profile": "coding", "also_allow": "message", "allow": "", "deny": "exec"}


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_previews(name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest) -> None:
    answer = client_of(request.getfixturevalue(name)).post(PREVIEW, VALUES, headers=HTMX)
    assert answer.status_code == 200
    assert Agent.objects.get(key="ops-runner").version == 1


def test_an_outsider_does_not_and_get_is_refused(
    client_of: ClientOf, published: Any, outsider: Any, viewer: Any
) -> None:
    assert client_of(outsider).post(PREVIEW, VALUES).status_code == 403
    assert client_of(viewer).get(PREVIEW).status_code == 405


@pytest.mark.parametrize(
    "where",
    [
        {},
        {"where": "telegram/-100", "model": "openai/gpt-5"},
        {"where": "telegram/-100", "sender": "1001", "owner": "no", "sandbox": "on", "depth": "2"},
    ],
)
def test_the_preview_is_what_the_engine_says_after_saving(
    client_of: ClientOf, published: Any, admin: Any, where: dict[str, str]
) -> None:
    browser = client_of(admin)
    funnel = browser.post(PREVIEW, VALUES | where, headers=HTMX).context["funnel"]
    browser.post(PAGE, VALUES)
    said = explain(draft_snapshot(published), Situation.read(where, agent="ops-runner").context())
    assert tuple(chip.name for chip in funnel.allowed) == said.allowed
    shown = [(row.number, row.label, row.before, row.after) for row in funnel.rows]
    assert shown == [(layer.number, layer.label, layer.before, layer.after) for layer in said.layers]
    removed = {row.key: [chip.name for chip in (*row.removed, *row.more)] for row in funnel.rows}
    assert removed == {layer.key: [each.tool for each in layer.removed] for layer in said.layers}


def test_it_stands_against_what_is_live(client_of: ClientOf, published: Any, viewer: Any) -> None:
    funnel = client_of(viewer).post(PREVIEW, VALUES, headers=HTMX).context["funnel"]
    assert "message" in funnel.gained
    assert "exec" in funnel.lost
    assert {row.key for row in funnel.rows if row.is_changed} == {"profile", "agent"}


def test_before_the_first_publication_there_is_nothing_to_compare_with(
    client_of: ClientOf, draft: Any, viewer: Any
) -> None:
    answer = client_of(viewer).post(PREVIEW, VALUES, headers=HTMX)
    assert "nothing is live yet" in answer.content.decode()
    assert not any(row.is_changed for row in answer.context["funnel"].rows)


@pytest.mark.parametrize("release", DIALECTS)
def test_every_layer_of_every_release_has_a_row_and_a_name(
    client_of: ClientOf, draft: Any, viewer: Any, release: str
) -> None:
    draft.dialect = release
    draft.save(update_fields=["dialect"])
    rows = client_of(viewer).get(PAGE).context["funnel"].rows
    assert [row.key for row in rows] == [layer.key for layer in layers_of(DIALECTS[release])]
    assert {row.key for row in rows} <= set(NAMES)
    assert all(row.why for row in rows if not row.applied)


def test_the_remarks_follow_what_is_typed(client_of: ClientOf, published: Any, viewer: Any) -> None:
    text = client_of(viewer).post(PREVIEW, VALUES | {"deny": "brwser\nmessage"}, headers=HTMX).content.decode()
    assert "brwser is no tool, group or plugin." in text
    assert 'data-with="browser"' in text
    assert "message is denied in the same block." in text


def test_a_tool_leads_to_its_trace(client_of: ClientOf, published: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    row = next(row for row in browser.get(PAGE).context["funnel"].rows if row.key == "agent")
    answer = browser.get(row.removed[0].url)
    assert answer.status_code == 200
    assert answer.context["traces"][0].decision.layer == "agent"


def test_a_situation_that_cannot_be_read_says_why(client_of: ClientOf, published: Any, viewer: Any) -> None:
    text = client_of(viewer).post(PREVIEW, VALUES | {"depth": "-1"}, headers=HTMX).content.decode()
    assert "the depth is a whole number from 0 to 99" in text


def test_without_scripts_the_whole_page_comes_back_with_what_was_typed(
    client_of: ClientOf, published: Any, viewer: Any
) -> None:
    text = client_of(viewer).post(PREVIEW, VALUES | {"deny": "nodes"}).content.decode()
    assert "<html" in text
    assert ">nodes</textarea>" in text


def test_hostile_names_are_escaped(client_of: ClientOf, published: Any, viewer: Any) -> None:
    hostile = {"deny": "<q1>\nab\u202ecd", "sender": "<q2>", "where": "<q3>/<q4>"}
    text = client_of(viewer).post(PREVIEW, VALUES | hostile).content.decode()
    assert "<q" not in text
    assert "U+202E" in text
