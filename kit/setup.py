"""Builds the kit for authors from the project beside it: the firewall, and the two modules that authors import.

The server's own modules stay out: settings, keys and everything that needs a database.
"""

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ONLY: dict[str, set[str]] = {"apps": {"__init__"}, "openclaw_admin": {"__init__", "testing", "tools"}}
"""Package -> the modules of it that belong to the kit; of others all do."""


class KitModules(build_py):
    """Leaves out what belongs to the server."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        modules = super().find_package_modules(package, package_dir)
        return [each for each in modules if package not in ONLY or each[1] in ONLY[package]]


setup(
    packages=["apps", "openclaw_admin", *find_packages("..", include=["apps.firewall", "apps.firewall.*"])],
    package_dir={"apps": "../apps", "openclaw_admin": "../openclaw_admin"},
    package_data={"apps.firewall": ["**/*.js", "**/*.json", "**/*.txt"]},
    cmdclass={"build_py": KitModules},
)
