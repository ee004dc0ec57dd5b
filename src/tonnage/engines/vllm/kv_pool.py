"""The pool of equal blocks that all groups of a rank share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tonnage.engines.vllm.kv_group import Group, equal_groups, equal_pages, is_uniform, pad_states, promote
from tonnage.engines.vllm.kv_pack import block_bytes, is_packed, packed_groups, tuple_bytes
from tonnage.engines.vllm.kv_page import Demand, Paged
from tonnage.engines.vllm.kv_request import KvRequest
from tonnage.engines.vllm.kv_rules import KvRules
from tonnage.units import ceil_div


@dataclass(frozen=True)
class KvPool:
    """The groups made of `pages` under the rules of a release."""

    pages: tuple[Paged, ...]
    request: KvRequest
    rules: KvRules

    @cached_property
    def managed(self) -> tuple[Paged, ...]:
        """The caches as the manager sees them: windows are full attention where it cannot tell them apart."""
        padded = pad_states(self.pages)
        kinds = {page.spec.kind for page in padded}
        is_managed = self.rules.has_hybrid_manager and self.request.hybrid_manager
        if not is_managed or ("chunked" in kinds and not self.rules.manages_chunks):
            return promote(padded)
        # A latent page cannot be padded to that of a window layer: the engine falls back to full allocation.
        return promote(padded) if _is_unequal_latent(padded) else padded

    @cached_property
    def is_packed(self) -> bool:
        """Whether pages of several sizes lie side by side in a block."""
        return not is_uniform(self.managed) and is_packed(self.managed)

    @cached_property
    def groups(self) -> list[Group]:
        """Block tables of one request."""
        if is_uniform(self.managed):
            return [Group(self.managed)]
        if self.is_packed:
            return packed_groups(self.managed, self.rules)
        return equal_groups(equal_pages(self.managed), self.rules)

    @cached_property
    def block_bytes(self) -> int:
        """Bytes of one block over all layers of the rank."""
        if self.is_packed:
            return block_bytes(self.groups, self.rules)
        return max(group.bytes for group in self.groups)

    def demand(self, length: int) -> Demand:
        """What a request of `length` tokens is counted with."""
        return Demand(length, self.request, self.rules)

    def request_blocks(self, length: int) -> int:
        """Blocks the logged concurrency divides by."""
        wanted = self.demand(length)
        blocks = [group.blocks(wanted) for group in self.groups]
        if self.rules.concurrency == "blocks" or not self.is_packed:
            return sum(blocks)
        sizes = [group.whole_page for group in self.groups]
        return ceil_div(sum(size * count for size, count in zip(sizes, blocks, strict=True)), sizes[0])

    def needed_bytes(self, length: int) -> int:
        """Memory of one request of `length` tokens as the start-up check counts it."""
        wanted, rule = self.demand(length), self.rules.needed
        blocks = sum(group.blocks(wanted) for group in self.groups)
        if rule == "pool":
            return blocks * self.block_bytes
        if rule == "layers" or len(self.groups) == 1:
            return sum(wanted.blocks(page) * page.page * page.layers for page in pad_states(self.pages))
        if self.is_packed:
            return blocks * tuple_bytes(self.groups)
        # Until 0.19 the check forgot all groups but the first.
        return self.block_bytes * (self.groups[0].blocks(wanted) if rule == "first_group" else blocks)


def _is_unequal_latent(pages: tuple[Paged, ...]) -> bool:
    latent = {page.page for page in pages if page.spec.kind == "mla" and not page.spec.is_index}
    windows = {page.page for page in pages if page.spec.kind == "sliding"}
    largest = max((page.page for page in pages), default=0)
    return bool(latent and windows) and any(largest % page for page in latent)
