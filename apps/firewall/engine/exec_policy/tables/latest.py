"""The tables of OpenClaw 2026.9. Source: conformance README, `exec_approval.jsonl`, rows of kind `dump`."""

from typing import Final

from apps.firewall.engine.exec_policy.line import names
from apps.firewall.engine.exec_policy.tables.packages import PACKAGE_MANAGERS
from apps.firewall.engine.exec_policy.tables.shape import Options, SafeBin, Shells, Tables, Wrapper

SAFE_BINS: Final = {
    "jq": SafeBin(
        max_positional=1,
        value_flags=names("--arg --argjson --argstr"),
        denied_flags=names("--argfile --rawfile --slurpfile --from-file --library-path -L -f"),
    ),
    "grep": SafeBin(
        max_positional=0,
        value_flags=names(
            "--regexp --max-count --after-context --before-context --context --devices --binary-files "
            "--exclude --include --label -e -m -A -B -C -D"
        ),
        denied_flags=names("--file --exclude-from --dereference-recursive --directories --recursive -f -d -r -R"),
    ),
    "cut": SafeBin(
        max_positional=0,
        value_flags=names("--bytes --characters --fields --delimiter --output-delimiter -b -c -f -d"),
        boolean_flags=names("--complement --only-delimited --zero-terminated -n -s -z"),
    ),
    "sort": SafeBin(
        max_positional=0,
        value_flags=names("--key --field-separator --buffer-size --parallel --batch-size -k -t -S"),
        denied_flags=names("--compress-program --files0-from --output --random-source --temporary-directory -T -o"),
    ),
    "uniq": SafeBin(
        max_positional=0,
        value_flags=names("--skip-fields --skip-chars --check-chars --group -f -s -w"),
        boolean_flags=names("--count --repeated --unique --ignore-case --zero-terminated -c -d -u -i -z"),
    ),
    "head": SafeBin(
        max_positional=0,
        value_flags=names("--lines --bytes -n -c"),
        boolean_flags=names("--quiet --silent --verbose --zero-terminated -q -v -z"),
    ),
    "tail": SafeBin(
        max_positional=0,
        value_flags=names("--lines --bytes --sleep-interval --max-unchanged-stats --pid -n -c"),
        boolean_flags=names("--quiet --silent --verbose --zero-terminated -q -v -z"),
        denied_flags=names("--follow --retry -F -f"),
    ),
    "tr": SafeBin(
        min_positional=1,
        max_positional=2,
        boolean_flags=names("--complement --delete --squeeze-repeats --truncate-set1 -C -c -d -s -t"),
    ),
    "wc": SafeBin(
        max_positional=0,
        boolean_flags=names("--bytes --chars --lines --max-line-length --words -L -c -l -m -w"),
        denied_flags=names("--files0-from"),
    ),
}
BLOCKED: Final = (
    "arch bwrap catchsegv chrt chroot cpulimit doas eatmydata firejail gosu ionice linux32 linux64 nsenter numactl "
    "pkexec proot proxychains proxychains4 runuser script setarch setpriv setsid su sudo systemd-run taskset torify "
    "torsocks unbuffer unshare watch xcrun xvfb-run"
)
NICE: Final = Wrapper(options=Options(with_value=names("-n --adjustment --priority")), numbers=True)
NOHUP: Final = Wrapper(options=Options(flags=names("--help --version")), is_exact=True)
STDBUF: Final = Wrapper(options=Options(with_value=names("-i --input -o --output -e --error")))
TIMEOUT: Final = Wrapper(
    options=Options(
        flags=names("--foreground --preserve-status -v --verbose"),
        with_value=names("-k --kill-after -s --signal"),
    ),
    before=1,
)
WRAPPERS: Final = {
    **{name: Wrapper(mode="blocked") for name in BLOCKED.split()},
    "caffeinate": Wrapper(options=Options(flags=names("-d -i -m -s -u"), with_value=names("-t -w"))),
    "env": Wrapper(
        mode="transparent_unless",
        blocked_by="assignment_or_option",
        options=Options(
            flags=names("-0 -i --ignore-environment --null"),
            with_value=names(
                "-C -P -S -s -u --argv0 --block-signal --chdir --default-signal --ignore-signal --split-string --unset"
            ),
            split_string=names("-S -s --split-string"),
        ),
    ),
    "flock": Wrapper(
        options=Options(
            flags=names("-e -F -n -o -s -x --close --exclusive --nb --no-fork --nonblock --shared --verbose"),
            with_value=names("-E -w --conflict-exit-code --timeout --wait"),
        ),
        before=1,
        clusters="eFnsxo",
        minds_case=True,
        checks_command=True,
    ),
    "nice": NICE,
    "nohup": NOHUP,
    "sandbox-exec": Wrapper(options=Options(with_value=names("-f -p -d"))),
    "stdbuf": STDBUF,
    "time": Wrapper(
        mode="transparent_unless",
        blocked_by="output_file",
        options=Options(
            flags=names("-a --append -h --help -l -p -q --quiet -v --verbose -V --version"),
            with_value=names("-f --format -o --output"),
        ),
    ),
    "timeout": TIMEOUT,
}
LATEST: Final = Tables(
    release="2026.9",
    reads_grammar=True,
    matches_real_path=True,
    safe_bin_profiles=SAFE_BINS,
    default_safe_bins=("cut", "uniq", "head", "tail", "tr", "wc"),
    trusted_safe_bin_dirs=("/bin", "/usr/bin"),
    never_safe_bins=names("jq awk gawk mawk nawk sed gsed"),
    only_listed_letters=True,
    safe_builtins=names(": cd false pwd test true ["),
    wrappers=WRAPPERS,
    wrapper_depth=4,
    shells=Shells(
        posix=names("ash bash csh dash elvish fish ksh mksh nu osh sh tcsh xonsh yash zsh"),
        parseable=names("ash bash dash fish ksh mksh sh yash zsh"),
        inline_flags=names("-lc -c --command --commands --cmdline"),
        with_value=names("--init-file --rcfile -O -o +O +o"),
    ),
    argv_carriers={
        "builtin": Wrapper(options=Options(flags=names("-p"))),
        "command": Wrapper(),
        "exec": Wrapper(options=Options(flags=names("-c -l"), with_value=names("-a"))),
    },
    sourcing=names(". source"),
    always_ask=names("eval alias . source xargs"),
    carriers_by_option={"find": names("-exec -execdir -ok -okdir")},
    carrier_names=names("sudo doas env command builtin exec"),
    carrier_options={
        "sudo": Options(
            flags=names(
                "-A -B -b -E -H -i -k -N -n -P -S -s --askpass --background --bell --login --no-update "
                "--non-interactive --preserve-env --preserve-groups --reset-home --reset-timestamp --set-home --shell "
                "--stdin"
            ),
            with_value=names(
                "-C -D -g -h -p -R -T -U -u --chdir --chroot --close-from --command-timeout --group --host "
                "--other-user --prompt --role --type --user"
            ),
        ),
        "doas": Options(flags=names("-L -n -s"), with_value=names("-a -C -u")),
    },
    package_managers=PACKAGE_MANAGERS,
)
