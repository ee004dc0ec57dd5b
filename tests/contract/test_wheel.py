"""The wheel: small, with its data, its licence and its type marker."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

MAX_BYTES = 2_000_000


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(root)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("tonnage-*.whl"))


@pytest.mark.slow
def test_size(wheel: Path) -> None:
    assert wheel.stat().st_size < MAX_BYTES


@pytest.mark.slow
def test_contents(wheel: Path, root: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    data = {f"tonnage/catalog/data/{path.name}" for path in (root / "src/tonnage/catalog/data").iterdir()}
    assert data <= names
    assert "tonnage/py.typed" in names
    assert any(name.endswith("LICENSE") for name in names)
    assert not [name for name in names if "_cache" in name or "__pycache__" in name]
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert sorted(line.split()[1].split(">")[0].replace("-", "_") for line in required) == ["huggingface_hub", "rich"]
