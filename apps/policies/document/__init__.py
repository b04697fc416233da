"""DOCUMENTS: `openclaw.json` and the exec approvals document as text, as records, and back.

`reading` text -> tree; `current` old spellings -> the current form; `members` which key is which column; `parsing`
tree -> rows; `writing` rows -> tree; `secrets` seals values; `reconcile` makes the draft equal to rows.
"""
