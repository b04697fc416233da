"""Query parameters that several paths share, as the OpenAPI document names them."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

ENVIRONMENT = OpenApiParameter(
    "environment", OpenApiTypes.STR, description="Slug of the environment; the first one when absent."
)
STATE = OpenApiParameter("state", OpenApiTypes.STR, enum=["pending", "recent"], default="pending")
CURSOR = OpenApiParameter("cursor", OpenApiTypes.STR, description="Part of `next` and `previous`.")
LIMIT = OpenApiParameter("limit", OpenApiTypes.INT, default=100, description="At most 1,000.")
