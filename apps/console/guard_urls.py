"""Paths of grants of permissions and of content filters."""

from django.urls import URLPattern, URLResolver, path

from apps.console.views import filters, permissions

guarding: list[URLPattern | URLResolver] = [
    path("permissions/", permissions.permissions, name="permissions"),
    path("permissions/new/", permissions.permission_new, name="permission-new"),
    path("permissions/<uuid:record_id>/", permissions.permission, name="permission"),
    path("permissions/<uuid:record_id>/delete/", permissions.permission_delete, name="permission-delete"),
    path("filters/", filters.filters, name="filters"),
    path("filters/new/", filters.filter_new, name="filter-new"),
    path("filters/<uuid:record_id>/", filters.content_filter, name="filter"),
    path("filters/<uuid:record_id>/delete/", filters.filter_delete, name="filter-delete"),
]
