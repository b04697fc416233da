"""Every HTTP path that Django answers; agents' paths are mounted in asgi.py before it."""

from django.urls import include, path

from apps.api.views.metrics import Metrics

urlpatterns = [
    path("api/v1/", include("apps.api.urls")),
    path("metrics", Metrics.as_view(), name="api-metrics"),
    path("", include("apps.console.urls")),
]

handler403 = "apps.console.views.errors.forbidden"
handler404 = "apps.console.views.errors.not_found"
handler500 = "apps.console.views.errors.server_error"
handler429 = "apps.console.views.errors.too_many"
