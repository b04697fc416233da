"""WHAT IS ALLOWED: each environment's working draft, record by record; import, lint, compile, publish. No views.

Rows are the draft; the newest publication is live. Everything takes `by: Principal | None` (None: the system), checks
no permission (doors do), is one transaction and is logged by triggers with the actor.

`apps.policies.services` writes:

- `document_import(environment, text, *, by, approvals=None) -> ImportReport`: replaces the draft;
  `.counts: dict[str, int]`, `.diagnostics: list[Diagnostic(path, code, message, severity)]`;
  raises `DocumentInvalidError` whose `details` hold every mistake, and then nothing has changed.
- `publish(environment, *, by, message, expected_live) -> Publication`: `expected_live` is the digest that the
  publisher saw live ("" for none); raises `PublicationConflictError`, `PublicationRefusedError`.
- `rollback(environment, publication, *, by, message, expected_live) -> Publication`.
- `draft_discard(environment, *, by, publication=None) -> ImportReport`: sets the draft back to a publication.
- `record_update(record, changes, *, by, expected_version) -> record`; `changes` by field name; raises
  `ConflictError` (`.fields: dict[str, Sides(base, theirs, yours)]`, `.current`), `RecordInvalidError`.
- `record_delete(record, *, by, expected_version)`; `agent_create(environment, key, *, by, **fields)`,
  `channel_create(environment, key, *, by, **fields)`, `group_create(channel, key, *, by, kind="groups",
  account=None, parent=None, **fields)`, `sender_rule_create(environment, key, *, by, agent=None, group=None,
  **fields)`, `provider_policy_create(environment, key, *, by, agent=None, **fields)`, `profile_create(environment,
  key, *, by, **fields)`, `exec_settings_create(environment, *, by, agent=None, **fields)`.

`apps.policies.selectors` reads:

- `live_publication(environment) -> Publication | None`, `live_snapshot(environment) -> Snapshot | None` (digest and
  signature checked, cached by digest), `draft_snapshot(environment) -> Snapshot`, `publications(environment)`,
  `publication_get(id)`, `publication_snapshot(publication) -> Snapshot`.
- `document_export(environment, *, secrets="masked") -> dict`, `approvals_export(environment, *, secrets="masked")`;
  `secrets="open"` opens the sealed values, masked ones are OpenClaw's own placeholder.
- `draft_changes(environment, *, limit=500) -> list[DraftChange(kind, record, label, field, before, after, actor,
  at)]`, `draft_change_count(environment)`, `draft_diff(environment) -> SnapshotDiff`, `lint(environment) ->
  list[LintFinding(code, severity, path, record, entry, message, suggestion)]`.
- `agents(environment)`, `agent_get(environment, key)`, `global_policy(environment)`, `channels(environment)`,
  `groups(environment, channel=None)`, `sender_rules(environment, agent=None, group=None)`,
  `provider_policies(environment, agent=None)`, `record_get(kind, id)`, `record_history(record, limit=50)`.

May import registry, audit, accounts, keys, events and the heart.
"""
