"""TELLS PEOPLE who are not looking: web push, e-mail and signed webhooks for requests that nobody answers. No views.

- `people`: what a person chose, their browsers, and trying all of it; `webhooks`: those of an environment.
- `planning`: which channel is due for which request; `exports`: who is told that an export ended.
- `releases`: who is told of requests to publish, and of emergencies.
- `delivering`: one delivery, until it was heard or given up.
- `sending`: the three ways out, each through the connector's address rules or the mail server of the installation.
- `words`: what is told, never more than needed; `selectors`: everything that reads.

May import approvals, policies, registry, audit, accounts, keys, events and the heart.
"""
