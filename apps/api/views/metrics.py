"""The figures of this installation, in the words of Prometheus."""

from collections.abc import Iterable

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from apps.accounts.access import Permission
from apps.api.metrics import Figures
from apps.api.scope import installation_of
from apps.api.view import APIView


class _AsAsked(BaseContentNegotiation):
    """Leave it to the library what of its two spellings a scraper wants; errors stay JSON."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:  # noqa: ARG002
        return next(iter(parsers))

    def select_renderer(
        self,
        request: Request,  # noqa: ARG002 - of the framework
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,  # noqa: ARG002
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, first.media_type


class Metrics(APIView):
    permissions = {"GET": Permission.METRICS_READ}
    content_negotiation_class = _AsAsked

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        installation_of(request)
        registry = CollectorRegistry(auto_describe=False)
        registry.register(Figures(timezone.now(), settings.VERSION))
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return HttpResponse(encode(registry), content_type=content_type, headers={"Cache-Control": "no-store"})
