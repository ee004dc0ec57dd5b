"""The process: its own finder of modules, and its end."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType

import pytest

from tonnage.__main__ import CompiledFinder

SRC = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a compiled module `alpha` and a compiled package `beta`."""
    folder = tmp_path / "tonnage"
    (folder / "beta").mkdir(parents=True)
    (folder / "alpha.py").write_text("NUMBER = 1\n")
    (folder / "beta" / "__init__.py").write_text("NUMBER = 2\n")
    compiled(folder / "alpha.py")
    compiled(folder / "beta" / "__init__.py")
    return folder


def compiled(source: Path) -> None:
    """Compile one file where Python keeps compiled files."""
    import py_compile

    py_compile.compile(str(source), doraise=True)


def find(package: Path, name: str, magic: bytes = MAGIC_NUMBER) -> object:
    """What the finder says of a name in the folder."""
    return CompiledFinder(magic).find_spec(f"tonnage.{name}", [str(package)])


def test_a_module(package: Path) -> None:
    spec = CompiledFinder(MAGIC_NUMBER).find_spec("tonnage.alpha", [str(package)])
    assert isinstance(spec.loader_state, CodeType)
    assert (spec.origin, spec.submodule_search_locations) == (f"{package}/alpha.py", None)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (module.NUMBER, module.__file__) == (1, f"{package}/alpha.py")


def test_a_package(package: Path) -> None:
    spec = CompiledFinder(MAGIC_NUMBER).find_spec("tonnage.beta", [str(package)])
    assert (spec.origin, spec.submodule_search_locations) == (f"{package}/beta/__init__.py", [f"{package}/beta"])


def test_what_is_not_up_to_date_is_left_to_others(package: Path) -> None:
    (package / "alpha.py").write_text("NUMBER = 10\n")
    assert find(package, "alpha") is None
    compiled(package / "alpha.py")
    assert find(package, "alpha") is not None
    os.utime(package / "alpha.py", (1, 1))
    assert find(package, "alpha") is None


def test_what_is_not_there_is_left_to_others(package: Path) -> None:
    (package / "gamma.py").write_text("")
    assert find(package, "gamma") is None
    assert find(package, "delta") is None
    assert CompiledFinder(MAGIC_NUMBER).find_spec("json", [str(package)]) is None
    assert CompiledFinder(MAGIC_NUMBER).find_spec("tonnage", None) is None


def test_code_of_another_version_is_left_to_others(package: Path) -> None:
    assert find(package, "alpha", b"\x00\x01\x02\x03") is None
    path = next((package / "__pycache__").glob("alpha.*"))
    path.write_bytes(path.read_bytes()[:10])
    assert find(package, "alpha") is None


def process(words: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """`python -m tonnage` with these words."""
    env = {**os.environ, "PYTHONPATH": str(SRC), "TONNAGE_CATALOG": os.devnull, **variables}
    return subprocess.run(
        [sys.executable, "-m", "tonnage", *words], capture_output=True, text=True, env=env, timeout=60
    )


@pytest.mark.parametrize(
    ("words", "code"),
    [(["version"], 0), (["--help"], 0), (["frobnicate"], 2), (["fit", "Qwen/Qwen3-8B", "--on", "T4"], 1)],
)
def test_exit_codes(words: list[str], code: int) -> None:
    done = process(words)
    assert done.returncode == code, done.stderr
    assert (done.stdout if code < 2 else done.stderr) != ""


def test_without_compiled_files(tmp_path: Path) -> None:
    done = process(["version"], PYTHONPYCACHEPREFIX=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_is_the_module() -> None:
    script = (SRC.parent / "bin" / "tonnage").read_text()
    assert script.startswith("#!python\n")
    assert "from tonnage.__main__ import run" in script
