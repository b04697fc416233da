"""How much may be asked and answered at once.

Source: OpenClaw, "Tool Search", section "API".
"""

from typing import Final

BATCH_QUERIES: Final = 16
BATCH_CANDIDATES: Final = 50
BATCH_BYTES: Final = 512
"""Of the queries of a batch together, as JSON in UTF-8."""
BATCH_CHARACTERS: Final = 4_000
"""Of the answer to a batch, as JSON."""
QUERY_CHARACTERS: Final = 512
DESCRIPTION_CHARACTERS: Final = 300
BATCH_DESCRIPTION_CHARACTERS: Final = 160
SIGNATURE_CHARACTERS: Final = 300
