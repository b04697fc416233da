"""What a check finds, and the table of everything that it may find."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "hint"]
"""error: a model or provider will fail on it; warning: it will often go wrong; hint: it could be better."""


def gettext_noop(text: str) -> str:
    """Mark a text for translation; whoever shows it to people translates it."""
    return text


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that may be found; `text` has places for the finding's values."""

    severity: Severity
    text: str


RULES: Final[Mapping[str, Rule]] = {
    # the name
    "name_style": Rule("warning", gettext_noop("write the name in lower case with underscores, such as `%(better)s`")),
    "name_without_action": Rule(
        "warning",
        gettext_noop("no word of the name is an action: use verb_noun or domain_action, as `get_weather`, `db_query`"),
    ),
    "name_vague": Rule("warning", gettext_noop("`%(word)s` in the name says nothing: name what is worked on")),
    "name_long": Rule("error", gettext_noop("the name has %(length)s characters, model providers take %(limit)s")),
    "name_reserved": Rule(
        "warning", gettext_noop("`%(name)s` is a name of tool search: it never finds this tool, use another name")
    ),
    # the description
    "description_missing": Rule(
        "error", gettext_noop("without a description a model does not know when to use the tool")
    ),
    "description_short": Rule("warning", gettext_noop("say what the tool does, when to use it and what it cannot do")),
    "description_repeats_name": Rule("warning", gettext_noop("the description only repeats the name")),
    "description_vague": Rule("warning", gettext_noop("`%(words)s` says nothing: name what is done to what")),
    "description_long": Rule(
        "warning", gettext_noop("the description has %(length)s characters, some providers cut at %(limit)s")
    ),
    # the parameters
    "param_undescribed": Rule("warning", gettext_noop("`%(param)s` has no description")),
    "param_description_repeats_name": Rule(
        "hint", gettext_noop("the description of `%(param)s` only repeats its name")
    ),
    "param_untyped": Rule("warning", gettext_noop("`%(param)s` has no type: a model may send anything")),
    "param_should_be_enum": Rule(
        "warning", gettext_noop("the description of `%(param)s` lists its values: make them an enum")
    ),
    "param_should_be_boolean": Rule("warning", gettext_noop("`%(param)s` takes yes or no as text: make it a boolean")),
    "param_should_be_number": Rule("warning", gettext_noop("`%(param)s` sounds like a number and is a text")),
    "param_name_style": Rule("hint", gettext_noop("`%(param)s` is written unlike the other params: use one style")),
    "param_name_vague": Rule("hint", gettext_noop("`%(param)s` says nothing: name what it holds")),
    "params_many": Rule("warning", gettext_noop("%(count)s params are many for a model: split the tool or group them")),
    "params_deep": Rule(
        "warning", gettext_noop("`%(param)s` lies %(depth)s levels deep: models get nested params wrong")
    ),
    "array_without_items": Rule("error", gettext_noop("the list `%(param)s` does not say what is in it")),
    "object_without_properties": Rule("warning", gettext_noop("the object `%(param)s` does not say what is in it")),
    "required_unknown": Rule("error", gettext_noop("`%(param)s` is required and not described as a param")),
    "format_unknown": Rule(
        "error",
        gettext_noop("nothing checks the format `%(format)s`: use one that is known, or register a check of your own"),
    ),
    "required_has_default": Rule("hint", gettext_noop("`%(param)s` is required, so its default is never used")),
    "default_invalid": Rule("error", gettext_noop("the default of `%(param)s` breaks its own rule: %(reason)s")),
    "enum_repeats": Rule("warning", gettext_noop("the enum of `%(param)s` holds a value twice")),
    "enum_large": Rule("hint", gettext_noop("the enum of `%(param)s` has %(count)s values: models lose count")),
    "bounds_contradict": Rule("error", gettext_noop("no value of `%(param)s` can be both %(low)s and %(high)s")),
    "secret_not_sensitive": Rule(
        "warning", gettext_noop("`%(param)s` sounds like a secret and is not marked sensitive")
    ),
    # what providers do to it
    "union_at_root": Rule("error", gettext_noop("a choice (`%(keyword)s`) at the root is refused by %(providers)s")),
    "union_nested": Rule(
        "warning", gettext_noop("the choice (`%(keyword)s`) in `%(param)s` is changed or stripped by %(providers)s")
    ),
    "format_stripped": Rule(
        "hint", gettext_noop("the format of `%(param)s` is stripped by %(providers)s: say it in the description")
    ),
    "keyword_stripped": Rule(
        "hint", gettext_noop("`%(keyword)s` of `%(param)s` is stripped by %(providers)s: say it in the description")
    ),
    "reference_resolved": Rule("hint", gettext_noop("the reference in `%(param)s` is written out for %(providers)s")),
    "name_changed_by_provider": Rule(
        "warning", gettext_noop("%(providers)s cannot take this name and will be told `%(wire)s`")
    ),
    # everything else
    "example_invalid": Rule("error", gettext_noop("example %(number)s breaks the schema: %(reason)s")),
    "permission_form": Rule(
        "warning", gettext_noop("`%(permission)s` is no permission: write domain:action, such as `db:read`")
    ),
    "version_form": Rule("hint", gettext_noop("`%(version)s` is no version such as 1.4.0")),
    "dependency_form": Rule("error", gettext_noop("`%(dependency)s` is no requirement: %(reason)s")),
    "sensitive_unknown": Rule("error", gettext_noop("`%(param)s` is marked sensitive and is no param")),
    "resource_unknown": Rule("error", gettext_noop("`%(param)s` is named as a resource and is no param")),
    "context_unknown": Rule("error", gettext_noop("`%(param)s` is filled from the context and is no param")),
    "context_param_required": Rule(
        "warning", gettext_noop("`%(param)s` is filled from the context: a model need not send it, do not require it")
    ),
    "secret_in_config": Rule(
        "error", gettext_noop("`%(member)s` of the config holds a secret in clear: refer to it by name")
    ),
    "cache_not_idempotent": Rule("error", gettext_noop("answers are cached, and the tool is not marked idempotent")),
    "retry_not_idempotent": Rule(
        "warning", gettext_noop("calls are repeated after failures, and the tool is not marked idempotent")
    ),
    "cache_key_unknown": Rule("error", gettext_noop("`%(param)s` is part of the cache key and is no param")),
    "successor_itself": Rule("error", gettext_noop("a tool cannot be its own successor")),
}
"""Code -> what it means. A code that was published once keeps its meaning."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found. `path` is where in the definition (`parameters.city`), `values` fill the rule's text."""

    code: str
    path: str
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def severity(self) -> Severity:
        return RULES[self.code].severity

    @property
    def message(self) -> str:
        """Say it in English."""
        return RULES[self.code].text % self.values


def found(code: str, path: str, **values: object) -> Finding:
    """Make a finding."""
    return Finding(code, path, {name: str(value) for name, value in values.items()})
