"""What another release changes, in words: cause by cause, and agent by agent for commands."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.console.blast import Blast, summed_up
from apps.firewall.engine.upgrade import ExecChange, Upgrade

CAUSES: Final[Mapping[str, tuple[Promise, Promise]]] = {
    "catalogue": (
        _("Tools that OpenClaw brings"),
        _("Each release brings its own list of tools: some exist in one of them only."),
    ),
    "agents": (
        _("Where agents stand"),
        _("2026.9 reads defaults of all agents and wants a call to name its agent; 2026.2 knows neither."),
    ),
    "names": (_("Aliases"), _("Other names mean the same tool: what a list names may match other tools.")),
    "groups": (_("Groups of tools"), _("The same group name stands for other tools.")),
    "profiles": (_("Built-in profiles"), _("The same profile lists other tools.")),
    "owner_only": (
        _("Owner-only tools"),
        _("2026.2 closes them to everybody who is not proven an owner; 2026.9 to those proven not to be one."),
    ),
    "stripping": (
        _("Allow lists without a known tool"),
        _("2026.2 ignores an allow list that names no tool of OpenClaw's; 2026.9 takes it at its word."),
    ),
    "apply_patch": (
        _("Use of apply_patch"),
        _("2026.2 offers it where it is switched on, to some providers; 2026.9 to whoever may write."),
    ),
    "providers": (
        _("Keys of providers"),
        _("The releases differ in how a provider and a model are written, and in which of two spellings counts."),
    ),
    "sandbox": (_("Policy inside the sandbox"), _("Other tools are allowed and denied there by default.")),
    "subagents": (
        _("Policy of sub-agents"),
        _("Other tools are taken from them, and they become leaves at another depth."),
    ),
    "sender_layer": (
        _("Rules by sender"),
        _("2026.9 has a layer for rules by sender, and another order of layers; 2026.2 does not read these rules."),
    ),
    "conversations": (
        _("How conversations are recognised"),
        _("The releases read session keys and groups differently, so other group rules hold."),
    ),
    "transports": (
        _("Ways in"),
        _("Other tools are kept from some message providers and from the HTTP door of the gateway."),
    ),
}
"""Cause -> its title, and what the releases do differently."""
WORDS: Final[Mapping[str, Promise]] = {
    "security": _("Security"),
    "ask": _("Ask"),
    "askFallback": _("When nobody answers"),
    "host": _("Host"),
    "elevated": _("Elevated"),
    "refusal": _("Refused because"),
}


@dataclass(frozen=True, slots=True)
class CauseShown:
    """One cause with what it changes."""

    key: str
    title: Promise
    text: Promise
    blast: Blast


@dataclass(frozen=True, slots=True)
class CommandShown:
    """Agents for whose commands the same words change: name, before, after."""

    agents: tuple[str, ...]
    sandboxed: bool
    words: tuple[tuple[Promise | str, str, str], ...]


@dataclass(frozen=True, slots=True)
class UpgradeShown:
    blast: Blast
    causes: tuple[CauseShown, ...]
    commands: tuple[CommandShown, ...]


def upgrade_shown(upgrade: Upgrade) -> UpgradeShown:
    """Sum up an upgrade for a page."""
    causes = (CauseShown(share.cause, *CAUSES[share.cause], summed_up(share.diff)) for share in upgrade.shares)
    return UpgradeShown(summed_up(upgrade.diff), tuple(causes), tuple(map(_command, upgrade.commands)))


def _command(change: ExecChange) -> CommandShown:
    words = tuple((WORDS.get(word.name, word.name), word.before, word.after) for word in change.words)
    return CommandShown(change.agents, change.sandboxed, words)
