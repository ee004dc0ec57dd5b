"""GGUF models in several files: `NAME-00001-of-00003.gguf`."""

from __future__ import annotations

from tonnage.errors import UnreadableError
from tonnage.model.headers.quote import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.model.headers.entry import TensorEntry
    from tonnage.model.headers.gguf.header import GgufHeader

# Source: llama_split_path and the loader of https://github.com/ggml-org/llama.cpp (src/llama-model-loader.cpp).
COUNT_KEY = "split.count"
NUMBER_KEY = "split.no"
TENSORS_KEY = "split.tensors.count"
_PATTERN = r"(.*)-(\d{5})-of-(\d{5})\.gguf"


def split_names(name: str) -> tuple[str, ...]:
    """The names of all files of the model that file `name` belongs to, in order; just `name` if it is no part."""
    import re

    match = re.fullmatch(_PATTERN, name, re.DOTALL | re.ASCII)
    if match is None:
        return (name,)
    stem, count = match[1], int(match[3])
    if not 1 <= int(match[2]) <= count:
        raise UnreadableError(quote(name), f"part {int(match[2])} of {count}", f"a part from 1 to {count}")
    return tuple(f"{stem}-{number:05d}-of-{match[3]}.gguf" for number in range(1, count + 1))


def join_splits(names: Sequence[str], headers: Sequence[GgufHeader]) -> tuple[TensorEntry, ...]:
    """The tensors of all parts; `UnreadableError` if the parts do not belong together."""
    for number, (name, header) in enumerate(zip(names, headers, strict=True)):
        _check_part(name, header, number, len(names))
    entries = tuple(entry for header in headers for entry in header.entries)
    if len({entry.name for entry in entries}) < len(entries):
        raise UnreadableError(quote(names[0]), "a tensor in two parts", "parts of one model")
    total = headers[0].metadata.get(TENSORS_KEY, len(entries))
    if total != len(entries):
        raise UnreadableError(quote(names[0]), f"{len(entries)} tensors in {len(names)} files", f"{quote(total)}")
    return entries


def _check_part(name: str, header: GgufHeader, number: int, count: int) -> None:
    said = header.metadata.get(COUNT_KEY, 1 if count == 1 else None)
    if said not in (count, 0 if count == 1 else count):
        raise UnreadableError(f"{quote(name)}: {COUNT_KEY}", quote(said), f"{count}, as the file's name says")
    at = header.metadata.get(NUMBER_KEY, number)
    if at != number:
        raise UnreadableError(f"{quote(name)}: {NUMBER_KEY}", quote(at), f"{number}, as the file's name says")
