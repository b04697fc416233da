"""The tables of both releases against the recorded ones, row by row."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.engine.exec_policy.tables import Tables, exec_tables
from apps.firewall.engine.exec_policy.tables.shape import Options, PackageManager, Wrapper

VECTORS = Path(__file__).parents[3] / "conformance" / "exec_approval.jsonl"
ROWS = [row for row in map(json.loads, VECTORS.read_text().splitlines()) if row["kind"] == "dump"]
DUMPS = {row["input"]["what"]: row for row in ROWS}
READ_ELSEWHERE = {"interpreter_like", "inline_eval_flags", "inline_eval_positional", "limits", "shell_risks"}


def _options(options: Options) -> dict[str, set[str]]:
    named = {"flags": options.flags, "withValue": options.with_value, "splitString": options.split_string}
    return {name: set(flags) for name, flags in named.items() if flags}


def _read(options: Any) -> dict[str, set[str]]:
    known = ("flags", "withValue", "splitString")
    return {name: set(flags) for name, flags in (options or {}).items() if name in known}


def _wrapper(name: str, wrapper: Wrapper) -> dict[str, Any]:
    shown: dict[str, Any] = {"mode": wrapper.mode}
    if wrapper.blocked_by:
        shown["blockedBy"] = wrapper.blocked_by
    if _options(wrapper.options) or wrapper.before:
        shown["options"] = _options(wrapper.options)
    if wrapper.before:
        shown["before"] = wrapper.before
    return shown


def _wrappers(tables: Tables, recorded: Any) -> tuple[Any, Any]:
    wanted = {}
    for name, each in recorded.items():
        wanted[name] = {key: value for key, value in each.items() if key != "options"}
        if "options" in each:
            wanted[name]["options"] = _read(each["options"])
            if "positionalsBeforeCommand" in each["options"]:
                wanted[name]["before"] = each["options"]["positionalsBeforeCommand"]
    return {name: _wrapper(name, each) for name, each in tables.wrappers.items()}, wanted


def _safe_bins(tables: Tables, recorded: Any) -> tuple[Any, Any]:
    ours = {
        name: (each.min_positional, each.max_positional, each.value_flags, each.boolean_flags, each.denied_flags)
        for name, each in tables.safe_bin_profiles.items()
    }
    wanted = {
        name: (
            each.get("minPositional", 0),
            each["maxPositional"],
            set(each["allowedValueFlags"]),
            set(each.get("allowedBooleanFlags", ())),
            set(each["deniedFlags"]),
        )
        for name, each in recorded.items()
    }
    return ours, wanted


def _shells(tables: Tables, recorded: Any) -> tuple[Any, Any]:
    shells = tables.shells
    ours = {
        "posix": shells.posix,
        "parseable": shells.parseable,
        "optionsWithSeparateValue": shells.with_value,
        "windows": shells.windows,
        "multiplexers": shells.multiplexers,
        "posixInlineFlags": shells.inline_flags,
    }
    return ours, {name: set(recorded.get(name, ())) for name in ours}


def _managers(tables: Tables, recorded: Any) -> tuple[Any, Any]:
    return (
        {name: _manager(each) for name, each in tables.package_managers.items()},
        {name: _recorded_manager(each) for name, each in recorded.items()},
    )


def _manager(manager: PackageManager) -> dict[str, Any]:
    return {
        "subcommands": set(manager.subcommands),
        "before": _options(manager.before),
        "after": {name: _options(options) for name, options in manager.after.items()},
        "blocking": set(manager.blocking),
        "known": None if manager.known is None else set(manager.known),
    }


def _recorded_manager(recorded: Any) -> dict[str, Any]:
    before = recorded.get("before", {})
    shared = recorded.get("after")
    subcommands = set(recorded.get("subcommands", ()))
    if shared is not None:
        after = {name: _read(shared) for name in subcommands or {""}}
    else:
        after = {"dlx": _read(recorded["dlx"])}
    other = recorded.get("dlx", {})
    known = set(recorded.get("scripts", ())) | set(recorded.get("nonExecuting", ()))
    return {
        "subcommands": subcommands,
        "before": _read(before),
        "after": after,
        "blocking": {*recorded.get("blocking", ()), *before.get("blocking", ()), *other.get("blocking", ())},
        "known": known or None,
    }


def _carriers(tables: Tables, recorded: Any) -> tuple[Any, Any]:
    ours = (
        tables.carrier_names - set(tables.argv_carriers) | {"command", "builtin"},
        tables.sourcing,
        _options(tables.argv_carriers["exec"].options),
        {name: _options(options) for name, options in tables.carrier_options.items()},
    )
    options = {name: _read(recorded["options"][name]) for name in ("sudo", "doas")}
    return ours, (set(recorded["names"]), set(recorded["sourcing"]), _read(recorded["options"]["exec"]), options)


COMPARED: dict[str, Callable[[Tables, Any], tuple[Any, Any]]] = {
    "safe_bin_profiles": _safe_bins,
    "default_safe_bins": lambda tables, recorded: (list(tables.default_safe_bins), recorded),
    "default_trusted_safe_bin_dirs": lambda tables, recorded: (list(tables.trusted_safe_bin_dirs), recorded),
    "never_safe_bins": lambda tables, recorded: (tables.never_safe_bins, set(recorded)),
    "safe_builtins": lambda tables, recorded: (tables.safe_builtins, set(recorded)),
    "dispatch_wrappers": _wrappers,
    "shell_wrappers": _shells,
    "argv_carriers": lambda tables, recorded: (set(tables.argv_carriers), set(recorded)),
    "command_carriers": _carriers,
    "package_managers": _managers,
}


@pytest.mark.parametrize("release", ["2026.9", "2026.2"])
@pytest.mark.parametrize("what", sorted(COMPARED))
def test_a_table_is_the_recorded_one(what: str, release: str) -> None:
    row = DUMPS[what]
    if release not in row.get("versions", [release]):
        pytest.skip("that release has no such table")
    recorded = row.get("expect_2026_2", row["expect"]) if release == "2026.2" else row["expect"]
    ours, wanted = COMPARED[what](exec_tables(release), recorded)

    assert ours == wanted


def test_the_limits_are_the_recorded_ones_and_no_table_is_forgotten() -> None:
    limits, tables = DUMPS["limits"]["expect"], exec_tables("2026.9")

    assert tables.wrapper_depth == exec_tables("2026.2").wrapper_depth == limits["wrapperDepth"]
    assert tables.shell_inline_depth == limits["shellInlineDepth"]
    assert tables.package_manager_depth == limits["packageManagerDepth"]
    assert set(DUMPS) == READ_ELSEWHERE | set(COMPARED)
