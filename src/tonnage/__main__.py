"""The process behind the command: it starts fast, answers, and ends at once.

A question imports a hundred small modules. Finding and checking each costs the ordinary import system more than running
it, and taking them all apart again at the end costs as much; both are spared here.
"""

from __future__ import annotations

import gc
import os
import sys
from io import FileIO
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any, NoReturn

PACKAGE = "tonnage"
# Of a compiled file: the version of its byte code; after it flags, time and size of the source.
MAGIC_BYTES, HEADER_BYTES = 4, 16
UINT32 = (1 << 32) - 1


class CompiledFinder:
    """Finds compiled modules of this package; what is not there or not up to date is left to the usual finders."""

    __slots__ = ("_magic", "_make_spec", "_tag")

    def __init__(self, magic: bytes) -> None:
        # No flags: the compiled file is checked against time and size of its source.
        self._magic = magic + bytes(MAGIC_BYTES)
        self._tag = f".{sys.implementation.cache_tag}.pyc"
        self._make_spec: Any = type(sys.modules[PACKAGE].__spec__)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:  # noqa: ARG002
        """The specification of a module whose code is already read; None for any other."""
        if path is None or not name.startswith(f"{PACKAGE}."):
            return None
        place = f"{path[0]}/{name.rpartition('.')[2]}"
        code = self._read(path[0], name.rpartition(".")[2])
        if code is not None:
            return self._make_spec(name, self, origin=f"{place}.py", loader_state=code)
        code = self._read(place, "__init__")
        if code is None:
            return None
        spec = self._make_spec(name, self, origin=f"{place}/__init__.py", loader_state=code, is_package=True)
        spec.submodule_search_locations.append(place)
        return spec

    def create_module(self, spec: Any) -> None:
        """Leave the making of the module to the import system."""

    def exec_module(self, module: Any) -> None:
        """Run the code of a module."""
        module.__file__ = module.__spec__.origin
        exec(module.__spec__.loader_state, module.__dict__)

    def _read(self, folder: str, stem: str) -> Any:
        """The code of a source file if its compiled form is up to date, else None."""
        try:
            source = os.stat(f"{folder}/{stem}.py")
            with FileIO(f"{folder}/__pycache__/{stem}{self._tag}") as file:
                data = file.readall()
        except OSError:
            return None
        stamp = (int(source.st_mtime) & UINT32, source.st_size & UINT32)
        wanted = self._magic + b"".join(number.to_bytes(MAGIC_BYTES, "little") for number in stamp)
        return loads(data[HEADER_BYTES:]) if data[:HEADER_BYTES] == wanted else None


def install_finder() -> None:
    """Put a finder before the usual ones, where this package is compiled at all."""
    spec = sys.modules[PACKAGE].__spec__
    cached = spec.cached if spec else None
    if cached and sys.pycache_prefix is None and os.path.exists(cached):
        with FileIO(cached) as file:
            sys.meta_path.insert(0, CompiledFinder(file.read(MAGIC_BYTES) or b""))


def run() -> NoReturn:
    """Answer the command line; the process ends with the exit code of `ui.cli.main`."""
    install_finder()
    if "--batch" not in sys.argv:
        # One answer ends before collecting garbage pays.
        gc.disable()
    from tonnage.ui.cli.main import main

    code = main()
    sys.stderr.flush()
    if sys.gettrace() is None and sys.getprofile() is None:
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
