"""The two releases of OpenClaw whose policy this engine speaks, and every difference between them.

A function of the engine that behaves differently from release to release takes a `Dialect` and reads its fields; no
other module compares a release's name. Reference tables come from the `catalogue_…` modules.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType, ModuleType
from typing import Any, Final

from apps.firewall.engine import (
    catalogue_2026_2,
    catalogue_2026_9,
    document_keys_2026_2,
    document_keys_2026_9,
)
from apps.firewall.engine.known_keys import KnownObject, read_table
from apps.firewall.errors import FirewallError

EVERYTHING_OF_OPENCLAW: Final = "group:openclaw"
PLUGIN_GROUP: Final = "group:plugins"


class UnknownDialectError(FirewallError):
    """No release of that name is spoken."""

    code = "unknown_dialect"


@dataclass(frozen=True, slots=True)
class CatalogueTool:
    """A tool that OpenClaw itself brings."""

    name: str
    label: str
    section: str
    profiles: tuple[str, ...]
    in_openclaw_group: bool


@dataclass(frozen=True, slots=True)
class ProfilePolicy:
    """What a profile allows and denies; `allow` None restricts nothing."""

    allow: tuple[str, ...] | None
    deny: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One release: its reference tables, then the rules in which it differs from the other."""

    release: str
    recorded_version: str  # of the package whose answers are recorded

    # --- reference tables ---
    catalogue: tuple[CatalogueTool, ...]
    sections: Mapping[str, str]  # id -> label, in the order of pages
    groups: Mapping[str, tuple[str, ...]]  # in order
    profiles: Mapping[str, ProfilePolicy]  # in order
    aliases: Mapping[str, str]
    renames: Mapping[str, str]
    families: Mapping[str, tuple[str, ...]]
    owner_only: tuple[str, ...]
    sandbox_allow: tuple[str, ...]
    sandbox_deny: tuple[str, ...]
    subagent_deny_always: tuple[str, ...]
    subagent_deny_leaf: tuple[str, ...]
    gateway_http_deny: tuple[str, ...]
    message_provider_deny: Mapping[str, tuple[str, ...]]
    message_provider_allow: Mapping[str, tuple[str, ...]]
    channel_aliases: Mapping[str, str]
    resolver_location: Mapping[str, str]
    sender_prefixes: tuple[str, ...]  # cut from sender identities, before a colon
    document_keys: KnownObject  # what is read in `openclaw.json`

    # --- the pipeline ---
    layers: tuple[str, ...]  # keys of the layers, in the order of evaluation
    apply_patch_companion: str  # whoever may use this tool may use apply_patch
    owner_unknown_is_stranger: bool  # owner-only tools need a proven owner, instead of a proven stranger
    owner_flag_counts: bool  # a tool's own `ownerOnly` counts beside the list of names
    agent_entries: bool  # `agents.entries` and `agents.defaults.tools` are known
    agent_required: bool  # without an agent, several configured ones are an error
    model_key_with_provider: bool  # the model key is always provider/model
    provider_last_spelling_wins: bool  # of several spellings of a provider key; else the normal form, then the first
    plugin_ids_trimmed: bool  # a list names a plugin whose id is written with blanks around it
    optional_by_pattern: bool  # `*` and patterns in allow lists name optional tools, too
    unknown_allowlist_dropped: bool  # an allow list that names no core tool is ignored

    # --- sandbox and sub-agents ---
    sandbox_also_allow: bool  # `alsoAllow` is known there, and allowed names leave the default deny list
    sandbox_image_tool: str  # joins a restricting allow list that has not heard of it
    sandbox_image_old_name: str | None  # a deny list that matches it denies the image tool, too
    max_spawn_depth: int  # a sub-agent this deep is a leaf unless configured otherwise
    subagent_allow_lifts_deny: bool  # a configured name leaves the built-in deny list

    # --- groups and senders ---
    sender_channel_keys: bool  # sender keys of the form channel:<channel>:<id>
    sender_policy_mode: bool  # a caller may switch rules by sender off
    direct_channels: tuple[str, ...]  # channels with rules for direct chats
    group_candidates: bool  # several group ids are tried, from the most specific on
    group_keys_trimmed: bool  # where case is ignored, so are blanks around a key
    empty_account_groups_count: bool  # an account's empty map replaces the channel's even when it is the only account
    caller_group_unchecked: bool  # a caller's group and channel are believed before those of the session key

    # --- apply_patch ---
    apply_patch_opt_in: bool  # offered only when switched on, and only for `apply_patch_providers`
    apply_patch_providers: tuple[str, ...]

    # --- settings of commands ---
    exec_host_default: str  # where nothing is configured
    exec_security_default: str  # outside a sandbox; inside it is `deny` in both
    exec_ask_default: str
    approvals_security_default: str  # of the exec approvals document
    approvals_ask_default: str
    approvals_nobody: str  # the entry of a call without an agent
    approvals_words_trimmed: bool  # words with blanks around them count, and `default` lends `main` its list only
    approvals_entries_by_arguments: bool  # entries with one pattern and different arguments are two
    exec_modes: bool  # `mode` stands for a pair of security and ask
    exec_host_strict: bool  # an unknown host in a call is an error instead of nothing
    exec_call_security: bool  # a call may ask for a stricter security
    exec_chat_keeps_off: bool  # a call from a chat cannot ask to be asked about where nobody is asked
    exec_host_denied: bool  # a configured `deny` holds in the sandbox, too
    elevated_lifts_settings: bool  # elevated `full` needs no settings that allow it, and leads to the gateway always
    elevated_from_needs_direct: bool  # where a message came from is its sender in a direct conversation only
    sender_slug_ascii: bool  # other letters than a to z are cut from names that are compared

    # --- session keys ---
    key_case_ignored: bool  # keys are read in lower case (opaque ids apart), and empty segments count
    key_agent_strict: bool  # a malformed key, or one without agent and default, is refused instead of meaning `main`
    key_leading_subagent_counts: bool  # `subagent:` at the very start is a level, too
    key_topic_is_thread: bool  # `:topic:` marks a thread as `:thread:` does, and the group is the part before it
    key_chat_type_by_place: bool  # the kind of chat is read from its place in the key; else from any segment
    cron_run_open_ended: bool  # a run of a cron job may be followed by further segments

    @property
    def key_reading(self) -> tuple[str, bool]:
        """What tells apart how session keys are read: two dialects with the same read them alike, mixed ones too."""
        return self.release, self.key_case_ignored


