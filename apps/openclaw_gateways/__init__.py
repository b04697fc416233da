"""WHO RUNS TOOLS ELSEWHERE: OpenClaw Gateways that ask us before a call, and report after it. No views.

- `services`: enrol one by a token shown once, hear its heartbeats, revoke it.
- `calls`: a call of a gateway from its question to its report; `alarms`: calls that ran without a question.
- `selectors`, `access`: lists for pages and programs, and who may see them.

What a call meets is decided by `apps.firewall.runtime`; here it is only kept. May import policies, audit, registry,
accounts, keys, events and the heart.
"""
