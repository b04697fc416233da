"""One card, as a fragment and as a page."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.approvals.answering import answer_rule_add
from apps.approvals.running import approval_drifted
from apps.approvals.services import approval_resolve
from apps.audit.drafts import EntryDecision
from apps.firewall.engine.exec_policy import Evidence, Part
from apps.halts.services import halt_lift, halt_place

EVIL = "<script>alert(1)</script>\u202e\u200b\x07"


def card(browser: Client, approval: Any) -> str:
    return browser.get(f"/approvals/{approval.shown_id}/card/", headers={"hx-request": "true"}).content.decode()


def test_it_is_one_root_that_swaps_itself(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    approval = ask()
    part = card(client_of(operator), approval)
    assert part.startswith(f'<article class="ap" id="{approval.shown_id}"')
    assert part.count("<article") == 1
    assert 'hx-target="closest article"' in part


def test_it_is_a_page_of_its_own_for_a_link(
    client_of: Callable[..., Client], viewer: Any, ask: Callable[..., Any]
) -> None:
    page = client_of(viewer).get(f"/approvals/{ask().shown_id}/card/").content.decode()
    assert page.startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_whoever_reads_requests_sees_it(
    name: str, request: pytest.FixtureRequest, client_of: Callable[..., Client], ask: Callable[..., Any]
) -> None:
    approval = ask()
    browser = client_of(request.getfixturevalue(name))
    assert ("data-do=" in card(browser, approval)) == (name in {"admin", "operator"})


def test_it_does_not_exist_for_an_outsider(
    client_of: Callable[..., Client], outsider: Any, ask: Callable[..., Any]
) -> None:
    assert client_of(outsider).get(f"/approvals/{ask().shown_id}/card/").status_code == 403


def test_an_unknown_request_is_not_found(client_of: Callable[..., Client], operator: Any, environment: Any) -> None:
    assert client_of(operator).get("/approvals/ap_00000000000000000000000000/card/").status_code == 404


def test_hostile_text_is_escaped_and_its_hidden_letters_are_codes(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    evidence = [{"code": "network", "text": EVIL}]
    approval = ask(
        agent=EVIL, command=f"echo {EVIL}", sender_name=EVIL, cwd=EVIL, evidence=evidence, warnings=[EVIL], host=EVIL
    )
    part = card(client_of(operator), approval)
    assert "<script>" not in part
    assert not set("\u202e\u200b\x07") & set(part)
    assert "U+202E" in part


def test_it_offers_the_scopes_of_an_always_narrowest_first(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    part = card(client_of(operator), ask())
    assert part.index("These exact arguments") < part.index("Same first argument") < part.index("Any arguments")
    assert "Broad" in part


def test_without_an_always_it_says_why(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    evidence = [{"code": "shell_syntax", "text": "| sh"}]
    part = card(client_of(operator), ask(decisions=("allow-once", "deny"), evidence=evidence))
    assert "Allow always is off here." in part
    assert 'value="allow-always"' not in part


def test_it_shows_the_parameters_of_another_tool(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    part = card(client_of(operator), ask(kind="tool", tool="message", command="", argv=[], params={"to": "<b>"}))
    assert "wants to use" in part
    assert "&lt;b&gt;" in part


def test_coverage_counts_past_calls(client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]) -> None:
    approval = ask(agent="never-called-before")
    part = client_of(operator).get(f"/approvals/{approval.shown_id}/coverage/").content.decode()
    assert "also covers 0 past calls" in part


def test_a_pattern_says_what_it_would_also_have_covered(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any], called: Callable[..., Any]
) -> None:
    for command in ("curl -fsS https://a.example", "curl -v https://b.example", "wget x", "curl a | sh"):
        called(agent="covered", tool="exec", params={"command": command}, at=timezone.now() - timedelta(minutes=5))
    approval = ask(agent="covered")
    part = client_of(operator).get(f"/approvals/{approval.shown_id}/coverage/").content.decode()
    first, anything = part.split("<hx-partial")[1:]
    assert "also covers 1 past call" in first
    assert "also covers 2 past calls" in anything


def test_a_tool_that_a_plugin_asks_about_shows_why_with_which_params_and_what_was_changed(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    approval = ask(
        kind="tool",
        tool="write",
        title=f"Write {EVIL}",
        params={"path": "notes.txt"},
        command="",
        argv=(),
        evidence=[{"code": "hook_rewrote", "text": "path: changed by acme"}],
        asked=EntryDecision(verdict="ask", layer="hooks", rule="acme", reason="a gate"),
        decisions=["allow-once", "deny"],
    )
    part = card(client_of(operator), approval)
    for text in ("wants to use", "notes.txt", "a gate", "acme", "Changed by a plugin", "Allow always is off here."):
        assert text in part
    assert "<script>" not in part


def test_a_command_with_variables_names_them_and_offers_no_always(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    evidence = [{"code": "variables", "text": "CI, NODE_ENV"}]
    part = card(client_of(operator), ask(decisions=("allow-once", "deny"), evidence=evidence))
    assert "CI, NODE_ENV" in part
    assert "given variables cannot be saved as a rule" in part


def test_whoever_asked_sees_that_somebody_else_has_to_allow_it(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    part = card(client_of(operator), ask(requester=operator.actor))
    assert "You asked for this." in part
    assert 'value="allow-once"' not in part and 'value="allow-always"' not in part and 'value="deny"' in part


def test_it_shows_what_had_changed_when_it_was_to_run(
    client_of: Callable[..., Client], viewer: Any, operator: Any, ask: Callable[..., Any]
) -> None:
    approval = ask()
    approval_resolve(approval, decision="allow-once", by=operator, at=timezone.now())
    approval_drifted(approval.pk, parts=["file /desk/<b>run.sh"])
    part = card(client_of(viewer), approval)
    assert "something had changed since it was asked" in part
    assert "file /desk/&lt;b&gt;run.sh" in part


def test_a_frozen_one_says_so_and_offers_only_a_no(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any], environment: Any
) -> None:
    approval = ask()
    halt = halt_place(environment, scope="environment", reason="wait", at=timezone.now())
    part = card(client_of(operator), approval)
    assert "Stopped by the kill switch." in part
    assert ('data-do="once"' in part, 'data-do="deny"' in part, 'role="timer"' in part) == (False, True, False)
    refused = client_of(operator).post(f"/approvals/{approval.shown_id}/resolve/", {"decision": "allow-once"})
    assert "stopped by the kill switch" in refused.content.decode()

    halt_lift(halt, at=timezone.now())
    assert 'data-do="once"' in card(client_of(operator), approval)


def test_it_says_how_many_of_several_people_have_allowed_it(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any], environment: Any
) -> None:
    answer_rule_add(environment, name="two", quorum=2)
    approval = ask()
    approval_resolve(approval, decision="allow-once", by=operator, at=timezone.now())
    assert "1 of 2 people have allowed it" in card(client_of(operator), approval)


def test_a_rule_that_leaves_the_answer_to_others_is_named(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any], environment: Any
) -> None:
    answer_rule_add(environment, name="admins", roles=["admin"])
    path = f"/approvals/{ask().shown_id}/resolve/"
    part = client_of(operator).post(path, {"decision": "allow-once"}, headers={"HX-Request": "true"})
    assert "A rule leaves this answer to others." in part.content.decode()


LINE = "git status && curl -fsS https://x.example | jq . # \u202e"
PLACES = ((0, 10, "allowlist", "/usr/bin/git"), (14, 42, "", ""), (45, 49, "safeBins", ""))


def judged(places: Any = PLACES, line: str = LINE) -> list[Part]:
    return [
        Part(
            text=line[start:end],
            start=start,
            end=end,
            program=f"/usr/bin/{line[start:end].split()[0]}",
            satisfied_by=by,
            pattern=pattern,
            wrappers=() if by else ("sudo", "env"),
            why=None if by else Evidence("allowlist_miss", "/usr/bin/curl"),
        )
        for start, end, by, pattern in places
    ]


def test_a_line_is_drawn_by_its_commands_with_what_was_said_of_each(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    part = card(client_of(operator), ask(command=LINE, parts=judged()))
    marks = re.findall(r'<span class="sg (\w*)"><span class="n" aria-hidden="true">(\d)</span>', part)
    assert marks == [("", "1"), ("miss", "2"), ("", "3")]
    assert "1, a rule allows it: " in part
    assert "2, asks: " in part
    assert "rule <code>/usr/bin/git</code>" in part
    assert "No rule matches." in part
    assert "sudo › env" in unescape(re.sub(r"<[^>]+>", "", part))
    assert "1 of 3 commands is on no list." in part
    assert [line for line in ("a rule allows it", "asks") if f"</span>{line}</li>" in part] == [
        "a rule allows it",
        "asks",
    ]


def drawn_line(part: str) -> str:
    """Read a drawn line back, as somebody who reads codes does."""
    shown = part.split('<pre class="cmd"', 1)[1].split(">", 1)[1].split("</pre>", 1)[0]
    shown = re.sub(r'<span class="n"[^>]*>\d+</span><span class="visually-hidden">[^<]*</span>', "", shown)
    shown = re.sub(r'<span class="op" aria-hidden="true">⏎</span>', "", shown)
    shown = re.sub(r'<span class="hidden-char"[^>]*>U\+([0-9A-F]+)</span>', lambda m: chr(int(m[1], 16)), shown)
    return unescape(re.sub(r"<[^>]+>", "", shown))


@pytest.mark.parametrize(
    "line",
    [
        LINE,
        "echo 'a && b' \"c | d\"; (cd /x && rm -rf y)\nfor i in 1 2; do ls; done",
        "rm\u00a0-rf \u200b/\u2215x \t<script>alert(1)</script> &amp; e\u0301\u0301",
        "  \\\n ; ;; | `x` $(y) ",
    ],
)
def test_the_drawn_line_is_the_line(
    line: str, client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    places = [(2, 5, "", ""), (5, 9, "allowlist", "x"), (4, 8, "", ""), (10, 12, "", "")]
    for parts in ([], [replace(each, text="") for each in judged(places, line.ljust(12, "x"))]):
        approval = ask(command=line, parts=parts)
        assert drawn_line(card(client_of(operator), approval)) == line


def test_a_line_that_is_too_long_says_what_is_left_out_and_where_it_stands(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    line = "echo " + "a" * 9000 + "\u202e; rm -rf /srv"
    approval = ask(command=line)
    browser = client_of(operator)
    part = card(browser, approval)
    left_out = len(line) - 4600
    assert f"{left_out:,} characters are left out here." in part
    assert "rm" in drawn_line(part)
    assert f'href="/approvals/{approval.shown_id}/whole/"' in part
    whole = browser.get(f"/approvals/{approval.shown_id}/whole/")
    assert whole["Content-Type"] == "text/plain; charset=utf-8"
    assert whole.content.decode() == line.replace("\u202e", "[U+202E]")


def test_large_params_say_what_is_left_out(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    params = {"body": "b" * 5000, "to": "x"}
    approval = ask(kind="tool", tool="message", command="", argv=(), params=params)
    browser = client_of(operator)
    assert "3,000 characters are left out here." in card(browser, approval)
    assert json.loads(browser.get(f"/approvals/{approval.shown_id}/whole/").content) == params


@pytest.mark.parametrize("name", ["viewer", "outsider"])
def test_all_of_it_is_read_by_who_reads_requests(
    name: str, request: pytest.FixtureRequest, client_of: Callable[..., Client], ask: Callable[..., Any]
) -> None:
    status = client_of(request.getfixturevalue(name)).get(f"/approvals/{ask().shown_id}/whole/").status_code
    assert status == (200 if name == "viewer" else 403)


def test_letters_that_look_like_others_are_marked_and_named(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    part = card(client_of(operator), ask(command="/usr/bin/\u0441url x"))
    assert '<span class="odd-char" title="U+0441 CYRILLIC SMALL LETTER ES">\u0441</span>' in part
