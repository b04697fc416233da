"""WHAT IS ALLOWED: each environment's working draft, record by record; import, lint, compile, publish. No views.

Rows are the draft; the newest publication is live. Services take `by: Principal | None` (None: the system), check no
permission (doors do), are one transaction each, hold the environment's draft while they write, and are logged by
triggers with the actor. Every change announces `draft.changed`, every publication `publication.created`.

- `services`: `document_import`, `document_check`, `draft_start`, `draft_discard`, `publish`, `rollback`,
  `record_update`, `record_delete`, and one `…_create` for each kind of record that people make.
- `selectors`: `live_publication`, `live_snapshot`, `draft_snapshot`, `draft_changes`, `draft_diff`, `lint`,
  `document_export`, `approvals_export`, and the lists of records; `record_get(environment, kind, id)`.
- `kinds`: the words for kinds of records. `errors`: what is refused; `ConflictError.fields` holds both sides.
- `replays`: past calls held against a draft, and whether that was done before it is published; `tasks` count them.
- inside: `document` (text, rows and back), `compiler` (rows -> snapshot), `lint`, `changes` (the change log),
  `snapshots` (digest and signature checked before use), `places` (where a record stands in its document).

May import registry, audit, accounts, keys, events and the heart.
"""
