"""What holds the house together: the engine stands alone."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

ALONE = """
import pkgutil, sys
sys.path.insert(0, {root!r})
assert not any("site-packages" in each or "dist-packages" in each for each in sys.path), sys.path
import apps.firewall.engine as engine
names = [each.name for each in pkgutil.walk_packages(engine.__path__, engine.__name__ + ".")]
for name in names:
    if not name.endswith("__main__"):
        __import__(name)
below = ("errors", "identifiers", "patterns", "redaction")
ours = {{"apps.firewall.engine", *("apps.firewall." + name for name in below)}}
allowed = ("apps.firewall.engine.", *ours)
strangers = [
    name
    for name in sys.modules
    if name.startswith("apps.") and name != "apps.firewall" and not name.startswith(allowed)
]
assert not strangers, strangers
forbidden = {{"subprocess", "socket", "asyncio", "threading", "django"}} & set(sys.modules) - set({preloaded!r})
assert not forbidden, forbidden
print(len(names))
"""


def test_the_engine_needs_the_standard_library_only() -> None:
    program = ALONE.format(root=str(ROOT), preloaded=sorted(_loaded_by_python_itself()))
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10


def _loaded_by_python_itself() -> set[str]:
    program = "import pkgutil, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, timeout=60)
    return set(done.stdout.split())
