"""Guardrails over every class of contexts: ten of them at once, against asking contexts one by one."""

import random
from collections.abc import Iterator
from functools import partial

from apps.firewall.engine.contexts import ANY_OTHER, ContextClass, SenderClass, context_of
from apps.firewall.engine.decide import decide
from apps.firewall.engine.guardrail_form import GuardrailForm
from apps.firewall.engine.guardrails import EXEC, Verdicts, check_guardrails
from apps.firewall.engine.snapshot import build_snapshot
from bench.engine import AGENTS, GROUPS, RULES_PER_GROUP, population
from bench.figures import Figure, percentile, shown, timed

TOOLS, GOAL_S, SAMPLE = 500, 2, 20_000
NO_SHELL = GuardrailForm(requires="never", tools=("group:runtime",), place="group", sender="non_owner")
FORMS = (
    NO_SHELL,
    GuardrailForm(requires="never", tools=("sessions_spawn",), min_depth=2),
    GuardrailForm(requires="asks", tools=("exec",), agents=("agent-1*",)),
    GuardrailForm(requires="always", tools=("read",), place="direct"),
    GuardrailForm(requires="always", tools=("message",), sender="owner"),
    *(
        GuardrailForm(requires="never", tools=("gateway", "automations"), groups=(f"telegram/-{100_000 + 4 * number}",))
        for number in range(5)
    ),
)


def measure() -> Iterator[Figure]:
    """Check ten guardrails exactly; ask a sample of the contexts of one, and say how long all of them would take."""
    snapshot = build_snapshot(population(TOOLS))
    took = percentile(timed(partial(check_guardrails, snapshot, FORMS), rounds=3), 0.5)
    size = f"{TOOLS} tools, {AGENTS:,} agents, {GROUPS:,} groups, {GROUPS * RULES_PER_GROUP:,} sender rules"
    yield Figure(f"{len(FORMS)} guardrails over all contexts, {size}", shown(took), f"≤ {GOAL_S} s", took <= GOAL_S)
    verdicts = Verdicts(snapshot, [NO_SHELL], EXEC)
    check, chance = verdicts.check(0), random.Random(5)
    groups = [each for each in verdicts.classes.conversations if each.group not in ("", ANY_OTHER)]
    sample = [
        ContextClass(
            chance.choice(verdicts.classes.agents),
            chance.choice(verdicts.classes.models),
            chance.choice(groups),
            SenderClass(),
            False,
            chance.choice((True, False)),
            chance.choice(verdicts.classes.depths),
        )
        for _ in range(SAMPLE)
    ]

    def ask() -> set[str]:
        return {
            tool for each in sample for tool in ("exec", "process") if decide(snapshot, context_of(each), tool).allowed
        }

    assert ask() <= set(check.tools)
    straight = percentile(timed(ask, rounds=1), 0.5) / SAMPLE * check.asked
    days = straight / 86_400
    yield Figure(
        f"the same for one guardrail context by context, {check.asked:,} of them, from a sample of {SAMPLE:,}",
        f"{days:,.1f} days",
    )
