"""WHO: users, roles, sessions, API tokens, and what each may do. No views.

- `services` change, `selectors` read, `access` answers who may what, `converters` read identifiers in URLs,
  `secret_links` holds the routes of one-time links.
- Audit lies above: the console writes its entries, the command line and refused tokens speak through `telling`, and
  sign-ins are heard through Django's signals (`user_logged_in`, `user_logged_out`, `user_login_failed`), which are sent
  here as usual.
- Notices: `user.changed`, `token.changed`, `session.ended` (whose id is the person's).

May import keys, events and the heart.
"""
