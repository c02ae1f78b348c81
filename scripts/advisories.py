"""Say which pinned packages have known security advisories.

    python scripts/advisories.py [requirements/install.txt …]

Asks with pip-audit, file by file, without installing anything. 0 says that every package was
looked up and none has any, 1 that some have, 3 that some could not be looked up: where the service
cannot be reached, or a mirror does not have it, nothing is known, and that is said.
Run by `make advisories`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALL = sorted((ROOT / "requirements").glob("*.txt"))
_NONE, _SOME, _UNKNOWN = 0, 1, 3


def main(files: list[Path]) -> int:
    """Print a line for each file and each advisory; return what is known."""
    codes = {_audit(file) for file in files}
    return _SOME if _SOME in codes else max(codes)


def _audit(file: Path) -> int:
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--progress-spinner", "off"]
    done = subprocess.run(
        [*command, "--format", "json", "-r", file], capture_output=True, text=True, check=False
    )
    name = file.name
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except ValueError:
        reason = (done.stderr.strip().splitlines() or ["pip-audit said nothing"])[-1]
        print(f"{name}: not checked, the advisory service was not reached: {reason[:300]}")
        return _UNKNOWN
    skipped = [package for package in packages if "skip_reason" in package]
    found = [package for package in packages if package.get("vulns")]
    for package in found:
        for each in package["vulns"]:
            fixed = ", ".join(each["fix_versions"]) or "no version yet"
            print(f"{name}: {package['name']} {package['version']}: {each['id']}, fixed in {fixed}")
    if skipped:
        print(
            f"{name}: {len(skipped)} of {len(packages)} packages not checked, the advisory service "
            f"does not answer for them, such as {skipped[0]['name']}: {skipped[0]['skip_reason']}"
        )
    elif not found:
        print(f"{name}: {len(packages)} packages, no known advisory")
    return _SOME if found else _UNKNOWN if skipped else _NONE


if __name__ == "__main__":
    sys.exit(main([Path(each) for each in sys.argv[1:]] or ALL))
