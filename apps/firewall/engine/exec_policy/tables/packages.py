"""Package managers that run a command, in OpenClaw 2026.9.

Source: conformance README, `exec_approval.jsonl`, dump `package_managers`.
"""

from typing import Final

from apps.firewall.engine.exec_policy.line import names
from apps.firewall.engine.exec_policy.tables.shape import Options, PackageManager

_NPM: Final = "--cache --loglevel --package --prefix --script-shell --userconfig --workspace -p -w"
_NPM_FLAGS: Final = names("--no --quiet --ws --workspaces --yes -q -y")
_NPM_BLOCKING: Final = names(
    "--cache --package --prefix --script-shell --userconfig --workspace -p -w -C --ws --workspaces"
)
_NPM_EXEC: Final = Options(with_value=names(_NPM), flags=_NPM_FLAGS)
_NPX: Final = PackageManager(after={"": _NPM_EXEC}, blocking=_NPM_BLOCKING)
_PNPM: Final = (
    "--config --dir --filter --reporter --stream --test-pattern --workspace-concurrency --allow-build --package -p"
)
_PNPM_FLAGS: Final = names("--aggregate-output --color --parallel --recursive --silent --workspace-root -r -s -w")
_SCRIPTS: Final = names("restart run start stop test")

PACKAGE_MANAGERS: Final = {
    "npm": PackageManager(
        subcommands=names("exec x"),
        before=Options(with_value=names(f"{_NPM} -C"), flags=_NPM_FLAGS),
        after={"exec": _NPM_EXEC, "x": _NPM_EXEC},
        blocking=_NPM_BLOCKING,
    ),
    "npx": _NPX,
    "bunx": _NPX,
    "pnpm": PackageManager(
        subcommands=names("exec dlx node"),
        before=Options(with_value=names(f"{_PNPM} -C"), flags=_PNPM_FLAGS),
        after={"dlx": Options(with_value=names(_PNPM), flags=_PNPM_FLAGS)},
        blocking=names("--allow-build --config --dir --filter --package -p -C --recursive --workspace-root -r -w"),
        implied={"node": "node"},
        known=_SCRIPTS
        | names(
            "add audit bin config dedupe deploy help import init install licenses link list outdated patch prune "
            "publish rebuild remove root server store unlink update view why"
        ),
    ),
    "yarn": PackageManager(
        subcommands=names("exec dlx"),
        before=Options(with_value=names("--cwd --package -p"), flags=names("--immutable --silent -s --quiet -q")),
        after={"dlx": Options(with_value=names("--package -p"), flags=names("--quiet -q"))},
        blocking=names("--cwd --package -p"),
        known=names(
            "add audit autoclean bin cache check config create dedupe generate-lock-entry global help import info "
            "init install licenses link list login logout outdated owner pack policies prune publish remove "
            "self-update tag team unlink upgrade upgrade-interactive version versions why workspace"
        ),
    ),
}
