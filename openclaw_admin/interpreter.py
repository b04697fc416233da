"""How Python itself runs in a server process: what its garbage collector looks at, and how threads take turns."""

import gc
import sys
from typing import Final

COLLECT_AFTER: Final = (10_000, 20, 20)
TURN_S: Final = 0.001


def settle() -> None:
    """Begin to serve: what was loaded so far stays, and nobody looks through it again.

    One answer makes thousands of objects and no circles: a look after each 700 of them would find nothing, ten times an
    answer. The loop waits a turn for each thread that computes; five thousandths of a second, the default, is the time
    of a whole answer.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    sys.setswitchinterval(TURN_S)
