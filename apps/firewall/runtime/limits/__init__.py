"""How often tools run: rates, circuit breakers, repetitions and remembered results. The rules alone, without a store.

Here is no counter and no clock: who keeps them fills the ports `Limits` and `Results`. May import what
`apps.firewall.runtime` may.
"""
