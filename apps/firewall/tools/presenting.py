"""What a provider is sent for one tool, and what differs from the tool's own definition."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.injection import offered_schema
from apps.firewall.tools.providers import PROVIDERS, Provider
from apps.firewall.tools.schema import Change, Family, normalized
from apps.firewall.tools.schema.releases import NO_COMPAT, release_named, wants_gemini
from apps.firewall.tools.wire_names import wire_name

ELLIPSIS: Final = "…"
GOOGLE: Final = "google"

RemarkCode: TypeAlias = Literal["renamed", "description_cut", "params_filled_here"]


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that differs from the definition outside of its schema: a stable code, and a sentence."""

    code: RemarkCode
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Presented:
    """A tool as a provider is told of it.

    Args:
        name: the tool's own.
        wire_name: the name that its calls come back under.
        sent: the JSON object for the provider; shared, do not change it.
        changes: what became of the schema.
        remarks: what else differs.
    """

    name: str
    wire_name: str
    sent: JsonObject
    changes: tuple[Change, ...] = ()
    remarks: tuple[Remark, ...] = ()


def schema_rules(form: Provider, *, provider: str = "", model: str = "", release: str = "2026.9") -> str:
    """Name the provider whose rules the schemas follow; equal names give equal schemas.

    Args:
        form: a member of `PROVIDERS`.
        provider: as the policy names it.
        release: whose rules, `2026.9` or `2026.2`.
    Raises:
        UnknownReleaseError: no such release.
    """
    if form.FAMILY is Family.GEMINI:
        return GOOGLE
    for_gemini = wants_gemini(release_named(release), provider=provider, model=model, compat=NO_COMPAT)
    return GOOGLE if for_gemini else ""


def present(definition: Definition, form: Provider, *, rules: str = "", release: str = "2026.9") -> Presented:
    """Show what a provider is sent for a tool.

    Args:
        form: a member of `PROVIDERS`.
        rules: as `schema_rules` gives them; those of the form when empty.
        release: whose rules for schemas, `2026.9` or `2026.2`.
    Raises:
        SchemaRefusedError, UnknownReleaseError: there is no schema to send.
    """
    name = wire_name(definition.name, form.NAMES)
    fitted = normalized(
        offered_schema(definition, release=release),
        release=release,
        provider=rules or schema_rules(form, release=release),
        family=form.FAMILY,
    )
    return Presented(
        name=definition.name,
        wire_name=name,
        sent=form.tool_json(name, _description(definition, form), fitted.schema),
        changes=fitted.changes,
        remarks=tuple(_remarks(definition, form, name)),
    )


def previews(definition: Definition, *, release: str = "2026.9") -> dict[str, Presented]:
    """Show what every provider is sent for a tool, by the key of `PROVIDERS`.

    Raises:
        SchemaRefusedError, UnknownReleaseError: there is no schema to send.
    """
    return {key: present(definition, form, release=release) for key, form in PROVIDERS.items()}


def _remarks(definition: Definition, form: Provider, name: str) -> list[Remark]:
    remarks = []
    if name != definition.name:
        remarks.append(Remark("renamed", f"it goes by `{name}`, for {form.LABEL} takes {form.NAMES.words}"))
    limit = form.DESCRIPTION_LIMIT
    if limit is not None and len(definition.description) > limit:
        remarks.append(Remark("description_cut", f"its description is cut to {limit} characters"))
    if definition.context_mappings:
        filled = ", ".join(f"`{each}`" for each in sorted(definition.context_mappings))
        remarks.append(Remark("params_filled_here", f"{filled}: filled from what is known of the caller, not sent"))
    return remarks


def _description(definition: Definition, form: Provider) -> str:
    text = definition.description or definition.label
    limit = form.DESCRIPTION_LIMIT
    return text if limit is None or len(text) <= limit else text[: limit - 1] + ELLIPSIS
