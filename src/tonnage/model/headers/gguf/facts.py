"""Typed view of a GGUF file's metadata, under the keys of its architecture."""

from __future__ import annotations

from tonnage.errors import UnreadableError
from tonnage.model.headers.quote import quote
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.headers.gguf.header import Metadata
    from tonnage.model.headers.gguf.value import Value

ARCHITECTURE_KEY = "general.architecture"
MAX_NUMBER = 2**28  # no size or count of a published model comes near


@value
class Facts:
    """Getters over `metadata`; keys are written without the architecture's name that stands before them."""

    arch: str
    metadata: Metadata

    def raw(self, key: str) -> Value | None:
        """The value of `key`, None if it is not there."""
        return self.metadata.get(f"{self.arch}.{key}")

    def find(self, key: str, layer: int = 0) -> int | None:
        """The number under `key`, or its item for `layer` if it is a list; None if the key is not there."""
        value = self.raw(key)
        if isinstance(value, tuple):
            if layer >= len(value):
                raise self._refusal(key, f"{len(value)} items", f"one for layer {layer}")
            value = value[layer]
        if value is None:
            return None
        if type(value) is not int or not 0 <= value <= MAX_NUMBER:
            raise self._refusal(key, quote(value), f"a number from 0 to {MAX_NUMBER}")
        return value

    def number(self, key: str, layer: int = 0) -> int:
        """Like `find`, at least 1; `UnreadableError` if the key is not there."""
        value = self.find(key, layer)
        if not value:
            raise self._refusal(key, "absent" if value is None else "0", "a number from 1")
        return value

    def _refusal(self, key: str, seen: str, accepted: str) -> UnreadableError:
        return UnreadableError(f"GGUF metadata: {quote(f'{self.arch}.{key}')}", seen, accepted)


def read_facts(metadata: Metadata) -> Facts:
    """The facts of the architecture that the file names; `UnreadableError` if it names none."""
    arch = metadata.get(ARCHITECTURE_KEY)
    if not isinstance(arch, str) or not arch:
        raise UnreadableError(f"GGUF metadata: {ARCHITECTURE_KEY}", quote(arch), "the name of an architecture")
    return Facts(arch, metadata)
