"""What every page of the console needs to know, and the one answer to what a room refuses."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.functional import SimpleLazyObject

from apps.console.answers import answer_of
from apps.console.environments import chosen_environment


class ConsoleMiddleware:
    """Speak the person's language, know the chosen environment, answer refusals."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.environment = SimpleLazyObject(lambda: chosen_environment(request))  # type: ignore[attr-defined]
        language = getattr(request.user, "language", "")
        if language:
            translation.activate(language)
            request.LANGUAGE_CODE = translation.get_language()
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return answer_of(request, exception)
