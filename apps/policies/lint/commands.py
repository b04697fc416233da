"""Allowlists of the exec tool: entries that match nothing, or too much, and what nobody reads."""

import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.engine.exec_policy.line import names
from apps.firewall.engine.exec_policy.patterns import is_anchored, pattern_fault
from apps.firewall.engine.exec_policy.remembered import REMEMBERED, is_folder_bound, is_inactive
from apps.policies.document.approvals import AGENT_KEYS, DOCUMENT_KEYS, ENTRY_KEYS, WORDS, unknown_agent, unread_keys
from apps.policies.lint.draft import Draft
from apps.policies.lint.reach import Remark

BUILTINS: Final = names(
    ": . alias bg builtin cd command declare dirs disown enable eval exec exit export fc fg getopts hash jobs let "
    "local popd pushd read readonly return set shift shopt source suspend trap type typeset ulimit umask unalias unset "
    "wait"
)
"""Commands of the shell that are no files."""


def allowlist_remarks(draft: Draft) -> Iterator[Remark]:
    """Review the exec approvals document."""
    yield from _unread(draft)
    for entry in draft.records("allowlist"):
        pattern = entry.pattern.strip()
        if pattern == "*" or (pattern.strip("/*") == "" and "**" in pattern):
            message = _("the pattern `%(pattern)s` lets every command run") % {"pattern": pattern}
            yield entry, "allows_every_command", "warning", message
        if is_inactive(pattern, entry.arg_pattern, entry.source):
            message = _("an answer that OpenClaw remembered is not carried over: it admits nothing here")
            yield entry, "not_carried_over", "warning", message
            continue
        if entry.source == REMEMBERED or is_folder_bound(entry.arg_pattern):
            continue
        nothing = _matches_nothing(pattern)
        if nothing:
            yield entry, "matches_nothing", "warning", nothing
        if entry.arg_pattern is None:
            continue
        fault = pattern_fault(entry.arg_pattern)
        if fault:
            message = _("the argument pattern cannot be used, so the entry matches nothing: %(fault)s") % {
                "fault": fault
            }
            yield entry, "bad_pattern", "warning", message
            continue
        if not is_anchored(entry.arg_pattern):
            message = _("the argument pattern is not anchored with `^` and `$`: further arguments pass")
            yield entry, "unanchored_pattern", "warning", message


def _matches_nothing(pattern: str) -> str:
    """Say why a pattern of a program can match none; empty where it may."""
    if pattern.startswith("*/"):
        return _("`*` does not cross `/` and paths begin with one, so this matches nothing: write `**%(rest)s`") % {
            "rest": pattern[1:]
        }
    program, _blank, arguments = pattern.partition(" ")
    if arguments and _is_command(pattern, program, arguments):
        return _(
            "a pattern names a program alone, so `%(pattern)s` matches nothing: write `%(program)s`, and what may "
            "follow it in `argPattern`"
        ) % {"pattern": pattern, "program": program}
    name = posixpath.basename(pattern)
    if name in BUILTINS and "/" in pattern and not Path(pattern).exists():
        return _("`%(name)s` is a command of the shell and no file, so a path matches nothing") % {"name": name}
    return ""


def _is_command(pattern: str, program: str, arguments: str) -> bool:
    """Say whether a pattern with a blank is a command, and no path of a folder with a blank in its name."""
    if Path(pattern).exists():
        return False
    return not pattern.startswith(("/", "~", "*")) or ("/" not in arguments and Path(program).is_file())


def _unread(draft: Draft) -> Iterator[Remark]:
    """Find what the document holds and OpenClaw does not read, and agents that nobody is."""
    for kind, known in (("approvals", DOCUMENT_KEYS), ("approvals_agent", AGENT_KEYS), ("allowlist", ENTRY_KEYS)):
        for record in draft.records(kind):
            for _key, message in unread_keys(record.extra, known):
                yield record, "unread_key", "warning", message
            for _key, message in unread_keys(_defaults_of(record), WORDS) if kind == "approvals" else ():
                yield record, "unread_key", "warning", message
    agents = {agent.key for agent in draft.records("agent")}
    for record in draft.records("approvals_agent"):
        message = unknown_agent(record.key, agents)
        if message:
            yield record, "unknown_agent", "warning", message


def _defaults_of(record: Any) -> Any:
    return record.extra.get("defaults") if isinstance(record.extra, dict) else None
