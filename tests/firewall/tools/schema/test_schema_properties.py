"""What holds for any schema: random ones, whole and broken."""

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.firewall.tools.schema import (
    Family,
    ModelCompat,
    Normalized,
    SchemaRefusedError,
    clean_for_gemini,
    normalize_schema,
    normalized,
    refusals,
)
from tests.firewall.tools.schema.provider_rules import anthropic_refuses, gemini_refuses, openai_refuses
from tests.firewall.tools.schema.schemas import broken_schemas, valid_schemas

FAMILIES = {
    Family.OPENAI: ("openai", openai_refuses),
    Family.ANTHROPIC: ("anthropic", anthropic_refuses),
    Family.GEMINI: ("google", gemini_refuses),
}
RELEASES = st.sampled_from(("2026.9", "2026.2"))
COMPATS = st.builds(
    ModelCompat,
    profile=st.sampled_from(("", "gemini", "llamacpp")),
    unsupported=st.frozensets(st.sampled_from(("pattern", "anyOf", "items", "properties", "type")), max_size=2),
    omit_empty_items=st.booleans(),
)
OPTIONS = st.fixed_dictionaries(
    {
        "release": RELEASES,
        "provider": st.sampled_from(("", "openai", "anthropic", "google")),
        "compat": COMPATS,
        "family": st.none() | st.sampled_from(Family),
    }
)
ANY_SCHEMA = broken_schemas | valid_schemas
A_FEW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
TEN_THOUSAND = settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))


def outcome(schema: Any, options: dict[str, Any]) -> Normalized | None:
    """Return what comes out, None for a refusal."""
    try:
        return normalize_schema(schema, **options)
    except SchemaRefusedError:
        return None


def holds_together(schema: Any, options: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)
    result = outcome(schema, options)
    assert schema == before, "the given schema was changed"
    if result is None:
        return
    json.dumps(result.schema)
    assert outcome(copy.deepcopy(schema), options) == result
    if not result.changes:
        assert result.schema == schema, "a change that nothing tells of"
    if isinstance(schema, dict):
        assert normalized(schema, **options) == result


def is_accepted(schema: Any, release: str) -> None:
    for family, (provider, refuses) in FAMILIES.items():
        result = outcome(schema, {"release": release, "provider": provider, "family": family})
        if result is not None:
            assert refuses(result.schema) is None
            assert refusals(result.schema, family) == ()


def fits_only_what_is_refused(schema: Any, release: str) -> None:
    for family, (provider, _) in FAMILIES.items():
        recorded = outcome(schema, {"release": release, "provider": provider})
        fitted = outcome(schema, {"release": release, "provider": provider, "family": family})
        if recorded is not None and fitted is not None and not refusals(recorded.schema, family):
            assert fitted == recorded


@pytest.mark.unhurried
@A_FEW
@given(ANY_SCHEMA, OPTIONS)
def test_any_json_comes_out_as_json_with_each_change_told(schema: Any, options: dict[str, Any]) -> None:
    holds_together(schema, options)


@pytest.mark.unhurried
@A_FEW
@given(ANY_SCHEMA, RELEASES)
def test_endpoints_accept_whatever_comes_out_for_them(schema: Any, release: str) -> None:
    is_accepted(schema, release)


@pytest.mark.unhurried
@A_FEW
@given(valid_schemas, RELEASES)
def test_what_an_endpoint_accepts_is_left_as_openclaw_makes_it(schema: Any, release: str) -> None:
    fits_only_what_is_refused(schema, release)


@pytest.mark.unhurried
@A_FEW
@given(valid_schemas, st.sampled_from(Family))
def test_a_fitted_schema_stays_as_it_is(schema: Any, family: Family) -> None:
    options: dict[str, Any] = {"provider": FAMILIES[family][0], "family": family}
    once = outcome(schema, options)
    if once is not None:
        again = normalize_schema(once.schema, **options)
        assert refusals(again.schema, family) == ()
        assert again.schema.keys() <= once.schema.keys()


@pytest.mark.unhurried
@A_FEW
@given(ANY_SCHEMA, RELEASES)
def test_cleaning_for_gemini_alone_never_fails_on_json(schema: Any, release: str) -> None:
    try:
        result = clean_for_gemini(schema, release=release)
    except SchemaRefusedError:
        return
    assert result.changes or result.schema == schema


@pytest.mark.slow
@TEN_THOUSAND
@given(ANY_SCHEMA, OPTIONS)
def test_ten_thousand_schemas_come_out_as_json_with_each_change_told(schema: Any, options: dict[str, Any]) -> None:
    holds_together(schema, options)


@pytest.mark.slow
@TEN_THOUSAND
@given(ANY_SCHEMA, RELEASES)
def test_endpoints_accept_ten_thousand_schemas(schema: Any, release: str) -> None:
    is_accepted(schema, release)
    fits_only_what_is_refused(schema, release)
