"""WHAT A RULE WOULD DO THAT NOBODY ENFORCES: one change laid over what is live, and each call held against it.

- `places`: where a record of the draft stands in the rules of a snapshot.
- `starting`: who has a change watched, stops that, and may look; `drafting`: the change goes into the draft.
- `counting`: a worker holds new calls of the ledger against it, and follows what goes live.

Nothing here is on the way of a call. How a change is laid over a snapshot is the engine's
(`apps.firewall.engine.rule_changes`); how a call is held against it is that of replays (`apps.policies.replays`).
"""
