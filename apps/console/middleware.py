"""What every page of the console needs to know, and the one answer to what a room refuses."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import translation
from django.utils.functional import SimpleLazyObject

from apps.console.answers import answer_of
from apps.console.environments import chosen_environment
from apps.console.kept_forms import person_remember
from apps.texts import TextRefusedError, check_query, check_value

PROGRAMS: Final = "/api/"


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
        answer = self.get_response(request)
        if not request.path.startswith(PROGRAMS):
            person_remember(request, answer)
        return answer

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponse],  # noqa: ARG002 - the hook's signature
        args: tuple[Any, ...],  # noqa: ARG002
        kwargs: dict[str, Any],
    ) -> HttpResponse | None:
        """Answer what holds texts that nothing can store, whatever door it knocks at."""
        is_program = request.path.startswith(PROGRAMS)
        try:
            check_value(kwargs)
            check_query(request.GET)
            if not is_program:
                check_query(request.POST)
        except TextRefusedError as exc:
            if not is_program:
                return answer_of(request, exc)
            body = {"code": exc.code, "message": exc.message, "details": exc.details}
            return JsonResponse(body, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return answer_of(request, exception)
