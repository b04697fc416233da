"""Paths of guardrails."""

from django.urls import URLPattern, URLResolver, path

from apps.console.views import guardrails

railing: list[URLPattern | URLResolver] = [
    path("guardrails/", guardrails.guardrails, name="guardrails"),
    path("guardrails/new/", guardrails.guardrail_new, name="guardrail-new"),
    path("guardrails/review/", guardrails.guardrail_review, name="guardrail-review"),
    path("guardrails/<guardrail_id:guardrail_id>/", guardrails.guardrail, name="guardrail"),
    path("guardrails/<guardrail_id:guardrail_id>/remove/", guardrails.guardrail_remove, name="guardrail-remove"),
    path("guardrails/<guardrail_id:guardrail_id>/accept/", guardrails.guardrail_accepted, name="guardrail-accept"),
]
