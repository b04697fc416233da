"""WHO: users, roles, API tokens, and what each may do. No views."""
