"""Guardrails as sentences: what one demands, and what is wrong in the context that shows it."""

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.firewall.engine.contexts import ANY_OTHER, ContextClass, Conversation, SenderClass
from apps.firewall.engine.guardrail_form import LABEL, GuardrailForm
from apps.firewall.engine.guardrails import Counterexample
from apps.firewall.engine.names import fold


def sentence(form: GuardrailForm) -> str:
    """Say what a guardrail demands."""
    whom = ", ".join([_agents(form.agents), *_places(form), *_senders(form), *_sessions(form)])
    said = {"whom": whom, "tools": _quoted(form.tools)}
    if form.requires == "never":
        text = _("%(whom)s: may never use %(tools)s") % said
    elif form.requires == "always":
        text = _("%(whom)s: may always use %(tools)s") % said
    elif form.ask == "always":
        text = _("%(whom)s: a person is asked about every use of %(tools)s") % said
    else:
        text = _("%(whom)s: a person is asked before %(tools)s does what no list admits") % said
    return text[:1].upper() + text[1:]


def counterexample_words(shown: Counterexample) -> str:
    """Say what is wrong, and where."""
    said = {"tool": shown.tool, "context": context_words(shown.context_class)}
    if shown.unasked_from:
        return _("`%(tool)s` runs unasked by `%(setting)s` for %(context)s") % {**said, "setting": shown.unasked_from}
    if shown.decision.allowed:
        return _("`%(tool)s` is allowed for %(context)s") % said
    return _("`%(tool)s` is refused for %(context)s: %(reason)s") % {**said, "reason": shown.decision.reason}


def context_words(asked: ContextClass) -> str:
    """Describe a class of contexts by what is special about it."""
    agent = _("any other agent") if asked.agent == ANY_OTHER else _("agent `%(name)s`") % {"name": asked.agent}
    parts = [agent, _conversation(asked.conversation), _sender(asked.sender)]
    if asked.model.provider != ANY_OTHER or asked.model.model_id != ANY_OTHER:
        parts.append(_("model `%(name)s`") % {"name": asked.model.key})
    if asked.is_owner is not None:
        parts.append(_("an owner") if asked.is_owner else _("not an owner"))
    if asked.sandboxed:
        parts.append(_("inside a sandbox"))
    if asked.depth:
        parts.append(_("sub-agent depth %(depth)s") % {"depth": asked.depth})
    return ", ".join(parts)


def _conversation(where: Conversation) -> str:
    if not where.channel:
        return _("outside channels")
    channel = _("any other channel") if where.channel == ANY_OTHER else where.channel
    if where.peer and where.peer != ANY_OTHER:
        return _("direct chat with `%(peer)s` on %(channel)s") % {"peer": where.peer, "channel": channel}
    if not where.group:
        return _("direct conversation on %(channel)s") % {"channel": channel}
    parts = [
        _("any other") if part == ANY_OTHER else part for part in (where.account, where.space, where.group) if part
    ]
    if parts == [_("any other")]:
        return _("any other group on %(channel)s") % {"channel": channel}
    return _("group `%(group)s` on %(channel)s") % {"channel": channel, "group": "/".join(parts)}


def _sender(sender: SenderClass) -> str:
    return _("any other sender") if sender.kind == ANY_OTHER else _("sender `%(name)s`") % {"name": str(sender)}


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _agents(agents: Sequence[str]) -> str:
    if not agents:
        return _("every agent")
    labels = [entry.strip()[len(LABEL) :].strip() for entry in agents if fold(entry).startswith(LABEL)]
    ids = [entry for entry in agents if not fold(entry).startswith(LABEL)]
    parts = []
    if ids:
        parts.append(ngettext("agent %(names)s", "agents %(names)s", len(ids)) % {"names": _quoted(ids)})
    if labels:
        parts.append(_("agents labelled %(names)s") % {"names": _quoted(labels)})
    return _(" and ").join(parts)


def _places(form: GuardrailForm) -> Iterable[str]:
    if form.groups:
        yield ngettext("in the group %(names)s", "in the groups %(names)s", len(form.groups)) % {
            "names": _quoted(form.groups)
        }
    elif form.place == "group":
        yield _("in any group")
    elif form.place == "direct":
        yield _("in direct conversations")
    if form.channels:
        yield _("on %(names)s") % {"names": _quoted(form.channels)}


def _senders(form: GuardrailForm) -> Iterable[str]:
    if form.sender == "owner":
        yield _("for owners")
    elif form.sender == "non_owner":
        yield _("for everybody but known owners")
    elif form.sender == "named":
        yield _("for %(names)s") % {"names": _quoted(form.senders)}


def _sessions(form: GuardrailForm) -> Iterable[str]:
    if form.sandboxed is not None:
        yield _("inside a sandbox") if form.sandboxed else _("outside sandboxes")
    if form.min_depth == 1:
        yield _("as a sub-agent")
    elif form.min_depth:
        yield _("as a sub-agent at depth %(depth)s or deeper") % {"depth": form.min_depth}
