"""Paths of shadow rules."""

from django.urls import URLPattern, URLResolver, path

from apps.console.views import shadows

shadowing: list[URLPattern | URLResolver] = [
    path("shadows/", shadows.shadows, name="shadows"),
    path("shadows/<shadow_id:shadow_id>/", shadows.shadow, name="shadow"),
    path("shadows/<shadow_id:shadow_id>/stop/", shadows.stop, name="shadow-stop"),
    path("shadows/<shadow_id:shadow_id>/draft/", shadows.draft, name="shadow-draft"),
    path("shadows/<shadow_id:shadow_id>/remove/", shadows.remove, name="shadow-remove"),
]
