"""WHAT HAPPENED: the append-only, hash-chained ledger; search and export. No views.

- `services`: `entry_record`, `entry_record_async`, `boot_id`, `sweep_orphans`, `partitions_ensure`.
- `drafts`: what other rooms hand in; `selectors`: what pages and programs read; `exports`: files to take away.
- `chain`, `verification`: what the hashes cover, and whether they hold.

May import accounts, keys, events and the heart.
"""
