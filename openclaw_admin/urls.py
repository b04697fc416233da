"""Every HTTP path that Django answers; agents' paths are mounted in asgi.py before it."""

from django.urls import include, path

urlpatterns = [
    path("api/v1/", include("apps.api.urls")),
    path("", include("apps.console.urls")),
]
