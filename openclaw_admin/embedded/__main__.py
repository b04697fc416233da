"""`python -m openclaw_admin.embedded run -- COMMAND`: a throw-away PostgreSQL for one command, unless it has one.

The command finds it in DATABASE_URL (application) and DATABASE_OWNER_URL (owner), and a folder for its files in
OPENCLAW_ADMIN_VAR. Ends with the command's exit code. A durable one waits for its disk, as an installation's does.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from openclaw_admin import env
from openclaw_admin.embedded.errors import EmbeddedError
from openclaw_admin.embedded.postgres import Postgres

USAGE = "usage: python -m openclaw_admin.embedded run [--durable] -- COMMAND [ARGUMENT...]"


def run(command: list[str], *, is_durable: bool = False) -> int:
    """Run a command beside a server of its own and remove everything after it."""
    if env.secret("DATABASE_URL"):
        return subprocess.call(command)
    home = Path(tempfile.mkdtemp(prefix="oca-test-"))
    server = Postgres(home, wanted=env.text("OPENCLAW_ADMIN_POSTGRES"), is_durable=is_durable)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        addresses = server.start()
        environment = {"OPENCLAW_ADMIN_VAR": str(home / "var"), **os.environ}
        environment |= {"DATABASE_URL": addresses.url, "DATABASE_OWNER_URL": addresses.owner_url}
        return subprocess.call(command, env=environment)
    except EmbeddedError as exc:
        sys.stderr.write(f"{exc}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


def main(arguments: list[str]) -> int:
    is_durable = arguments[:2] == ["run", "--durable"]
    before = ["run", "--durable", "--"] if is_durable else ["run", "--"]
    command = arguments[len(before) :]
    if arguments[: len(before)] != before or not command:
        sys.stderr.write(f"{USAGE}\n")
        return 2
    return run(command, is_durable=is_durable)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
