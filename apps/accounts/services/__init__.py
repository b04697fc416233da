"""Everything that changes people, tokens and sessions. Audit entries are written by the doors that call these.

accounts lies below audit and cannot import it: a door records `user_change`, `token` and `sign_in` entries, with
the actor names that the models give (`User.actor`, `ApiToken.actor`). For sign-ins it listens to Django's own
signals `user_logged_in`, `user_logged_out` and `user_login_failed`.
"""

from apps.accounts.services.people import (
    ResetLink,
    invitation_accept,
    invitation_revoke,
    password_change,
    password_reset,
    password_reset_link,
    password_reset_revoke,
    people_first,
    preferences_save,
    step_skip,
    user_activate,
    user_create,
    user_deactivate,
    user_invite,
    user_set_role,
)
from apps.accounts.services.sessions import session_end, sessions_end
from apps.accounts.services.tokens import token_authenticate, token_create, token_end, token_revoke, token_seen

__all__ = [
    "ResetLink",
    "invitation_accept",
    "invitation_revoke",
    "password_change",
    "password_reset",
    "password_reset_link",
    "password_reset_revoke",
    "people_first",
    "preferences_save",
    "session_end",
    "sessions_end",
    "step_skip",
    "token_authenticate",
    "token_create",
    "token_end",
    "token_revoke",
    "token_seen",
    "user_activate",
    "user_create",
    "user_deactivate",
    "user_invite",
    "user_set_role",
]
