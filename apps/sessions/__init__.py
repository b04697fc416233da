"""WHO WORKED ON WHAT: sessions of agents and their runs, with budgets and the memory of loops. No views.

- `services`: `session_change` (one call's step, under the row's lock), `session_end`, `session_reopen`,
  `session_budgets_set`, `sessions_sweep`; `access`: who may see and end one.
- `selectors`: lists, one session with its runs, its sub-sessions as a tree, what repeats in it.

What a call meets in a session is decided by `apps.firewall.runtime.sessions`; here it is only kept. May import
approvals, policies, registry, audit, accounts, keys, events and the heart.
"""
