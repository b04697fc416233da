"""WHAT A DRAFT WOULD HAVE DECIDED: past calls, read from the ledger, held against a snapshot.

- `asking`: who asks for a replay, and who may read it; `running`: a worker goes on with one, part by part.
- `reading`: from what the ledger keeps of a call to what the engine replays; `tallying`: figures and groups.
- `proofs`: whether a draft was replayed before it is published.

The rules of replaying are the engine's (`apps.firewall.engine.replay`, `apps.firewall.runtime.replaying`).
"""
