"""The part is cheap to import and keeps to itself."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("pydantic", "sqlalchemy", "numpy", "typer")


def test_the_import_is_cheap() -> None:
    code = f"import sys, segue.capsules; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_same_bytes_under_any_hash_seed() -> None:
    code = (
        "import random, sys; sys.path.insert(0, sys.argv[1]); from capsule_random import random_capsule\n"
        "from segue.capsules import stitch, render\nrng = random.Random(5); current = random_capsule(rng)\n"
        "for _ in range(20):\n    result = stitch(current, random_capsule(rng)); current = result.capsule\n"
        "    print(result.to_json())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, __file__.rpartition("/")[0]],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": zone},
        ).stdout
        for seed, zone in (("0", "UTC"), ("1", "Asia/Tokyo"))
    }
    assert len(outputs) == 1
    assert "hops=20" in outputs.pop()
