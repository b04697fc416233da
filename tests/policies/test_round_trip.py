"""Import, then export: nothing is lost, and a second round changes nothing."""

import json
from pathlib import Path
from typing import Any

import json5
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import UNPROVEN_GROUPS_REFUSED
from apps.policies.compiler import compile_draft, tool_entries
from apps.policies.selectors import document_export
from apps.policies.services import document_import

SAMPLE = Path(__file__).parent.parent / "samples" / "openclaw.full.json5"

pytestmark = pytest.mark.django_db


def test_the_full_sample_comes_back_as_it_was(environment: Any) -> None:
    text = SAMPLE.read_text()
    document_import(environment, text, by=None)
    assert json.dumps(document_export(environment, secrets="open")) == json.dumps(json5.loads(text))


def test_a_second_round_changes_nothing(environment: Any) -> None:
    document_import(environment, SAMPLE.read_text(), by=None)
    first = document_export(environment, secrets="open")
    report = document_import(environment, json.dumps(first), by=None)
    assert report.counts["created"] == report.counts["changed"] == report.counts["deleted"] == 0
    assert document_export(environment, secrets="open") == first


# --- any document ---

KEYS = st.from_regex(r"[a-zäß/. \"@+-]{0,6}[a-zA-Z_\U0001f600]", fullmatch=True).filter(
    lambda key: key not in {"default", "defaults"}
)
TOOLS = st.sampled_from(["exec", "read", "group:fs", "web_*", "*", "nosuch", "Bash", " read "])
NAMES = st.lists(TOOLS, max_size=3)
LEAVES = st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=6).filter(lambda text: "\0" not in text)
OTHER = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=4,
)
PROFILES = st.sampled_from(["minimal", "coding", "messaging", "full", ""])
BLOCK = st.fixed_dictionaries({}, optional={"allow": NAMES, "deny": NAMES}) | st.fixed_dictionaries(
    {}, optional={"alsoAllow": NAMES, "deny": NAMES}
)
SENDERS = st.dictionaries(KEYS.map(lambda key: f"id:{key}") | st.just("*"), BLOCK, max_size=2)
EXEC = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(["deny", "allowlist", "ask", "auto", "full"]),
        "applyPatch": st.fixed_dictionaries({}, optional={"enabled": st.booleans(), "allowModels": NAMES}),
        "safeBins": NAMES,
        "reviewer": st.dictionaries(KEYS, st.booleans(), max_size=1),
    },
)


def scope(**more: Any) -> Any:
    base = {
        "profile": PROFILES,
        "deny": NAMES,
        "alsoAllow": NAMES,
        "byProvider": st.dictionaries(KEYS, BLOCK, max_size=2),
        "toolsBySender": SENDERS,
        "exec": EXEC,
        "sandbox": st.fixed_dictionaries({}, optional={"tools": BLOCK, "other": OTHER}),
        "fs": st.fixed_dictionaries({}, optional={"workspaceOnly": st.booleans()}),
        "web": OTHER,
    }
    return st.fixed_dictionaries({}, optional={**base, **more})


GROUP = st.fixed_dictionaries(
    {}, optional={"requireMention": st.booleans(), "tools": BLOCK, "toolsBySender": SENDERS, "other": OTHER}
)
GROUPS = st.dictionaries(KEYS | st.just("*"), GROUP, max_size=3)
GUILDS = st.dictionaries(KEYS, st.fixed_dictionaries({}, optional={"slug": KEYS, "tools": BLOCK, "channels": GROUPS}))
MAPS = {"groups": GROUPS, "rooms": GROUPS, "channels": GROUPS, "guilds": GUILDS, "teams": GUILDS}
CHANNEL = st.fixed_dictionaries(
    {},
    optional={
        "enabled": st.booleans(),
        **MAPS,
        "accounts": st.dictionaries(KEYS, st.fixed_dictionaries({}, optional=MAPS), max_size=2),
    },
)
AGENT = st.fixed_dictionaries({}, optional={"name": st.just("A"), "model": OTHER, "tools": scope()})
DOCUMENTS = st.fixed_dictionaries(
    {
        "agents": st.fixed_dictionaries(
            {"ownership": st.just("explicit"), "entries": st.dictionaries(KEYS, AGENT, max_size=3)},
            optional={"defaults": st.fixed_dictionaries({}, optional={"workspace": st.just("~/w"), "x": OTHER})},
        )
    },
    optional={
        "tools": scope(subagents=st.fixed_dictionaries({}, optional={"tools": BLOCK})),
        "channels": st.dictionaries(KEYS, CHANNEL, max_size=2),
        "commands": st.fixed_dictionaries(
            {}, optional={"ownerAllowFrom": st.lists(st.integers(0, 9) | KEYS, max_size=2)}
        ),
        "anything": OTHER,
    },
)


@given(document=DOCUMENTS)
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_document_comes_back_as_it_was_and_decides_as_it_did(environment: Any, document: dict[str, Any]) -> None:
    text = json.dumps(document)
    document_import(environment, text, by=None)
    exported = document_export(environment, secrets="open")
    assert json.dumps(exported) == text
    report = document_import(environment, json.dumps(document_export(environment)), by=None)
    assert report.counts["created"] == report.counts["changed"] == report.counts["deleted"] == 0
    options = {"dialect": "2026.9", "environment": environment.slug, "tools": tool_entries(environment)}
    read = parse_document(document_export(environment), **options)
    read.settings = {**read.settings, "groups": UNPROVEN_GROUPS_REFUSED}  # as every new environment has it
    assert compile_draft(environment).document == build_snapshot(read).document
