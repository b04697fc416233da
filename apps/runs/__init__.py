"""WHAT AGENTS WERE OFFERED: runs with their tool search, what they searched and called, and labelled queries. No views.

- `services`: `run_begin`, `run_offered`, `search_record`, `call_begin`, `run_end`, `runs_sweep`.
- `client_calls`: calls of tools that the run's own caller runs: told, reported, closed.
- `labels`: queries with the tools that they mean, which search is measured with.
- `selectors`, `access`: lists and figures for pages and programs, and who may see them.

What a run may use is decided by `apps.firewall`, for each request anew; here is kept what came of it. May import audit,
registry, accounts, keys, events and the heart.
"""
