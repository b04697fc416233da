"""`python -m bench._operators COUNT`: add so many operators, sign each in, and print their cookies as JSON."""

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")
django.setup()

from django.conf import settings  # noqa: E402 - Django must be set up first
from django.contrib.auth.hashers import make_password  # noqa: E402
from django.test import Client  # noqa: E402

from apps.accounts.models import Role, User  # noqa: E402


def cookie_of(user: User) -> str:
    browser = Client()
    browser.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"


def main(count: int) -> None:
    nobodys = make_password(None)
    made = [User(username=f"bench-{each}", role=Role.OPERATOR, password=nobodys) for each in range(count)]
    print(json.dumps([cookie_of(user) for user in User.objects.bulk_create(made)]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