# the labels of both releases; the older one has no labels of its own
_SECTION_LABELS: Final = {
    "fs": "Files",
    "runtime": "Runtime",
    "web": "Web",
    "memory": "Memory",
    "sessions": "Sessions",
    "ui": "UI",
    "messaging": "Messaging",
    "automation": "Automation",
    "nodes": "Nodes",
    "agents": "Agents",
    "media": "Media",
}


def _sections(catalogue: tuple[CatalogueTool, ...]) -> dict[str, str]:
    return {tool.section: _SECTION_LABELS[tool.section] for tool in catalogue}


def _catalogue(rows: tuple[tuple[str, str, str, bool], ...]) -> tuple[CatalogueTool, ...]:
    return tuple(
        CatalogueTool(name, name, section, tuple(profiles.split()), everything)
        for name, section, profiles, everything in rows
    )


def _groups(catalogue: tuple[CatalogueTool, ...]) -> dict[str, tuple[str, ...]]:
    """Return the group of everything, then one group a section."""
    groups = {EVERYTHING_OF_OPENCLAW: tuple(tool.name for tool in catalogue if tool.in_openclaw_group)}
    for section in dict.fromkeys(tool.section for tool in catalogue):
        groups[f"group:{section}"] = tuple(tool.name for tool in catalogue if tool.section == section)
    return groups


def _profiles(catalogue: tuple[CatalogueTool, ...], extras: Mapping[str, tuple[str, ...]]) -> dict[str, ProfilePolicy]:
    profiles = {}
    for profile, extra in extras.items():
        allow = (*(tool.name for tool in catalogue if profile in tool.profiles), *extra)
        profiles[profile] = ProfilePolicy(allow or None)
    return profiles


def _tables(source: ModuleType) -> dict[str, Any]:
    """Return the reference tables of one `catalogue_…` module as fields of a dialect."""
    catalogue = _catalogue(source.TOOLS)
    return {
        "catalogue": catalogue,
        "sections": MappingProxyType(_sections(catalogue)),
        "groups": MappingProxyType(_groups(catalogue)),
        "profiles": MappingProxyType(_profiles(catalogue, source.PROFILES)),
        "aliases": MappingProxyType(source.ALIASES),
        "renames": MappingProxyType(source.RENAMES),
        "families": MappingProxyType(source.FAMILIES),
        "owner_only": tuple(source.OWNER_ONLY.split()),
        "sandbox_allow": tuple(source.SANDBOX_DEFAULT_ALLOW.split()),
        "sandbox_deny": tuple(source.SANDBOX_DEFAULT_DENY.split()),
        "subagent_deny_always": tuple(source.SUBAGENT_DENY_ALWAYS.split()),
        "subagent_deny_leaf": tuple(source.SUBAGENT_DENY_LEAF.split()),
        "gateway_http_deny": tuple(source.GATEWAY_HTTP_DEFAULT_DENY.split()),
        "message_provider_deny": MappingProxyType(source.MESSAGE_PROVIDER_DENY),
        "message_provider_allow": MappingProxyType(source.MESSAGE_PROVIDER_ALLOW),
        "channel_aliases": MappingProxyType(source.CHANNEL_ALIASES),
        "resolver_location": MappingProxyType(source.RESOLVER_LOCATION),
        "sender_prefixes": tuple(source.SENDER_PREFIXES.split()),
    }


