"""Connections are made of settings and secrets, and never tell the secrets."""

import json
import pickle

import pytest

from apps.firewall.tools.connections import (
    Connection,
    ConnectionInvalidError,
    SecretMissingError,
    fill_secrets,
    read_connection,
)

SECRETS = {"token": "t0p-s3cret", "key": "hush-hush-and-hush"}
SETTINGS = {
    "url": "https://tools.example/registry",
    "auth_token": {"$secret": "token"},
    "headers": {"X-Team": "blue"},
    "signing": {"algorithm": "hmac-sha256", "key": {"$secret": "key"}, "key_id": "k1"},
    "allow_domains": ["tools.example"],
    "allow_networks": ["10.1.0.0/16"],
    "ports": [443, 8443],
}


def made(**changes: object) -> Connection:
    return read_connection(source="tools", kind="remote", settings=SETTINGS | changes, secrets=SECRETS)


def test_settings_and_secrets_make_a_connection() -> None:
    connection = made()
    assert connection.headers["Authorization"] == "Bearer t0p-s3cret"
    assert connection.headers["X-Team"] == "blue"
    assert connection.signing is not None
    assert (connection.signing.key, connection.signing.key_id) == ("hush-hush-and-hush", "k1")
    assert connection.rules.networks_allowed == ("10.1.0.0/16",)
    assert connection.rules.ports == (443, 8443)


def test_a_connection_shows_no_secret() -> None:
    connection = made(env={"TOKEN": {"$secret": "token"}})
    shown = f"{connection!r} {connection} {connection.headers!r} {connection.env} {connection.signing}"
    assert "t0p-s3cret" not in shown
    assert "hush-hush-and-hush" not in shown


def test_secrets_can_neither_be_pickled_nor_written_as_json() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(made().secrets)
    with pytest.raises(TypeError):
        json.dumps(made().headers)


def test_a_missing_secret_is_named() -> None:
    with pytest.raises(SecretMissingError, match="`other`"):
        made(auth_token={"$secret": "other"})


def test_every_mistake_is_told_at_its_place() -> None:
    with pytest.raises(ConnectionInvalidError) as caught:
        made(
            url=3,
            allow_networks=["10.0.0.0/33"],
            ports=[0],
            schemes=["gopher"],
            signing={"algorithm": "md5", "key": "x"},
            headers={"X-Bad": "a\r\nb"},
            command="rm -rf",
        )
    places = {each["path"] for each in caught.value.details}
    wanted = {"url", "allow_networks[0]", "ports", "schemes", "signing.algorithm", "headers.X-Bad", "command"}
    assert places == wanted


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "OpenClaw-Signature"])
def test_headers_that_steer_a_request_cannot_be_set(name: str) -> None:
    with pytest.raises(ConnectionInvalidError) as caught:
        made(headers={name: "x"})
    assert [each["path"] for each in caught.value.details] == [f"headers.{name}"]


def test_secrets_are_filled_in_at_any_depth() -> None:
    document = {"a": [{"b": {"$secret": "key"}}, 1], "c": {"$secret": "key", "and": "more"}}
    assert fill_secrets(document, SECRETS) == {
        "a": [{"b": "hush-hush-and-hush"}, 1],
        "c": {"$secret": "key", "and": "more"},
    }


def test_the_port_of_the_url_is_allowed_where_no_ports_are_given() -> None:
    assert made(url="https://tools.example:9443/", ports=None).rules.ports == (80, 443, 9443)
    assert made(url="https://tools.example/", ports=[]).rules.ports == (80, 443)
    assert made(url="https://tools.example:9443/").rules.ports == (443, 8443)
