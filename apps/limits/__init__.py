"""HOW OFTEN: rate limits with their counters, circuit breakers, and results kept for equal calls. No views.

- `services`: what people change; `counting`, `breaking`, `keeping`: what calls change, quick and safe among processes.
- `selectors`: everything that reads.

What a rate, a breaker and an equal call are is said in `apps.firewall.runtime.limits`. May import registry, audit,
accounts, keys, events and the heart.
"""
