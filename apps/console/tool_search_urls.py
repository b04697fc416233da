"""Paths of tool search: figures, runs, what search is worth, a query to try, settings."""

from django.urls import URLPattern, URLResolver, path

import apps.accounts.converters  # noqa: F401 - registers tool_run_id and label_id
from apps.console.views import tool_search, tool_search_settings

searching: list[URLPattern | URLResolver] = [
    path("tool-search/", tool_search.figures, name="tool-search"),
    path("tool-search/runs/", tool_search.runs, name="tool-search-runs"),
    path("tool-search/runs/<tool_run_id:run_id>/", tool_search.run, name="tool-search-run"),
    path("tool-search/quality/", tool_search.quality, name="tool-search-quality"),
    path("tool-search/quality/add/", tool_search.label_new, name="tool-search-quality-add"),
    path("tool-search/quality/<label_id:label_id>/remove/", tool_search.label_end, name="tool-search-quality-remove"),
    path("tool-search/try/", tool_search.trial, name="tool-search-try"),
    path("tool-search/settings/", tool_search_settings.settings, name="tool-search-settings"),
]
