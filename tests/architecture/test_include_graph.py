# SPDX-License-Identifier: MIT
"""The picture of who includes whom shows what the sources do."""
import pathlib
import subprocess
import sys

root = pathlib.Path(sys.argv[-1])
sys.exit(subprocess.run([sys.executable, root / "scripts/include-graph", "--check"], check=False).returncode)
