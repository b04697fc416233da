"""KEEPS SECRETS: the installation keys; seals values at rest and signs snapshots. No views, no rows.

- `apps.keys.seal`: `seal`, `unseal`; `apps.keys.signing`: `sign`, `verify`, `public_key_pem`.
- `apps.keys.notes`: `secret_note`, what people see of a secret; `apps.keys.installation`: the keys themselves.
- `apps.keys.files`: secret files; imports nothing, because settings.py reads the secret key through it.

May import events and the heart only.
"""