_RELEASE_2026_9: Final = Dialect(
    release="2026.9",
    recorded_version="2026.9.6",
    **_tables(catalogue_2026_9),
    document_keys=read_table(document_keys_2026_9.KEYS),
    layers=(
        "profile",
        "provider_profile",
        "global",
        "global_provider",
        "agent",
        "agent_provider",
        "group",
        "sender",
        "sandbox",
        "owner_only",
        "subagent",
        "runtime",
        "inherited",
    ),
    apply_patch_companion="write",
    owner_unknown_is_stranger=False,
    owner_flag_counts=False,
    agent_entries=True,
    agent_required=True,
    model_key_with_provider=True,
    provider_last_spelling_wins=False,
    plugin_ids_trimmed=True,
    optional_by_pattern=True,
    unknown_allowlist_dropped=False,
    sandbox_also_allow=True,
    sandbox_image_tool="view_image",
    sandbox_image_old_name="image",
    max_spawn_depth=5,
    subagent_allow_lifts_deny=False,
    sender_channel_keys=True,
    sender_policy_mode=True,
    direct_channels=("telegram",),
    group_candidates=True,
    group_keys_trimmed=True,
    empty_account_groups_count=False,
    caller_group_unchecked=False,
    apply_patch_opt_in=False,
    apply_patch_providers=(),
    exec_host_default="auto",
    exec_security_default="full",
    exec_ask_default="off",
    approvals_security_default="full",
    approvals_ask_default="off",
    approvals_nobody="default",
    approvals_words_trimmed=True,
    approvals_entries_by_arguments=True,
    exec_modes=True,
    exec_host_strict=True,
    exec_call_security=False,
    exec_chat_keeps_off=True,
    exec_host_denied=True,
    elevated_lifts_settings=False,
    elevated_from_needs_direct=True,
    sender_slug_ascii=False,
    key_case_ignored=True,
    key_agent_strict=True,
    key_leading_subagent_counts=True,
    key_topic_is_thread=False,
    key_chat_type_by_place=True,
    cron_run_open_ended=True,
)

_RELEASE_2026_2: Final = Dialect(
    release="2026.2",
    recorded_version="2026.2.25",
    **_tables(catalogue_2026_2),
    document_keys=read_table(document_keys_2026_2.KEYS),
    layers=(
        "owner_only",
        "profile",
        "provider_profile",
        "global",
        "global_provider",
        "agent",
        "agent_provider",
        "group",
        "sandbox",
        "subagent",
    ),
    apply_patch_companion="exec",
    owner_unknown_is_stranger=True,
    owner_flag_counts=True,
    agent_entries=False,
    agent_required=False,
    model_key_with_provider=False,
    provider_last_spelling_wins=True,
    plugin_ids_trimmed=False,
    optional_by_pattern=False,
    unknown_allowlist_dropped=True,
    sandbox_also_allow=False,
    sandbox_image_tool="image",
    sandbox_image_old_name=None,
    max_spawn_depth=1,
    subagent_allow_lifts_deny=True,
    sender_channel_keys=False,
    sender_policy_mode=False,
    direct_channels=(),
    group_candidates=False,
    group_keys_trimmed=False,
    empty_account_groups_count=True,
    caller_group_unchecked=True,
    apply_patch_opt_in=True,
    apply_patch_providers=("openai", "openai-codex"),
    exec_host_default="sandbox",
    exec_security_default="allowlist",
    exec_ask_default="on-miss",
    approvals_security_default="deny",
    approvals_ask_default="on-miss",
    approvals_nobody="main",
    approvals_words_trimmed=False,
    approvals_entries_by_arguments=False,
    exec_modes=False,
    exec_host_strict=False,
    exec_call_security=True,
    exec_chat_keeps_off=False,
    exec_host_denied=False,
    elevated_lifts_settings=True,
    elevated_from_needs_direct=False,
    sender_slug_ascii=True,
    key_case_ignored=False,
    key_agent_strict=False,
    key_leading_subagent_counts=False,
    key_topic_is_thread=True,
    key_chat_type_by_place=False,
    cron_run_open_ended=False,
)

DEFAULT_RELEASE: Final = _RELEASE_2026_9.release
DIALECTS: Final[Mapping[str, Dialect]] = MappingProxyType(
    {dialect.release: dialect for dialect in (_RELEASE_2026_9, _RELEASE_2026_2)}
)


def dialect_named(release: str) -> Dialect:
    """Return the dialect of a release.

    Raises:
        UnknownDialectError: no such release is spoken.
    """
    try:
        return DIALECTS[release]
    except KeyError:
        raise UnknownDialectError(f"no dialect named `{release}`, known are {', '.join(DIALECTS)}") from None
