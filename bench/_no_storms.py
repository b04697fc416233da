"""Inside an installation: pause no agent, however often a benchmark denies it."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")


def main() -> None:
    import django

    django.setup()
    from apps.approvals.storming import storm_save
    from apps.registry.services import environment_default

    storm_save(environment_default(), denials=None, minutes=5)


if __name__ == "__main__":
    main()
