"""The draft read as another release: what would change, before anything does."""

from functools import lru_cache

from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.upgrade import Upgrade, upgrade_of
from apps.policies.compiler import compile_draft_as
from apps.policies.selectors import draft_snapshot
from apps.registry.models import Environment


def releases_beside(environment: Environment) -> tuple[str, ...]:
    """Name the releases that an environment does not speak, the newest first."""
    return tuple(release for release in DIALECTS if release != environment.dialect)


def draft_read_as(environment: Environment, release: str) -> tuple[Snapshot, Snapshot]:
    """Compile the draft as it is, and as another release would read it.

    Raises:
        SnapshotError: the draft has no canonical form.
        ToolInvalidError: the release brings a tool whose name is taken.
        UnknownDialectError: no such release is spoken.
    """
    return draft_snapshot(environment), compile_draft_as(environment, release)


def draft_upgrade(environment: Environment, release: str) -> Upgrade:
    """Say what changes for whom, and by which difference of the releases, if the environment spoke another one.

    Raises:
        As `draft_read_as`.
    """
    return _compared(*draft_read_as(environment, release))


@lru_cache(maxsize=4)
def _compared(old: Snapshot, new: Snapshot) -> Upgrade:
    return upgrade_of(old, new)
