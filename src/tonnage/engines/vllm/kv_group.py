"""Groups of layers that share a block table, as vLLM forms them."""

from __future__ import annotations

from tonnage.units import ceil_div
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.engines.vllm.kv_page import Demand, Paged
    from tonnage.engines.vllm.kv_rules import KvRules


@value
class Group:
    """Caches that take their blocks together; the first member comes first in the model."""

    members: tuple[Paged, ...]

    @property
    def bytes(self) -> int:
        """Bytes of one block on this rank."""
        return sum(member.page * member.layers for member in self.members)

    @property
    def whole_page(self) -> int:
        """Bytes of one block over all members, counted once where the group's layers stand on another stage."""
        return self.bytes or sum(member.page for member in self.members)

    @property
    def grows(self) -> bool:
        """Whether the group keeps every token."""
        return any(member.spec.grows for member in self.members)

    @property
    def block(self) -> int:
        """Tokens per block of the group's first member."""
        return self.members[0].block

    @property
    def layers_by_page(self) -> dict[int, int]:
        """Layers on this rank by the size of their page."""
        counts: dict[int, int] = {}
        for member in self.members:
            counts[member.page] = counts.get(member.page, 0) + member.layers
        return counts

    def most_layers(self) -> int:
        """The largest number of layers with one page size."""
        return max(self.layers_by_page.values())

    def blocks(self, demand: Demand) -> int:
        """Blocks one request takes."""
        first, *others = map(demand.blocks, self.members)
        return max(first, *others) if others else first


def split(members: tuple[Paged, ...], parts: int) -> list[Group]:
    """Deal the layers of `members` out to `parts` groups in turns."""
    if parts == 1:
        return [Group(members)]
    return [Group(tuple(_dealt(member, parts, turn) for member in members)) for turn in range(parts)]


def _dealt(member: Paged, parts: int, turn: int) -> Paged:
    return replace(
        member,
        layers=ceil_div(max(0, member.layers - turn), parts),
        model_layers=ceil_div(max(0, member.model_layers - turn), parts),
    )


def is_uniform(pages: tuple[Paged, ...]) -> bool:
    """Whether all caches need the same number of blocks and so fit one group."""
    return len({page.family for page in pages}) <= 1


def promote(pages: tuple[Paged, ...]) -> tuple[Paged, ...]:
    """Windows and chunks kept as full attention, where there is full attention (hybrid manager off)."""
    full = next((page for page in pages if page.spec.grows), None)
    if full is None:
        return pages
    return tuple(_promoted(page, full.block) for page in pages)


def _promoted(page: Paged, block: int) -> Paged:
    if page.spec.kind in ("sliding", "chunked"):
        return replace(page, spec=replace(page.spec, kind="full", window=None), block=block)
    if page.spec.kind == "sliding_mla":
        size = page.page * block // page.block
        return replace(page, spec=replace(page.spec, kind="mla", window=None, block=None), block=block, page=size)
    return page


def equal_pages(pages: tuple[Paged, ...]) -> tuple[Paged, ...]:
    """All pages brought to the largest: more tokens per block where that divides, padding elsewhere."""
    largest = max(page.page for page in pages)
    return tuple(_grown(page, largest) for page in pages)


def _grown(page: Paged, size: int) -> Paged:
    if page.spec.kind == "state" or size % page.page:
        return _padded(page, size)
    return replace(page, page=size, block=page.block * (size // page.page)) if page.page != size else page


def _padded(page: Paged, size: int) -> Paged:
    return replace(page, page=size) if page.page != size else page


def pad_states(pages: tuple[Paged, ...]) -> tuple[Paged, ...]:
    """State pages padded to the largest page, as the block alignment of hybrid models leaves them."""
    largest = max((page.page for page in pages), default=0)
    return tuple(_padded(page, largest) if page.spec.kind == "state" else page for page in pages)


def equal_groups(pages: tuple[Paged, ...], rules: KvRules) -> list[Group]:
    """Groups of equal size over caches with equal pages, the last ones padded."""
    counts = [page.model_layers for page in pages]
    size = group_size(min(counts), max(counts), rules)
    return [group for page in pages for group in split((page,), ceil_div(page.model_layers, size))]


def group_size(fewest: int, most: int, rules: KvRules) -> int:
    """Layers per group: the smallest layer count, or the largest when it is not much larger."""
    if rules.stretch is None:
        return fewest
    over, under = rules.stretch
    return most if most * under < fewest * over else fewest
