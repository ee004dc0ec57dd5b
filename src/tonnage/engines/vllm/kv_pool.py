"""The pool of equal blocks that all groups of a rank share."""

from __future__ import annotations

from tonnage.engines.vllm.kv_group import Group, equal_groups, equal_pages, is_uniform, pad_states, promote
from tonnage.engines.vllm.kv_pack import block_bytes, is_packed, packed_groups, tuple_bytes
from tonnage.engines.vllm.kv_page import Demand
from tonnage.units import ceil_div
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.engines.vllm.kv_page import Paged
    from tonnage.engines.vllm.kv_request import KvRequest
    from tonnage.engines.vllm.kv_rules import KvRules


@value
class KvPool:
    """The block tables made of `pages` and the bytes of one block over all layers of the rank.

    `is_packed`: pages of several sizes lie side by side in a block.
    """

    pages: tuple[Paged, ...]
    groups: tuple[Group, ...]
    is_packed: bool
    block_bytes: int
    request: KvRequest
    rules: KvRules

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
            return sum(wanted.blocks(page) * page.page * page.layers for page in self._counted(rule == "layers"))
        if self.is_packed:
            return blocks * tuple_bytes(self.groups)
        # Until 0.19 the check forgot all groups but the first.
        return self.block_bytes * (self.groups[0].blocks(wanted) if rule == "first_group" else blocks)

    def _counted(self, is_before_grouping: bool) -> tuple[Paged, ...]:
        """Until 0.13 the check ran before windows were turned into full attention."""
        return pad_states(self.pages) if is_before_grouping else self.groups[0].members


def make_pool(pages: tuple[Paged, ...], request: KvRequest, rules: KvRules) -> KvPool:
    """The pool a release makes of the caches of one rank, of which there is at least one."""
    managed = managed_pages(pages, request, rules)
    if is_uniform(managed):
        single = Group(managed)
        return KvPool(pages, (single,), False, single.bytes, request, rules)
    if is_packed(managed):
        packed = packed_groups(managed, rules)
        return KvPool(pages, tuple(packed), True, block_bytes(packed, rules), request, rules)
    groups = equal_groups(equal_pages(managed), rules)
    return KvPool(pages, tuple(groups), False, max(group.bytes for group in groups), request, rules)


def managed_pages(pages: tuple[Paged, ...], request: KvRequest, rules: KvRules) -> tuple[Paged, ...]:
    """The caches as the manager sees them: windows are full attention where it cannot tell them apart."""
    padded = pad_states(pages)
    has_chunks = any(page.spec.kind == "chunked" for page in padded)
    is_hybrid = rules.has_hybrid_manager and request.hybrid_manager and (rules.manages_chunks or not has_chunks)
    # A latent page cannot be padded to that of a window layer: the engine falls back to full allocation.
    return promote(padded) if not is_hybrid or _is_unequal_latent(padded) else padded


def _is_unequal_latent(pages: tuple[Paged, ...]) -> bool:
    latent = {page.page for page in pages if page.spec.kind == "mla" and not page.spec.is_index}
    windows = {page.page for page in pages if page.spec.kind == "sliding"}
    largest = max((page.page for page in pages), default=0)
    return bool(latent and windows) and any(largest % page for page in latent)
