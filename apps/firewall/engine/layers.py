"""The ordered layers of a decision: what each is called, and where its rules stand.

Their order is the dialect's (`Dialect.layers`); this table says the rest.
Source: conformance README, "Layer order" and "Warnings".
"""

from dataclasses import dataclass
from typing import Final

from apps.firewall.engine.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer.

    Attributes:
        key: the name in code.
        label: the recorded name for people; `{agent}` and `{profile}` are filled in.
        path: where its block stands, in the words of `openclaw.json`.
        examined: its allow list is searched for names that nothing has.
        is_gate: it stands before the recorded layers and removes candidates; OpenClaw does the same while it builds
            the list of tools.
    """

    key: str
    label: str
    path: str
    examined: bool = False
    is_gate: bool = False


LAYERS: Final[dict[str, Layer]] = {
    layer.key: layer
    for layer in (
        Layer("optional", "optional tools", "allow lists", is_gate=True),
        Layer("apply_patch", "tools.exec.applyPatch", "{path}", is_gate=True),
        Layer("transport", "message provider tools", "built-in list of {channel}", is_gate=True),
        Layer("profile", "tools.profile ({profile})", "{scope}.profile {profile}", examined=True),
        Layer(
            "provider_profile",
            "tools.byProvider.profile ({profile})",
            "{scope}.byProvider.{provider}.profile {profile}",
            examined=True,
        ),
        Layer("global", "tools.allow", "tools", examined=True),
        Layer("global_provider", "tools.byProvider.allow", "tools.byProvider.{provider}", examined=True),
        Layer("agent", "agents.{agent}.tools.allow", "agents.{agent}.tools", examined=True),
        Layer(
            "agent_provider",
            "agents.{agent}.tools.byProvider.allow",
            "agents.{agent}.tools.byProvider.{provider}",
            examined=True,
        ),
        Layer("group", "group tools.allow", "channels.{channel}", examined=True),
        Layer("sender", "tools.toolsBySender", "{scope}.toolsBySender.{sender}", examined=True),
        Layer("sandbox", "sandbox tools.allow", "tools.sandbox.tools"),
        Layer("owner_only", "gateway sender owner-only tools", "built-in owner-only list"),
        Layer("subagent", "subagent tools.allow", "tools.subagents.tools"),
        Layer("runtime", "runtime tools.allow", "runtime tools"),
        Layer("inherited", "inherited tools", "tools inherited at spawn"),
    )
}

GATE_OWNER_ONLY: Final = Layer("owner_only", "owner-only", "built-in owner-only list", is_gate=True)
"""The owner's layer of a release that removes candidates first."""


def layers_of(dialect: Dialect, *, with_optional: bool = False) -> tuple[Layer, ...]:
    """Return every layer of a release in the order of evaluation, gates first.

    Args:
        with_optional: there are optional tools, so the gate that holds them back comes first. It is no recorded layer
            and has the number 0.
    """
    owner = GATE_OWNER_ONLY if dialect.owner_unknown_is_stranger else LAYERS["owner_only"]
    return (
        *((LAYERS["optional"],) if with_optional else ()),
        LAYERS["apply_patch"],
        LAYERS["transport"],
        *(owner if key == "owner_only" else LAYERS[key] for key in dialect.layers),
    )
