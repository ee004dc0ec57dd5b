"""From the header of a GGUF file to an `Arch`."""

from __future__ import annotations

from tonnage.errors import UnreadableError
from tonnage.model.arch import Arch
from tonnage.model.config.arch import merge_equal
from tonnage.model.headers.gguf.block import WEIGHT, split_blocks
from tonnage.model.headers.gguf.facts import read_facts
from tonnage.model.headers.gguf.layer import plain_tensor, read_layer
from tonnage.model.params import count_params
from tonnage.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.model.arch import Layer
    from tonnage.model.headers.entry import TensorEntry
    from tonnage.model.headers.gguf.block import Block
    from tonnage.model.headers.gguf.facts import Facts
    from tonnage.model.headers.gguf.header import Metadata
    from tonnage.model.tensor import Tensor

EMBEDDING, HEAD = "token_embd.weight", "output.weight"
DRAFT = "nextn."
# llama.cpp computes and caches in half precision unless told otherwise; the files store no compute type.
COMPUTE_DTYPE = "float16"


def gguf_arch(metadata: Metadata, entries: Sequence[TensorEntry]) -> Arch:
    """The architecture that a GGUF file describes; sizes come from its tensors, so that they add up to the file.

    `UnreadableError` for metadata or tensors that are missing or contradict each other, `UnknownKeyError` for blocks
    of an unknown kind. A note says so where the parts read do not add up to the elements stored.
    """
    facts = read_facts(metadata)
    blocks, outside = split_blocks(entries)
    _check_blocks(facts, blocks)
    embedding = _embedding(outside)
    layers = merge_equal(tuple(read_layer(facts, block) for block in blocks if not _is_draft(block)))
    norms, outer = _outer(outside)
    arch = Arch(
        family=facts.arch,
        architectures=(facts.arch,),
        hidden=facts.number("embedding_length"),
        vocab=embedding.shape[0],
        tied=HEAD not in outside,
        max_context=facts.number("context_length"),
        dtype=COMPUTE_DTYPE,
        layers=layers,
        norms=norms,
        outer=outer,
        draft=_draft(facts, blocks),
        head_bias="output.bias" in outside,
    )
    return replace(arch, notes=_notes(arch, entries))


def _check_blocks(facts: Facts, blocks: tuple[Block, ...]) -> None:
    count, drafts = facts.number("block_count"), facts.find("nextn_predict_layers") or 0
    # The count includes draft blocks, which a file may leave out.
    if not count - drafts <= len(blocks) <= count:
        raise UnreadableError("GGUF tensors", f"{len(blocks)} blocks", f"{count}, as {facts.arch}.block_count says")


def _embedding(outside: dict[str, TensorEntry]) -> TensorEntry:
    entry = outside.get(EMBEDDING)
    if entry is None or len(entry.shape) != 2:
        raise UnreadableError(f"GGUF tensor {EMBEDDING}", "absent" if entry is None else str(entry.shape), "a table")
    return entry


def _is_draft(block: Block) -> bool:
    return any(name.startswith(DRAFT) for name in block.tensors)


def _draft(facts: Facts, blocks: tuple[Block, ...]) -> tuple[Layer, ...]:
    return merge_equal(tuple(read_layer(facts, block) for block in blocks if _is_draft(block)))


def _outer(outside: dict[str, TensorEntry]) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Norms outside the blocks, and whatever else is neither embedding nor head."""
    rest = {name: entry for name, entry in outside.items() if name not in (EMBEDDING, HEAD, "output.bias")}
    tensors = [plain_tensor(name.removesuffix(WEIGHT), entry) for name, entry in sorted(rest.items())]
    norms = tuple(tensor for tensor in tensors if "norm" in tensor.name)
    # Tables by position or token are looked up, not multiplied.
    outer = [replace(tensor, kind="embedding") if "embd" in tensor.name else tensor for tensor in tensors]
    return norms, tuple(tensor for tensor in outer if "norm" not in tensor.name)


def _notes(arch: Arch, entries: Sequence[TensorEntry]) -> tuple[str, ...]:
    params = count_params(arch)
    counted, stored = params.text + params.draft, sum(entry.elements for entry in entries)
    if counted == stored:
        return ()
    return (f"the file stores {stored} elements, its architecture as read has {counted}",)
