"""Keep the server's own memory and environment from the commands that its user runs."""

import sys

from apps.firewall.sandbox.kernel import PR_SET_DUMPABLE, prctl


def hide_process() -> None:
    """Close this process to other processes of its user: its environment, its memory, and tracing it.

    Holds for this process, not for what it executes; it leaves no core dump either. Nothing happens elsewhere than on
    Linux.

    Raises:
        OSError: the kernel refused.
    Source: prctl(2), PR_SET_DUMPABLE.
    """
    if sys.platform != "linux":
        return
    prctl(PR_SET_DUMPABLE, 0)
