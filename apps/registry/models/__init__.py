"""What exists in each environment, and where it was found."""

from apps.registry.models.discovery import (
    DefinitionDrift,
    DiscoveryRun,
    DiscoverySource,
    DriftState,
    OnDrift,
    OnNew,
    RunState,
    SourceKind,
)
from apps.registry.models.hooks import (
    Hook,
    HookFailure,
    HookFailureKind,
    HookKind,
    HookMoment,
    HookPolicy,
    HookTally,
)
from apps.registry.models.records import (
    OFFERED_STATES,
    RELEASES,
    Environment,
    Plugin,
    Tool,
    ToolGroup,
    ToolSource,
    ToolState,
    slug_validator,
)

__all__ = [
    "OFFERED_STATES",
    "RELEASES",
    "DefinitionDrift",
    "DiscoveryRun",
    "DiscoverySource",
    "DriftState",
    "Environment",
    "Hook",
    "HookFailure",
    "HookFailureKind",
    "HookKind",
    "HookMoment",
    "HookPolicy",
    "HookTally",
    "OnDrift",
    "OnNew",
    "Plugin",
    "RunState",
    "SourceKind",
    "Tool",
    "ToolGroup",
    "ToolSource",
    "ToolState",
    "slug_validator",
]
