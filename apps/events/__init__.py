"""TELLS: id-only notices between processes through PostgreSQL NOTIFY and LISTEN. The row is always the truth.

- `apps.events.notices`: `announce(kind, id=…, environment=…)`, called by services inside their transaction.
- `apps.events.listener`: `Listener`, one per ASGI process, and `subscribe(callback)`.
- `apps.events.barrier`: which processes live, and `barrier_wait`, which waits until all of them hold to a change.
- `apps.events.waiters`: `waiters`, where a request waits for a row of this process to change.

May import the heart only. No views.
"""
