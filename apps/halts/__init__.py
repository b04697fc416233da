"""THE KILL SWITCH: what people have stopped, who has heard of it, and the way back. No views.

- `services`: stop, pause, let ask, lift; `storms`: agents that are paused because people denied them too often;
  `hearing`: processes say which stops they hold to.
- `selectors`: everything that reads.

Which call a stop meets is said in `apps.firewall.runtime.halts`. May import approvals, registry, audit, accounts,
events and the heart.
"""
