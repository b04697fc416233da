"""Typed readers of environment variables. Nothing else in the project reads the environment."""

import ipaddress
import os
from pathlib import Path


class SettingError(SystemExit):
    """A variable holds a value that cannot be used; stops the process and names the variable."""

    def __init__(self, name: str, rule: str) -> None:
        super().__init__(f"setting {name}: {rule}")


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def flag(name: str, *, default: bool = False) -> bool:
    value = text(name).lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise SettingError(name, f"`{value}` is neither true nor false")


def integer(name: str, default: int, *, minimum: int = 0, maximum: int = 2**31) -> int:
    value = text(name)
    if not value:
        return default
    try:
        number = int(value)
    except ValueError:
        raise SettingError(name, f"`{value}` is not a whole number") from None
    if not minimum <= number <= maximum:
        raise SettingError(name, f"{number} is outside {minimum} to {maximum}")
    return number


def seconds(name: str, default: float) -> float:
    value = text(name)
    if not value:
        return default
    try:
        number = float(value)
    except ValueError:
        raise SettingError(name, f"`{value}` is not a number of seconds") from None
    if number <= 0:
        raise SettingError(name, "must be above 0 seconds")
    return number


def choice(name: str, allowed: tuple[str, ...]) -> str:
    """Read one of some words; the first is the default."""
    value = text(name, allowed[0])
    if value not in allowed:
        raise SettingError(name, f"`{value}` is none of {', '.join(word or 'empty' for word in allowed)}")
    return value


def words(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """Read a list separated by commas."""
    value = text(name)
    return [word.strip() for word in value.split(",") if word.strip()] if value else list(default)


def networks(name: str) -> list[str]:
    """Read a list of IP ranges such as `10.1.0.0/16`."""
    listed = words(name)
    for each in listed:
        try:
            ipaddress.ip_network(each)
        except ValueError as exc:
            raise SettingError(name, f"`{each}` is no range of addresses: {exc}") from None
    return listed


def ports(name: str, default: tuple[int, ...]) -> list[int]:
    """Read a list of ports."""
    listed = words(name) or [str(each) for each in default]
    for each in listed:
        if not each.isdigit() or not 1 <= int(each) <= 65535:
            raise SettingError(name, f"`{each}` is no port")
    return [int(each) for each in listed]


def secret(name: str) -> str:
    """Read a secret from the variable, or from the file that <NAME>_FILE names; empty when neither is set."""
    path = text(f"{name}_FILE")
    if not path:
        return text(name)
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError as exc:
        raise SettingError(f"{name}_FILE", f"cannot read `{path}`: {exc.strerror}") from exc


def chosen(name: str, *, closed: tuple[str, ...]) -> dict[str, str]:
    """Read the variables that a variable lists by name: `A,B` gives the texts of A and B, "" for one that is not set.

    Args:
        closed: beginnings of names that may not be listed.
    """
    listed = words(name)
    for each in listed:
        if not each.isidentifier():
            raise SettingError(name, f"`{each}` is no name of a variable")
        if each.startswith(closed):
            raise SettingError(name, f"`{each}` belongs to the service itself")
    return {each: text(each) for each in listed}
