"""PROVIDERS: the forms in which models are told of tools, ask for them and hear of their results.

One module for each, strangers to each other, with the same public names; `Provider` lists them. What they share is in
`model_calls.py` and `wire_names.py`. No module here decides, runs or checks anything.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.model_calls import CallAnswer, ModelCall, Reply, ToolChoice
from apps.firewall.tools.providers import anthropic, gemini, openai_chat, openai_responses
from apps.firewall.tools.schema import Family
from apps.firewall.tools.wire_names import NameRule


class Provider(Protocol):
    """What each module of this package offers."""

    @property
    def KEY(self) -> str:  # noqa: N802 - constants of a module
        """Its key here."""

    @property
    def LABEL(self) -> str:  # noqa: N802
        """Its name for people."""

    @property
    def FAMILY(self) -> Family:  # noqa: N802
        """Which schemas its endpoint accepts."""

    @property
    def APPEND_TO(self) -> str:  # noqa: N802
        """The member of a request to which the result messages are appended."""

    @property
    def NAMES(self) -> NameRule:  # noqa: N802
        """What it takes as a tool's name."""

    @property
    def TOOLS_LIMIT(self) -> int | None:  # noqa: N802
        """How many tools it takes in one request; None where it states no limit."""

    @property
    def DESCRIPTION_LIMIT(self) -> int | None:  # noqa: N802
        """Characters of a tool's description that it takes; None where it states no limit."""

    def tool_json(self, name: str, description: str, schema: JsonObject) -> JsonObject:
        """Describe one tool; the schema is normalised already."""

    def request_json(self, tools: Any, choice: ToolChoice) -> dict[str, Any]:
        """Return the members of a request that offer tools."""

    def reply_id(self, reply: Reply) -> str:
        """Return the provider's own id of a reply; empty without one."""

    def read_calls(self, reply: Reply) -> tuple[ModelCall, ...]:
        """Read the calls of a reply in their order, malformed ones with the reason.

        Raises:
            ReplyInvalidError: it is no reply of this provider.
        """

    def result_messages(self, answers: Sequence[CallAnswer], *, model: str = "") -> list[dict[str, Any]]:
        """Write what the model is told about its calls, ready to be appended to the conversation."""


PROVIDERS: Final[Mapping[str, Provider]] = {
    openai_chat.KEY: openai_chat,
    openai_responses.KEY: openai_responses,
    anthropic.KEY: anthropic,
    gemini.KEY: gemini,
}

_BY_NAME: Final[tuple[tuple[str, Provider], ...]] = (
    ("anthropic", anthropic),
    ("claude", anthropic),
    ("gemini", gemini),
    ("google", gemini),
)


def provider_for(name: str, *, form: str = "") -> Provider | None:
    """Return the form that a provider speaks.

    Args:
        name: as the policy has it, such as `openai`, `google` or `ollama`; one nobody knows speaks chat completions.
        form: a key of `PROVIDERS`, where the caller states it.
    Returns:
        None when there is no such form.
    """
    if form:
        return PROVIDERS.get(form)
    lowered = name.strip().lower()
    if lowered in PROVIDERS:
        return PROVIDERS[lowered]
    return next((provider for part, provider in _BY_NAME if part in lowered), openai_chat)
