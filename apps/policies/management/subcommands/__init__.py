"""The subcommands of `manage.py policy`, one a module. Rules live in services."""
