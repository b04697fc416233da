"""Adapter of the area `exec_approval`: a made-up file system, and the analysis of one line."""

import posixpath
from collections.abc import Mapping
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.exec_policy.analysis import Analysis, Analyst, Lists, Segment, groups
from apps.firewall.engine.exec_policy.index import AllowEntry
from apps.firewall.engine.exec_policy.modes import max_ask, min_security, requires_approval
from apps.firewall.engine.exec_policy.safe_bins import arguments_are_safe, is_ever_safe, read_profiles, safe_bin_names
from apps.firewall.engine.exec_policy.tables import Tables, exec_tables
from apps.firewall.engine.exec_policy.where import Where
from apps.firewall.engine.names import fold
from apps.firewall.shell.reader import READER

_LINKS: Final = 40


class _RecordedFiles:
    """The files of a vector, in place of a disk."""

    def __init__(self, files: Mapping[str, Any]) -> None:
        self._programs = frozenset(files.get("executables", ()))
        self._links = files.get("symlinks", {})

    def is_program(self, path: str) -> bool:
        return self.real_path(path) in self._programs

    def real_path(self, path: str) -> str:
        path = posixpath.normpath(path)
        for _ in range(_LINKS):
            if path not in self._links:
                break
            path = posixpath.normpath(posixpath.join(posixpath.dirname(path), self._links[path]))
        return path


def security(_dialect: Dialect, given: Mapping[str, Any]) -> str:
    """Answer `min_security`."""
    return min_security(given["a"], given["b"])


def ask(_dialect: Dialect, given: Mapping[str, Any]) -> str:
    """Answer `max_ask`."""
    return max_ask(given["a"], given["b"])


def required(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, bool]:
    """Answer `requires_approval`; the older release knows no standing approval of one command."""
    is_durable = bool(given.get("durableApprovalSatisfied")) and exec_tables(dialect.release).reads_grammar
    return {
        "required": requires_approval(
            given["ask"],
            given["security"],
            is_satisfied=given["analysisOk"] and given["allowlistSatisfied"],
            is_durably_allowed=is_durable,
        )
    }


def safe_bin(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, bool]:
    """Answer `safe_bin_argv`."""
    tables = exec_tables(dialect.release)
    profile = tables.safe_bin_profiles.get(given["bin"])
    is_safe = (
        profile is not None
        and is_ever_safe(given["bin"], tables)
        and arguments_are_safe(given["args"], profile, tables)
    )
    return {"profiled": profile is not None, "ok": is_safe}


def command(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `command`."""
    tables = exec_tables(dialect.release)
    analyst = Analyst(
        shell=READER,
        files=_RecordedFiles(given["files"]),
        where=_where(given),
        tables=tables,
        lists=_lists(given, tables),
    )
    return _answer(analyst.analyse(given["command"]), tables)


def _where(given: Mapping[str, Any]) -> Where:
    folders = tuple(folder for folder in given["env"].get("PATH", "").split(":") if folder)
    return Where(cwd=given["cwd"], workspace=given["cwd"], home=given["home"], search_path=folders)


def _lists(given: Mapping[str, Any], tables: Tables) -> Lists:
    entries = [
        AllowEntry(pattern=entry["pattern"], arg_pattern=entry.get("argPattern"), source=entry.get("source", ""))
        for entry in given["allowlist"]
    ]
    skills = given.get("skillBins", ()) if given.get("autoAllowSkills") is True else ()
    return Lists(
        entries=tuple(entries),
        safe_bins=safe_bin_names(given["safeBins"], tables),
        profiles=read_profiles(given.get("safeBinProfiles"), tables),
        trusted_folders=tuple(given["trustedSafeBinDirs"]),
        skills=frozenset((fold(skill["name"]), posixpath.normpath(skill["resolvedPath"])) for skill in skills),
    )


def _answer(analysis: Analysis, tables: Tables) -> dict[str, Any]:
    is_ok = not analysis.fault
    weighed = analysis.segments[: analysis.weighed]
    answer: dict[str, Any] = {
        "analysisOk": is_ok,
        "allowlistSatisfied": analysis.is_satisfied,
        "approvalNeededOnMiss": requires_approval("on-miss", "allowlist", is_satisfied=is_ok and analysis.is_satisfied),
        "satisfiedBy": [segment.satisfied_by for segment in weighed],
        "matchedPatterns": [segment.entry.pattern for segment in weighed if segment.entry],
        "argv": [list(segment.command.argv) for segment in analysis.segments],
        "segments": [_segment(segment, tables) for segment in analysis.segments],
    }
    if not is_ok:
        answer["reason"] = analysis.fault
    elif tables.reads_grammar:
        answer["operators"] = groups(analysis.segments)
        answer["trustModes"] = [segment.trust for segment in analysis.segments]
    return answer


def _segment(segment: Segment, tables: Tables) -> dict[str, Any]:
    unwrapped, program = segment.unwrapped, segment.target
    shown: dict[str, Any] = {
        "raw": segment.command.text,
        "argv": list(segment.command.argv),
        "resolvedPath": program.path or None,
        "executableName": program.name,
        "effectiveArgv": list(unwrapped.argv),
        "wrapperChain": list(unwrapped.chain),
        "policyBlocked": bool(unwrapped.blocked_by),
    }
    if segment.program.path and segment.program.path != program.path:
        shown["policyPath"] = segment.program.path
    if unwrapped.blocked_by:
        shown["blockedWrapper"] = unwrapped.blocked_by
    if tables.matches_real_path and program.path and program.real_path != program.path:
        shown["realPath"] = program.real_path
    return shown
