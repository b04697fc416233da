"""Where OpenClaw 2026.2 differs from 2026.9. Source: conformance README, `exec_approval.jsonl`, rows of kind `dump`."""

from dataclasses import replace
from typing import Final

from apps.firewall.engine.exec_policy.line import names
from apps.firewall.engine.exec_policy.tables import latest
from apps.firewall.engine.exec_policy.tables.shape import NOTHING, Options, Shells, Wrapper

BLOCKED: Final = "chrt doas ionice setsid sudo taskset"
OLDER: Final = replace(
    latest.LATEST,
    release="2026.2",
    reads_grammar=False,
    matches_real_path=False,
    safe_bin_profiles={
        name: replace(
            profile,
            boolean_flags=NOTHING,
            denied_flags=NOTHING if name == "tail" else profile.denied_flags,
        )
        for name, profile in latest.SAFE_BINS.items()
    },
    default_safe_bins=("jq", *latest.LATEST.default_safe_bins),
    never_safe_bins=NOTHING,
    only_listed_letters=False,
    safe_builtins=NOTHING,
    wrappers={
        **{name: Wrapper(mode="blocked") for name in BLOCKED.split()},
        "env": Wrapper(
            mode="transparent_unless",
            blocked_by="assignment_or_option",
            options=Options(
                flags=names("-i --ignore-environment -0 --null"),
                with_value=names(
                    "-u --unset -c --chdir -s --split-string --default-signal --ignore-signal --block-signal"
                ),
            ),
        ),
        "nice": latest.NICE,
        "nohup": latest.NOHUP,
        "stdbuf": latest.STDBUF,
        "timeout": latest.TIMEOUT,
    },
    shells=Shells(
        posix=names("ash bash dash fish ksh sh zsh"),
        inline_flags=names("-lc -c --command"),
    ),
    argv_carriers={},
    sourcing=NOTHING,
    always_ask=NOTHING,
    carriers_by_option={},
    carrier_names=NOTHING,
    carrier_options={},
    package_managers={},
)
