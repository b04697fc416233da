"""What the page about answering shows: how long people have, who answers what, and who answers in whose place."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Role
from apps.approvals.answering import answer_policy, answer_rules, deputies
from apps.approvals.asking import TIMEOUT_S
from apps.approvals.models import STORM_DENIALS_MOST, STORM_MINUTES_MOST, WAIT_LEAST_S, WAIT_MOST_S
from apps.approvals.teams import teams
from apps.console.forms import ConsoleForm

if TYPE_CHECKING:
    from apps.approvals.models import AnswerRule as AnswerRule
    from apps.approvals.models import Team as Team
    from apps.registry.models import Environment

LISTS = ("agents", "channels", "groups", "tools", "people", "teams", "escalate_people", "escalate_teams")
PLAIN = ("name", "roles", "quorum", "escalate_after_s", "escalate_roles")


def words_of(text: str) -> list[str]:
    """Read names with commas between them."""
    return [word.strip() for word in text.split(",") if word.strip()]


class WaitForm(ConsoleForm):
    """How long people have to answer."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    wait_s = forms.IntegerField(
        label=_("Seconds to answer"), required=False, min_value=WAIT_LEAST_S, max_value=WAIT_MOST_S
    )


class RuleForm(ConsoleForm):
    """Who answers which requests. Names stand with commas between them; none means any."""

    name = forms.CharField(label=_("Name"), max_length=100)
    agents = forms.CharField(label=_("Agents"), required=False, max_length=5000)
    channels = forms.CharField(label=_("Channels"), required=False, max_length=5000)
    groups = forms.CharField(label=_("Groups"), required=False, max_length=5000)
    tools = forms.CharField(label=_("Tools"), required=False, max_length=5000)
    roles = forms.MultipleChoiceField(label=_("Roles"), required=False, choices=Role.choices)
    people = forms.CharField(label=_("People, by user name"), required=False, max_length=5000)
    teams = forms.CharField(label=_("Teams"), required=False, max_length=5000)
    quorum = forms.IntegerField(label=_("People who have to allow it"), min_value=1, max_value=9, initial=1)
    escalate_after_s = forms.IntegerField(
        label=_("Seconds until it goes to others as well"),
        required=False,
        min_value=WAIT_LEAST_S,
        max_value=WAIT_MOST_S,
    )
    escalate_roles = forms.MultipleChoiceField(label=_("Then also roles"), required=False, choices=Role.choices)
    escalate_people = forms.CharField(label=_("Then also people"), required=False, max_length=5000)
    escalate_teams = forms.CharField(label=_("Then also teams"), required=False, max_length=5000)

    def values(self) -> dict[str, Any]:
        """Give the fields of the record."""
        cleaned = self.cleaned_data
        return {name: cleaned[name] for name in PLAIN} | {name: words_of(cleaned[name]) for name in LISTS}


class RuleChangeForm(RuleForm):
    """A rule that exists."""

    version = forms.IntegerField(widget=forms.HiddenInput)


class TeamForm(ConsoleForm):
    """People by one name."""

    name = forms.CharField(label=_("Name"), max_length=64)
    people = forms.CharField(label=_("People, by user name"), max_length=5000)

    def values(self) -> dict[str, Any]:
        """Give the fields of the record."""
        return {"name": self.cleaned_data["name"], "people": words_of(self.cleaned_data["people"])}


class TeamChangeForm(TeamForm):
    """A team that exists."""

    version = forms.IntegerField(widget=forms.HiddenInput)


class DeputyForm(ConsoleForm):
    """Who answers in one's place, and until when."""

    deputy = forms.CharField(label=_("User name of your deputy"), max_length=64)
    until = forms.DateTimeField(
        label=_("Until (UTC)"), widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    )


class StormForm(ConsoleForm):
    """After how many denials an agent is paused."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    storm_denials = forms.IntegerField(label=_("Denials"), required=False, min_value=2, max_value=STORM_DENIALS_MOST)
    storm_minutes = forms.IntegerField(label=_("Within minutes"), min_value=1, max_value=STORM_MINUTES_MOST)


def storm_form(environment: "Environment") -> dict[str, Any]:
    """Give the form's values of an environment."""
    policy = answer_policy(environment)
    return {name: getattr(policy, name) for name in ("version", "storm_denials", "storm_minutes")}


def wait_form(environment: "Environment") -> dict[str, Any]:
    """Give the form's values of an environment."""
    policy = answer_policy(environment)
    return {"version": policy.version, "wait_s": policy.wait_s}


def rule_initial(rule: "AnswerRule") -> dict[str, Any]:
    """Give the form's values of a rule."""
    plain = {name: getattr(rule, name) for name in (*PLAIN, "version")}
    return plain | {name: ", ".join(getattr(rule, name)) for name in LISTS}


def team_initial(team: "Team") -> dict[str, Any]:
    """Give the form's values of a team."""
    return {"name": team.name, "people": ", ".join(team.people), "version": team.version}


def page_of(environment: "Environment") -> dict[str, Any]:
    """Gather what the page shows besides its forms."""
    return {
        "environment_name": environment.name,
        "release": environment.dialect,
        "usual_s": TIMEOUT_S[environment.dialect],
        "rules": answer_rules(environment),
        "teams": teams(environment),
        "deputies": deputies(timezone.now()),
    }
