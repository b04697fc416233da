"""WHO SAID YES: requests to a person, their answers and their end; standing grants. No views.

- `services`: `approval_request`, `approval_resolve`, `approvals_expire`, `approval_cancel`, `approval_supersede`;
  `running`: `approval_claim`, `approval_drifted`, `approval_finish`; `grants`: `grant_used`, `grant_revoke`;
  `access`: who may see and answer; `rules`: what holds in a life, one function each.
- `piles`: similar requests as one (`shapes` says what is similar); `batch`: one answer to many; `storming`: who is
  denied too often; `fatigue`: how answering goes.
- `selectors`: what the queue, the runtime and its waiters read; `states`: the life of an approval as a table.

May import policies, registry, audit, accounts, keys, events and the heart.
"""
