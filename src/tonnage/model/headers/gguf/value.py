"""Values of the GGUF metadata."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING

from tonnage.errors import UnreadableError

if TYPE_CHECKING:
    from tonnage.model.headers.gguf.cursor import Cursor

# Source: the value types of the GGUF description (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9

LENGTH_BYTES = 8
KIND_BYTES = 4
MAX_KEPT_ITEMS = 4096  # per-layer lists have at most a few hundred; vocabularies are counted and dropped
MAX_KEPT_TEXT_BYTES = 2**20  # chat templates stay, a tokenizer.json inside a string does not
MAX_KEPT_BYTES = 16 * 2**20  # of one header
MAX_STRINGS = 2**22  # of one list; the largest vocabularies have a quarter million tokens, half a million merges
MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Omitted:
    """A long value that was passed over: `count` items of an array, or bytes of a text."""

    count: int


Value = int | float | bool | str | Omitted | tuple["Value", ...]


class ValueReader:
    """Reads values at a cursor and keeps the small ones, `MAX_KEPT_BYTES` in all."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor, self._budget = cursor, MAX_KEPT_BYTES
        self._kind = Struct(f"{cursor.order}I")
        self._scalars = {kind: Struct(cursor.order + letter) for kind, letter in _SCALARS.items()}

    def value(self) -> Value:
        """The value at the cursor, its type first."""
        return self._value(self._next_kind(), MAX_DEPTH)

    def text(self, limit: int) -> str:
        """The string at the cursor; refused if longer than `limit` bytes or not UTF-8."""
        length = self._cursor.count("bytes of text", 1)
        if length > limit:
            raise UnreadableError(self._cursor.blob.name, f"a name of {length} bytes", f"at most {limit}")
        try:
            return self._cursor.bytes(length).decode()
        except UnicodeDecodeError as error:
            raise UnreadableError(self._cursor.blob.name, "a name that is not UTF-8", "names in UTF-8") from error

    def _next_kind(self) -> int:
        return int(self._cursor.number(self._kind))

    def _value(self, kind: int, depth: int) -> Value:
        if kind in self._scalars:
            return self._cursor.number(self._scalars[kind])
        if kind == _STRING:
            return self._long_text()
        if kind == _ARRAY and depth:
            return self._array(depth - 1)
        seen = f"arrays nested {MAX_DEPTH + 1} deep" if kind == _ARRAY else f"value type {kind}"
        raise UnreadableError(self._cursor.blob.name, seen, f"types 0 to 12, at most {MAX_DEPTH} arrays deep")

    def _long_text(self) -> str | Omitted:
        length = self._cursor.count("bytes of text", 1)
        if length > MAX_KEPT_TEXT_BYTES:
            self._cursor.skip(length)
            return Omitted(length)
        self._spend(length)
        return self._cursor.bytes(length).decode(errors="replace")

    def _array(self, depth: int) -> Value:
        kind = self._next_kind()
        least = self._scalars[kind].size if kind in self._scalars else LENGTH_BYTES
        count = self._cursor.count("array items", least)
        if count <= MAX_KEPT_ITEMS:
            self._spend(count * LENGTH_BYTES)
            return tuple(self._value(kind, depth) for _ in range(count))
        if kind in self._scalars:
            self._cursor.skip(count * least)
        elif kind == _STRING and count <= MAX_STRINGS:
            self._cursor.skip_strings(count)
        else:
            seen = f"array of {count} items of type {kind}"
            raise UnreadableError(self._cursor.blob.name, seen, f"at most {MAX_KEPT_ITEMS} arrays, {MAX_STRINGS} texts")
        return Omitted(count)

    def _spend(self, size: int) -> None:
        self._budget -= size
        if self._budget < 0:
            raise UnreadableError(self._cursor.blob.name, "metadata too large", f"at most {MAX_KEPT_BYTES} bytes")
