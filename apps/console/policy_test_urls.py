"""Paths of policy tests."""

from django.urls import URLPattern, URLResolver, path

from apps.console.views import policy_tests

testing: list[URLPattern | URLResolver] = [
    path("policy-tests/", policy_tests.policy_tests, name="policy-tests"),
    path("policy-tests/new/", policy_tests.policy_test_new, name="policy-test-new"),
    path("policy-tests/coverage/", policy_tests.policy_test_coverage, name="policy-test-coverage"),
    path("policy-tests/<policy_test_id:test_id>/", policy_tests.policy_test, name="policy-test"),
    path("policy-tests/<policy_test_id:test_id>/switch/", policy_tests.policy_test_switch, name="policy-test-switch"),
    path("policy-tests/<policy_test_id:test_id>/remove/", policy_tests.policy_test_remove, name="policy-test-remove"),
]
